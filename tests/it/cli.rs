//! The command, as a person or a program would use it: rehearsals and fakes, no account.

use crate::support::fake::{Fake, is_alive};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn teamster(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
    command
        .args(args)
        .stdin(Stdio::null())
        .env_remove("TEAMSTER_HARNESS")
        .env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn run(args: &[&str]) -> (i32, String, String) {
    told(teamster(args).output().expect("teamster runs"))
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn with_stdin(args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut child = teamster(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    child.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("written");
    told(child.wait_with_output().expect("ends"))
}

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

#[test]
fn the_value_is_on_stdout_and_the_retry_is_told_on_stderr() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/summary.schema.json");
    let (status, out, err) =
        run(&["run", "gemini", "Summarise README.md", "--schema", schema, "--rehearse=wrong-first"]);
    assert_eq!(status, 0, "{err}");
    let value: Value = serde_json::from_str(&out).expect("one JSON value");
    assert!(value["summary"].is_string(), "{value}");
    assert_eq!(out.lines().count(), 1);
    assert!(
        err.starts_with("attempt 1: /summary is missing (required); asking again in the same session\n"),
        "{err}"
    );
    assert!(err.contains("ok  ") && err.contains("2 attempts"), "{err}");
    assert!(!err.contains('\x1b') && !out.contains('\x1b'), "no colours where nobody looks");
}

#[test]
fn a_bare_prompt_is_exactly_gemini_p_prompt() {
    assert_eq!(run(&["argv", "gemini", "fix it", "--output", "auto"]).1, "gemini -p 'fix it'\n");
    assert_eq!(run(&["argv", "gemini", "hi"]).1, "gemini --output-format stream-json -p hi\n");
}

#[test]
fn argv_shows_what_run_spawns() {
    let fake = Fake::raw("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{DIR}/args'\nexit 0\n");
    let bin = fake.bin.display().to_string();
    let request = ["gemini", "--", "-x\n--y"];
    let lowered: Value =
        serde_json::from_str(&run(&[&["argv", "--json", "--tools", "glob"][..], &request].concat()).1)
            .expect("JSON");
    run(&[&["run", "--bin", &bin, "--tools", "glob"][..], &request].concat());
    let args: Vec<&str> =
        lowered["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let shown = args.join("\n") + "\n";
    let spawned = fake.read("args");
    let (before, after) = shown.split_once("{file:guard.toml}").expect("a place for the guard");
    assert!(spawned.starts_with(before) && spawned.ends_with(after), "{spawned}\n{shown}");
    assert!(spawned.contains("/guard.toml\n"));
}

#[test]
fn every_field_of_a_request_has_a_flag() {
    let (_, out, err) = run(&[
        "argv",
        "gemini",
        "p",
        "--json",
        "--system",
        "s",
        "--model",
        "m",
        "--exact-model",
        "--tools",
        "read_file",
        "--permission",
        "edit",
        "--schema",
        SCHEMA,
        "--effort",
        "high",
        "--session-id",
        "s-1",
        "--cwd",
        "/",
        "--add-dir",
        "/tmp",
        "--max-turns",
        "3",
        "--env",
        "A=b",
        "--output",
        "json",
        "--file-references",
        "--allow-unenforced",
    ]);
    let lowered: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
    let mut fields: Vec<&str> =
        lowered["report"].as_array().expect("rows").iter().filter_map(|r| r["field"].as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    let mut all: Vec<&str> = teamster::FIELDS.iter().copied().filter(|f| *f != "harness").collect();
    all.sort_unstable();
    assert_eq!(fields, all);
}

#[test]
fn strict_turns_a_drop_into_an_error_that_names_the_field() {
    let (status, out, err) = run(&["argv", "gemini", "p", "--effort", "high", "--strict"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.starts_with("error: effort: not carried: "), "{err}");
}

#[test]
fn each_failure_has_the_exit_status_of_the_table() {
    let rehearse = |script: &str| {
        run(&["run", "gemini", "hi", "--rehearse", script]
            .map(ToOwned::to_owned)
            .join("\u{0}")
            .replace("--rehearse\u{0}", "--rehearse=")
            .split('\u{0}')
            .collect::<Vec<_>>())
    };
    for (script, status) in [
        ("[{\"status\":401}]", 41),
        ("[{\"status\":429}]", 75),
        ("[{\"status\":500}]", 1),
        ("[{\"empty\":true}]", 1),
        ("[{\"text\":\"fine\"}]", 0),
    ] {
        let (got, out, err) = rehearse(script);
        assert_eq!(got, status, "{script}: {err}");
        assert_eq!(out, if status == 0 { "fine\n" } else { "" });
    }
    let (status, _, err) = run(&["run", "gemini", "hi", "--rehearse=[{\"hang\":60}]", "--timeout", "1"]);
    assert_eq!(status, 124, "{err}");
    assert!(err.contains("next: --timeout SECONDS"), "{err}");
    let (status, out, _) =
        run(&["run", "gemini", "hi", "--schema", SCHEMA, "--attempts", "2", "--rehearse=[{\"json\":{}}]"]);
    assert_eq!((status, out.as_str()), (65, ""));
    let (status, _, err) = run(&["run", "gemini", "hi", "--bin", "/no/such/program"]);
    assert_eq!(status, 127, "{err}");
}

#[test]
fn with_json_a_failure_is_one_object_too() {
    let (status, out, _) = run(&["run", "gemini", "hi", "--json", "--rehearse=[{\"status\":401}]"]);
    let outcome: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!((status, &outcome["ok"], &outcome["failure"]["kind"]), (41, &json!(false), &json!("auth")));
    let (status, out, _) = run(&["run", "gemini", "hi", "--json", "--tools", "no_such_tool"]);
    let outcome: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(
        (status, &outcome["failure"]["kind"], &outcome["attempts"]),
        (2, &json!("unsupported"), &json!([]))
    );
}

#[test]
fn stream_gives_events_as_json_lines_and_the_outcome_last() {
    let (status, out, _) =
        run(&["run", "gemini", "hi", "--stream", "--schema", SCHEMA, "--rehearse=wrong-first"]);
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect();
    let types: Vec<&str> = lines.iter().filter_map(|l| l["type"].as_str()).collect();
    assert_eq!(status, 0);
    assert_eq!(
        types,
        [
            "session", "text", "text", "usage", "end", "retry", "session", "text", "text", "usage", "end",
            "outcome"
        ]
    );
    assert_eq!(lines[11]["outcome"]["value"], json!({"n": 1}));
}

#[test]
fn a_request_comes_from_a_file_or_stdin_and_flags_win() {
    let request = r#"{"harness":"gemini-cli","prompt":"from json","model":"m-1","permission":"default"}"#;
    let (status, out, err) =
        with_stdin(&["argv", "--request", "-", "--output", "auto", "--model", "m-2"], request);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("--model m-2 --approval-mode auto_edit") && out.contains("-p 'from json'"), "{out}");
    assert!(err.contains("note: permission `default` asks a person"), "{err}");
    let (status, out, err) = with_stdin(&["argv", "gemini", "--request", "-"], r#"{"promt":"x"}"#);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.starts_with("error: request: unknown key `promt`; did you mean `prompt`?"), "{err}");
}

#[test]
fn a_prompt_comes_from_an_argument_stdin_or_a_file() {
    let hostile = "---\nfront: matter\n---\n@nothing --help";
    for args in
        [&["argv", "gemini", "-", "--output", "auto"][..], &["argv", "gemini", "--output", "auto"][..]]
    {
        assert_eq!(with_stdin(args, hostile).1, format!("gemini '--prompt={hostile}'\n"));
    }
    for (text, prompt) in [("two\n\n", "two\n"), ("one\n", "one"), ("one\r\n", "one"), ("none ", "none ")] {
        let line = with_stdin(&["argv", "gemini", "-", "--output", "auto"], text).1;
        assert_eq!(
            line,
            format!("gemini -p {}\n", shell_words::quote(prompt)),
            "one line end is not of the prompt"
        );
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), hostile).expect("written");
    let path = file.path().display().to_string();
    assert_eq!(
        run(&["argv", "gemini", "--prompt-file", &path, "--output", "auto"]).1,
        format!("gemini '--prompt={hostile}'\n")
    );
    assert_eq!(run(&["argv", "gemini", "--output", "auto", "--", "--help"]).1, "gemini '--prompt=--help'\n");
    let (status, _, err) = run(&["argv", "gemini"]);
    assert_eq!(status, 2);
    assert!(err.starts_with("error: prompt: is empty"), "{err}");
}

#[test]
fn an_open_stdin_is_not_waited_for_when_the_prompt_is_there() {
    let began = Instant::now();
    let mut child = teamster(&["run", "gemini", "hi", "--rehearse"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    let kept_open = child.stdin.take();
    assert!(child.wait().expect("ends").success());
    drop(kept_open);
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_one() {
    let (status, _, err) = run(&["run", "gemni", "hi"]);
    assert_eq!(status, 2);
    assert!(err.starts_with("error: no harness is called `gemni`; did you mean `gemini`"), "{err}");
    let (status, _, err) = run(&["argv", "gemini", "hi", "--tools", "write_fle"]);
    assert_eq!(status, 2);
    assert!(err.contains("did you mean `write_file`"), "{err}");
}

#[test]
fn bad_counts_and_clocks_are_refused_before_any_run() {
    for bad in ["-1", "0", "0.5", "NaN", "99999999999"] {
        assert_eq!(run(&["run", "gemini", "hi", "--rehearse", &format!("--attempts={bad}")]).0, 2, "{bad}");
    }
    for bad in ["-1", "0", "NaN", "inf", "soon"] {
        assert_eq!(run(&["run", "gemini", "hi", "--rehearse", &format!("--timeout={bad}")]).0, 2, "{bad}");
    }
}

#[test]
fn a_text_can_be_shortened_and_says_so() {
    let (_, out, _) = run(&[
        "run",
        "gemini",
        "hi",
        "--json",
        "--max-reply",
        "5",
        "--rehearse=[{\"text\":\"añb\u{1F600}cd\"}]",
    ]);
    let outcome: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&outcome["text"], &outcome["truncated"]), (&json!("añb"), &json!(true)));
}

#[test]
fn ctrl_c_ends_the_children_and_exits_130() {
    let fake = Fake::new(r#"setsid sleep 300 & echo $! > "$DIR/pid"; init; sleep 300"#);
    let bin = fake.bin.display().to_string();
    for signal in ["INT", "TERM"] {
        let _ = std::fs::remove_file(fake.dir.path().join("pid"));
        let mut child =
            teamster(&["run", "gemini", "hi", "--bin", &bin]).stderr(Stdio::piped()).spawn().expect("runs");
        let began = Instant::now();
        while fake.read("pid").is_empty() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        assert_eq!(child.wait().expect("ends").code(), Some(130), "{signal}");
        assert!(!is_alive(&fake.read("pid")), "{signal}");
    }
}

#[test]
fn names_and_variables_pick_harness_binary_and_model() {
    let fake = Fake::new("init; say \"$*\"; result");
    let mut command = teamster(&["run", "just a prompt"]);
    command
        .env("TEAMSTER_HARNESS", "gemini")
        .env("TEAMSTER_GEMINI_BIN", &fake.bin)
        .env("TEAMSTER_GEMINI_MODEL", "m-9");
    let (status, out, err) = told(command.output().expect("runs"));
    assert_eq!(status, 0, "{err}");
    assert_eq!(out, "--model m-9 --output-format stream-json -p just a prompt\n");
}

#[test]
fn a_configuration_gives_profiles_aliases_and_a_ceiling() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = "default_harness = \"gemini\"\n[models.fast]\ngemini = \"flash-1\"\n\"*\" = \"other\"\n[profiles.gemini]\nargs = [\"--debug\"]\npermission = \"read-only\"\n[profiles.mine]\nplatform = \"gemini\"\nmodels = { fast = \"mine-1\" }\n";
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().display().to_string();
    let argv = |more: &[&str]| {
        run(&[&["argv", "do it", "--config", &path, "--output", "auto", "--model", "fast"][..], more]
            .concat())
        .1
    };
    let ceiling = argv(&["--permission", "full"]);
    assert!(
        ceiling.starts_with("gemini --debug --model flash-1 --approval-mode default --skip-trust"),
        "{ceiling}"
    );
    assert_eq!(argv(&["--profile", "mine"]), "gemini --model mine-1 -p 'do it'\n");
    assert_eq!(argv(&["--profile", "mine", "--exact-model"]), "gemini --model fast -p 'do it'\n");
    std::fs::write(file.path(), "[profiles.gemini]\nargz = []\n").expect("written");
    let (status, _, err) = run(&["argv", "gemini", "x", "--config", &path]);
    assert_eq!(status, 2);
    assert!(err.contains("argz") && err.contains(&format!("{path}:2: profiles.gemini.argz: ")), "{err}");
}

#[test]
fn schemas_completions_and_the_list_print() {
    for name in ["request", "config", "harness", "event", "outcome"] {
        let schema: Value = serde_json::from_str(&run(&["schema", name]).1).expect("JSON");
        assert_eq!(schema["title"], json!(format!("teamster {name}")));
    }
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(run(&["completions", shell]).1.contains("teamster"), "{shell}");
    }
    let list: Value = serde_json::from_str(&run(&["list", "--json"]).1).expect("JSON");
    assert_eq!((&list[0]["id"], &list[0]["evidence"]), (&json!("gemini"), &json!("run")));
    let (_, out, _) = run(&["list", "gemini"]);
    assert!(out.contains("run_shell_command") && out.contains("0.61.0"), "{out}");
}

#[test]
fn help_shows_examples_and_bad_flags_exit_2() {
    for sub in ["run", "argv", "list"] {
        let (status, out, _) = run(&[sub, "--help"]);
        assert_eq!(status, 0);
        assert!(out.contains("EXAMPLES"), "{sub}");
    }
    assert_eq!(run(&["run", "gemini", "hi", "--no-such-flag"]).0, 2);
}

#[test]
fn a_mistyped_option_is_never_the_prompt() {
    let (status, out, err) = with_stdin(&["argv", "gemini", "--permision=read-only"], "the real prompt");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("`--permision=read-only` looks like an option"), "{err}");
    assert_eq!(
        run(&["argv", "gemini", "- [ ] fix it", "--output", "auto"]).1,
        "gemini '--prompt=- [ ] fix it'\n"
    );
}

#[test]
fn quiet_says_nothing_but_errors() {
    let (status, out, err) = run(&[
        "run",
        "gemini",
        "hi",
        "-q",
        "--permission",
        "default",
        "--schema",
        SCHEMA,
        "--rehearse=wrong-first",
    ]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "{\"n\":1}\n", ""));
}

#[test]
fn an_empty_variable_is_no_variable() {
    let mut command = teamster(&["argv", "gemini", "hi", "--output", "auto"]);
    for name in ["TEAMSTER_CONFIG", "TEAMSTER_HARNESS", "TEAMSTER_GEMINI_MODEL", "TEAMSTER_GEMINI_BIN"] {
        command.env(name, "");
    }
    assert_eq!(told(command.output().expect("runs")).1, "gemini -p hi\n");
}

#[cfg(target_os = "linux")]
#[test]
fn when_teamster_is_killed_its_child_goes_too() {
    let fake = Fake::new(r#"echo $$ > "$DIR/pid"; init; exec sleep 300"#);
    let bin = fake.bin.display().to_string();
    let mut child = teamster(&["run", "gemini", "hi", "--bin", &bin]).spawn().expect("runs");
    let wait = |until: &dyn Fn() -> bool| {
        (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            until()
        })
    };
    assert!(wait(&|| !fake.read("pid").is_empty()));
    child.kill().expect("killed");
    child.wait().expect("ends");
    assert!(wait(&|| !is_alive(&fake.read("pid"))));
}
