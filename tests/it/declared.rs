//! A harness from a file: it conforms, carries what the file says, refuses the rest, and is checked on load.

use teamster::declared::Declared;
use teamster::harness::{AgentBuilder, Evidence};
use teamster::reply::Usage;
use teamster::testkit::{Suite, Transcript};
use teamster::{DispatchRequest, Kind, Output, Permission, Profile, Session, ToolPolicy, lower};

const EXAMPLE: &str = include_str!("../../examples/harness.toml");

fn scribe() -> Declared {
    Declared::from_toml(EXAMPLE, "harness.toml").unwrap()
}

fn line(builder: &dyn AgentBuilder, request: &DispatchRequest) -> Result<String, (Kind, String)> {
    let lowered = lower(builder, request, &Profile::default()).map_err(|e| (e.kind, e.message))?;
    Ok(lowered.command.shell_line())
}

fn transcript(stdout: &str, status: i32) -> Transcript {
    Transcript {
        name: "scribe".to_owned(),
        output: Output::Stream,
        stdout: stdout.as_bytes().to_vec(),
        stderr: String::new(),
        files: Default::default(),
        status,
    }
}

const GOOD: &str = "hello\n{\"type\": \"begin\", \"session\": {\"id\": \"s-1\", \"model\": \"m\"}}\n\
    {\"type\": \"tool\", \"name\": \"look\"}\n{\"type\": \"say\", \"content\": [{\"text\": \"first\"}]}\n\
    {\"type\": \"tool_done\", \"output\": \"x\"}\n\
    {\"type\": \"say\", \"content\": [{\"text\": \"an \"}]}\n{\"type\": \"say\", \"content\": [{\"text\": \"answer\"}]}\n\
    {\"type\": \"done\", \"tokens\": {\"in\": 5, \"out\": 2}}\n";

#[test]
fn the_documented_example_conforms() {
    Suite { transcripts: vec![transcript(GOOD, 0)], ..Suite::default() }.assert_conforms(&scribe());
    assert_eq!(scribe().facts().evidence, Evidence::Declared);
}

#[test]
fn a_request_stands_in_the_arguments_as_the_file_says() {
    let request = DispatchRequest {
        system_prompt: Some("Be brief.".to_owned()),
        model: Some("m-1".to_owned()),
        session: Some(Session::Resume("s-1".to_owned())),
        add_dirs: vec!["/a".into(), "/b".into()],
        permission: Some(Permission::ReadOnly),
        ..DispatchRequest::new("/hi")
    };
    let lowered = lower(&scribe(), &request, &Profile::default()).unwrap();
    assert_eq!(
        lowered.command.shell_line(),
        "scribe '--sandbox=read-only' --no-project-config run '--format=lines' --no-update '--model=m-1' \
         '--system-file={file:system.txt}' --resume s-1 '--dir=/a' '--dir=/b'"
    );
    assert_eq!(lowered.command.stdin.as_deref(), Some("\n/hi"));
    assert_eq!(lowered.command.files[0].content, "Be brief.");
}

#[test]
fn what_the_file_does_not_enforce_is_refused() {
    let nothing: String = EXAMPLE
        .lines()
        .filter(|line| !line.starts_with("[rights") && !line.contains("sandbox") && !line.contains("--only"))
        .map(|line| format!("{line}\n"))
        .collect();
    let open = Declared::from_toml(&nothing, "open.toml").unwrap();
    Suite::default().assert_conforms(&open);
    let tools = |text: &str| Some(ToolPolicy::from_text(text).unwrap());
    for request in [
        DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") },
        DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("x") },
        DispatchRequest { tools: tools(""), ..DispatchRequest::new("x") },
        DispatchRequest { tools: tools("read"), ..DispatchRequest::new("x") },
    ] {
        assert_eq!(line(&open, &request).unwrap_err().0, Kind::Unenforceable, "{request:?}");
        let allowed = DispatchRequest { allow_unenforced: true, ..request };
        assert!(line(&open, &allowed).is_ok());
    }
    assert!(line(&open, &DispatchRequest::new("x")).is_ok());
}

