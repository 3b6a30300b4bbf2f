//! Law 10: no hang, no orphan, nothing cut. The cases come from public bug reports (B04 to B18).

use crate::support::fake::{Fake, block_on, is_alive, timed};
use std::time::Duration;
use teamster::dispatch::{DispatchOptions, until_valid};
use teamster::run::{Canceller, LocalRunner};
use teamster::{DispatchRequest, HarnessRegistry, Kind, Limits, Output, Permission, Profile};

fn hi() -> DispatchRequest {
    DispatchRequest::new("hi")
}

fn kind(outcome: &teamster::Outcome) -> Option<Kind> {
    outcome.failure.as_ref().map(|f| f.kind)
}

#[test]
fn b04_a_prompt_of_any_size_arrives_whole_or_is_refused_by_name() {
    let fake = Fake::new(
        r#"n=$(wc -c | tr -d ' '); m=0
for a in "$@"; do l=$(printf %s "$a" | wc -c); [ "$l" -gt "$m" ] && m=$l; done
init; say "stdin=$n max=$m"; result"#,
    );
    let prompts = [
        ("x".repeat(204_800), "stdin=204800 max=15"),
        ("x".repeat(131_071), "stdin=0 max=131071"),
        ("x".repeat(131_072), "stdin=131072 max=15"),
        ("é".repeat(66_000), "stdin=132000 max=15"),
    ];
    for (prompt, text) in prompts {
        let outcome = fake.dispatch(DispatchRequest::new(prompt), 20.0);
        assert_eq!(outcome.text.as_deref(), Some(text), "{:?}", outcome.failure);
    }
    let with_system =
        DispatchRequest { system_prompt: Some("s".repeat(153_600)), ..DispatchRequest::new("ok") };
    assert_eq!(fake.dispatch(with_system, 20.0).text.as_deref(), Some("stdin=153604 max=15"));
    let over = fake.dispatch(DispatchRequest::new("x".repeat(9 << 20)), 20.0);
    assert_eq!((kind(&over), over.attempts.len()), (Some(Kind::ArgTooLong), 0));
    assert!(over.failure.expect("a failure").message.starts_with("prompt: "));
}

#[test]
fn b06_an_answer_that_is_no_event_is_no_answer() {
    let fake = Fake::new("echo 'Unknown command: /foo:bar'; exit 0");
    let outcome = fake.dispatch(DispatchRequest::new("/foo:bar rename the field"), 10.0);
    assert!(!outcome.ok, "{outcome:?}");
    assert_eq!(outcome.attempts.len(), 1);
}

#[test]
fn b06_a_leading_slash_reaches_the_cli_as_text() {
    let fake = Fake::new(
        r#"for a in "$@"; do last=$a; done; printf %s "$last" > "$DIR/prompt"; init; say ok; result"#,
    );
    let outcome = fake.dispatch(DispatchRequest::new("/usr/bin/env is missing, why?"), 10.0);
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!(fake.read("prompt"), "\n/usr/bin/env is missing, why?");
}

