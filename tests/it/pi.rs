//! pi: what has to hold in words, and the public cases.

use crate::argv::{args, lowered};
use teamster::lowering::Lowered;
use teamster::reply::RunEnd;
use teamster::testkit::given;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Profile, Reply, Session, lower};

fn pi(request: &DispatchRequest) -> Lowered {
    lowered("pi", request).unwrap()
}

fn read(stdout: &str, stderr: &str, status: i32) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("pi").unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(&RunEnd::exited(status, stderr), &mut |_| {})
}

/// B01: a prompt or a system prompt that begins with a dash arrives byte for byte, and never as an option.
#[test]
fn a_dash_is_never_an_option() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("cases/B01.json")).unwrap();
    for request in cases["requests"].as_array().unwrap() {
        let (request, _) = DispatchRequest::from_json(&request.to_string()).unwrap();
        let command = pi(&request).command;
        assert_eq!(command.stdin.as_deref(), Some(request.prompt.as_str()));
        assert_eq!(command.files[0].content, request.system_prompt.unwrap());
        let wanted = ["--mode", "json", "--offline", "--model", "m-1", "--system-prompt", "{file:system.md}"];
        assert_eq!(args(&command), wanted);
    }
}

/// B06: `@` and `/` in a prompt pull in no file and run no command.
#[test]
fn at_and_slash_are_text() {
    for prompt in ["@/etc/hostname failed", "Write to jane@example.test please", "see @notes.txt"] {
        assert_eq!(pi(&DispatchRequest::new(prompt)).command.stdin.as_deref(), Some(prompt));
    }
    let command = pi(&DispatchRequest::new("/foo:bar rename the field")).command;
    assert_eq!(args(&command)[3..], ["--", "\n/foo:bar rename the field"]);
    assert_eq!(command.stdin, None);
    let large = DispatchRequest::new(format!("/{}", "x".repeat(131_071)));
    let refused = lowered("pi", &large).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("prompt")), (Kind::ArgTooLong, true));
}

/// White space that pi would trim on stdin goes as an argument, and a word with `@` never does.
#[test]
fn white_space_around_a_prompt_arrives() {
    for (prompt, stdin, argument) in [
        ("Fix it\n", Some("Fix it"), Some("\n")),
        ("@notes.txt\t\r\n", Some("@notes.txt"), Some("\t\r\n")),
        ("\n Fix it ", None, Some("\n Fix it ")),
        (" @notes.txt", None, Some(" @notes.txt")),
        ("\u{feff}mark", None, Some("\u{feff}mark")),
        ("end\u{85}", Some("end\u{85}"), None),
    ] {
        let command = pi(&DispatchRequest::new(prompt)).command;
        assert_eq!(command.stdin.as_deref(), stdin, "{prompt:?}");
        assert_eq!(args(&command).get(4).map(String::as_str), argument, "{prompt:?}");
        let registry = HarnessRegistry::builtin();
        let received = registry.get("pi").unwrap().stand_in().unwrap().receive(&given(&command));
        assert_eq!(received.map_err(|said| said.stderr).unwrap().prompt, prompt);
    }
    let large = DispatchRequest::new(format!("{}\n", "x".repeat(200_000)));
    assert_eq!(pi(&large).command.stdin.map(|stdin| stdin.len()), Some(200_000));
    for blank in [" \t ", "\u{feff}", "\u{2028}\n"] {
        assert_eq!(lowered("pi", &DispatchRequest::new(blank)).unwrap_err().kind, Kind::InvalidRequest);
    }
}

/// A byte order mark is taken off a file by pi, so it is there twice.
#[test]
fn a_system_prompt_is_a_file_with_its_mark() {
    let with = |system: &str| DispatchRequest {
        system_prompt: Some(system.to_owned()),
        ..DispatchRequest::new("go")
    };
    assert_eq!(pi(&with("/etc/hostname")).command.files[0].content, "/etc/hostname");
    assert_eq!(pi(&with("\u{feff}mark")).command.files[0].content, "\u{feff}\u{feff}mark");
}

