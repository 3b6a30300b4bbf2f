//! Qwen Code: what has to hold in words, and the public cases.

use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::lowering::{Carried, Field, Lowered, payload};
use teamster::reply::RunEnd;
use teamster::testkit::given;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Output, Permission, Profile, Reply, ReplySchema, lower,
};

fn qwen(request: &DispatchRequest) -> Lowered {
    lowered("qwen", request).unwrap()
}

/// What the CLI would make of the command's prompt, by the model of it.
fn arrives(request: &DispatchRequest) -> String {
    let registry = HarnessRegistry::builtin();
    let stand_in = registry.get("qwen").unwrap().stand_in().unwrap();
    stand_in.receive(&given(&qwen(request).command)).map_err(|said| said.stderr).unwrap().prompt
}

fn request(json: &str) -> DispatchRequest {
    DispatchRequest::from_json(json).unwrap().0
}

fn read(stdout: &str, stderr: &str, status: i32) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("qwen").unwrap().reader(Output::Json);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(&RunEnd::exited(status, stderr), &mut |_| {})
}

fn excluded(command: &teamster::command::Command) -> Vec<String> {
    let all = args(command);
    let list = all.iter().find_map(|arg| arg.strip_prefix("--exclude-tools=")).unwrap_or_default();
    list.split(',').map(str::to_owned).collect()
}

/// B01: a prompt or a system prompt that begins with a dash arrives byte for byte, and never as an option.
#[test]
fn a_dash_is_never_an_option() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("cases/B01.json")).unwrap();
    for case in cases["requests"].as_array().unwrap() {
        let request = request(&case.to_string());
        assert_eq!(arrives(&request), request.prompt);
        let system = format!("--system-prompt={}", request.system_prompt.as_ref().unwrap());
        assert_eq!(
            args(&qwen(&request).command)[2..],
            ["--model=m-1", &system, &format!("--prompt={}", request.prompt)]
        );
    }
}

/// B06: `@` and `/` in a prompt pull in no file and run no command.
#[test]
fn at_and_slash_are_text() {
    let command = qwen(&DispatchRequest::new("/foo:bar rename the field")).command;
    assert_eq!(args(&command)[2..], ["--prompt=\n/foo:bar rename the field"]);
    let paths = |prompt: &str| -> Vec<String> {
        let checks = qwen(&DispatchRequest::new(prompt)).command.checks;
        let path = |check: Check| match check {
            Check::NoSuchPath { path, .. } => path,
            other => panic!("{other:?}"),
        };
        checks.into_iter().map(path).collect()
    };
    assert_eq!(paths("a log line: @/etc/hostname failed"), ["/etc/hostname"]);
    assert_eq!(
        paths("jane@example.com, @a\\ b.txt. @\"x y\" \\@not @a.txt\u{a0}b @"),
        ["example.com", "a b.txt", "\"x", "a.txt"]
    );
    let allowed = DispatchRequest { file_references: true, ..DispatchRequest::new("see @notes.txt") };
    assert_eq!(qwen(&allowed).command.checks, []);
}

/// What is too large for an argument is cut at a blank line, where qwen joins it again.
#[test]
fn a_large_prompt_is_joined_at_a_blank_line() {
    let (head, tail) = ("a".repeat(200_000), "- the end\n");
    let large = DispatchRequest::new(format!("{head}\n\n{tail}"));
    let command = qwen(&large).command;
    assert_eq!(
        (command.stdin.as_deref(), args(&command)[2].as_str()),
        (Some(head.as_str()), "--prompt=- the end\n")
    );
    assert_eq!(arrives(&large), large.prompt);
    let ends_so = DispatchRequest::new(format!("/{head}\n\n"));
    assert_eq!(arrives(&ends_so), format!("\n{}", ends_so.prompt));
    let with_schema = DispatchRequest {
        schema: Some(ReplySchema::from_text("true").unwrap()),
        ..DispatchRequest::new(head.clone())
    };
    assert_eq!(arrives(&with_schema), payload(&with_schema, false));
    for none in [head.clone(), format!("x\n\n{head}")] {
        assert_eq!(lowered("qwen", &DispatchRequest::new(none)).unwrap_err().kind, Kind::ArgTooLong);
    }
}

