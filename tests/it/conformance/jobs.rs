//! Real CLIs in the background: looked at, followed, waited for, cancelled in a tool, and with a supervisor
//! that is killed at any moment.

use super::cli::Cli;
use super::clis::{claude, codex, gemini};
use super::lab::{Done, Lab, done};
use crate::support::model_server::Step;
use serde_json::{Value, json};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// As the battery's: children in the group, in a session of their own, and in its wait.
const SLEEPS: &str = "true; sleep 300 & setsid sleep 301 & touch started; sleep 302";

fn start(lab: &Lab, id: &str) -> Done {
    done(lab.start(json!({"permission": "full"}), &["--background", "--id", id, "--json"]))
}

fn said(lab: &Lab, args: &[&str]) -> Value {
    let done = lab.teamster(&[args, &["--json"]].concat());
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"))
}

fn state(lab: &Lab, id: &str) -> String {
    let said = said(lab, &["job", "status", id]);
    said["job"]["state"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
}

fn until(lab: &Lab, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(lab.cli.seconds.run), "{:?}", said(lab, &["status"]));
        sleep(Duration::from_millis(50));
    }
}

/// The supervisor of the job, by the command line that only it has.
fn supervisor(lab: &Lab, id: &str) -> Option<String> {
    let folder = said(lab, &["job", "status", id])["job"]["folder"].as_str()?.to_owned();
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let line = String::from_utf8(std::fs::read(entry.path().join("cmdline")).ok()?).ok()?;
        let is = line.contains("\0supervise\0") && line.trim_end_matches('\0').ends_with(&folder);
        is.then(|| entry.file_name().into_string().ok())?
    })
}

fn a_job_is_followed_to_its_answer(cli: &'static Cli) {
    let Some(lab) =
        Lab::new(cli, vec![Step::text("the answer"), Step::text("the answer"), Step::text("the answer")])
    else {
        return;
    };
    let lab = lab.trusted();
    for id in ["a", "b", "c"] {
        let started = start(&lab, id);
        assert_eq!(started.status, Some(0), "{started:?}");
    }
    let log = lab.teamster(&["job", "logs", "a", "-f"]);
    assert!(log.stdout.contains("the answer"), "{log:?}");
    let waited = said(&lab, &["job", "wait", "a", "b", "c"]);
    let states: Vec<&Value> = waited["jobs"].as_array().unwrap().iter().map(|job| &job["state"]).collect();
    assert_eq!(states, ["done", "done", "done"], "{waited}");
    assert_eq!(lab.teamster(&["job", "result", "b"]).stdout, "the answer\n");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

fn a_cancel_in_a_tool_ends_the_tool(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![(cli.shell)(SLEEPS)]) else { return };
    let lab = lab.trusted();
    start(&lab, "j");
    until(&lab, || !lab.place.marks().is_empty());
    let cancelled = said(&lab, &["job", "cancel", "j"]);
    assert_eq!(cancelled["jobs"][0]["state"], "cancelled", "{cancelled}");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

/// Ten moments for each of two CLIs, from the supervisor's first to the run of the agent's tool.
fn a_killed_supervisor_leaves_no_orphan_and_no_wrong_state(cli: &'static Cli) {
    for round in 0..10_u64 {
        let Some(lab) =
            Lab::new(cli, vec![(cli.shell)("true; sleep 1; touch started"), Step::text("the answer")])
        else {
            return;
        };
        let lab = lab.trusted();
        start(&lab, "j");
        sleep(Duration::from_millis(round * 500));
        if let Some(pid) = supervisor(&lab, "j") {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
        until(&lab, || state(&lab, "j") != "running");
        let result = said(&lab, &["job", "result", "j"]);
        match state(&lab, "j").as_str() {
            "done" => assert_eq!(result["outcome"]["text"], "the answer", "{round}: {result}"),
            state => assert_eq!(state, "lost", "{round}: {result}"),
        }
        assert_eq!(lab.place.processes(), Vec::<String>::new(), "{round}");
    }
}

macro_rules! on {
    ($($test:ident: $($id:ident),+;)+) => { $( mod $test {
        $( #[test]
        fn $id() {
            super::$test(&super::$id::CLI);
        } )+
    } )+ };
}

on!(
    a_job_is_followed_to_its_answer: gemini, claude, codex;
    a_cancel_in_a_tool_ends_the_tool: gemini, codex;
    a_killed_supervisor_leaves_no_orphan_and_no_wrong_state: gemini, codex;
);
