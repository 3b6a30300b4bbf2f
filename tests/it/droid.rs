//! Factory Droid: what has to hold in words.

use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Profile, Reply, Session, lower};

fn words(request: &str) -> Vec<String> {
    let (request, _) = DispatchRequest::from_json(request).unwrap();
    args(&lowered("droid", &request).unwrap().command)[2..].to_vec()
}

fn read(stdout: &str, stderr: &str, status: i32) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("droid").unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(&RunEnd::exited(status, stderr), &mut |_| {})
}

fn read_only() -> DispatchRequest {
    DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") }
}

const SESSION: &str = "3f0e6f1c-9f57-4b3a-8f57-0123456789ab";

/// The level of `--auto` is what the model says of itself, so it never stands for a limit.
#[test]
fn a_list_is_the_limit_and_no_level_is() {
    let reading = words(r#"{"prompt": "x", "permission": "read-only"}"#);
    assert_eq!(reading, ["--only-tools=Read,LS,Grep,Glob"]);
    let shell = words(r#"{"prompt": "x", "tools": ["shell"]}"#);
    assert_eq!(shell, ["--auto=high", "--only-tools=Read,LS,Grep,Glob,Execute"]);
    let edits = words(r#"{"prompt": "x", "tools": {"allow": ["edit"], "deny": ["shell"]}}"#);
    assert_eq!(edits, ["--only-tools=Read,LS,Grep,Glob,Edit,Create,ApplyPatch"]);
    assert_eq!(words(r#"{"prompt": "x", "permission": "full"}"#), ["--auto=high"]);
    assert_eq!(words(r#"{"prompt": "x"}"#), [""; 0]);
}

/// An empty list, or one of commas, is no limit to droid: one of no tool has a name in it.
#[test]
fn a_list_of_nothing_is_not_empty() {
    assert_eq!(words(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#), ["--only-tools=EndFeatureRun"]);
}

/// Sub-agents have tools of their own, so they go where anything is taken away.
#[test]
fn everything_but_a_tool_has_no_sub_agents() {
    let held = words(r#"{"prompt": "x", "tools": {"allow": ["*"], "deny": ["shell", "mcp(mine/poke)"]}}"#);
    assert_eq!(held[0], "--auto=high");
    let removed: Vec<&str> = held[1].strip_prefix("--remove-tools=").unwrap().split(',').collect();
    for tool in ["Execute", "Task", "Script", "StartMissionRun", "MCP:mine/poke"] {
        assert!(removed.contains(&tool), "{held:?}");
    }
}

/// One tool of a server, by droid's own selector.
#[test]
fn a_tool_of_a_server_is_named() {
    let held = words(r#"{"prompt": "x", "tools": ["mcp(mine/poke)"]}"#);
    assert_eq!(held, ["--auto=high", "--only-tools=Read,LS,Grep,Glob,MCP:mine/poke"]);
}

/// `Create` and `Edit` write anywhere.
#[test]
fn edit_is_refused() {
    let edit = DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("x") };
    assert_eq!(lowered("droid", &edit).unwrap_err().kind, Kind::Unenforceable);
}

/// What a repository says in `.factory` runs, and sends requests elsewhere: a run with limits needs it away.
#[test]
fn settings_of_a_repository_are_looked_for() {
    let command = lowered("droid", &read_only()).unwrap().command;
    let [Check::NoneAbove { names, .. }] = &command.checks[..] else { panic!("{:?}", command.checks) };
    for name in ["settings.json", "settings.local.json", "hooks.json", "hooks", "mcp.json"] {
        assert!(names.iter().any(|own| own.strip_prefix(".factory/") == Some(name)), "{names:?}");
    }
    assert!(lowered("droid", &DispatchRequest::new("x")).unwrap().command.checks.is_empty());
}

/// B06: a command of the repository is a program. White space and more of the `/` are cut off before it.
#[test]
fn a_prompt_is_no_command() {
    for command in ["/run", " /run", "\n\t/run x", "//run", "\u{feff}/run"] {
        let refused = lowered("droid", &DispatchRequest::new(command)).unwrap_err();
        assert_eq!((refused.kind, refused.message.starts_with("prompt:")), (Kind::Unsupported, true));
    }
    for text in ["see /run", "- /run", "!run", "\n--help \n"] {
        let command = lowered("droid", &DispatchRequest::new(text)).unwrap().command;
        assert_eq!((command.stdin.as_deref(), args(&command).len()), (Some(text), 2));
    }
}

/// B06: what an `@path` names would go to the model: the run is refused where there is such a file.
#[test]
fn an_at_sign_pulls_in_no_file() {
    let paths = |request: &DispatchRequest| {
        let checks = lowered("droid", request).unwrap().command.checks.into_iter();
        let paths = checks.filter_map(|check| match check {
            Check::NoSuchPath { path, field } => Some(format!("{field} {path}")),
            _ => None,
        });
        paths.collect::<Vec<_>>()
    };
    let of = |prompt: &str| paths(&DispatchRequest::new(prompt));
    assert_eq!(
        of("see @notes.txt, or <@a/b.md>: or @'c d'"),
        ["notes.txt", "a/b.md", "c d"].map(|p| format!("prompt {p}"))
    );
    assert_eq!(of("jane@example.test or x-@y, _@z or @"), [""; 0]);
    let system = Some("You are a parrot.".to_owned());
    let with = DispatchRequest { system_prompt: system, ..DispatchRequest::new("@x") };
    assert_eq!(paths(&with), ["prompt x"]);
    let allowed = DispatchRequest { file_references: true, ..DispatchRequest::new("@x") };
    assert_eq!(paths(&allowed), [""; 0]);
}

/// The arguments of a profile raise nothing under a restriction.
#[test]
fn a_profile_cannot_raise_rights() {
    let kind = |list: &[&str]| {
        let profile =
            Profile { args: list.iter().map(|arg| (*arg).to_owned()).collect(), ..Profile::default() };
        let registry = HarnessRegistry::builtin();
        lower(registry.get("droid").unwrap(), &read_only(), &profile).map_err(|e| e.kind).err()
    };
    for raises in [
        &["--auto", "high"][..],
        &["--skip-permissions-unsafe"],
        &["--add-tools=Execute"],
        &["--only-tools", ""],
        &["--settings", "x.json"],
        &["--mission"],
        &["-w"],
    ] {
        assert_eq!(kind(raises), Some(Kind::Unenforceable), "{raises:?}");
    }
    for fights in [&["-o", "text"][..], &["-s", SESSION], &["--cwd=/"], &["-f", "x"], &["a prompt"]] {
        assert_eq!(kind(fights), Some(Kind::InvalidConfig), "{fights:?}");
    }
    assert_eq!(kind(&["--tag", "x", "--disable-builtin-skills"]), None);
}

/// `--session-id` asks a server for what is kept here. A fork has the rights of its own flags.
#[test]
fn a_session_goes_on_as_a_fork_with_its_limits() {
    let session = Some(Session::Resume(SESSION.to_owned()));
    let command = lowered("droid", &DispatchRequest { session, ..read_only() }).unwrap().command;
    let expected = ["--only-tools=Read,LS,Grep,Glob".to_owned(), format!("--fork={SESSION}")];
    assert_eq!(args(&command)[2..], expected);
    let corrects = read_only().correcting(SESSION, "again".to_owned());
    assert_eq!(args(&lowered("droid", &corrects).unwrap().command)[2..], expected);
    let title = Some(Session::Resume("last".to_owned()));
    let refused = lowered("droid", &DispatchRequest { session: title, ..read_only() }).unwrap_err();
    assert_eq!(refused.kind, Kind::InvalidRequest);
}

const BEGIN: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}\n";
const SAID: &str = "{\"type\":\"message\",\"role\":\"assistant\",\"text\":\"hi\"}\n";
const END: &str = "{\"type\":\"completion\",\"finalText\":\"hi\"}\n";

/// A signal ends it with status 0: the last event alone is a good end.
#[test]
fn status_0_is_no_success() {
    let whole = read(&[BEGIN, SAID, END].concat(), "", 0);
    assert_eq!((whole.text.as_str(), whole.error), ("hi", None));
    for cut in ["", BEGIN, &[BEGIN, SAID].concat()] {
        assert!(read(cut, "", 0).error.is_some(), "{cut}");
    }
    let signal = read(&[BEGIN, SAID].concat(), "", 0).error.map(|e| e.kind);
    assert_eq!(signal, Some(Kind::HarnessError));
    assert!(read(&[BEGIN, SAID, END].concat(), "", 1).error.is_some());
    let blank = read(&[BEGIN, "{\"type\":\"completion\",\"finalText\":\" \"}\n"].concat(), "", 0);
    assert_eq!(blank.error.map(|e| e.kind), Some(Kind::EmptyReply));
}

/// At the limit of its output the model is let go on: both messages are the answer, byte for byte. What stands
/// around tools is none of it.
#[test]
fn an_answer_in_two_messages_is_whole() {
    let said = |text: &str| format!("{{\"type\":\"message\",\"role\":\"assistant\",\"text\":\"{text}\"}}\n");
    let end = "{\"type\":\"completion\",\"finalText\":\"and the rest\"}\n";
    let whole = read(&[BEGIN, &said(" Half"), &said(" and the rest "), end].concat(), "", 0);
    assert_eq!((whole.text.as_str(), whole.error), (" Half and the rest ", None));
    for between in [
        "{\"type\":\"tool_call\",\"id\":\"1\",\"toolName\":\"Read\"}\n",
        "{\"type\":\"message\",\"role\":\"user\",\"text\":\"Background task completed.\"}\n",
    ] {
        let last = read(&[BEGIN, &said("Wait"), between, &said("and the rest"), end].concat(), "", 0);
        assert_eq!(last.text, "and the rest", "{between}");
    }
}

/// The cause stands ahead of `Exec failed`; words of the agent are none.
#[test]
fn the_first_error_tells_the_kind() {
    let error = |source: &str, said: &str| {
        format!("{{\"type\":\"error\",\"source\":\"{source}\",\"message\":\"{said}\"}}\n")
    };
    let kind = |said: &str| {
        let stdout = [BEGIN, SAID, &error("agent_loop", said), &error("cli", "Exec failed")].concat();
        read(&stdout, "", 1).error.map(|e| e.kind)
    };
    assert_eq!(kind("401 Incorrect API key"), Some(Kind::Auth));
    assert_eq!(kind("429 slow down"), Some(Kind::RateLimit));
    assert_eq!(kind("429 You exceeded your current quota"), Some(Kind::Quota));
    assert_eq!(kind("Exec ended early: insufficient permission to proceed."), Some(Kind::Permission));
    assert_eq!(kind("no luck with 401 files"), Some(Kind::HarnessError));
}
