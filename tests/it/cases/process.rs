//! Cases about a run as a process, with a script in the place of the CLI that a case names, or of each.

use crate::support::fake::{Fake, is_alive, timed};
use serde_json::json;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use teamster::run::LocalRunner;
use teamster::testkit::given;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Limits, Outcome, Output, Profile, ReplySchema, lower,
};

/// The last message of a run of claude with this text.
const SAYS: &str = r#"
says() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"%s"}\n' "$1" "$2"; }
"#;

fn claude(body: &str) -> Fake {
    Fake::of("claude", &format!("{SAYS}{body}"))
}

fn kind(outcome: &Outcome) -> Option<Kind> {
    outcome.failure.as_ref().map(|failure| failure.kind)
}

/// The environment of this process, with a home that has nothing in it, and these.
fn env_with(fake: &Fake, more: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let ours = |name: &OsString| *name != "HOME" && *name != "PWD" && *name != "TEAMSTER_DEPTH";
    let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| ours(name)).collect();
    let home = fake.dir.path().join("home");
    std::fs::create_dir_all(&home).expect("a home");
    env.push(("HOME".into(), home.into()));
    env.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
    env
}

fn in_env(fake: &Fake, request: DispatchRequest, more: &[(&str, &str)], timeout_s: f64) -> Outcome {
    let limits = Limits { timeout_s: Some(timeout_s), attempts: Some(1), ..Limits::default() };
    let runner = LocalRunner { env: Some(env_with(fake, more)), ..fake.runner() };
    cleared(fake.dispatch_with(request, Profile { limits, ..Profile::default() }, runner))
}

/// The outcome, without the folders that are kept of runs that are worth a look.
fn cleared(outcome: Outcome) -> Outcome {
    for files in outcome.attempts.iter().filter_map(|attempt| attempt.files.as_ref()) {
        std::fs::remove_dir_all(files).expect("the folder can be removed");
    }
    outcome
}

/// The harnesses that ship.
fn all() -> Vec<String> {
    HarnessRegistry::builtin().iter().map(|builder| builder.facts().id.clone()).collect()
}

