//! Harnesses of CLIs that were only read about: they claim no run, and refuse what nothing holds.

use crate::argv::{args, lowered};
use teamster::harness::Evidence;
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Reply};

const ALL: [&str; 7] = ["cursor", "amp", "auggie", "goose", "crush", "amazonq", "kiro"];

fn request(text: &str) -> DispatchRequest {
    DispatchRequest::from_json(text).unwrap().0
}

fn read(harness: &str, stdout: &str, end: &RunEnd) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get(harness).unwrap().reader(Output::Text);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(end, &mut |_| {})
}

#[test]
fn nothing_that_was_read_is_told_as_run() {
    for id in ALL {
        let registry = HarnessRegistry::builtin();
        let facts = registry.get(id).unwrap().facts();
        assert_eq!((facts.evidence, facts.verified.len()), (Evidence::Documented, 0), "{id}");
    }
}

#[test]
fn aliases_resolve() {
    for (alias, id) in [
        ("cursor-agent", "cursor"),
        ("q", "amazonq"),
        ("amazon-q", "amazonq"),
        ("kiro-cli", "kiro"),
        ("ampcode", "amp"),
    ] {
        assert_eq!(HarnessRegistry::builtin().get(alias).unwrap().facts().id, id);
    }
}

#[test]
fn a_restriction_that_no_flag_holds_is_refused_and_never_raises() {
    for id in ["cursor", "amp", "goose", "crush", "amazonq", "kiro"] {
        for text in [
            r#"{"prompt": "x", "permission": "read-only"}"#,
            r#"{"prompt": "x", "permission": "edit"}"#,
            r#"{"prompt": "x", "tools": ""}"#,
            r#"{"prompt": "x", "tools": {}}"#,
            r#"{"prompt": "x", "tools": "shell", "permission": "full"}"#,
            r#"{"prompt": "x", "tools": {"allow": ["*"], "deny": ["shell"]}}"#,
        ] {
            let asked = request(text);
            assert_eq!(lowered(id, &asked).unwrap_err().kind, Kind::Unenforceable, "{id} {text}");
            let all_the_same = lowered(id, &DispatchRequest { allow_unenforced: true, ..asked }).unwrap();
            let bare = lowered(id, &DispatchRequest::new("x")).unwrap();
            assert_eq!(all_the_same.command, bare.command, "{id} {text}");
            assert!(all_the_same.report.dropped().next().is_some());
        }
    }
}

#[test]
fn full_autonomy_is_the_flag_of_the_cli() {
    let full = DispatchRequest { permission: Some(Permission::Full), ..DispatchRequest::new("x") };
    for (id, flag) in [
        ("cursor", "--force"),
        ("amp", "--dangerously-allow-all"),
        ("amazonq", "--trust-all-tools"),
        ("kiro", "--trust-all-tools"),
    ] {
        assert!(args(&lowered(id, &full).unwrap().command).contains(&flag.to_owned()), "{id}");
    }
}

/// It has flags that say so (read); nobody has seen that they hold.
#[test]
fn auggie_is_not_taken_at_its_word() {
    for text in [
        r#"{"prompt": "x", "permission": "read-only"}"#,
        r#"{"prompt": "x", "tools": []}"#,
        r#"{"prompt": "x", "tools": {"allow": ["*"], "deny": ["shell"]}}"#,
    ] {
        assert_eq!(lowered("auggie", &request(text)).unwrap_err().kind, Kind::Unenforceable);
    }
}

#[test]
fn goose_without_tools_is_its_chat() {
    let nothing = request(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#);
    let command = lowered("goose", &nothing).unwrap().command;
    assert!(command.env.iter().any(|(name, value)| name == "GOOSE_MODE" && value.shown() == "chat"));
    let sets = request(r#"{"prompt": "x", "tools": {"deny": ["*"]}, "env": {"GOOSE_MODE": "auto"}}"#);
    assert_eq!(lowered("goose", &sets).unwrap_err().kind, Kind::Unenforceable);
}

#[test]
fn a_prompt_that_would_be_a_command_is_refused() {
    for (id, prompts) in [
        ("cursor", &["/quit", "-f do it", "--force"][..]),
        ("auggie", &["/review", " /review"]),
        ("goose", &["/compact"]),
        ("amazonq", &["/quit", "!rm -rf /", "@prompt", "\n!id", " padded", "line\n"]),
        ("kiro", &["/quit", "!id", "@prompt", "line\n"]),
    ] {
        for prompt in prompts {
            let refused = lowered(id, &DispatchRequest::new(*prompt)).unwrap_err();
            assert_eq!((refused.kind, refused.message.contains("prompt")), (Kind::Unsupported, true), "{id}");
        }
    }
    let dash = lowered("crush", &DispatchRequest::new("--yolo")).unwrap().command;
    assert_eq!(args(&dash), ["run", "--quiet", "--", "--yolo"]);
}

#[test]
fn nothing_with_status_0_is_no_success() {
    for id in ALL {
        let empty = read(id, "", &RunEnd::exited(0, ""));
        assert_eq!(empty.error.map(|e| e.kind), Some(Kind::EmptyReply), "{id}");
    }
}

#[test]
fn failures_that_come_with_status_0_are_told_apart() {
    let quota = RunEnd::exited(0, "Monthly request limit reached\n");
    assert_eq!(read("amazonq", "", &quota).error.map(|e| e.kind), Some(Kind::Quota));
    let said = "Ran into this error: Request failed with status: 429.\n\nPlease retry if you think this is a transient or \
                recoverable error.\n";
    assert_eq!(read("goose", said, &RunEnd::exited(0, "")).error.map(|e| e.kind), Some(Kind::RateLimit));
    let asks = "Visit https://ampcode.com/auth/cli-login to sign in\n";
    let ended = RunEnd { ended_by_us: true, ..RunEnd::exited(143, "") };
    assert_eq!(read("amp", asks, &ended).error.map(|e| e.kind), Some(Kind::Auth));
    let marked = read("kiro", "\u{1b}[38;5;141m> \u{1b}[0mhello\n", &RunEnd::exited(0, ""));
    assert_eq!((marked.text.as_str(), marked.error), ("hello", None));
}
