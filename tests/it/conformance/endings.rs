//! How runs end badly: what the model server refuses, what hangs, what ends well and says nothing.

use super::{Done, Lab, done, kind};
use crate::support::model_server::Step;
use serde_json::json;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

const FORMS: [&str; 3] = ["stream", "json", "text"];

fn refused(status: u16) -> Step {
    Step::Status(status, "the scripted refusal".to_owned())
}

#[test]
fn a_refused_key_is_auth_after_one_attempt_in_every_form_of_output() {
    let Some(lab) = Lab::new(vec![refused(401)]) else { return };
    for output in FORMS {
        let schema = json!({"type": "integer"});
        let request = json!({"permission": "read-only", "schema": schema, "output": output});
        let outcome = lab.outcome(request, &[]);
        let seen = (kind(&outcome), outcome.exit_status(), outcome.attempts.len());
        assert_eq!(seen, (Some("auth"), 41, 1), "{output}: {outcome:?}");
    }
    assert_eq!(lab.server.main_requests().len(), FORMS.len());
}

#[test]
fn too_many_requests_are_a_rate_limit_in_every_form_of_output() {
    let Some(lab) = Lab::new(vec![refused(429)]) else { return };
    for output in FORMS {
        let outcome = lab.outcome(json!({"permission": "read-only", "output": output}), &[]);
        let seen = (kind(&outcome), outcome.exit_status(), outcome.attempts.len());
        assert_eq!(seen, (Some("rate_limit"), 75, 1), "{output}: {outcome:?}");
        assert!(outcome.failure.is_some_and(|f| f.retryable && f.message.contains("the scripted refusal")));
    }
}

#[test]
fn a_broken_model_server_is_an_error_of_the_harness_that_names_what_it_said() {
    let Some(lab) = Lab::new(vec![refused(500)]) else { return };
    let done = lab.run(json!({"permission": "read-only"}), &[]);
    assert_eq!((done.status, done.stdout.as_str()), (Some(1), ""), "{done:?}");
    assert!(done.stderr.contains("the scripted refusal"), "{done:?}");
}

#[test]
fn an_answer_that_is_empty_blocked_or_broken_off_is_a_failure_though_the_cli_exits_0() {
    let head: String = (0..60).map(|n| format!("line {n} of the answer\n")).collect();
    let endless = "and it says the same words over and over ".repeat(head.len() / 41);
    // Two chunks, and gemini ends the turn in the second, since it repeats itself.
    let looping = Step::text(head + &endless);
    for (name, step, forms) in [
        ("empty", Step::Empty, ["stream", "json"]),
        ("blocked", Step::Blocked, ["stream", "json"]),
        ("looping", looping, ["stream", "json"]),
    ] {
        let Some(lab) = Lab::new(vec![step]) else { return };
        for output in forms {
            let outcome = lab.outcome(json!({"permission": "read-only", "output": output}), &[]);
            let statuses: Vec<_> = outcome.attempts.iter().map(|a| a.exit_status).collect();
            assert_eq!(statuses, [Some(0)], "{name}, {output}: {outcome:?}");
            assert_eq!((outcome.ok, outcome.exit_status()), (false, 1), "{name}, {output}: {outcome:?}");
        }
    }
}

#[test]
fn a_hang_is_a_timeout_and_nothing_of_it_is_left() {
    let Some(lab) = Lab::new(vec![Step::Hang]) else { return };
    let began = Instant::now();
    let outcome = lab.outcome(json!({"permission": "read-only"}), &["--timeout", "7"]);
    assert!(began.elapsed() < Duration::from_secs(14), "{:?}", began.elapsed());
    let attempts: Vec<_> = outcome.attempts.iter().map(|a| (a.ok, a.exit_status)).collect();
    // gemini exits 0 on a signal; that it was ours counts.
    assert_eq!(
        (kind(&outcome), outcome.exit_status(), attempts),
        (Some("timeout"), 124, vec![(false, None)])
    );
    assert_eq!(lab.server.main_requests().len(), 1, "it hung in the request, not before");
    assert_eq!(lab.processes(), Vec::<String>::new());
    assert_eq!(super::files_under(lab.tmp.path()), Vec::<String>::new());
}

#[test]
fn what_was_said_before_a_timeout_is_no_answer() {
    let Some(lab) = Lab::new(vec![Step::Stall("the first half and the second".to_owned())]) else { return };
    for output in ["stream", "text"] {
        let request = json!({"permission": "read-only", "output": output});
        let outcome = lab.outcome(request, &["--timeout", "7"]);
        assert_eq!((kind(&outcome), outcome.exit_status()), (Some("timeout"), 124), "{output}: {outcome:?}");
        assert_eq!(outcome.text.as_deref(), Some("the first half"), "what was read is kept");
    }
}

/// A shell command that leaves children in the group, in a session of their own, and in its wait.
const SLEEPS: &str = "sleep 300 & setsid sleep 301 & touch started; sleep 302";

#[test]
fn a_timeout_also_ends_what_the_agents_shell_tool_started() {
    let Some(lab) = Lab::new(vec![Step::call("run_shell_command", json!({"command": SLEEPS}))]) else {
        return;
    };
    let outcome = lab.outcome(json!({"permission": "full"}), &["--timeout", "8"]);
    assert_eq!((kind(&outcome), outcome.exit_status()), (Some("timeout"), 124), "{outcome:?}");
    assert_eq!(lab.files(), ["started"], "the shell command was running");
    assert_eq!(lab.processes(), Vec::<String>::new());
}

#[test]
fn ctrl_c_ends_the_run_with_130_and_nothing_of_it_is_left() {
    let Some(lab) = Lab::new(vec![Step::call("run_shell_command", json!({"command": SLEEPS}))]) else {
        return;
    };
    let child = lab.start(json!({"permission": "full"}), &[]);
    let began = Instant::now();
    while lab.files().is_empty() && began.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(50));
    }
    assert_eq!(lab.files(), ["started"], "the shell command was running");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let Done { status, stdout, stderr } = done(child);
    assert_eq!((status, stdout.as_str()), (Some(130), ""), "{stderr}");
    assert_eq!(lab.processes(), Vec::<String>::new());
}
