//! Codex: what its builder and its reader have to do, in words, over and above the snapshots.

use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::testkit::given;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Lowered, Reply};

fn request(json: &str) -> DispatchRequest {
    DispatchRequest::from_json(json).unwrap().0
}

fn codex(json: &str) -> Lowered {
    lowered("codex", &request(json)).unwrap()
}

fn refused(json: &str) -> (Kind, String) {
    let refused = lowered("codex", &request(json)).unwrap_err();
    (refused.kind, refused.message)
}

/// A recorded run, read.
fn read(name: &str) -> Reply {
    let registry = HarnessRegistry::builtin();
    let builder = registry.get("codex").unwrap();
    let all = crate::transcripts::of(builder);
    all.iter().find(|transcript| transcript.name == name).unwrap().read(builder, &[]).0
}

/// B03: behind `resume` codex refuses `--sandbox` and `--cd`, and without them it forgets the sandbox.
#[test]
fn a_resumed_run_keeps_its_sandbox_and_starts_where_it_is_told() {
    let lowered = codex(
        r#"{"prompt": "carry on", "session": {"resume": "0199a213-81c0-7800-8aa1-bbab2a035a53"}, "permission": "read-only",
            "cwd": "/w/repo", "add_dirs": ["/w/shared"], "effort": "high", "schema": {"type": "object"}}"#,
    );
    let args = args(&lowered.command);
    let at = args.iter().position(|arg| arg == "resume").unwrap();
    assert_eq!(args[at..], ["resume", "0199a213-81c0-7800-8aa1-bbab2a035a53", "-"]);
    assert!(args[..at].contains(&"--sandbox=read-only".to_owned()), "{args:?}");
    assert_eq!(lowered.command.cwd.as_deref(), Some("/w/repo".as_ref()));
    assert!(lowered.command.stdin.unwrap().starts_with("carry on"));
}