/// B08: a list is a limit: what is not in it is not there, whatever the permission.
#[test]
fn a_list_is_a_limit() {
    let (request, _) = DispatchRequest::from_json(
        r#"{"prompt": "x", "tools": ["read", "grep", "find"], "permission": "full"}"#,
    )
    .unwrap();
    let wanted = ["--no-approve", "--no-mcp", "--tools", "read,grep,find,ls"];
    assert_eq!(args(&pi(&request).command)[3..], wanted);
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") };
    assert_eq!(args(&pi(&read_only).command)[3..], wanted);
    let resumed = DispatchRequest {
        session: Some(Session::Resume("0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88".into())),
        ..read_only
    };
    assert_eq!(args(&pi(&resumed).command)[3..7], wanted);
}

/// pi reaches every file with `edit` and `write`: the permission for the workspace alone cannot be held.
#[test]
fn edits_of_the_workspace_alone_are_refused() {
    let edit = DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("x") };
    assert_eq!(lowered("pi", &edit).unwrap_err().kind, Kind::Unenforceable);
    let allowed = pi(&DispatchRequest { allow_unenforced: true, ..edit });
    assert_eq!(args(&allowed.command)[6], "read,grep,find,ls,edit,write");
}

/// The arguments of a profile raise nothing under a restriction.
#[test]
fn a_profile_cannot_raise_rights() {
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") };
    let kind = |list: &[&str]| {
        let profile =
            Profile { args: list.iter().map(|arg| (*arg).to_owned()).collect(), ..Profile::default() };
        lower(HarnessRegistry::builtin().get("pi").unwrap(), &read_only, &profile).map_err(|e| e.kind).err()
    };
    for raises in [&["--approve"][..], &["-a"], &["--tools", "+bash"], &["-e", "x.ts"], &["--plan"]] {
        assert_eq!(kind(raises), Some(Kind::Unenforceable), "{raises:?}");
    }
    for fights in [&["--mode", "text"][..], &["-c"], &["--resume"], &["a prompt"], &["@file"]] {
        assert_eq!(kind(fights), Some(Kind::InvalidConfig), "{fights:?}");
    }
    assert_eq!(kind(&["--provider", "openai", "--no-skills"]), None);
}

/// B25: nothing on standard output and status 0 is never a success.
#[test]
fn nothing_with_status_0_is_no_success() {
    let other = "Session found in different project: /repo\nFork this session into current directory? [y/N] ";
    assert_eq!(read("", other, 0).error.map(|e| e.kind), Some(Kind::SessionNotFound));
    assert_eq!(read("", "", 0).error.map(|e| e.kind), Some(Kind::EmptyReply));
    let session = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";
    assert_eq!(read(session, "", 0).error.map(|e| e.kind), Some(Kind::EmptyReply));
    let model = "Error: Model \"acme/model-x\" not found. Use --list-models to see available models.\n";
    assert_eq!(read("", model, 1).error.map(|e| e.kind), Some(Kind::InvalidRequest));
}

/// A good message that another try follows, or that a cut stream ends with, is not the end.
#[test]
fn only_the_end_makes_an_answer() {
    let line = |reason: &str| {
        format!(
            "{{\"type\":\"message_end\",\"message\":{{\"role\":\"assistant\",\"stopReason\":\"{reason}\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"hi\"}}]}}}}\n"
        )
    };
    let settled = "{\"type\":\"agent_settled\",\"aborted\":false}\n";
    assert_eq!(read(&(line("stop") + settled), "", 0).error, None);
    assert!(read(&line("stop"), "", 0).error.is_some());
    assert!(read(&(line("toolUse") + settled), "", 0).error.is_some());
    assert!(read(&(line("aborted") + settled), "", 0).error.is_some());
    assert!(read(&(line("stop") + settled), "", 1).error.is_some());
    let again = "{\"type\":\"agent_end\",\"willRetry\":true}\n";
    assert!(read(&(line("error") + again), "", 0).error.is_some());
}
