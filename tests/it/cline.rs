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
    let allowed = DispatchRequest { file_references: true, ..DispatchRequest::new("see @notes.txt") };
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

/// Its plan mode let `python3 -c` write, and its approval is for all tools or none.
#[test]
fn a_limit_is_that_no_tool_runs() {
    let with = |tools: &str| DispatchRequest {
        tools: Some(ToolPolicy::from_text(tools).unwrap()),
        ..DispatchRequest::new("go on")
    };
    let permission =
        |permission| DispatchRequest { permission: Some(permission), ..DispatchRequest::new("go on") };
    for request in [with(""), with("read"), permission(Permission::ReadOnly)] {
        let command = lowered("cline", &request).unwrap().command;
        assert_eq!(args(&command), ["--json", "--auto-approve=false", "--", "go on\n"]);
        let looked = command.checks.iter().any(|check| {
            matches!(check, Check::NoneAbove { names, .. } if names.contains(&"bunfig.toml".into()) && names.contains(&".cline/hooks".into()))
        });
        assert!(looked, "{:?}", command.checks);
    }
    for request in [with("shell"), with("edit"), permission(Permission::Edit)] {
        assert_eq!(refused(&request).0, Kind::Unenforceable, "{request:?}");
    }
    let full = lowered("cline", &permission(Permission::Full)).unwrap().command;
    assert_eq!(args(&full), ["--json", "--auto-approve=true", "--", "go on\n"]);
}

#[test]
fn an_end_with_status_0_and_without_a_word_is_no_answer() {
    let registry = HarnessRegistry::builtin();
    let cline = registry.get("cline").unwrap();
    let read = |stdout: &str| {
        let mut reader = cline.reader(Output::Stream);
        reader.push(stdout.as_bytes(), &mut |_| {});
        reader.finish(&RunEnd::exited(0, ""), &mut |_| {}).error.map(|error| error.kind)
    };
    assert_eq!(read(""), Some(Kind::EmptyReply));
    let aborted = r#"{"type":"run_result","finishReason":"aborted","text":"","model":{"id":"m"}}"#;
    assert_eq!(read(&format!("{aborted}\n")), Some(Kind::HarnessError));
    let refusal = r#"{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","toolCallId":"c","error":"Tool \"editor\" requires approval in a TTY session -- NOT a tool or system failure. Clarify with user before proceeding."}}"#;
    assert_eq!(read(&format!("{refusal}\n{aborted}\n")), Some(Kind::Permission));
}
