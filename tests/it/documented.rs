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
        ("augment", "auggie"),
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
    for (id, flag) in [("cursor", "--force"), ("amazonq", "--trust-all-tools"), ("kiro", "--trust-all-tools")]
    {
        assert!(args(&lowered(id, &full).unwrap().command).contains(&flag.to_owned()), "{id}");
    }
    // It would lift what the user's settings refuse.
    assert!(
        !args(&lowered("amp", &full).unwrap().command).iter().any(|arg| arg.starts_with("--dangerously"))
    );
}

/// `--ask` is a sentence before the prompt, and nobody has seen that a denied tool stays away.
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
fn goose_is_asked_for_full_autonomy_and_for_nothing_less() {
    let full = lowered("goose", &request(r#"{"prompt": "x", "permission": "full"}"#)).unwrap().command;
    assert_eq!(full.env.to_vec(), [("GOOSE_MODE".into(), "auto".into())]);
    for text in [
        r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#,
        r#"{"prompt": "x", "permission": "read-only"}"#,
        r#"{"prompt": "x", "permission": "edit", "env": {"GOOSE_MODE": "chat"}}"#,
    ] {
        assert_eq!(lowered("goose", &request(text)).unwrap_err().kind, Kind::Unenforceable, "{text}");
    }
}

#[test]
fn goose_takes_its_prompt_on_stdin_so_that_the_system_prompt_counts() {
    let command =
        lowered("goose", &request(r#"{"prompt": "x", "system_prompt": "Be brief."}"#)).unwrap().command;
    let args = args(&command);
    assert!(args.contains(&"--system=Be brief.".to_owned()) && args.contains(&"--instructions=-".to_owned()));
    assert_eq!((command.stdin.as_deref(), command.files.len()), (Some("x"), 0));
}

/// On stdin amp cuts white space at the end, and puts it into a fence beside a text of `--execute`.
#[test]
fn amp_gets_white_space_at_the_end_as_an_argument() {
    let command = lowered("amp", &DispatchRequest::new("--x\n")).unwrap().command;
    assert!(args(&command).contains(&"--execute=--x\n".to_owned()));
    assert_eq!(command.stdin, None);
    let command = lowered("amp", &DispatchRequest::new("\n--x")).unwrap().command;
    assert!(args(&command).contains(&"--execute".to_owned()));
    assert_eq!(command.stdin.as_deref(), Some("\n--x"));
}

/// Without a key amp waits for ever: the line that says so ends the run.
#[test]
fn amp_without_a_key_is_ended_as_not_signed_in() {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("amp").unwrap().reader(Output::Stream);
    let said = include_bytes!("../../harnesses/amp/transcripts/02_noauth_stream-json.stdout");
    reader.push(said, &mut |_| {});
    assert!(reader.is_complete());
    let end = RunEnd { lingered: true, ended_by_us: true, ..RunEnd::exited(143, "") };
    assert_eq!(reader.finish(&end, &mut |_| {}).error.map(|e| e.kind), Some(Kind::Auth));
    let agent = "{\"type\":\"assistant\",\"message\":{\"content\":\"No API key found\"}}\n";
    let mut reader = registry.get("amp").unwrap().reader(Output::Stream);
    reader.push(agent.as_bytes(), &mut |_| {});
    assert!(!reader.is_complete());
}

/// Their answers are Markdown put into a terminal's form, which changes values.
#[test]
fn q_and_kiro_give_no_values() {
    for id in ["amazonq", "kiro"] {
        let refused = lowered(id, &request(r#"{"prompt": "x", "schema": true}"#)).unwrap_err();
        assert_eq!(
            (refused.kind, refused.message.starts_with("schema: ")),
            (Kind::Unsupported, true),
            "{id}"
        );
    }
}

/// The beginning of an id may be that of another session.
#[test]
fn crush_goes_on_with_whole_ids_alone() {
    let asked = request(r#"{"prompt": "x", "session": {"resume": "0b7f"}}"#);
    assert_eq!(lowered("crush", &asked).unwrap_err().kind, Kind::InvalidRequest);
}

#[test]
fn a_prompt_that_would_be_a_command_is_refused() {
    for (id, prompts) in [
        ("cursor", &["/quit", "-f do it", "--force", "& fix it", "login", "create-chat"][..]),
        ("auggie", &["/review", " /review", " padded", "line\n"]),
        ("amp", &["/review", "$ id"]),
        ("goose", &["/compact"]),
        ("amazonq", &["/quit", "!rm -rf /", "@prompt", "\n!id", " padded", "line\n", "un\u{200b}seen"]),
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
    let monthly =
        RunEnd::exited(0, "\u{1b}[33mMonthly request limit reached\u{1b}[0m - The limits reset on 01/01.\n");
    assert_eq!(read("amazonq", "> half an answer\n", &monthly).error.map(|e| e.kind), Some(Kind::Quota));
    let goose = |text: &str| {
        let part = serde_json::json!([{"type": "text", "text": text}]);
        let said = serde_json::json!({"type": "message", "message": {"id": "1", "role": "assistant", "content": part}});
        read("goose", &format!("{said}\n{{\"type\":\"complete\"}}\n"), &RunEnd::exited(0, ""))
            .error
            .map(|e| e.kind)
    };
    let said = "Ran into this error: Request failed with status: 429.\n\nPlease retry if you think this is a transient or \
                recoverable error.";
    assert_eq!((goose(said), goose("Ran into this error: it is fixed.")), (Some(Kind::RateLimit), None));
    let turns = "Half of it.\nI've reached the maximum number of actions I can do without user input. Would you like me to \
                 continue?";
    assert_eq!(goose(turns), Some(Kind::MaxTurns));
    let error = "{\"type\":\"error\",\"error\":\"status 401\"}\n{\"type\":\"complete\"}\n";
    assert_eq!(read("goose", error, &RunEnd::exited(0, "")).error.map(|e| e.kind), Some(Kind::Auth));
    let max =
        r#"{"type":"result","result":"half","is_error":true,"subtype":"error_max_turns","session_id":"s"}"#;
    assert_eq!(read("auggie", max, &RunEnd::exited(0, "")).error.map(|e| e.kind), Some(Kind::MaxTurns));
    let marked = read("kiro", "\u{1b}[38;5;141m> \u{1b}[0mhello\n", &RunEnd::exited(0, ""));
    assert_eq!((marked.text.as_str(), marked.error), ("hello", None));
}

#[test]
fn what_a_cli_says_of_its_failure_has_its_kind() {
    for (id, stderr, kind) in [
        ("amazonq", "error: Tool approval required but --no-interactive was specified.\n", Kind::Permission),
        (
            "kiro",
            "\u{1b}[31merror:\u{1b}[0m You are not logged in, please log in with kiro-cli login\n",
            Kind::Auth,
        ),
        (
            "amazonq",
            " \u{26a0}\u{fe0f}  Amazon Q rate limit reached:\n    Request quota exceeded.\n",
            Kind::RateLimit,
        ),
        ("auggie", "\u{274c} No auth provided. Please log in with `auggie login`\n", Kind::Auth),
    ] {
        let reply = read(id, "", &RunEnd::exited(1, stderr));
        assert_eq!(reply.error.map(|e| e.kind), Some(kind), "{id}: {stderr}");
    }
}

/// Pieces of one message are one text, the answer is what follows the last tool.
#[test]
fn goose_says_its_answer_in_pieces() {
    let line = |id: &str, part: serde_json::Value| {
        let message = serde_json::json!({"id": id, "role": "assistant", "content": [part]});
        format!("{}\n", serde_json::json!({"type": "message", "message": message}))
    };
    let text = |text: &str| serde_json::json!({"type": "text", "text": text});
    let call =
        serde_json::json!({"status": "success", "value": {"name": "developer__shell", "arguments": {}}});
    let done = serde_json::json!({"status": "success", "value": []});
    let said = [
        line("1", text("Let me look.")),
        line("1", serde_json::json!({"type": "toolRequest", "id": "t", "toolCall": call})),
        line("2", serde_json::json!({"type": "toolResponse", "id": "t", "toolResult": done})),
        line("3", text("It is ")),
        line("3", text("4.")),
        "{\"type\":\"complete\",\"total_tokens\":7}\n".to_owned(),
    ];
    let reply = read("goose", &said.concat(), &RunEnd::exited(0, ""));
    assert_eq!((reply.text.as_str(), reply.error), ("It is 4.", None));
    let cut = read("goose", &said[..5].concat(), &RunEnd::exited(0, ""));
    assert!(cut.error.is_some(), "a stream without its end is no answer");
}
