//! Hermes Agent: what its builder and its reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use std::collections::BTreeMap;
use teamster::command::Check;
use teamster::lowering::{Carried, Field};
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Reply, ToolPolicy};

fn request(tools: Option<&str>, permission: Option<Permission>) -> DispatchRequest {
    let tools = tools.map(|text| ToolPolicy::from_text(text).unwrap());
    DispatchRequest { tools, permission, ..DispatchRequest::new("go") }
}

fn read(stdout: &str, report: Option<&str>) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("hermes").unwrap().reader(Output::Text);
    reader.push(stdout.as_bytes(), &mut |_| {});
    let files = report.map(|report| ("usage.json".to_owned(), report.to_owned()));
    reader.finish(
        &RunEnd { files: files.into_iter().collect::<BTreeMap<_, _>>(), ..RunEnd::exited(0, "") },
        &mut |_| {},
    )
}

/// B08: one-shot approves everything, so that a tool that may not run must not be there.
#[test]
fn a_set_is_there_only_where_every_tool_of_it_may_run() {
    let (read, edit, full) = (Permission::ReadOnly, Permission::Edit, Permission::Full);
    for (tools, permission, expected) in [
        (None, None, Ok(None)),
        (None, Some(full), Ok(None)),
        (None, Some(read), Ok(Some("todo"))),
        (Some(""), None, Ok(Some("todo"))),
        (Some("read"), None, Ok(Some("todo"))),
        (Some("shell"), Some(read), Ok(Some("todo"))),
        (Some("shell"), None, Ok(Some("terminal,todo"))),
        (Some("web"), Some(full), Ok(Some("web,todo"))),
        (Some("process"), None, Ok(Some("terminal,todo"))),
        (Some("edit shell"), None, Ok(Some("terminal,file,todo"))),
        (Some("*"), None, Ok(Some("terminal,file,web,code_execution,todo"))),
        // It runs compilers on what it writes.
        (Some("edit"), None, Err(Kind::Unenforceable)),
        (None, Some(edit), Err(Kind::Unenforceable)),
        // Agents with tools of their own.
        (Some("delegate_task"), None, Err(Kind::Unenforceable)),
        (Some("shell(git status)"), None, Err(Kind::Unsupported)),
    ] {
        let seen = lowered("hermes", &request(tools, permission)).map_err(|e| e.kind).map(|lowered| {
            let flag = args(&lowered.command)
                .iter()
                .find_map(|arg| arg.strip_prefix("--toolsets=").map(str::to_owned));
            assert_eq!(flag.is_some(), !lowered.command.checks.is_empty());
            flag
        });
        assert_eq!(seen, expected.map(|flag| flag.map(str::to_owned)), "{tools:?}, {permission:?}");
    }
}

#[test]
fn what_a_limit_takes_beside_is_told() {
    let report = lowered("hermes", &request(Some("read"), None)).unwrap().report;
    let dropped: Vec<_> = report.dropped().map(|row| (row.field, row.detail.contains("read_file"))).collect();
    assert_eq!(dropped, [(Field::Tools, true)]);
    assert!(report.rows.iter().any(|row| row.field == Field::Tools && row.carried == Carried::Flag));
}

/// A user may have another agent take the turns, and it knows of no set.
#[test]
fn a_limit_does_not_hold_where_another_agent_takes_the_turns() {
    let checks = lowered("hermes", &request(Some(""), None)).unwrap().command.checks;
    let texts: Vec<&str> = checks
        .iter()
        .filter_map(|check| match check {
            Check::NoTextIn { text, .. } => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    assert!(
        texts.contains(&"codex_app_server") && texts.contains(&"copilot-acp") && texts.contains(&""),
        "{texts:?}"
    );
}

/// B06, and B04: one argument is all there is.
#[test]
fn a_prompt_is_text_whatever_it_begins_with_and_refused_over_an_argument() {
    for prompt in ["--help", "/quit", "@/etc/hostname", "!ls"] {
        let args = args(&lowered("hermes", &DispatchRequest::new(prompt)).unwrap().command);
        assert_eq!(args.last(), Some(&format!("--oneshot={prompt}")));
    }
    assert_eq!(
        lowered("hermes", &DispatchRequest::new("é".repeat(66_000))).unwrap_err().kind,
        Kind::ArgTooLong
    );
}

#[test]
fn a_text_that_would_be_trimmed_is_refused() {
    let with_schema = |prompt: &str| DispatchRequest {
        schema: Some(teamster::ReplySchema::from_text("true").unwrap()),
        ..DispatchRequest::new(prompt)
    };
    for prompt in ["go\n", " go", "go\u{1c}", "\u{a0}go"] {
        let refused = lowered("hermes", &DispatchRequest::new(prompt)).unwrap_err();
        assert_eq!(
            (refused.kind, refused.message.contains("prompt")),
            (Kind::Unsupported, true),
            "{prompt:?}"
        );
    }
    assert!(lowered("hermes", &with_schema("go\n")).is_ok(), "the instruction comes after it");
}

/// An error stands where the answer would, with status 0: the report tells them apart, the words do not.
#[test]
fn the_report_says_whether_it_is_an_answer() {
    let good = r#"{"completed": true, "failed": false, "input_tokens": 100, "cache_read_tokens": 11, "output_tokens": 22,
        "estimated_cost_usd": 0.0, "cost_status": "unknown", "session_id": "20261201_120000_abcdef"}"#;
    let bad = r#"{"completed": false, "failed": true}"#;
    let text = "HTTP 401: Incorrect API key provided.\n";
    let answer = read(text, Some(good));
    assert_eq!((answer.text.as_str(), &answer.error), (text.trim_end(), &None));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.cost_usd), (Some(111), Some(11), None));
    let error = read(text, Some(bad));
    assert_eq!((error.text.as_str(), error.error.map(|e| e.kind)), ("", Some(Kind::Auth)));
    // Neither failed nor completed: the words are the agent's, and classify nothing.
    let broken = read("HTTP 401: is what a server\n", Some(r#"{"completed": false, "failed": false}"#));
    assert_eq!(broken.text, "HTTP 401: is what a server");
    let error = broken.error.unwrap();
    let told = (error.kind, error.message.as_str());
    assert_eq!(told, (Kind::HarnessError, "hermes: the answer broke off before its end"));
    let none = read("It is 4.\n", None);
    assert_eq!(none.error.map(|e| e.kind), Some(Kind::HarnessError));
    let stopped = read(
        "Model generated invalid tool call: terminal\n",
        Some(r#"{"completed": false, "failed": false}"#),
    );
    assert_eq!(stopped.error.map(|e| e.kind), Some(Kind::Permission));
    assert_eq!(stopped.denied[0].tool, "terminal");
}
