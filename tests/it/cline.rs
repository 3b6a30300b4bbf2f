//! Cline: what its builder and its reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use teamster::command::{Check, Command};
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Reply, Session, ToolPolicy};

fn read(stdout: &str, end: &RunEnd) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("cline").unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(end, &mut |_| {})
}

fn restricted() -> Command {
    let request = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go on") };
    lowered("cline", &request).unwrap().command
}

fn variable(command: &Command, name: &str) -> Option<String> {
    command.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.shown().into_owned())
}

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
    let kind = |stdout: &str| read(stdout, &RunEnd::exited(0, "")).voided_by_refusals().error.map(|e| e.kind);
    let aborted = r#"{"type":"run_result","finishReason":"aborted","text":"","model":{"id":"m"}}"#;
    let refusal = r#"{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","toolCallId":"c","output":{"error":"Tool \"editor\" requires approval in a TTY session -- NOT a tool or system failure."},"error":"x"}}"#;
    assert_eq!(kind(""), Some(Kind::EmptyReply));
    assert_eq!(kind(&format!("{aborted}\n")), Some(Kind::HarnessError));
    assert_eq!(kind(&format!("{refusal}\n{aborted}\n")), Some(Kind::Permission));
}

/// Git reads the working directory's own settings when cline starts.
#[test]
fn git_runs_nothing_that_a_repository_names() {
    let command = restricted();
    assert_eq!(variable(&command, "GIT_CONFIG_KEY_0").as_deref(), Some("core.fsmonitor"));
    assert_eq!(variable(&command, "GIT_CONFIG_VALUE_1").as_deref(), Some("/dev/null"));
    for name in ["CLINE_GLOBAL_SETTINGS_PATH", "CLINE_HOOKS_DIR", "BUN_OPTIONS"] {
        let request = DispatchRequest {
            permission: Some(Permission::ReadOnly),
            env: [(name.to_owned(), "x".to_owned())].into_iter().collect(),
            ..DispatchRequest::new("go on")
        };
        assert_eq!(lowered("cline", &request).unwrap_err().kind, Kind::Unenforceable, "{name}");
    }
}

/// A path behind an `@` is read wherever it stands in a word.
#[test]
fn a_path_in_a_word_must_name_no_file() {
    let paths = |prompt: &str| -> Vec<String> {
        let checks = lowered("cline", &DispatchRequest::new(prompt)).unwrap().command.checks;
        let path = |check: &Check| match check {
            Check::NoSuchPath { path, .. } => Some(path.clone()),
            _ => None,
        };
        checks.iter().filter_map(path).collect()
    };
    assert_eq!(paths("x@/etc/passwd y (@./a) z@~/b,"), ["/etc/passwd", "./a)", "~/b,"]);
    assert_eq!(paths("x@\"../a b\" y@\"/open z"), ["../a b"]);
    assert_eq!(paths("x@notes.txt y"), Vec::<String>::new());
    let allowed = DispatchRequest { file_references: true, ..DispatchRequest::new("see @./notes.txt") };
    assert_eq!(lowered("cline", &allowed).unwrap().command.checks, []);
}

/// White space at the ends of a system prompt would be lost; ahead of the prompt it is not.
#[test]
fn a_system_prompt_with_a_line_end_goes_ahead_of_the_prompt() {
    let with = |system: &str| {
        let request =
            DispatchRequest { system_prompt: Some(system.to_owned()), ..DispatchRequest::new("go on") };
        lowered("cline", &request).map(|lowered| args(&lowered.command))
    };
    assert_eq!(with("Be brief.").unwrap(), ["--json", "--system=Be brief.", "--", "go on"]);
    assert_eq!(with("Be brief.\n").unwrap(), ["--json", "--", "Be brief.\n\n\ngo on"]);
    assert_eq!(with(" Be brief.").unwrap_err().kind, Kind::Unsupported);
}

#[test]
fn no_session_is_gone_on_with() {
    let with = |session| DispatchRequest { session: Some(session), ..DispatchRequest::new("go on") };
    let resumed = lowered("cline", &with(Session::Resume("1796071930606_obpvt".to_owned())));
    assert_eq!(resumed.unwrap_err().kind, Kind::Unsupported);
    assert!(lowered("cline", &with(Session::New(None))).is_ok());
}

/// Status 0 is the end of aborted runs too.
#[test]
fn only_a_completed_result_is_an_answer() {
    let result = |reason: &str, text: &str| {
        format!("{}\n", serde_json::json!({"type": "run_result", "finishReason": reason, "text": text}))
    };
    let fine = RunEnd::exited(0, "");
    let good = read(&result("completed", "yes"), &fine);
    assert_eq!((good.text.as_str(), good.error), ("yes", None));
    let kind = |stdout: &str, end: &RunEnd| read(stdout, end).error.map(|e| e.kind);
    assert_eq!(kind(&result("aborted", "half"), &fine), Some(Kind::HarnessError));
    assert_eq!(kind(&result("completed", ""), &fine), Some(Kind::EmptyReply));
    let ended = RunEnd { ended_by_us: true, ..RunEnd::exited(0, "") };
    assert!(read(&result("completed", "yes"), &ended).error.is_some());
}

/// The events hold the words of the model server and not its status.
#[test]
fn the_status_of_a_refusal_is_taken_from_the_log() {
    let stdout = "{\"type\":\"run_result\",\"finishReason\":\"error\",\"text\":\"no\"}\n";
    let with = |log: &str| {
        let mut end = RunEnd::exited(1, "{\"type\":\"error\",\"message\":\"no\"}\n");
        end.files.insert("cline.log".to_owned(), log.to_owned());
        read(stdout, &end).error.map(|e| (e.kind, e.message))
    };
    let found = |kind| Some((kind, "cline: no".to_owned()));
    assert_eq!(with("{\"err\":{\"statusCode\":429}}\n"), found(Kind::RateLimit));
    assert_eq!(
        with("{\"err\":{\"lastError\":{\"statusCode\":429}}}\n{\"err\":{}}\n"),
        found(Kind::RateLimit)
    );
    assert_eq!(with("{\"err\":{\"statusCode\":500}}\n"), found(Kind::HarnessError));
    assert_eq!(with("no JSON, \"statusCode\":429\n"), found(Kind::HarnessError));
}
