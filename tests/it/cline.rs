//! Cline: what its builder and its reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, ToolPolicy};

fn refused(request: &DispatchRequest) -> (Kind, String) {
    lowered("cline", request).map(|l| args(&l.command)).map_err(|e| (e.kind, e.message)).unwrap_err()
}

/// `history` is a sub-command, also after `--`.
#[test]
fn a_prompt_of_one_word_is_no_sub_command() {
    let command = lowered("cline", &DispatchRequest::new("history")).unwrap().command;
    assert_eq!(args(&command), ["--json", "--", "history\n"]);
}

#[test]
fn what_cline_would_change_in_a_prompt_is_refused() {
    for prompt in ["/deploy now", " blanks", "blanks\n", "ask @someone about it"] {
        let (kind, message) = refused(&DispatchRequest::new(prompt));
        assert_eq!(kind, Kind::Unsupported, "{prompt:?}");
        assert!(message.starts_with("prompt: "), "{message}");
    }
    let allowed = DispatchRequest { file_references: true, ..DispatchRequest::new("see @./notes.txt") };
    assert!(lowered("cline", &allowed).is_ok());
    assert!(lowered("cline", &DispatchRequest::new("mail jane@example.com")).is_ok());
}

/// The rest comes on stdin, behind the blank line that cline puts there.
#[test]
fn a_large_prompt_is_cut_at_a_blank_line_that_cline_puts_there_again() {
    let (head, tail) = ("two words\n\n".to_owned() + &"a ".repeat(30_000) + "a", "b ".repeat(60_000) + "b");
    let command = lowered("cline", &DispatchRequest::new(format!("{head}\n\n{tail}"))).unwrap().command;
    assert_eq!((args(&command).last(), command.stdin.as_ref()), (Some(&head), Some(&tail)));
    let (kind, message) = refused(&DispatchRequest::new("c ".repeat(100_000) + "c"));
    assert_eq!(kind, Kind::ArgTooLong);
    assert!(message.starts_with("prompt: 200001 bytes"), "{message}");
}

/// Its plan mode let `python3 -c` write, and an approval of none refuses reading too: tools are taken away.
#[test]
fn a_limit_is_a_list_of_tools_that_are_not_there() {
    let with = |tools: &str| DispatchRequest {
        tools: Some(ToolPolicy::from_text(tools).unwrap()),
        ..DispatchRequest::new("go on")
    };
    let permission =
        |permission| DispatchRequest { permission: Some(permission), ..DispatchRequest::new("go on") };
    let disabled = |request: &DispatchRequest, tool: &str| {
        let command = lowered("cline", request).unwrap().command;
        let file = command.files.iter().find(|file| file.name == "settings.json").unwrap();
        let settings: serde_json::Value = serde_json::from_str(&file.content).unwrap();
        assert_eq!(args(&command), ["--json", "--act", "--auto-approve=true", "--", "go on"]);
        settings["disabledTools"].as_array().unwrap().iter().any(|own| own == tool)
    };
    for (request, read, edit, shell) in [
        (with(""), false, true, true),
        (with("read"), false, true, true),
        (permission(Permission::ReadOnly), false, true, true),
        (with("shell"), false, true, false),
        (with("edit"), false, false, true),
    ] {
        let found = ["read_files", "editor", "run_commands"].map(|tool| disabled(&request, tool));
        assert_eq!(found, [read, edit, shell], "{request:?}");
        assert!(disabled(&request, "spawn_agent") && disabled(&request, "team_run_task"));
    }
    assert_eq!(refused(&permission(Permission::Edit)).0, Kind::Unenforceable);
    let full = lowered("cline", &permission(Permission::Full)).unwrap().command;
    assert_eq!(args(&full), ["--json", "--act", "--auto-approve=true", "--", "go on"]);
}

/// Programs of the repository, and what the user's own settings forbid, which ours would stand in for.
#[test]
fn what_no_list_holds_is_looked_for() {
    let request = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go on") };
    let checks = lowered("cline", &request).unwrap().command.checks;
    let programs = checks.iter().any(
        |check| matches!(check, Check::NoneAbove { names, .. } if names.contains(&"bunfig.toml".into())),
    );
    let settings = checks.iter().any(|check| matches!(check, Check::NoTextsIn { texts, .. } if texts.contains(&"\"disabledTools\"".into())));
    assert!(programs && settings, "{checks:?}");
}

#[test]
fn an_end_with_status_0_and_without_a_word_is_no_answer() {
    let registry = HarnessRegistry::builtin();
    let cline = registry.get("cline").unwrap();
    let read = |stdout: &str| {
        let mut reader = cline.reader(Output::Stream);
        reader.push(stdout.as_bytes(), &mut |_| {});
        let reply = reader.finish(&RunEnd::exited(0, ""), &mut |_| {}).voided_by_refusals();
        reply.error.map(|error| error.kind)
    };
    assert_eq!(read(""), Some(Kind::EmptyReply));
    let aborted = r#"{"type":"run_result","finishReason":"aborted","text":"","model":{"id":"m"}}"#;
    assert_eq!(read(&format!("{aborted}\n")), Some(Kind::HarnessError));
    let refusal = r#"{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","toolCallId":"c","output":{"error":"Tool \"editor\" requires approval in a TTY session -- NOT a tool or system failure."},"error":"x"}}"#;
    assert_eq!(read(&format!("{refusal}\n{aborted}\n")), Some(Kind::Permission));
}
