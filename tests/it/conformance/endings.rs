//! How runs end badly: what the model server refuses, what hangs, what is interrupted.

use super::cli::{Cli, Except};
use super::lab::{Done, Lab, done, kind};
use crate::support::model_server::Step;
use serde_json::json;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) fn refused_key(cli: &'static Cli) {
    refused(cli, 401, &["auth"], 41);
}

pub(crate) fn too_many_requests(cli: &'static Cli) {
    refused(cli, 429, &["rate_limit", "quota"], 75);
}

pub(crate) fn broken_server(cli: &'static Cli) {
    refused(cli, 500, &["harness_error"], 1);
}

/// One attempt, of the right kind, in every form of output; with a CLI that goes on for long by itself
/// the clock may end it.
fn refused(cli: &'static Cli, status: u16, kinds: &[&str], exit: u8) {
    let Some(lab) = Lab::new(cli, vec![Step::Status(status, "the scripted refusal".to_owned())]) else {
        return;
    };
    let slow = cli.excepted(Except::Retries(status)).is_some();
    let seconds = if slow { cli.seconds.start } else { cli.seconds.run }.to_string();
    for output in lab.forms().into_iter().take(if slow { 1 } else { 3 }) {
        let request = json!({"permission": cli.permission, "schema": {"type": "object"}, "output": output});
        let began = Instant::now();
        let outcome = lab.outcome(request, &["--timeout", &seconds]);
        let got = kind(&outcome).unwrap_or_default();
        let ended = slow && got == "timeout";
        assert!(kinds.contains(&got) || ended, "{output}: {outcome:?}");
        let expected = if ended { 124 } else { exit };
        assert_eq!((outcome.exit_status(), outcome.attempts.len()), (expected, 1), "{output}: {outcome:?}");
        assert!(began.elapsed() < Duration::from_secs(cli.seconds.run + 10), "{:?}", began.elapsed());
        if !ended {
            let message = outcome.failure.map(|failure| failure.message).unwrap_or_default();
            assert!(!message.is_empty(), "{output}");
        }
    }
    assert!(!lab.server.main_requests().is_empty(), "the refusal was seen");
}

pub(crate) fn hang(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::Hang]) else { return };
    let began = Instant::now();
    let seconds = cli.seconds.start;
    let outcome = lab.outcome(json!({"permission": cli.permission}), &["--timeout", &seconds.to_string()]);
    assert!(began.elapsed() < Duration::from_secs(seconds + 8), "{:?}", began.elapsed());
    // Several CLIs exit 0 on a signal; that it was ours counts.
    let attempts: Vec<_> = outcome.attempts.iter().map(|a| (a.ok, a.exit_status)).collect();
    let seen = (kind(&outcome), outcome.exit_status(), attempts);
    assert_eq!(seen, (Some("timeout"), 124, vec![(false, None)]), "{outcome:?}");
    assert!(!lab.server.main_requests().is_empty(), "it hung in the request, not before");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
    assert_eq!(lab.place.left_over(), Vec::<String>::new(), "the run's folder is gone");
}

/// A shell command that leaves children in the group, in a session of their own, and in its wait. It does
/// not begin with a sleep: claude 2.1.332 refuses that one.
const SLEEPS: &str = "true; sleep 300 & setsid sleep 301 & touch started; sleep 302";

pub(crate) fn timeout_ends_tools(cli: &'static Cli) {
    if cli.excepted(Except::NoShell).is_some() {
        return;
    }
    let Some(lab) = Lab::new(cli, vec![(cli.shell)(SLEEPS)]) else { return };
    let seconds = cli.seconds.start.to_string();
    let outcome = lab.outcome(json!({"permission": "full"}), &["--timeout", &seconds]);
    if is_refused(&lab, kind(&outcome)) {
        return;
    }
    assert_eq!((kind(&outcome), outcome.exit_status()), (Some("timeout"), 124), "{outcome:?}");
    assert_eq!(lab.place.marks(), ["started"], "the shell command was running");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

pub(crate) fn ctrl_c(cli: &'static Cli) {
    if cli.excepted(Except::NoShell).is_some() {
        return;
    }
    let Some(lab) = Lab::new(cli, vec![(cli.shell)(SLEEPS)]) else { return };
    let mut child = lab.start(json!({"permission": "full"}), &[]);
    let began = Instant::now();
    while lab.place.marks().is_empty() && began.elapsed() < Duration::from_secs(cli.seconds.run) {
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            let done = done(child);
            assert!(
                [Some(2), Some(77)].contains(&done.status) && lab.server.requests().is_empty(),
                "{done:?}"
            );
            return;
        }
        sleep(Duration::from_millis(50));
    }
    assert_eq!(lab.place.marks(), ["started"], "the shell command was running");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|sent| sent.success()));
    let Done { status, stdout, stderr } = done(child);
    assert_eq!((status, stdout.as_str()), (Some(130), ""), "{stderr}");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

/// Whether the harness has no way to run a command: then it said so and asked no model.
fn is_refused(lab: &Lab, kind: Option<&str>) -> bool {
    matches!(kind, Some("unenforceable" | "unsupported")) && lab.server.requests().is_empty()
}
