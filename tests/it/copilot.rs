//! GitHub Copilot CLI: what its builder and its reader have to do, in words, over and above the snapshots.

use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::harness::{AgentBuilder, Given};
use teamster::{DispatchRequest, HarnessRegistry, Kind, Profile, Reply, lower};

fn request(json: &str) -> DispatchRequest {
    DispatchRequest::from_json(json).unwrap().0
}

fn copilot(json: &str) -> Vec<String> {
    args(&lowered("copilot", &request(json)).unwrap().command)
}

fn refused(json: &str) -> (Kind, String) {
    let refused = lowered("copilot", &request(json)).unwrap_err();
    (refused.kind, refused.message)
}

fn registry() -> HarnessRegistry {
    HarnessRegistry::builtin()
}

/// A recorded run, read.
fn read(name: &str) -> Reply {
    let registry = registry();
    let builder = registry.get("copilot").unwrap();
    let all = crate::transcripts::of(builder);
    all.iter().find(|transcript| transcript.name == name).unwrap().read(builder, &[]).0
}

/// Whether its tools may run with these arguments, by what was seen of the CLI.
fn may_run(builder: &dyn AgentBuilder, args: &[&str], env: &[(&str, &str)], tool: &str) -> bool {
    let given = Given {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        stdin: "x".to_owned(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Given::default()
    };
    let Ok(received) = builder.stand_in().unwrap().receive(&given) else { panic!("refused: {args:?}") };
    (received.may_run)(tool)
}

/// An empty `--available-tools` is every tool, and a name that no tool has is none.
#[test]
fn nothing_at_all_is_told_by_a_name_that_no_tool_has() {
    let args = copilot(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#);
    assert!(args.contains(&"--available-tools=no-tool".to_owned()), "{args:?}");
    let registry = registry();
    let builder = registry.get("copilot").unwrap();
    assert!(!may_run(builder, &["--available-tools=no-tool"], &[], "view"));
    assert!(may_run(builder, &["--available-tools="], &[], "view"), "as run");
}

/// Kinds, not names: a deny of a kind beats what the user approved for the place before.
#[test]
fn what_is_not_allowed_is_denied_by_its_kind() {
    let reading = copilot(r#"{"prompt": "x", "permission": "read-only"}"#);
    for flag in
        ["--available-tools=view,grep,rg,glob", "--deny-tool=shell", "--deny-tool=write", "--deny-tool=url"]
    {
        assert!(reading.contains(&flag.to_owned()), "{flag}: {reading:?}");
    }
    let editing = copilot(r#"{"prompt": "x", "tools": ["edit"]}"#);
    for flag in ["--allow-tool=write", "--deny-tool=shell", "--deny-tool=url"] {
        assert!(editing.contains(&flag.to_owned()), "{flag}: {editing:?}");
    }
    assert!(!editing.iter().any(|arg| arg.starts_with("--allow-all")), "{editing:?}");
}

/// `COPILOT_ALLOW_ALL` approves everything, so it is emptied, and refused where the request restricts.
#[test]
fn allow_all_in_the_environment_does_nothing() {
    let registry = registry();
    let builder = registry.get("copilot").unwrap();
    assert!(may_run(builder, &[], &[("COPILOT_ALLOW_ALL", "1")], "bash(rm -rf /)"), "as run");
    let inherits = Profile { env_pass: vec!["*".to_owned()], ..Profile::default() };
    let bare = lower(builder, &DispatchRequest::new("x"), &inherits).unwrap().command;
    let emptied = bare.env.iter().find(|(name, _)| name == "COPILOT_ALLOW_ALL").unwrap();
    assert_eq!(emptied.1.plain(), Some(""));
    let (kind, message) = refused(r#"{"prompt": "x", "tools": [], "env": {"COPILOT_ALLOW_ALL": "true"}}"#);
    assert_eq!(kind, Kind::Unenforceable);
    assert!(message.contains("COPILOT_ALLOW_ALL"), "{message}");
}

/// Its rules for the words of a command hold for `git` alone.
#[test]
fn the_words_of_a_command_are_refused() {
    let (kind, message) = refused(r#"{"prompt": "x", "tools": "shell(npm run build)"}"#);
    assert_eq!(kind, Kind::Unsupported);
    assert!(message.contains("whole tools only"), "{message}");
}

/// A trusted folder runs its hooks and servers, whatever the flags are.
#[test]
fn a_restricted_run_asks_whether_the_folder_is_trusted() {
    let lowered = lowered("copilot", &request(r#"{"prompt": "x", "permission": "read-only"}"#)).unwrap();
    let asked = lowered.command.checks.iter().any(|check| match check {
        Check::NoneTrusted { settings, names, .. } => {
            settings.shown() == "{home}/.copilot/config.json"
                && names.iter().any(|name| name == ".github/hooks")
        }
        _ => false,
    });
    assert!(asked, "{:?}", lowered.command.checks);
}

/// C7: an end by a signal has status 0, and an answer that was begun is none.
#[test]
fn an_aborted_run_is_no_answer() {
    for name in ["a0-hang-term_stream-json", "a1-hang-int_stream-json", "a2-sleep-term_stream-json"] {
        let error = read(name).error.unwrap();
        assert_eq!(error.kind, Kind::HarnessError, "{name}");
        assert!(error.message.contains("abort"), "{name}: {}", error.message);
    }
}

/// The file counts the whole session: the second run has twice the tokens of the first.
#[test]
fn tokens_come_from_its_file_and_count_the_session() {
    let of = |name| read(name).usage.unwrap();
    let (first, second) = (of("usage_stream-json"), of("usage-resumed_stream-json"));
    assert_eq!(
        (first.input_tokens, first.cached_tokens, first.output_tokens),
        (Some(101), Some(21), Some(31))
    );
    assert_eq!(second.input_tokens, Some(202));
    assert_eq!(read("03-json_stream-json").usage, None);
}

#[test]
fn what_an_agent_of_the_agent_says_is_not_the_answer() {
    assert_eq!(read("usage-subagent_stream-json").text, "the agent is done");
}

#[test]
fn white_space_at_the_end_is_refused_since_copilot_cuts_it() {
    for prompt in ["x\\n", "x \\u2028", "x\\ufeff", "\\ufeffx"] {
        let (kind, message) = refused(&format!(r#"{{"prompt": "{prompt}"}}"#));
        assert_eq!(kind, Kind::Unsupported, "{prompt}");
        assert!(message.starts_with("prompt: "), "{message}");
    }
    let with_schema = lowered("copilot", &request(r#"{"prompt": "x\n", "schema": true}"#)).unwrap();
    assert!(with_schema.command.stdin.unwrap().starts_with("x\n\n\n"));
}

/// A session that is resumed goes back to its own directory, unless it is told not to.
#[test]
fn a_resumed_run_stays_where_it_is_told() {
    let lowered = lowered(
        "copilot",
        &request(
            r#"{"prompt": "x", "permission": "read-only", "cwd": "/w", "session": {"resume": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#,
        ),
    )
    .unwrap();
    let args = args(&lowered.command);
    assert!(args.contains(&"--resume=0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88".to_owned()), "{args:?}");
    assert!(args.contains(&"--available-tools=view,grep,rg,glob".to_owned()), "{args:?}");
    let stays = lowered.command.env.iter().any(|(name, _)| name == "COPILOT_DISABLE_RESUME_AUTO_CD");
    assert!(stays);
    assert_eq!(refused(r#"{"prompt": "x", "session": {"resume": "my work"}}"#).0, Kind::InvalidRequest);
}

#[cfg(feature = "run")]
mod run {
    use std::os::unix::fs::PermissionsExt;
    use teamster::dispatch::{DispatchOptions, until_valid};
    use teamster::run::LocalRunner;
    use teamster::{HarnessRegistry, Kind, Outcome, Profile};

    /// A fake that writes its tokens where it is told to, in a home and a workspace.
    fn dispatched(fill: impl FnOnce(&std::path::Path, &std::path::Path), request: &str) -> Outcome {
        let (home, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(home.path(), workspace.path());
        let bin = home.path().join("copilot");
        let script = r#"#!/bin/sh
for arg; do case $arg in --usage-output-file=*)
  echo '{"modelMetrics":{"m":{"usage":{"inputTokens":7}}}}' > "${arg#*=}" ;;
esac; done
echo '{"type":"assistant.message","data":{"content":"fine","toolRequests":[]}}'
echo '{"type":"result","sessionId":"s","exitCode":0}'
"#;
        std::fs::write(&bin, script).unwrap();
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755)).unwrap();
        let env =
            vec![("HOME".into(), home.path().into()), ("PATH".into(), std::env::var_os("PATH").unwrap())];
        let mut runner = LocalRunner { bin: Some(bin.into()), env: Some(env), ..LocalRunner::default() };
        let registry = HarnessRegistry::builtin();
        let mut request = super::request(request);
        request.cwd = Some(workspace.path().into());
        let profile = Profile::default();
        let builder = registry.get("copilot").unwrap();
        let run = until_valid(builder, request, &profile, &mut runner, DispatchOptions::default());
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run)
    }

    #[test]
    fn the_tokens_are_read_from_the_file() {
        let outcome = dispatched(|_, _| {}, r#"{"prompt": "x"}"#);
        assert_eq!(outcome.text.as_deref(), Some("fine"), "{outcome:?}");
        assert_eq!(outcome.usage.unwrap().input_tokens, Some(7));
    }

    #[test]
    fn hooks_of_a_folder_that_the_user_trusts_stop_a_restricted_run() {
        let hooks = |workspace: &std::path::Path| {
            std::fs::create_dir_all(workspace.join(".github/hooks")).unwrap();
        };
        let trusts = |home: &std::path::Path, folder: &std::path::Path| {
            std::fs::create_dir_all(home.join(".copilot")).unwrap();
            let settings = serde_json::json!({"trustedFolders": [folder.canonicalize().unwrap()]});
            std::fs::write(home.join(".copilot/config.json"), settings.to_string()).unwrap();
        };
        let request = r#"{"prompt": "x", "permission": "read-only"}"#;
        assert!(dispatched(|_, workspace| hooks(workspace), request).ok, "they do not run");
        assert!(dispatched(|home, workspace| trusts(home, workspace), request).ok, "there are none");
        let both = |home: &std::path::Path, workspace: &std::path::Path| {
            hooks(workspace);
            trusts(home, workspace.parent().unwrap());
        };
        let outcome = dispatched(both, request);
        assert_eq!(outcome.failure.map(|failure| failure.kind), Some(Kind::Unenforceable));
        assert!(dispatched(both, r#"{"prompt": "x"}"#).ok, "nothing is restricted");
    }
}
