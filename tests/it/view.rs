//! What a person gets beside the answer: steps, the log, manual pages, completions.

use crate::support::fake::Fake;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn teamster(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
    command.args(args).stdin(Stdio::null()).env("XDG_CONFIG_HOME", "/nonexistent");
    for name in ["TEAMSTER_HARNESS", "TEAMSTER_LOG", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn run(args: &[&str]) -> (i32, String, String) {
    told(teamster(args).output().expect("runs"))
}

const EVENTS: &str = r#"{"type":"init","session_id":"s-1","model":"m-1"}
{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{"file_path":"src/\u001b[2Ja.rs"}}
{"type":"tool_result","tool_id":"1","status":"error","output":"no such file"}
{"type":"message","role":"assistant","content":"done","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":1200,"output_tokens":34}}
"#;

/// A CLI that says those events.
fn speaker() -> Fake {
    Fake::new(&format!("cat <<'EOF'\n{EVENTS}EOF\n"))
}

/// Lines of stderr without their times.
fn lines(err: &str) -> Vec<String> {
    let line = |line: &str| line.split_once(" s  ").map_or(line, |(_, rest)| rest).to_owned();
    err.lines().map(line).collect()
}

#[test]
fn verbose_says_each_step_and_nothing_that_a_terminal_obeys() {
    let fake = speaker();
    let bin = fake.bin.display().to_string();
    let (status, out, err) = run(&["run", "gemini", "go", "--bin", &bin, "--verbose"]);
    assert_eq!((status, out.as_str()), (0, "done\n"), "{err}");
    assert_eq!(
        lines(&err),
        [
            "$ gemini --output-format stream-json -p go",
            "session s-1, model m-1",
            "read_file src/ [2Ja.rs",
            "read_file failed: no such file",
            "tokens 1,200 in, 34 out  session s-1",
        ]
    );
    let (_, out, err) = run(&["run", "gemini", "go", "--bin", &bin]);
    assert_eq!((out.as_str(), lines(&err).len()), ("done\n", 1), "{err}");
    let (_, out, err) = run(&["run", "gemini", "go", "--bin", &bin, "--quiet"]);
    assert_eq!((out.as_str(), err.as_str()), ("done\n", ""));
    assert_eq!(run(&["run", "gemini", "go", "--quiet", "--verbose"]).0, 2);
}

#[test]
fn a_field_that_is_not_carried_is_said() {
    let (status, _, err) = run(&["run", "pi", "hi", "--max-turns", "3", "--rehearse"]);
    assert_eq!(status, 0, "{err}");
    assert!(err.starts_with("note: max_turns is not carried: pi has no limit of turns\n"), "{err}");
    let (_, _, err) = run(&["run", "pi", "hi", "--max-turns", "3", "--rehearse", "--quiet"]);
    assert_eq!(err, "");
}

#[test]
fn the_log_tells_what_was_done_and_no_word_of_the_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.log");
    let path = file.display().to_string();
    let args = [
        "run",
        "gemini",
        "the-prompt",
        "--system",
        "the-system",
        "--env",
        "MY_TOKEN=the-secret",
        "--rehearse",
        "--log-file",
        &path,
    ];
    let (status, _, err) = told(teamster(&args).env("GEMINI_API_KEY", "the-key").output().expect("runs"));
    assert_eq!(status, 0, "{err}");
    let log = std::fs::read_to_string(&file).expect("written");
    for said in [
        "INFO teamster::cli::log: teamster version=",
        "DEBUG teamster::run::local: started harness=\"gemini\"",
        "DEBUG teamster::run::local: ended status=0",
        "INFO teamster::dispatch: dispatched harness=\"gemini\" ok=true",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
    assert!(!log.contains("the-"), "{log}");
    assert!(!err.contains("DEBUG"), "a file takes the log off stderr: {err}");
    assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    let before = log.lines().count();
    run(&["list", "gemini", "--log-file", &path]);
    assert!(std::fs::read_to_string(&file).expect("there").lines().count() > before, "it is added to");
    // Every level, and from every part: still no word of it.
    let (_, _, err) = told(
        teamster(&args[..8])
            .env("TEAMSTER_LOG", "trace")
            .env("GEMINI_API_KEY", "the-key")
            .output()
            .expect("runs"),
    );
    assert!(err.contains("TRACE teamster::cli::dispatch: event=\"text\"") && !err.contains("the-"), "{err}");
}

#[test]
fn a_log_that_cannot_be_is_an_error_before_anything_runs() {
    let (status, out, err) = run(&["run", "gemini", "hi", "--rehearse", "--log-file", "/nonexistent/t.log"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.starts_with("error: log_file: /nonexistent/t.log: "), "{err}");
    let mut command = teamster(&["run", "gemini", "hi", "--rehearse"]);
    let (status, out, err) = told(command.env("TEAMSTER_LOG", "loud").output().expect("runs"));
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(
        err.starts_with("error: TEAMSTER_LOG: `loud`: ") && err.contains("next: off, error, warn"),
        "{err}"
    );
}

/// Names of the commands that the help shows.
fn commands(args: &[&str]) -> Vec<String> {
    let help = run(&[args, &["--help"]].concat()).1;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("    "));
    names
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man/man1");
    std::fs::create_dir_all(&out).expect("made");
    std::fs::write(out.join("teamster.1"), "old").expect("written");
    let (status, _, err) = run(&["man", "--out", &out.display().to_string()]);
    assert_eq!(status, 0, "{err}");
    let mut expected = vec!["teamster.1".to_owned()];
    for name in commands(&[]) {
        expected.extend(commands(&[&name]).iter().map(|below| format!("teamster-{name}-{below}.1")));
        expected.push(format!("teamster-{name}.1"));
    }
    expected.sort();
    let mut there: Vec<String> = std::fs::read_dir(&out)
        .expect("there")
        .map(|entry| entry.expect("there").file_name().into_string().expect("UTF-8"))
        .collect();
    there.sort();
    assert_eq!(there, expected);
    assert!(there.len() > 15, "{there:?}");
    for name in &there {
        let page = std::fs::read_to_string(out.join(name)).expect("there");
        assert!(page.contains(".TH ") && page.contains(".SH NAME"), "{name}: {page}");
    }
    let first = run(&["man"]).1;
    assert_eq!(first, std::fs::read_to_string(out.join("teamster.1")).expect("there"));
    assert!(first.contains(r"teamster\-run(1)"), "{first}");
}

/// The shell's own check of a script, where the shell is there.
fn checked(shell: &str, args: &[&str], script: &Path) {
    if let Ok(output) = Command::new(shell).args(args).arg(script).output() {
        assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn completions_know_every_command_and_option_in_every_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    for (shell, check) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["-n"]), ("powershell", &[])] {
        let (status, script, err) = run(&["completions", shell]);
        assert_eq!(status, 0, "{err}");
        for word in commands(&[]).iter().map(String::as_str).chain(["rehearse", "log-file", "verbose"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let file = folder.path().join(shell);
        std::fs::write(&file, script).expect("written");
        if !check.is_empty() {
            checked(shell, check, &file);
        }
    }
}