#[test]
fn b06_a_token_that_names_a_file_is_refused_before_the_spawn() {
    let fake = Fake::new(r#"echo x >> "$DIR/spawns"; init; say ok; result"#);
    let work = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(work.path().join("deep")).expect("a folder");
    std::fs::write(work.path().join("deep/secret-plan.txt"), "s").expect("a file");
    let ask = |prompt: &str, file_references: bool| {
        let cwd = Some(work.path().to_owned());
        fake.dispatch(DispatchRequest { cwd, file_references, ..DispatchRequest::new(prompt) }, 10.0)
    };
    // The CLI searches the workspace for what is no path, so a part of a name is enough.
    for prompt in ["see @deep/secret-plan.txt", "who is @secret?", "log: @/etc/hostname failed"] {
        let outcome = ask(prompt, false);
        assert_eq!((kind(&outcome), outcome.attempts.len()), (Some(Kind::InvalidRequest), 0), "{prompt}");
        assert!(outcome.failure.expect("a failure").message.starts_with("prompt: `@"), "{prompt}");
    }
    assert_eq!(fake.read("spawns"), "");
    assert!(ask("mail jane.doe@example.test", false).ok);
    assert!(ask("see @deep/secret-plan.txt", true).ok);
}

#[test]
fn b09_a_question_to_a_person_is_no_answer() {
    let fake = Fake::new(
        r#"printf 'The following paths are outside the allowed directories:\n  - /dev/null\n\nAllow access to these paths? (y/n): '
if read -r a; then echo "got $a"; exit 0; fi
echo; exit 0"#,
    );
    let (took, outcome) = timed(|| fake.dispatch(hi(), 5.0));
    assert_eq!(kind(&outcome), Some(Kind::NeedsInteraction), "{outcome:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn b09_a_hang_shows_the_last_word_of_the_cli() {
    let fake = Fake::new("init; echo 'asking id=per_1 permission=external_directory' >&2; sleep 300");
    let (took, outcome) = timed(|| fake.dispatch(hi(), 2.0));
    assert_eq!(kind(&outcome), Some(Kind::Timeout));
    assert!(outcome.failure.expect("a failure").message.contains("external_directory"));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn b10_markers_of_an_outer_session_do_not_reach_the_child() {
    let fake = Fake::new(
        r#"init; say "[$CLAUDECODE$GEMINI_CLI$CLAUDE_CODE_ENTRYPOINT]$TEAMSTER_DEPTH[$SECRET_THING]"; result"#,
    );
    let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "TEAMSTER_DEPTH").collect();
    for (name, value) in
        [("CLAUDECODE", "1"), ("GEMINI_CLI", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli"), ("SECRET_THING", "s")]
    {
        env.push((name.into(), value.into()));
    }
    let runner = |env| LocalRunner { env: Some(env), ..fake.runner() };
    let outcome = fake.dispatch_with(hi(), Profile::default(), runner(env.clone()));
    assert_eq!(outcome.text.as_deref(), Some("[]1[]"), "{:?}", outcome.failure);
    // `*` inherits everything else, the markers still not.
    let all = Profile { env_pass: vec!["*".into()], ..Profile::default() };
    assert_eq!(fake.dispatch_with(hi(), all, runner(env.clone())).text.as_deref(), Some("[]1[s]"));
    env.push(("TEAMSTER_DEPTH".into(), "5".into()));
    assert_eq!(kind(&fake.dispatch_with(hi(), Profile::default(), runner(env))), Some(Kind::Recursion));
}

#[test]
fn b11_the_working_directory_is_true_and_a_missing_one_is_named() {
    let fake = Fake::new(
        r#"p0=$(tr '\0' '\n' < /proc/$$/environ | sed -n 's/^PWD=//p'); init; say "$(pwd -P)|$p0"; result"#,
    );
    let work = tempfile::tempdir().expect("a folder");
    let sub = work.path().canonicalize().expect("a real path").join("sub");
    std::fs::create_dir(&sub).expect("a folder");
    let base = sub.parent().expect("a parent");
    let ask =
        |cwd: &str| fake.dispatch(DispatchRequest { cwd: Some(cwd.into()), ..hi() }.resolved(base), 10.0);
    assert_eq!(ask("sub").text, Some(format!("{0}|{0}", sub.display())));
    std::fs::write(base.join("a-file"), "").expect("a file");
    for (cwd, says) in [("missing", "does not exist"), ("a-file", "is no directory")] {
        let failure = ask(cwd).failure.expect("a failure");
        assert_eq!(failure.kind, Kind::BadCwd);
        assert_eq!(failure.message, format!("cwd: {} {says}", base.join(cwd).display()));
    }
    assert!(!base.join("missing").exists(), "a missing directory is never made");
}

#[test]
fn b11_a_missing_runtime_is_not_found_and_named() {
    let fake = Fake::raw("#!/usr/bin/env teamster-no-such-runtime\nconsole.log('never')\n");
    let failure = fake.dispatch(hi(), 10.0).failure.expect("a failure");
    assert_eq!((failure.kind, failure.kind.exit_status()), (Kind::NotFound, 127));
    assert!(failure.message.contains("teamster-no-such-runtime"), "{}", failure.message);
    let none = LocalRunner { bin: Some("/no/such/gemini".into()), ..LocalRunner::default() };
    let failure = fake.dispatch_with(hi(), Profile::default(), none).failure.expect("a failure");
    assert_eq!(failure.kind, Kind::NotFound);
}

#[test]
fn b12_the_child_never_waits_for_the_callers_stdin() {
    let fake = Fake::new("extra=$(cat); init; say \"extra=$extra\"; result");
    let (took, outcome) = timed(|| fake.dispatch(hi(), 20.0));
    assert_eq!(outcome.text.as_deref(), Some("extra="));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn b13_full_output_before_the_input_is_read_is_no_deadlock() {
    let fake = Fake::new(
        "head -c 262144 /dev/zero | tr '\\0' e >&2\nhead -c 262144 /dev/zero | tr '\\0' ' '\necho\nn=$(wc -c | tr -d ' '); init; say \"$n\"; result",
    );
    let (took, outcome) = timed(|| fake.dispatch(DispatchRequest::new("p".repeat(1 << 20)), 30.0));
    assert_eq!(outcome.text.as_deref(), Some("1048576"));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn b14_a_grandchild_that_keeps_the_output_open_neither_hangs_nor_lives_on() {
    let fake = Fake::new(
        r#"sleep 300 & echo $! > "$DIR/pid"
pad=$(head -c 307200 /dev/zero | tr '\0' y)
init; say "$pad END"; result; exit 0"#,
    );
    let (took, outcome) = timed(|| fake.dispatch(hi(), 60.0));
    let text = outcome.text.expect("a text");
    assert_eq!((text.len(), text.ends_with(" END")), (307_204, true));
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(!is_alive(&fake.read("pid")));
}

#[test]
fn a_grandchild_that_left_the_session_is_swept_too() {
    let fake = Fake::new(
        r#"setsid sh -c 'echo $$ > "$0/pid"; trap "" TERM; while :; do sleep 1; done' "$DIR" &
while [ ! -s "$DIR/pid" ]; do sleep 0.01; done
init; say ok; result"#,
    );
    let outcome = fake.dispatch(hi(), 30.0);
    assert!(outcome.ok, "{outcome:?}");
    assert!(!is_alive(&fake.read("pid")));
}

#[test]
fn b15_a_child_that_ignores_sigterm_is_gone_when_the_call_returns() {
    let fake = Fake::new(
        r#"trap '' TERM INT HUP
sh -c "trap '' TERM; sleep 300" & echo $$ > "$DIR/pids"; echo $! >> "$DIR/pids"
while :; do sleep 1; done"#,
    );
    let (took, outcome) = timed(|| fake.dispatch(hi(), 2.0));
    assert_eq!(kind(&outcome), Some(Kind::Timeout));
    assert!(took < Duration::from_secs(2 + 3 + 2), "{took:?}");
    let pids = fake.read("pids");
    assert_eq!(pids.lines().filter(|pid| is_alive(pid)).count(), 0, "{pids}");
}

#[test]
fn b15_cancelling_ends_everything_before_it_returns() {
    let fake = Fake::new(r#"setsid sleep 300 & echo $! > "$DIR/pid"; init; sleep 300"#);
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let (canceller, cancel) = Canceller::new();
    let mut runner = LocalRunner { cancel: Some(cancel), ..fake.runner() };
    let profile = Profile::default();
    let outcome = block_on(async {
        let dispatch = until_valid(gemini, hi(), &profile, &mut runner, DispatchOptions::default());
        let later = async {
            while fake.read("pid").is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            canceller.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! { outcome = dispatch => outcome, () = later => unreachable!() }
    });
    assert_eq!(kind(&outcome), Some(Kind::Cancelled));
    assert_eq!(outcome.session_id.as_deref(), Some("s-1"), "what was read is kept");
    assert!(!is_alive(&fake.read("pid")));
}

#[test]
fn dropping_a_dispatch_kills_its_processes() {
    let fake = Fake::new(r#"setsid sleep 300 & echo $! > "$DIR/pids"; echo $$ >> "$DIR/pids"; sleep 300"#);
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let profile = Profile::default();
    block_on(async {
        let mut runner = fake.runner();
        let dispatch = until_valid(gemini, hi(), &profile, &mut runner, DispatchOptions::default());
        let until = async {
            while fake.read("pids").lines().count() < 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { _ = dispatch => panic!("it hangs"), () = until => {} }
    });
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        fake.read("pids").lines().all(|pid| !is_alive(pid))
    });
    assert!(gone, "{}", fake.read("pids"));
}

#[test]
fn b16_a_process_that_stays_after_its_result_is_ended_and_the_answer_counts() {
    let fake = Fake::new(
        r#"echo $$ > "$DIR/pid"; init
echo '{"type":"tool_use","tool_name":"read_file","tool_id":"t1","parameters":{}}'
echo '{"type":"tool_result","tool_id":"t1","status":"success","output":"{\"type\":\"result\",\"status\":\"success\"}"}'
sleep 2; say real; result; sleep 300"#,
    );
    let (took, outcome) = timed(|| fake.dispatch(hi(), 40.0));
    assert_eq!((outcome.ok, outcome.text.as_deref()), (true, Some("real")), "{:?}", outcome.failure);
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(!is_alive(&fake.read("pid")));
}

#[test]
fn killed_by_us_with_exit_0_is_never_ok() {
    let fake = Fake::new(r#"trap 'exit 0' TERM; init; say "half an ans"; while :; do sleep 0.1; done"#);
    let outcome = fake.dispatch(hi(), 1.0);
    assert_eq!((outcome.ok, kind(&outcome)), (false, Some(Kind::Timeout)));
    assert_eq!(outcome.text.as_deref(), Some("half an ans"), "what was read is kept");
}

#[test]
fn b17_a_character_split_over_writes_is_whole() {
    let fake = Fake::new(
        r#"init; printf '{"type":"message","role":"assistant","delta":true,"content":"'
for o in 355 225 251 353 213 210 353 213 244 040 342 230 225 040 360 237 230 200; do printf "\\$o"; sleep 0.03; done
printf '"}\n'; result"#,
    );
    assert_eq!(fake.dispatch(hi(), 20.0).text.as_deref(), Some("합니다 ☕ 😀"));
}

#[test]
fn b18_a_line_of_3_mib_is_read_over() {
    let fake = Fake::new(
        r#"init; echo '{"type":"tool_use","tool_name":"read_file","tool_id":"t1","parameters":{}}'
printf '{"type":"tool_result","tool_id":"t1","status":"success","output":"'
head -c 3145728 /dev/zero | tr '\0' A
printf '"}\n'; say small; result"#,
    );
    assert_eq!(fake.dispatch(hi(), 30.0).text.as_deref(), Some("small"));
}

#[test]
fn b18_an_endless_line_reaches_the_limit_and_keeps_the_session() {
    let fake =
        Fake::new("init s-18; yes AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA | tr -d '\\n'");
    let limits = Limits { max_output_bytes: Some(40 << 20), timeout_s: Some(60.0), ..Limits::default() };
    let outcome = fake.dispatch_with(hi(), Profile { limits, ..Profile::default() }, fake.runner());
    assert_eq!(kind(&outcome), Some(Kind::OutputLimit), "{:?}", outcome.failure);
    assert_eq!(outcome.session_id.as_deref(), Some("s-18"));
    assert!(outcome.failure.expect("a failure").message.contains("41943040"));
    let next = Fake::new("init; say ok; result");
    assert!(next.dispatch(hi(), 10.0).ok, "the next dispatch works");
}

#[test]
fn a_file_that_its_writer_truncates_loses_nothing_that_was_read() {
    let fake = Fake::new("init; say one; sleep 0.5; : > /dev/stdout; say two; result");
    assert_eq!(fake.dispatch(hi(), 10.0).text.as_deref(), Some("onetwo"));
}

#[test]
fn first_output_and_idle_have_clocks_of_their_own() {
    let limits = |first: Option<f64>, idle: Option<f64>| Limits {
        first_output_timeout_s: first,
        idle_timeout_s: idle,
        timeout_s: Some(30.0),
        ..Limits::default()
    };
    let ask = |fake: &Fake, limits| {
        fake.dispatch_with(hi(), Profile { limits, ..Profile::default() }, fake.runner())
    };
    let silent = ask(&Fake::new("sleep 300"), limits(Some(0.5), None)).failure.expect("a failure");
    assert_eq!(silent.kind, Kind::Timeout);
    assert!(silent.message.starts_with("no output at all"), "{}", silent.message);
    let idle = ask(&Fake::new("init; sleep 300"), limits(Some(5.0), Some(0.5))).failure.expect("a failure");
    assert!(idle.message.starts_with("no new output"), "{}", idle.message);
    let busy = Fake::new("init; for i in 1 2 3 4 5 6; do say $i; sleep 0.3; done; result");
    assert_eq!(ask(&busy, limits(Some(5.0), Some(2.0))).text.as_deref(), Some("123456"));
}

#[test]
fn secrets_stay_out_of_what_people_read() {
    let fake = Fake::new(r#"init; echo "bad key $GEMINI_API_KEY in use" >&2; exit 1"#);
    let mut env: Vec<_> = std::env::vars_os().collect();
    env.push(("GEMINI_API_KEY".into(), "sk-very-secret-0123".into()));
    let runner = LocalRunner { env: Some(env), ..fake.runner() };
    let outcome = fake.dispatch_with(hi(), Profile::default(), runner);
    let shown = serde_json::to_string(&outcome).expect("JSON");
    assert!(shown.contains("bad key *** in use"), "{shown}");
    assert!(!shown.contains("sk-very-secret"), "{shown}");
}

#[test]
fn the_runs_files_are_for_their_owner_and_go_with_it() {
    let fake = Fake::new(
        r#"for a in "$@"; do case "$a" in --admin-policy=*) f=${a#*=};; esac; done
d=$(dirname "$f"); stat -c %a "$d" > "$DIR/modes"; stat -c %a "$f" "$d/stdout" "$d/stderr" >> "$DIR/modes"
echo "$d" > "$DIR/folder"; echo "$TMPDIR" >> "$DIR/folder"; init; say ok; result"#,
    );
    let request = DispatchRequest { permission: Some(Permission::ReadOnly), ..hi() };
    let outcome = fake.dispatch(request.clone(), 10.0);
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!(fake.read("modes"), "700\n600\n600\n600\n");
    let folder = fake.read("folder");
    let (dir, tmp) = folder.trim().split_once('\n').expect("two lines");
    assert_eq!(tmp, format!("{dir}/tmp"));
    assert!(!std::path::Path::new(dir).exists());
    let kept =
        fake.dispatch_with(request, Profile::default(), LocalRunner { keep_files: true, ..fake.runner() });
    let files = kept.attempts[0].files.clone().expect("kept files");
    assert!(std::path::Path::new(&files).join("stdout").is_file());
    std::fs::remove_dir_all(files).expect("the folder can be removed");
}

#[test]
fn a_restriction_that_system_policies_would_set_aside_is_refused() {
    use teamster::command::Check;
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let request = DispatchRequest { permission: Some(Permission::ReadOnly), output: Output::Stream, ..hi() };
    let mut lowered = teamster::lower(gemini, &request, &Profile::default()).expect("lowers");
    let system = tempfile::tempdir().expect("a folder");
    for check in &mut lowered.command.checks {
        if let Check::NoFilesIn { dir, .. } = check {
            *dir = system.path().display().to_string().into();
        }
    }
    let fake = Fake::new("init; say ok; result");
    let run = |lowered: &teamster::Lowered| {
        use teamster::run::{RunContext, Runner};
        let profile = Profile::default();
        let limits = profile.limits.settled().expect("limits");
        let deadline = std::time::Instant::now() + limits.timeout;
        let mut emit = |_: teamster::Event<'_>| {};
        let context =
            RunContext { builder: gemini, profile: &profile, limits, deadline, attempt: 1, emit: &mut emit };
        block_on(fake.runner().run(lowered, context))
    };
    assert_eq!(run(&lowered).expect("runs").reply.text, "ok");
    std::fs::write(system.path().join("company.toml"), "").expect("a file");
    assert_eq!(run(&lowered).expect_err("is refused").kind, Kind::Unenforceable);
}

#[test]
fn a_restricting_request_takes_away_what_env_files_of_the_workspace_would_set() {
    let fake = Fake::new(r#"env > "$DIR/env"; init; say ok; result"#);
    let home = tempfile::tempdir().expect("a home");
    let work = home.path().join("repo/deep");
    std::fs::create_dir_all(work.join(".gemini")).expect("folders");
    let write = |path: &str, text: &str| std::fs::write(home.path().join(path), text).expect("written");
    write(".env", "MINE=1\n");
    write("repo/.env", "\u{feff}export EVIL_ABOVE = 1\r\nPATH=/evil\n");
    write(
        "repo/deep/.gemini/.env",
        "LD_PRELOAD\n = './evil.so' # x\nA=1 B: 2\u{2028}HIDDEN=3\nGEMINI_API_KEY=theirs\n",
    );
    let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
    env.push(("HOME".into(), home.path().into()));
    let run = |permission: Option<Permission>| {
        let runner = LocalRunner { env: Some(env.clone()), ..fake.runner() };
        let request = DispatchRequest { cwd: Some(work.clone()), permission, ..hi() };
        let outcome = fake.dispatch_with(request, Profile::default(), runner);
        assert!(outcome.ok, "{outcome:?}");
        fake.read("env")
    };
    let held = run(Some(Permission::ReadOnly));
    let value = |env: &str, name: &str| {
        env.lines().find_map(|l| l.strip_prefix(&format!("{name}="))).map(str::to_owned)
    };
    for name in ["EVIL_ABOVE", "LD_PRELOAD", "A", "B", "HIDDEN"] {
        assert_eq!(value(&held, name).as_deref(), Some(""), "{name}");
    }
    for name in ["MINE", "GEMINI_API_KEY"] {
        assert_eq!(
            value(&held, name),
            std::env::var(name).ok(),
            "{name}: the user's own, and what may come from there"
        );
    }
    assert_eq!(value(&held, "PATH"), std::env::var("PATH").ok());
    assert_eq!(value(&run(None), "EVIL_ABOVE"), None, "a request that restricts nothing changes nothing");
}

#[test]
fn an_env_file_that_cannot_be_taken_back_is_refused() {
    use teamster::command::Check;
    use teamster::run::{RunContext, Runner};
    let fake = Fake::new("init; say ok; result");
    let home = tempfile::tempdir().expect("a home");
    let work = home.path().join("repo/deep");
    std::fs::create_dir_all(&work).expect("folders");
    let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
    env.push(("HOME".into(), home.path().into()));
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let request = DispatchRequest { cwd: Some(work), output: Output::Stream, ..hi() };
    let profile = Profile::default();
    let mut lowered = teamster::lower(gemini, &request, &profile).expect("lowers");
    lowered.command.checks.push(Check::NoVariables {
        names: vec![".env".into()].into(),
        keep: vec!["GEMINI_API_KEY".into()].into(),
        why: "the CLI would take it".into(),
    });
    let run = || {
        let limits = profile.limits.settled().expect("limits");
        let deadline = std::time::Instant::now() + limits.timeout;
        let mut emit = |_: teamster::Event<'_>| {};
        let context =
            RunContext { builder: gemini, profile: &profile, limits, deadline, attempt: 1, emit: &mut emit };
        let mut runner = LocalRunner { env: Some(env.clone()), ..fake.runner() };
        block_on(runner.run(&lowered, context)).map(|ran| ran.reply.text).map_err(|e| (e.kind, e.message))
    };
    let write = |path: &str, text: &str| std::fs::write(home.path().join(path), text).expect("written");
    write(".env", "MINE=1\n");
    // What the child has a value for already stays as it is.
    write("repo/.env", "# A=1\n\u{feff}export GEMINI_API_KEY = http://theirs:1/b=c\r\nPATH=/evil\n");
    assert_eq!(run(), Ok("ok".to_owned()));
    write("repo/.env", "BASE_URL=http://elsewhere\n");
    let (kind, message) = run().expect_err("is refused");
    assert_eq!(kind, Kind::Unenforceable);
    assert!(message.contains("sets BASE_URL: the CLI would take it"), "{message}");
}

#[test]
fn a_restriction_that_the_users_settings_would_undo_is_refused() {
    let fake = Fake::new("init; say ok; result");
    let home = tempfile::tempdir().expect("a home");
    std::fs::create_dir(home.path().join(".gemini")).expect("a folder");
    let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
    env.push(("HOME".into(), home.path().into()));
    let request = DispatchRequest { permission: Some(Permission::ReadOnly), ..hi() };
    let run = || {
        fake.dispatch_with(
            request.clone(),
            Profile::default(),
            LocalRunner { env: Some(env.clone()), ..fake.runner() },
        )
    };
    assert!(run().ok);
    let settings = r#"{"tools": {"discoveryCommand": "./tools.sh"}}"#;
    std::fs::write(home.path().join(".gemini/settings.json"), settings).expect("written");
    let outcome = run();
    assert_eq!((kind(&outcome), outcome.attempts.len()), (Some(Kind::Unenforceable), 0));
}

#[test]
fn exit_0_with_nothing_said_is_an_empty_reply() {
    for body in ["exit 0", "init; result", "init; say ''; result", "init; say '  '; result"] {
        let outcome = Fake::new(body).dispatch(hi(), 10.0);
        assert_eq!((outcome.ok, kind(&outcome)), (false, Some(Kind::EmptyReply)), "{body}: {outcome:?}");
        let files = outcome.attempts[0].files.clone().expect("worth a look, so its files are kept");
        std::fs::remove_dir_all(files).expect("the folder can be removed");
    }
}

#[test]
fn b05_a_windows_shim_is_looked_through_instead_of_run_by_cmd() {
    use teamster::run::{ShimPlan, plan_shim};
    let script = concat!(
        "@echo off\r\nsetlocal\r\nset \"here=%~dp0\"\r\n",
        "if exist \"%here%node.exe\" (set \"run=%here%node.exe\") else (set \"run=node\")\r\n",
        "\"%run%\" \"%here%node_modules\\@acme\\agent\\cli.js\" %*\r\n"
    );
    let native = "@echo off\r\n\"%~dp0node_modules\\@acme\\agent\\bin\\agent.exe\" %*\r\n";
    let args = [
        "-p",
        "line one\nline two & echo %PATH% \"quoted\" ^caret !bang!",
        "--add-dir",
        "C:\\dir with space\\",
        "-x",
    ];
    let folder = "C:\\Users\\A B\\npm\\";
    let plan = |text: &str| plan_shim(text, folder, &args);
    let cli = "C:\\Users\\A B\\npm\\node_modules\\@acme\\agent\\cli.js".to_owned();
    assert_eq!(plan(script), Ok(Some(ShimPlan { program: "node".into(), args_prefix: vec![cli] })));
    let exe = "C:\\Users\\A B\\npm\\node_modules\\@acme\\agent\\bin\\agent.exe".to_owned();
    assert_eq!(plan(native), Ok(Some(ShimPlan { program: exe, args_prefix: Vec::new() })));
    assert_eq!(plan("@echo something else %*").map_err(|f| f.kind), Err(Kind::Unsupported));
    assert_eq!(plan_shim("@echo something else %*", folder, &["-p", "plain words"]), Ok(None));
}

#[test]
fn a_grandchild_that_writes_for_ever_does_not_keep_the_run_from_its_end() {
    let fake = Fake::new(
        r#"init; say done; result
(while :; do echo noise noise noise noise; done) & echo $! > "$DIR/pid"; exit 0"#,
    );
    let (took, outcome) = timed(|| fake.dispatch(hi(), 60.0));
    assert_eq!(outcome.text.as_deref(), Some("done"), "{:?}", outcome.failure);
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(!is_alive(&fake.read("pid")));
}

/// A project's files count in every directory above the working directory, by any name of it, but not the user's own.
#[test]
fn what_a_cli_reads_upwards_is_looked_for_up_to_the_root_and_not_in_the_home() {
    use teamster::command::Check;
    use teamster::run::{RunContext, Runner};
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let fake = Fake::new("init; say ok; result");
    let home = tempfile::tempdir().expect("a home");
    let deep = home.path().join("repo/deep");
    std::fs::create_dir_all(&deep).expect("folders");
    let request = DispatchRequest { cwd: Some(deep.clone()), output: Output::Stream, ..hi() };
    let run = |checks: Vec<Check>, more: &[(&str, &str)]| {
        let profile = Profile { env_pass: vec!["SETTINGS".to_owned()], ..Profile::default() };
        let mut lowered = teamster::lower(gemini, &request, &profile).expect("lowers");
        lowered.command.checks = checks;
        let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
        env.push(("HOME".into(), home.path().into()));
        env.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        let limits = profile.limits.settled().expect("limits");
        let deadline = std::time::Instant::now() + limits.timeout;
        let mut emit = |_: teamster::Event<'_>| {};
        let context =
            RunContext { builder: gemini, profile: &profile, limits, deadline, attempt: 1, emit: &mut emit };
        block_on(LocalRunner { env: Some(env), ..fake.runner() }.run(&lowered, context))
            .map(|_| ())
            .map_err(|e| e.kind)
    };
    let upwards =
        || vec![Check::NoneUpwards { names: vec!["x.json".into()].into(), why: "it runs it".into() }];
    std::fs::write(home.path().join("x.json"), "").expect("the user's own");
    assert_eq!(run(upwards(), &[]), Ok(()));
    std::fs::write(home.path().join("repo/x.json"), "").expect("the project's");
    assert_eq!(run(upwards(), &[]), Err(Kind::Unenforceable));

    let variable = || vec![Check::NoVariable { name: "SETTINGS".into(), why: "the run needs it".into() }];
    assert_eq!(run(variable(), &[]), Ok(()));
    assert_eq!(run(variable(), &[("SETTINGS", "")]), Ok(()));
    assert_eq!(run(variable(), &[("SETTINGS", "/mine.json")]), Err(Kind::Unsupported));
}
