//! opencode and kilo: what their builder and their reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use serde_json::Value;
use teamster::command::{Check, Command};
use teamster::reply::RunEnd;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Lowered, Output, Permission, Profile, Reply, Session, ToolPolicy,
    lower,
};

const FORKS: [(&str, &str); 2] = [("opencode", "OPENCODE"), ("kilo", "KILO")];

fn tools(text: &str) -> DispatchRequest {
    DispatchRequest { tools: Some(ToolPolicy::from_text(text).unwrap()), ..DispatchRequest::new("go") }
}

fn permission(permission: Permission) -> DispatchRequest {
    DispatchRequest { permission: Some(permission), ..DispatchRequest::new("go") }
}

fn agent(command: &Command) -> Option<Value> {
    let text = &command.files.iter().find(|file| file.name == "agent.json")?.content;
    Some(serde_json::from_str::<Value>(text).unwrap()["agent"]["teamster"].clone())
}

fn variable(command: &Command, name: &str) -> Option<String> {
    command.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.shown().into_owned())
}

fn read(id: &str, stdout: &str, end: &RunEnd) -> Reply {
    let mut reader = HarnessRegistry::builtin().get(id).unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(end, &mut |_| {})
}

/// B08: a list of reading is a limit under any permission; no flag that approves everything comes with it.
#[test]
fn a_list_denies_all_else_by_name_and_never_comes_with_auto() {
    for (id, prefix) in FORKS {
        let listed = DispatchRequest { permission: Some(Permission::Full), ..tools("read,grep,glob") };
        for request in [listed, permission(Permission::ReadOnly), tools(""), tools("[]"), tools("{}")] {
            let command = lowered(id, &request).unwrap().command;
            assert!(!args(&command).iter().any(|arg| ["--auto", "--yolo"].contains(&arg.as_str())), "{id}");
            assert!(args(&command).contains(&"--agent=teamster".to_owned()), "{id}");
            let rights = agent(&command).unwrap()["permission"].clone();
            for tool in ["bash", "edit", "task", "webfetch", "skill", "*_*", "?????*"] {
                assert_eq!(rights[tool], "deny", "{id}: {tool}");
            }
            // No grant that would set a rule of the user's own aside.
            assert!(!rights.to_string().contains("allow"), "{id}: {rights}");
            let no_project = variable(&command, &format!("{prefix}_DISABLE_PROJECT_CONFIG"));
            assert_eq!(no_project.as_deref(), Some("1"), "{id}");
        }
        let open = lowered(id, &DispatchRequest::new("go")).unwrap().command;
        assert_eq!((agent(&open), open.checks), (None, Vec::new()), "{id}");
        let full = lowered(id, &permission(Permission::Full)).unwrap().command;
        assert!(args(&full).contains(&"--auto".to_owned()), "{id}");
    }
}

/// The files of a project that no variable leaves out are looked for before the spawn.
#[test]
fn a_restriction_is_not_run_where_the_project_brings_programs() {
    for (id, name) in [("opencode", ".opencode/plugin"), ("kilo", ".kilocodemodes")] {
        let sees = |request: &DispatchRequest| {
            let checks = lowered(id, request).unwrap().command.checks;
            checks.iter().any(
                |check| matches!(check, Check::NoneUpwards { names, .. } if names.iter().any(|own| own == name)),
            )
        };
        assert!(sees(&permission(Permission::ReadOnly)) && sees(&tools("shell")), "{id}");
        let risked = DispatchRequest { allow_unenforced: true, ..permission(Permission::ReadOnly) };
        assert!(!sees(&risked), "{id}");
        assert!(lowered(id, &risked).unwrap().report.dropped().next().is_some(), "{id}");
    }
}