/// B08: a list is a limit: what is not in it is taken away, whatever the permission.
#[test]
fn a_list_is_a_limit() {
    for text in [
        r#"{"prompt": "x", "tools": ["read_file", "grep_search", "glob"], "permission": "full"}"#,
        r#"{"prompt": "x", "permission": "read-only"}"#,
        r#"{"prompt": "x", "tools": ""}"#,
        r#"{"prompt": "x", "permission": "read-only", "session": {"resume": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#,
    ] {
        let command = qwen(&request(text)).command;
        assert_eq!(args(&command)[2..4], ["--safe-mode", "--approval-mode=default"]);
        let gone = excluded(&command);
        for tool in [
            "edit",
            "write_file",
            "notebook_edit",
            "run_shell_command",
            "monitor",
            "agent",
            "tool_call",
            "web_fetch",
        ] {
            assert!(gone.iter().any(|own| own == tool), "{text}: {tool}");
        }
        assert!(!gone.iter().any(|own| own == "read_file" || own == "glob"));
    }
    let shell = qwen(&request(r#"{"prompt": "x", "tools": "shell"}"#));
    assert_eq!(args(&shell.command)[3], "--approval-mode=yolo");
    let gone = excluded(&shell.command);
    assert!(gone.contains(&"edit".to_owned()) && !gone.contains(&"run_shell_command".to_owned()));
    assert!(shell.report.dropped().any(|row| row.detail.contains("sees to write a file")));
}

/// What `--safe-mode` does not hold, or sets aside, has to be absent.
#[test]
fn a_restriction_comes_with_its_checks() {
    let checks = qwen(&request(r#"{"prompt": "x", "permission": "read-only"}"#)).command.checks;
    let has = |wanted: fn(&Check) -> bool| checks.iter().any(wanted);
    assert!(has(
        |check| matches!(check, Check::NoneAbove { names, .. } if names.contains(&".qwen/settings.json".into()))
    ));
    assert!(has(
        |check| matches!(check, Check::NoVariables { keep, .. } if !keep.contains(&"OPENAI_BASE_URL".into()))
    ));
    assert!(has(
        |check| matches!(check, Check::NoTextsIn { texts, .. } if texts.contains(&"\"deny\"".into()))
    ));
    assert_eq!(qwen(&DispatchRequest::new("x")).command.checks, []);
}

/// qwen reaches every file with its tools that edit: the permission for the workspace alone cannot be held.
#[test]
fn edits_of_the_workspace_alone_are_refused() {
    let edit = DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("x") };
    assert_eq!(lowered("qwen", &edit).unwrap_err().kind, Kind::Unenforceable);
    let allowed = qwen(&DispatchRequest { allow_unenforced: true, ..edit });
    assert_eq!(args(&allowed.command)[3], "--approval-mode=auto-edit");
    assert!(
        allowed.report.rows.iter().any(|r| r.field == Field::Permission && r.carried == Carried::Dropped)
    );
}

/// Its own clock runs a little shorter than ours, since it never gives up on a busy server.
#[test]
fn its_clock_is_always_set() {
    let with = |seconds: Option<f64>| {
        let mut profile = Profile::default();
        profile.limits.timeout_s = seconds;
        let registry = HarnessRegistry::builtin();
        let lowered = lower(registry.get("qwen").unwrap(), &DispatchRequest::new("x"), &profile).unwrap();
        args(&lowered.command)[1].clone()
    };
    for (seconds, wanted) in
        [(None, 570), (Some(100.0), 95), (Some(0.2), 1), (Some(1e9), 2_000_000), (Some(f64::NAN), 570)]
    {
        assert_eq!(with(seconds), format!("--max-wall-time={wanted}"));
    }
}

/// The arguments of a profile raise nothing under a restriction.
#[test]
fn a_profile_cannot_raise_rights() {
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") };
    let kind = |list: &[&str]| {
        let profile =
            Profile { args: list.iter().map(|arg| (*arg).to_owned()).collect(), ..Profile::default() };
        lower(HarnessRegistry::builtin().get("qwen").unwrap(), &read_only, &profile).map_err(|e| e.kind).err()
    };
    for raises in [
        &["--yolo"][..],
        &["-y"],
        &["--approval-mode", "yolo"],
        &["--approvalMode=yolo"],
        &["--allowed-tools=edit"],
        &["--mcp-config=x"],
        &["--no-safe-mode"],
    ] {
        assert_eq!(kind(raises), Some(Kind::Unenforceable), "{raises:?}");
    }
    for fights in [
        &["--prompt=x"][..],
        &["-o", "text"],
        &["--resume"],
        &["a prompt"],
        &["--json-schema={}"],
        &["--frob"],
    ] {
        assert_eq!(kind(fights), Some(Kind::InvalidConfig), "{fights:?}");
    }
    assert_eq!(kind(&["--auth-type=openai", "--max-tool-calls=5"]), None);
}

/// B25: nothing on standard output and status 0 is never a success.
#[test]
fn nothing_with_status_0_is_no_success() {
    assert_eq!(read("", "", 0).error.map(|e| e.kind), Some(Kind::EmptyReply));
    let gone = "No saved session found with ID 00000000-0000-4000-8000-000000000000. Run `qwen --resume` …\n";
    assert_eq!(read("", gone, 1).error.map(|e| e.kind), Some(Kind::SessionNotFound));
    let cut = r#"[{"type":"system","subtype":"init","session_id":"s"},{"type":"result","subtype":"succ"#;
    assert!(read(cut, "", 0).error.is_some());
}

/// Status 55 is a clock or a count that ran out; what it waited for tells which failure it is.
#[test]
fn a_clock_that_ran_out_says_what_it_waited_for() {
    let budget = "{\n  \"error\": {\n    \"type\": \"FatalBudgetExceededError\",\n    \"message\": \"Run aborted: wall-clock \
                  budget of 15s exceeded (--max-wall-time).\",\n    \"code\": 55\n  }\n}\n";
    assert_eq!(read("", budget, 55).error.map(|e| e.kind), Some(Kind::Timeout));
    let busy = format!("Retrying in 60s (attempt 1/10): [API Error: 429 Rate limit reached]\n{budget}");
    assert_eq!(read("", &busy, 55).error.map(|e| e.kind), Some(Kind::RateLimit));
}