/// B03, the other half: another text than a UUID begins a new thread, with status 0.
#[test]
fn a_session_that_is_no_uuid_is_refused() {
    let (kind, message) = refused(r#"{"prompt": "x", "session": {"resume": "my-thread"}}"#);
    assert_eq!(kind, Kind::InvalidRequest);
    assert!(message.contains("session.resume") && message.contains("my-thread"), "{message}");
}

/// B10: a dispatch is refused for no mark of another agent; teamster counts how deep it is by itself.
#[cfg(feature = "run")]
#[test]
fn codex_runs_inside_of_another_agent() {
    let (outcome, _) = run::in_home(|_| {}, r#"{"prompt": "x"}"#);
    assert_eq!(outcome.text.as_deref(), Some("[]1"), "{outcome:?}");
}

/// B22: `error` events may pass; what counts is how the turn ends.
#[test]
fn reconnecting_is_not_the_end() {
    let recovered = read("b22a_stream-json");
    assert_eq!((recovered.text.as_str(), &recovered.error), ("OK", &None));
    let failed = read("b22b_stream-json").error.unwrap();
    assert_eq!(failed.kind, Kind::HarnessError);
    assert!(failed.message.contains("502"), "{}", failed.message);
    let cut = read("b22c_stream-json");
    assert_eq!(cut.text, "I will start by");
    assert_eq!(cut.error.unwrap().kind, Kind::HarnessError);
}

/// B30: several messages in a turn: the last is the answer, none is glued to another.
#[test]
fn the_last_message_is_the_answer() {
    let reply = read("b30_stream-json");
    assert_eq!(reply.text, r#"{"action": "enqueue", "task": "fix it"}"#);
    assert_eq!(reply.session_id.as_deref(), Some("t-30"));
    let usage = reply.usage.unwrap();
    let told = (usage.input_tokens, usage.cached_tokens, usage.output_tokens);
    assert_eq!(told, (Some(100), Some(60), Some(20)));
}

/// B33: the model server takes only closed objects with every property required, and ends the run else. The
/// caller's schema is never made so: it would mean another thing.
#[test]
fn a_schema_goes_natively_only_as_it_is() {
    let native = |schema: &str| {
        let lowered = codex(&format!(r#"{{"prompt": "x", "schema": {schema}}}"#));
        let flag = args(&lowered.command).iter().any(|arg| arg == "--output-schema={file:schema.json}");
        assert_eq!(flag, !lowered.command.files.is_empty());
        assert!(lowered.command.stdin.unwrap().ends_with(schema), "the instruction has it as it was written");
        flag
    };
    let optional = r#"{"type":"object","properties":{"ok":{"type":"boolean"},"note":{"type":"string"},"sub":{"type":"object","properties":{"x":{"type":"integer"}}}},"required":["ok"]}"#;
    assert!(!native(optional));
    let closed = r#""additionalProperties":false"#;
    let one = format!(
        r#"{{"type":"object","properties":{{"ok":{{"type":"boolean"}}}},"required":["ok"],{closed}}}"#
    );
    assert!(native(&one));
    assert!(native(&format!(
        r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"a":{{"type":"array","items":{one}}}}},"required":["a"],{closed}}}"#
    )));
    for other in [
        "true".to_owned(),
        r#"{"type":"object"}"#.to_owned(),
        format!(r#"{{"type":"array","items":{one}}}"#),
        format!(r#"{{"type":"object","properties":{{"a":{{"type":"object"}}}},"required":["a"],{closed}}}"#),
        format!(r#"{{"type":"object","properties":{{"a":true}},"required":["a"],{closed}}}"#),
        format!(r#"{{"type":"object","properties":{{"a":{{"not":{{}}}}}},"required":["a"],{closed}}}"#),
        one.replace(r#""required":["ok"]"#, r#""required":[]"#),
        one.replace("false", "true"),
    ] {
        assert!(!native(&other), "{other}");
    }
}

/// B33: what the model server says of a schema is a fault of the schema, and no reply asked for again mends it.
#[test]
fn a_schema_that_is_refused_is_a_schema_error() {
    let error = read("06_schema_rejected_stream-json").error.unwrap();
    assert_eq!((error.kind, error.retryable), (Kind::SchemaError, false));
}

#[test]
fn the_shell_is_not_had_without_the_editor() {
    let (kind, message) = refused(r#"{"prompt": "x", "tools": "shell"}"#);
    assert_eq!(kind, Kind::Unenforceable);
    assert!(message.contains("apply_patch"), "{message}");
    let both = args(&codex(r#"{"prompt": "x", "tools": "shell,edit"}"#).command);
    assert!(both.contains(&"--sandbox=danger-full-access".to_owned()), "{both:?}");
    assert!(both.contains(&"agents.enabled=false".to_owned()), "{both:?}");
    assert!(!both.contains(&"--ignore-rules".to_owned()), "what the user forbids stays forbidden: {both:?}");
}

#[test]
fn a_denied_shell_is_off_and_a_policy_without_it_reads_by_it() {
    let features = |json: &str| {
        let args = args(&codex(json).command);
        args.into_iter().find(|arg| arg.starts_with("features=")).unwrap()
    };
    for denied in
        [r#"{"deny": ["shell"]}"#, r#"{"allow": ["edit"], "ask": ["shell"]}"#, r#"{"deny": ["read"]}"#]
    {
        let features = features(&format!(r#"{{"prompt": "x", "tools": {denied}}}"#));
        assert!(features.contains("shell_tool=false"), "{denied}: {features}");
    }
    for kept in [r#""read""#, r#""""#, "[]", "{}"] {
        let features = features(&format!(r#"{{"prompt": "x", "tools": {kept}}}"#));
        assert!(!features.contains("shell_tool"), "{kept}: {features}");
    }
}

/// `$name` adds the text of a skill, and nothing turns that off.
#[test]
fn a_prompt_that_may_name_a_skill_is_looked_at() {
    let lowered = codex(r#"{"prompt": "Why does $imagegen cost $5, and $(id)?"}"#);
    let named: Vec<_> = lowered
        .command
        .checks
        .iter()
        .filter_map(|check| match check {
            Check::NoneNamed(named) => Some((named.field.as_ref(), named.names.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(named, [("prompt", vec!["imagegen".to_owned(), "5".to_owned()])]);
    let allowed = codex(r#"{"prompt": "use $imagegen", "file_references": true}"#);
    assert_eq!(allowed.command.checks, []);
}

#[test]
fn a_byte_order_mark_at_the_start_is_refused_since_codex_cuts_it() {
    let (kind, message) = refused("{\"prompt\": \"\u{feff}mark\"}");
    assert_eq!(kind, Kind::Unsupported);
    assert!(message.starts_with("prompt"), "{message}");
}

/// A thread keeps the system prompt of its first turn, so another one goes into the prompt.
#[test]
fn a_system_prompt_of_a_resumed_session_goes_with_the_prompt() {
    let first = codex(r#"{"prompt": "x", "system_prompt": "say \"A\"\u007f"}"#);
    let quoted = r#"developer_instructions="say \"A\"\u007f""#.to_owned();
    assert!(args(&first.command).contains(&quoted), "{:?}", args(&first.command));
    let resumed = codex(
        r#"{"prompt": "x", "system_prompt": "Be brief.", "session": {"resume": "0199a213-81c0-7800-8aa1-bbab2a035a53"}}"#,
    );
    assert_eq!(resumed.command.stdin.as_deref(), Some("Be brief.\n\nx"));
    let large = codex(&format!(r#"{{"prompt": "x", "system_prompt": "{}"}}"#, "a".repeat(140_000)));
    assert!(given(&large.command).stdin.len() > 140_000);
}

#[cfg(feature = "run")]
mod run {
    use std::os::unix::fs::PermissionsExt;
    use teamster::dispatch::{DispatchOptions, until_valid};
    use teamster::run::LocalRunner;
    use teamster::{HarnessRegistry, Outcome, Profile};

    /// The outcome and the arguments of a fake codex in this home, inside of another agent.
    pub(super) fn in_home(fill: impl FnOnce(&std::path::Path), request: &str) -> (Outcome, String) {
        let home = tempfile::tempdir().unwrap();
        fill(home.path());
        let bin = home.path().join("codex");
        let script = format!(
            r#"#!/bin/sh
printf '%s\n' "$@" > '{}/args'
echo '{{"type":"thread.started","thread_id":"t"}}'
echo "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"[$CLAUDECODE$GEMINI_CLI$CLAUDE_CODE_ENTRYPOINT$CODEX_THREAD_ID]$TEAMSTER_DEPTH\"}}}}"
echo '{{"type":"turn.completed"}}'
"#,
            home.path().display()
        );
        std::fs::write(&bin, script).unwrap();
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755)).unwrap();
        let marks = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GEMINI_CLI", "CODEX_THREAD_ID"];
        let mut env: Vec<_> = marks.map(|name| (name.into(), "1".into())).into();
        env.push(("HOME".into(), home.path().into()));
        env.push(("PATH".into(), std::env::var_os("PATH").unwrap()));
        let mut runner = LocalRunner { bin: Some(bin.into()), env: Some(env), ..LocalRunner::default() };
        let registry = HarnessRegistry::builtin();
        let builder = registry.get("codex").unwrap();
        let profile = Profile::default();
        let run =
            until_valid(builder, super::request(request), &profile, &mut runner, DispatchOptions::default());
        let outcome =
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run);
        (outcome, std::fs::read_to_string(home.path().join("args")).unwrap_or_default())
    }

    /// A tool that calls itself reading runs in any sandbox, so no server of the user's is there.
    #[test]
    fn a_restricted_run_turns_off_the_users_servers_by_name() {
        let fill = |home: &std::path::Path| {
            std::fs::create_dir(home.join(".codex")).unwrap();
            let settings = "[mcp_servers.docs]\ncommand = \"x\"\n[mcp_servers.\"a.b\"]\nurl = \"y\"\n";
            std::fs::write(home.join(".codex/config.toml"), settings).unwrap();
        };
        let (outcome, args) = in_home(fill, r#"{"prompt": "x", "permission": "read-only"}"#);
        assert!(outcome.ok, "{outcome:?}");
        let off = r#"mcp_servers={"a.b"={enabled=false},"docs"={enabled=false}}"#;
        assert!(args.contains(off), "{args}");
        assert!(args.contains(r#""/"={trust_level="untrusted"}}"#), "{args}");
        let (_, args) = in_home(fill, r#"{"prompt": "x"}"#);
        assert!(!args.contains("mcp_servers"), "{args}");
    }

    /// Rules that allow lift the sandbox, so all are left out: not where some forbid.
    #[test]
    fn what_the_user_forbids_is_not_set_aside() {
        let rules = |decision: &'static str| {
            move |home: &std::path::Path| {
                std::fs::create_dir_all(home.join(".codex/rules")).unwrap();
                let rule = format!("prefix_rule(pattern=[\"touch\"], decision=\"{decision}\")\n");
                std::fs::write(home.join(".codex/rules/mine.rules"), rule).unwrap();
            }
        };
        let request = r#"{"prompt": "x", "permission": "read-only"}"#;
        let (outcome, args) = in_home(rules("allow"), request);
        assert!(outcome.ok && args.contains("--ignore-rules"), "{outcome:?} {args}");
        for decision in ["forbidden", "prompt"] {
            let (outcome, args) = in_home(rules(decision), request);
            assert_eq!(outcome.failure.map(|f| f.kind), Some(teamster::Kind::Unenforceable), "{decision}");
            assert_eq!(args, "");
        }
    }
}