/// What a run gave to its CLI is kept by the script, and read as that CLI would.
#[test]
fn b04_a_large_text_arrives_through_a_process_or_is_refused_by_name() {
    let schema = format!(r#"{{"type": "object", "description": "{}"}}"#, "s".repeat(160 << 10));
    let requests = [
        DispatchRequest::new("x".repeat(204_800)),
        DispatchRequest::new("x".repeat(131_071)),
        DispatchRequest::new("x".repeat(131_072)),
        DispatchRequest::new("é".repeat(66_000)),
        DispatchRequest { system_prompt: Some("s".repeat(153_600)), ..DispatchRequest::new("ok") },
        DispatchRequest {
            schema: Some(ReplySchema::from_text(&schema).unwrap()),
            ..DispatchRequest::new("ok")
        },
    ];
    let registry = HarnessRegistry::builtin();
    for id in ["claude", "codex", "aider", "opencode"] {
        let builder = registry.get(id).unwrap();
        for request in &requests {
            let fake = Fake::of(
                id,
                r#"cat > "$DIR/stdin"; n=0; for a in "$@"; do printf %s "$a" > "$DIR/arg.$n"; n=$((n+1)); done
for a in "$@"; do f=${a#*=}; if [ -f "$f" ]; then cp "$f" "$DIR/"; fi; done"#,
            );
            // The form that a dispatch asks for.
            let request = DispatchRequest { output: Output::Stream, ..request.clone() };
            let outcome = in_env(&fake, request.clone(), &[], 60.0);
            assert_ne!(kind(&outcome), Some(Kind::NotFound), "{id}: {outcome:?}");
            let Ok(lowered) = lower(builder, &request, &Profile::default()) else {
                assert_eq!((kind(&outcome), outcome.attempts.len()), (Some(Kind::ArgTooLong), 0), "{id}");
                continue;
            };
            let wanted = given(&lowered.command);
            assert_eq!(fake.read("stdin"), wanted.stdin, "{id}");
            for (n, arg) in wanted.args.iter().enumerate() {
                let got = fake.read(&format!("arg.{n}"));
                // Names of files are of the run's own folder.
                let named = arg.contains("/run/teamster/");
                assert!(got == *arg || named, "{id}: argument {n} has {} bytes of {}", got.len(), arg.len());
            }
            for file in &lowered.command.files {
                let is_named = lowered.command.args.iter().any(|arg| arg.shown().contains(&*file.name));
                assert!(!is_named || fake.read(&file.name) == file.content, "{id}: {}", file.name);
            }
        }
    }
}

#[test]
fn b06_a_command_of_the_cli_is_text_or_a_failure() {
    let looks = claude(
        r#"p=$(cat; echo .); p=${p%.}
case "$p" in /*:*) echo "Unknown command: ${p%% *}"; exit 0;; esac
says renamed s-6"#,
    );
    let request = || DispatchRequest::new("/foo:bar rename the field");
    assert_eq!(in_env(&looks, request(), &[], 10.0).text.as_deref(), Some("renamed"));
    let never = claude("echo 'Unknown command: /foo:bar'; exit 0");
    for output in [Output::Auto, Output::Text, Output::Json, Output::Stream] {
        let outcome = in_env(&never, DispatchRequest { output, ..request() }, &[], 10.0);
        assert_eq!((outcome.ok, outcome.attempts.len()), (false, 1), "{output:?}: {outcome:?}");
    }
}

#[test]
fn b09_a_question_is_never_an_answer_on_any_harness() {
    let mut wrong = Vec::new();
    for id in all() {
        let fake = Fake::of(
            &id,
            r#"printf 'The following paths are outside the allowed directories:\n  - /dev/null\n\nAllow access to these paths? (y/n): '
if read -r a; then echo "got $a"; exit 0; fi
echo; exit 0"#,
        );
        let (took, outcome) = timed(|| in_env(&fake, DispatchRequest::new("Say hi."), &[], 5.0));
        let fits = matches!(kind(&outcome), Some(Kind::NeedsInteraction | Kind::Permission));
        if !fits || took > Duration::from_secs(3) {
            wrong.push(format!("{id}: {:?} after {took:?}: {:?}", kind(&outcome), outcome.text));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn b09_a_hang_shows_the_last_word_on_any_harness() {
    let mut wrong = Vec::new();
    std::thread::scope(|threads| {
        let runs = all().into_iter().map(|id| {
            threads.spawn(move || {
                let body = r#"echo '{"type":"step_start","sessionID":"ses_1"}'
echo 'asking id=per_1 permission=external_directory' >&2
sleep 300"#;
                let fake = Fake::of(&id, body);
                let (took, outcome) = timed(|| in_env(&fake, DispatchRequest::new("Say hi."), &[], 3.0));
                let says = outcome.failure.as_ref().is_some_and(|f| f.message.contains("external_directory"));
                let fits = kind(&outcome) == Some(Kind::Timeout) && says && took < Duration::from_secs(10);
                (!fits).then(|| format!("{id}: {outcome:?} after {took:?}"))
            })
        });
        for run in runs.collect::<Vec<_>>() {
            wrong.extend(run.join().unwrap());
        }
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn b10_no_mark_of_an_outer_session_reaches_a_child_of_any_harness() {
    let marks = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli"), ("GEMINI_CLI", "1")];
    for id in all() {
        let fake = Fake::of(&id, r#"env > "$DIR/env""#);
        let outcome = in_env(&fake, DispatchRequest::new("Say hi."), &marks, 10.0);
        assert_eq!(outcome.attempts.len(), 1, "{id} was run: {outcome:?}");
        let env = fake.read("env");
        let has = |name: &str| env.lines().any(|line| line.starts_with(&format!("{name}=")));
        assert_eq!(marks.map(|(name, _)| has(name)), [false; 3], "{id}");
        assert!(env.lines().any(|line| line == "TEAMSTER_DEPTH=1"), "{id}");
    }
}

#[test]
fn b10_claude_runs_inside_of_claude() {
    let fake = claude(
        r#"if [ -n "$CLAUDECODE" ]; then echo 'Error: cannot be launched inside another session' >&2; exit 1; fi
says fine s-10"#,
    );
    let outcome = in_env(&fake, DispatchRequest::new("Say hi."), &[("CLAUDECODE", "1")], 10.0);
    assert_eq!((outcome.ok, outcome.text.as_deref()), (true, Some("fine")), "{outcome:?}");
}

/// Some CLIs believe PWD, and some apply a relative path to the directory that they are in by then.
#[test]
fn b11_a_relative_place_is_the_callers_on_any_harness() {
    for id in all() {
        let fake = Fake::of(
            &id,
            r#"pwd -P > "$DIR/seen"; tr '\0' '\n' < /proc/$$/environ | sed -n 's/^PWD=//p' >> "$DIR/seen"
printf '%s\n' "$@" > "$DIR/args""#,
        );
        let base = fake.dir.path().canonicalize().unwrap().join("w");
        std::fs::create_dir_all(base.join("sub")).unwrap();
        std::fs::create_dir_all(base.join("shared")).unwrap();
        let bare =
            DispatchRequest { cwd: Some("sub".into()), ..DispatchRequest::new("Say hi.") }.resolved(&base);
        let more = DispatchRequest { add_dirs: vec!["shared".into()], ..DispatchRequest::new("Say hi.") };
        let more = DispatchRequest { cwd: Some("sub".into()), ..more }.resolved(&base);
        let elsewhere = [("PWD", "/somewhere/else")];
        let mut outcome = in_env(&fake, more, &elsewhere, 10.0);
        if outcome.attempts.is_empty() {
            // It has no way to other directories.
            assert_eq!(kind(&outcome), Some(Kind::Unsupported), "{id}: {outcome:?}");
            outcome = in_env(&fake, bare, &elsewhere, 10.0);
        }
        assert_eq!(outcome.attempts.len(), 1, "{id}: {outcome:?}");
        let sub = base.join("sub").display().to_string();
        assert_eq!(fake.read("seen"), format!("{sub}\n{sub}\n"), "{id}");
        let relative = |arg: &str| ["sub", "shared"].contains(&arg.rsplit('=').next().unwrap_or_default());
        assert_eq!(fake.read("args").lines().find(|arg| relative(arg)), None, "{id}");
    }
}

/// A teamster with a fake, and its arguments.
fn teamster(fake: &Fake, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
    command.args(["run", &fake.harness, "--bin"]).arg(&fake.bin).args(args);
    command.env_clear().envs(env_with(fake, &[])).env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

#[test]
fn b12_codex_gets_an_end_of_input_while_that_of_the_caller_stays_open() {
    let fake = Fake::of(
        "codex",
        r#"echo 'Reading additional input from stdin...' >&2
extra=$(cat)
printf '%s\n' '{"type":"thread.started","thread_id":"t-12"}' '{"type":"turn.started"}'
printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"extra=%s"}}\n' "$extra"
echo '{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":0,"output_tokens":2}}'"#,
    );
    let began = Instant::now();
    let mut child = teamster(&fake, &["the prompt", "--timeout", "20"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let kept_open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(kept_open);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "extra=the prompt\n");
    assert!(output.status.success() && began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// The same scripts as for gemini in `process.rs`, in the words of claude: its reader has to see their ends.
#[test]
fn b13_to_b17_claude_lives_and_ends_well() {
    let deadlock = claude(
        r"head -c 262144 /dev/zero | tr '\0' e >&2; head -c 262144 /dev/zero | tr '\0' ' '; echo
says $(wc -c) s-13",
    );
    let prompt = DispatchRequest::new("p".repeat(1 << 20));
    let (took, outcome) = timed(|| in_env(&deadlock, prompt, &[], 30.0));
    assert_eq!(outcome.text.as_deref(), Some("1048576"), "{:?}", outcome.failure);
    assert!(took < Duration::from_secs(10), "{took:?}");

    let grandchild = claude(
        r#"sleep 300 & echo $! > "$DIR/pid"
says "$(head -c 307200 /dev/zero | tr '\0' y) END" s-14; exit 0"#,
    );
    let (took, outcome) = timed(|| in_env(&grandchild, DispatchRequest::new("Say hi."), &[], 60.0));
    let text = outcome.text.unwrap_or_default();
    assert_eq!((outcome.ok, text.len(), text.ends_with(" END")), (true, 307_204, true));
    assert!(took < Duration::from_secs(8) && !is_alive(&grandchild.read("pid")), "{took:?}");

    let stays = claude(
        r#"echo $$ > "$DIR/pid"; echo '{"type":"system","subtype":"init","session_id":"s-16"}'
echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"decoy\"}"}]}}'
sleep 2; says real s-16; sleep 300"#,
    );
    let (took, outcome) = timed(|| in_env(&stays, DispatchRequest::new("Say hi."), &[], 40.0));
    assert_eq!((outcome.ok, outcome.text.as_deref()), (true, Some("real")), "{:?}", outcome.failure);
    assert!(took < Duration::from_secs(20) && !is_alive(&stays.read("pid")), "{took:?}");

    let slow = claude(
        r#"printf '{"type":"result","subtype":"success","is_error":false,"result":"'
for o in 355 225 251 353 213 210 353 213 244 040 342 230 225 040 360 237 230 200; do printf "\\$o"; sleep 0.03; done
printf '","session_id":"s-17"}\n'"#,
    );
    let outcome = in_env(&slow, DispatchRequest::new("Say hi."), &[], 20.0);
    assert_eq!(outcome.text.as_deref(), Some("합니다 ☕ 😀"));
}

#[test]
fn b18_claude_reads_over_a_large_line() {
    let fake = claude(
        r#"echo '{"type":"system","subtype":"init","session_id":"s-18"}'
printf '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"'
head -c 3145728 /dev/zero | tr '\0' A
printf '"}]}}\n'; says small s-18"#,
    );
    for output in [Output::Stream, Output::Json] {
        let request = DispatchRequest { output, ..DispatchRequest::new("Say hi.") };
        let outcome = in_env(&fake, request, &[], 30.0);
        assert_eq!(outcome.text.as_deref(), Some("small"), "{output:?}: {:?}", outcome.failure);
    }
}

/// Of a line without an end no more is kept than the reader's own limit.
#[cfg(target_os = "linux")]
#[test]
fn b18_an_endless_line_takes_little_memory() {
    let fake = claude(
        r#"echo '{"type":"system","subtype":"init","session_id":"s-18"}'
head -c 524288000 /dev/zero | tr '\0' A; echo; says late s-18"#,
    );
    let args = ["Say hi.", "--json", "--timeout", "120", "--attempts", "1"];
    let mut child = teamster(&fake, &args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let told = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak_kib = told.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(peak_kib);
        std::thread::sleep(Duration::from_millis(5));
    }
    let outcome: Outcome =
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).expect("an outcome");
    assert_eq!(kind(&outcome), Some(Kind::OutputLimit), "{:?}", outcome.failure);
    assert_eq!(outcome.session_id.as_deref(), Some("s-18"));
    assert!(peak_kib > 0 && peak_kib < 200 << 10, "{peak_kib} KiB");
    cleared(outcome);
}

#[test]
fn b31_a_schema_that_refers_elsewhere_is_refused_before_any_spawn() {
    let fake = claude(r#"echo x >> "$DIR/spawns"; says '{}' s"#);
    for schema in [
        json!({"$ref": "http://127.0.0.1:9/x.json"}),
        json!({"type": "object", "$defs": {"unused": {"$ref": "http://127.0.0.1:9/x.json"}}}),
        json!({"$ref": "file:///etc/hostname"}),
        json!({"$ref": "other.json"}),
        json!({"$schema": "http://127.0.0.1:9/meta.json", "type": "object"}),
    ] {
        let schema = Some(ReplySchema::from_value(&schema).unwrap());
        let outcome = in_env(&fake, DispatchRequest { schema, ..DispatchRequest::new("x") }, &[], 10.0);
        assert_eq!((kind(&outcome), outcome.attempts.len()), (Some(Kind::SchemaError), 0));
    }
    assert_eq!(fake.read("spawns"), "");
}

/// A request for a number of widgets.
fn widgets() -> DispatchRequest {
    let schema =
        json!({"type": "object", "properties": {"widgets": {"type": "integer"}}, "required": ["widgets"]});
    DispatchRequest {
        schema: Some(ReplySchema::from_value(&schema).unwrap()),
        ..DispatchRequest::new("COUNT THE WIDGETS in stock.csv")
    }
}

#[test]
fn b36_claude_is_asked_again_in_its_newest_session() {
    let ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    let fake = claude(&format!(
        r#"n=$(cat "$DIR/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$DIR/n"
printf '%s\n' "$@" > "$DIR/argv.$n"; cat > "$DIR/stdin.$n"
case $n in
 1) says 'I counted them: 12.' {};;
 2) says '{{\"widgets\":\"12\"}}' {};;
 *) says '{{\"widgets\":12}}' s-three;;
esac"#,
        ids[0], ids[1]
    ));
    let outcome = fake.dispatch(widgets(), 30.0);
    assert_eq!((outcome.ok, outcome.value.clone()), (true, Some(json!({"widgets": 12}))), "{outcome:?}");
    assert_eq!((outcome.attempts.len(), outcome.session_id.as_deref()), (3, Some("s-three")));
    for (n, id, why) in [(2, ids[0], "no JSON was found"), (3, ids[1], "/widgets: expected integer")] {
        let args = fake.read(&format!("argv.{n}"));
        assert!(args.lines().any(|arg| arg == format!("--resume={id}")), "{n}: {args}");
        let stdin = fake.read(&format!("stdin.{n}"));
        assert!(stdin.contains(why), "{n}: {stdin}");
    }
}

#[test]
fn b38_a_refused_key_is_one_spawn_of_claude() {
    let fake = claude(r#"echo x >> "$DIR/spawns"; echo 'API Error: 401 invalid x-api-key' >&2; exit 1"#);
    let limits = Limits { attempts: Some(4), ..Limits::default() };
    let outcome = fake.dispatch_with(widgets(), Profile { limits, ..Profile::default() }, fake.runner());
    assert_eq!(kind(&outcome), Some(Kind::Auth), "{outcome:?}");
    assert_eq!(fake.read("spawns"), "x\n");
}