/// B09: a question that nobody can answer ends as a refusal, with the tool in the message.
#[test]
fn a_question_is_a_permission_failure_and_no_answer() {
    let said = r#"{"type":"text","sessionID":"ses_1","part":{"messageID":"m","text":"calling tool"}}
{"type":"tool_use","sessionID":"ses_1","part":{"messageID":"m","tool":"read","callID":"c","state":{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call."}}}
{"type":"step_finish","sessionID":"ses_1","part":{"messageID":"m","reason":"tool-calls"}}
"#;
    for (id, _) in FORKS {
        let asked = "! permission requested: external_directory (/etc/*); auto-rejecting";
        let reply = read(id, said, &RunEnd::exited(0, asked));
        let failure = reply.error.unwrap();
        assert_eq!(failure.kind, Kind::Permission, "{id}");
        assert!(failure.message.contains("`read`"), "{id}: {}", failure.message);
    }
}

/// B11: both believe PWD; the runner sets it, and a builder or a profile leaves it and `--dir` alone.
#[test]
fn the_working_directory_is_the_process_s_own() {
    for (id, _) in FORKS {
        let request = DispatchRequest { cwd: Some("/w/sub".into()), ..DispatchRequest::new("go") };
        let command = lowered(id, &request).unwrap().command;
        assert_eq!(command.cwd.as_deref(), Some(std::path::Path::new("/w/sub")));
        assert!(
            !args(&command).iter().any(|arg| arg.starts_with("--dir")) && variable(&command, "PWD").is_none()
        );
        let profile = Profile { args: vec!["--dir=/elsewhere".into()], ..Profile::default() };
        let registry = HarnessRegistry::builtin();
        let refused = lower(registry.get(id).unwrap(), &request, &profile).unwrap_err();
        assert_eq!(refused.kind, Kind::InvalidConfig, "{id}");
    }
}

/// B25: status 0 and nothing on standard output is never a success, and an id of another shape is refused.
#[test]
fn nothing_said_is_told_apart_and_never_a_success() {
    let not_found =
        "NotFoundError: NotFoundError\n data: {\n  message: \"Session not found: ses_doesnotexist\",\n},\n";
    let model =
        "ProviderModelNotFoundError\nError: Model not found: acme/model-x. Did you mean: acme/model-y?\n";
    for (id, _) in FORKS {
        for (stderr, kind) in
            [(not_found, Kind::SessionNotFound), ("", Kind::EmptyReply), (model, Kind::HarnessError)]
        {
            let reply = read(id, "", &RunEnd::exited(0, stderr));
            assert_eq!(reply.error.map(|e| e.kind), Some(kind), "{id}: {stderr}");
        }
        for (bad, kind) in [
            (Session::Resume("a1b2c3d4-e5f6-7890-abcd-ef1234567890".into()), Kind::InvalidRequest),
            (Session::Resume("ses_".into()), Kind::InvalidRequest),
            (Session::Resume("ses_a/b".into()), Kind::InvalidRequest),
            (Session::New(Some("ses_abc".into())), Kind::Unsupported),
        ] {
            let request = DispatchRequest { session: Some(bad), ..DispatchRequest::new("go") };
            assert_eq!(lowered(id, &request).unwrap_err().kind, kind, "{id}");
        }
    }
}

/// An agent that is not there is a note and exit 0, and every tool may run.
#[test]
fn another_agent_than_ours_is_a_failure_whatever_it_answered() {
    let said = r#"{"type":"text","sessionID":"ses_1","part":{"messageID":"m","text":"done"}}
{"type":"step_finish","sessionID":"ses_1","part":{"messageID":"m","reason":"stop"}}
"#;
    for (id, _) in FORKS {
        assert_eq!(read(id, said, &RunEnd::exited(0, "")).error, None, "{id}");
        let note =
            "\u{1b}[93m\u{1b}[1m! \u{1b}[0m agent \"teamster\" not found. Falling back to default agent";
        let failure = read(id, said, &RunEnd::exited(0, note)).error.unwrap();
        assert_eq!(failure.kind, Kind::Unenforceable, "{id}");
    }
}

/// The user's provider may stand in one of two variables; the agent takes the other.
#[test]
fn the_agent_takes_no_variable_that_the_profile_uses() {
    let lower_with = |id: &str, names: &[String], request: &DispatchRequest| -> teamster::Result<Lowered> {
        let env = names.iter().map(|name| (name.clone(), "{}".to_owned())).collect();
        lower(HarnessRegistry::builtin().get(id).unwrap(), request, &Profile { env, ..Profile::default() })
    };
    for (id, prefix) in FORKS {
        let request = permission(Permission::ReadOnly);
        let (file, content) = (format!("{prefix}_CONFIG"), format!("{prefix}_CONFIG_CONTENT"));
        let by_file = lower_with(id, std::slice::from_ref(&content), &request).unwrap().command;
        assert_eq!(variable(&by_file, &file).as_deref(), Some("{file:agent.json}"), "{id}");
        assert_eq!(variable(&by_file, &content), None, "{id}");
        let by_content = lower_with(id, std::slice::from_ref(&file), &request).unwrap().command;
        assert!(variable(&by_content, &content).unwrap().contains("\"bash\":\"deny\""), "{id}");
        assert_eq!((variable(&by_content, &file), by_content.files.len()), (None, 0), "{id}");
        let both = lower_with(id, &[file, content], &request).unwrap_err();
        assert_eq!(both.kind, Kind::Unsupported, "{id}");
        let lifting = lower_with(id, &[format!("{prefix}_PERMISSION")], &request).unwrap_err();
        assert_eq!(lifting.kind, Kind::Unenforceable, "{id}");
        let mut open = permission(Permission::ReadOnly);
        open.env.insert(format!("{prefix}_DISABLE_PROJECT_CONFIG"), "0".into());
        assert_eq!(lowered(id, &open).unwrap_err().kind, Kind::Unenforceable, "{id}");
    }
}

/// Both forks replace `{env:…}` and `{file:…}` anywhere in a settings file, a prompt among it.
#[test]
fn a_system_prompt_is_no_template() {
    let system = "{env:HOME} {file:/etc/passwd} {{env:X}";
    for (id, _) in FORKS {
        let request = DispatchRequest { system_prompt: Some(system.into()), ..DispatchRequest::new("go") };
        let command = lowered(id, &request).unwrap().command;
        assert!(!command.files[0].content.contains("{env:") && !command.files[0].content.contains("{file:"));
        assert_eq!(agent(&command).unwrap()["prompt"], system, "{id}");
    }
}

/// kilo asks about commands by itself, so a grant has to be said; it must not set aside what the user denies.
#[test]
fn a_grant_that_has_to_be_said_looks_for_the_user_s_own_denies() {
    let says = |id: &str| {
        let command = lowered(id, &tools("shell")).unwrap().command;
        let looks = command.checks.iter().any(|check| matches!(check, Check::NoTextIn { .. }));
        (agent(&command).unwrap()["permission"]["bash"] == "allow", looks)
    };
    assert_eq!((says("opencode"), says("kilo")), ((false, false), (true, true)));
    let server = lowered("opencode", &tools("mcp(git/log)")).unwrap().command;
    assert_eq!(agent(&server).unwrap()["permission"]["git_log"], "allow");
    assert!(server.checks.iter().any(|check| matches!(check, Check::NoTextIn { .. })));
}