#[test]
fn a_policy_is_the_list_of_tools_that_may_run() {
    let request = |text: &str| DispatchRequest {
        tools: Some(ToolPolicy::from_text(text).unwrap()),
        ..DispatchRequest::new("x")
    };
    assert!(line(&scribe(), &request("")).unwrap().contains("'--only=find,look'"));
    assert!(line(&scribe(), &request("edit")).unwrap().contains("'--only=find,look,write'"));
    assert!(line(&scribe(), &request(r#"{"deny": ["look"]}"#)).unwrap().contains("'--only=find'"));
    assert_eq!(line(&scribe(), &request("shell(git status)")).unwrap_err().0, Kind::Unsupported);
    assert_eq!(line(&scribe(), &request("Bash")).unwrap_err().0, Kind::Unsupported);
}

#[test]
fn a_text_that_the_cli_would_take_for_a_command_is_refused() {
    assert_eq!(
        line(&scribe(), &DispatchRequest::new("!ls")).unwrap_err(),
        (Kind::Unsupported, "prompt: scribe takes a text that begins with `!` for a command".to_owned())
    );
    let argument = r#"id = "x"
bins = ["x"]
command = { args = ["{prompt}"], prompt = "argument" }"#;
    let bare = Declared::from_toml(argument, "x").unwrap();
    assert_eq!(line(&bare, &DispatchRequest::new("hi")).unwrap(), "x hi");
    assert_eq!(line(&bare, &DispatchRequest::new("--help")).unwrap_err().0, Kind::Unsupported);
    let glued = Declared::from_toml(&argument.replace("{prompt}", "--prompt={prompt}"), "x").unwrap();
    assert_eq!(line(&glued, &DispatchRequest::new("--help")).unwrap(), "x '--prompt=--help'");
    for harness in [bare, glued] {
        Suite::default().assert_conforms(&harness);
    }
}

#[test]
fn output_is_read_by_the_members_that_the_file_names() {
    let reply = transcript(GOOD, 0).read(&scribe(), &[]).0;
    let usage = Usage { input_tokens: Some(5), output_tokens: Some(2), ..Usage::default() };
    assert_eq!(
        (reply.text.as_str(), reply.session_id.as_deref(), reply.model.as_deref(), reply.usage, reply.error),
        ("an answer", Some("s-1"), Some("m"), Some(usage), None)
    );
    let kind = |stdout: &str, status| transcript(stdout, status).read(&scribe(), &[]).0.error.map(|e| e.kind);
    let failed = "{\"type\": \"failed\", \"message\": \"no\", \"http\": 429}\n";
    assert_eq!(kind(failed, 0), Some(Kind::RateLimit));
    assert_eq!(kind("{\"type\": \"failed\", \"message\": \"no\"}\n", 3), Some(Kind::Auth));
    let broken_off = GOOD.rsplit_once("{\"type\": \"done\"").unwrap().0;
    assert_eq!(kind(broken_off, 0), Some(Kind::HarnessError));
    assert_eq!(kind("{\"type\": \"done\"}\n", 0), Some(Kind::EmptyReply));
    assert_eq!(kind("", 3), Some(Kind::Auth));
}

#[test]
fn one_envelope_and_bare_text_are_read_too() {
    let json = r#"id = "x"
bins = ["x"]
command = { args = ["-p", "--json"], prompt = "stdin" }
reader = { kind = "json", read = { text = "out.0", session = "sid", error = "err.msg", total_tokens = "n" } }"#;
    let json = Declared::from_toml(json, "x").unwrap();
    Suite { transcripts: vec![transcript("{\"out\": [\"hi\"], \"n\": 3}", 0)], ..Suite::default() }
        .assert_conforms(&json);
    let read = |stdout: &str| transcript(stdout, 0).read(&json, &[]).0;
    assert_eq!(read("note {}\n{\"out\": [\"hi\"], \"sid\": \"s\"}\n").text, "hi");
    assert_eq!(read("{\"err\": {\"msg\": \"HTTP 401\"}}").error.unwrap().kind, Kind::Auth);
    let text =
        Declared::from_toml("id = \"x\"\nbins = [\"x\"]\n[command]\nargs = []\nprompt = \"stdin\"", "x")
            .unwrap();
    Suite::default().assert_conforms(&text);
    assert_eq!(transcript("hi\n", 0).read(&text, &[]).0.text, "hi");
}

#[test]
fn a_fault_in_the_file_is_told_by_line_and_key() {
    let base = "id = \"x\"\nbins = [\"x\"]\n[command]\nargs = [\"-p\"]\nprompt = \"stdin\"\n";
    for (from, to, wanted) in [
        ("id = \"x\"", "id = \"X y\"", "f.toml: line 1, id: `X y` is not of a-z, 0-9, - and _"),
        ("[\"x\"]", "[]", "f.toml: line 2, bins: no name of a program"),
        ("\"-p\"", "\"{modle}\"", "`{modle}` is no place; did you mean `model`?"),
        ("\"-p\"", "\"a{b\"", "`a{b` has a brace of its own: write it twice"),
        (
            "\"stdin\"",
            "\"argument\"",
            "f.toml: line 4, command.args: the prompt goes by argument, and no argument has {prompt} in it",
        ),
        ("\"stdin\"", "\"pigeon\"", "unknown variant `pigeon`"),
        ("\"-p\"", "\"{tools}\"", "f.toml: line 4, command.args: {tools} belongs to rights.only-tools"),
        ("prompt = \"stdin\"", "prompt = \"stdin\"\nshell = true", "unknown field `shell`"),
        (
            "prompt = \"stdin\"",
            "prompt = \"stdin\"\n[rights.only-tools]\nargs = [\"--none\"]",
            "f.toml: line 6, rights.only-tools: no argument has {tools} in it",
        ),
        (
            "prompt = \"stdin\"",
            "prompt = \"stdin\"\n[reader]\nkind = \"json\"\nread = {}",
            "f.toml: line 6, reader: nothing says where the text is",
        ),
        (
            "bins =",
            "signed_out = [\"no key\", \"\"]\nbins =",
            "f.toml: line 2, signed_out: one of them is empty",
        ),
        (
            "prompt = \"stdin\"",
            "prompt = \"stdin\"\n[status]\nargs = [\"whoami\"]\nsays_in = []\nsays_out = \"out\"\ncovers = \"all\"",
            "f.toml: line 6, status: args, says_in and says_out may not be empty",
        ),
        ("prompt = \"stdin\"", "", "missing field `prompt`"),
    ] {
        let failure = Declared::from_toml(&base.replace(from, to), "f.toml").unwrap_err();
        assert_eq!(failure.kind, Kind::InvalidConfig);
        assert!(
            failure.message.starts_with("f.toml: ") && failure.message.contains(wanted),
            "{}",
            failure.message
        );
        assert!(failure.message.contains("line "), "{}", failure.message);
    }
}
