//! Jobs over MCP: from their start to their end, and whose are seen.

use super::{Client, command, rehearsing, with_fake};
use crate::support::fake::{Fake, is_alive};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// As the agent of the jobs' own tests: a tool that left the group would outlive it.
const SLOW: &str = r#"
init
say 'half of '
setsid sleep 300 & echo $! > "$DIR/tool"
sleep 300
"#;

fn tool_of(fake: &Fake) -> String {
    let began = Instant::now();
    while fake.read("tool").trim().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "the agent's tool never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
    fake.read("tool")
}

fn states(data: &Value) -> Vec<(&str, &str)> {
    let jobs = data["jobs"].as_array().unwrap().iter();
    jobs.map(|job| (job["id"].as_str().unwrap(), job["state"].as_str().unwrap())).collect()
}

#[test]
fn a_job_is_started_waited_for_and_read() {
    let mut client = rehearsing(&[]);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let ask =
        json!({"harness": "gemini", "prompt": "count", "schema": schema, "id": "one", "title": "counting"});
    let started = client.done("job_start", ask);
    assert_eq!((states(&started)[0].0, &started["jobs"][0]["title"]), ("one", &json!("counting")));
    let waited = client.done("job_wait", json!({"ids": ["on"]}));
    assert_eq!((states(&waited), &waited["timed_out"]), (vec![("one", "done")], &json!(false)));
    assert_eq!(states(&client.done("job_status", json!({}))), [("one", "done")]);
    let (_, result, text) = client.call("job_result", json!({"id": "one"}));
    assert_eq!((&result["outcome"]["value"], &*text), (&json!({"n": 1}), r#"{"n":1}"#));
    let logs = client.done("job_logs", json!({"id": "one", "most": 1}));
    assert_eq!(
        (&logs["events"][0]["type"], &logs["next"], &logs["over"]),
        (&json!("session"), &json!(1), &json!(false))
    );
    let rest = client.done("job_logs", json!({"id": "one", "after": 1}));
    assert_eq!(
        (&rest["over"], rest["events"].as_array().unwrap().last().unwrap()["type"].as_str()),
        (&json!(true), Some("end"))
    );
    let (kind, message) = client.refused("job_result", json!({"id": "two"}));
    assert_eq!((&*kind, &*message), ("invalid_request", "id: no job here is called `two`"));
    let (kind, _) = client.refused("job_start", json!({"harness": "gemini", "prompt": "again", "id": "one"}));
    assert_eq!(kind, "invalid_request");
}

#[test]
fn a_job_that_runs_is_read_in_part_and_cancelled_with_all_of_it() {
    let fake = Fake::new(SLOW);
    let mut client = with_fake(&fake, &["--concurrency", "1"]);
    client.done("job_start", json!({"harness": "gemini", "prompt": "go", "id": "slow"}));
    let tool = tool_of(&fake);
    let waited = client.done("job_wait", json!({"ids": ["slow"], "timeout_s": 0.3}));
    assert_eq!((states(&waited), &waited["timed_out"]), (vec![("slow", "running")], &json!(true)));
    let began = Instant::now();
    while client.call("job_result", json!({"id": "slow"})).2 != "half of " {
        assert!(began.elapsed() < Duration::from_secs(30), "its text is never there");
    }
    let (kind, message) = client.refused("job_start", json!({"harness": "gemini", "prompt": "more"}));
    assert_eq!((&*kind, &*message), ("permission", "1 jobs run here already, which is the most"));
    let cancelled = client.done("job_cancel", json!({"ids": ["slow"]}));
    assert_eq!(states(&cancelled), [("slow", "cancelled")]);
    assert!(!is_alive(&tool));
}

#[test]
fn a_job_outlives_its_client() {
    let fake = Fake::new("init; sleep 1; say 'the answer'; result");
    let mut client = with_fake(&fake, &[]);
    client.done("job_start", json!({"harness": "gemini", "prompt": "go", "id": "a"}));
    client.stdin = None;
    assert_eq!(client.status(), Some(0));
    let mut teamster = command(client.dir.path(), env!("CARGO_BIN_EXE_teamster"));
    assert!(teamster.args(["job", "wait", "a", "--timeout", "30"]).output().unwrap().status.success());
}

#[test]
fn jobs_of_other_folders_are_not_there() {
    let client = rehearsing(&[]);
    let other = tempfile::tempdir().unwrap();
    let mut teamster = command(client.dir.path(), env!("CARGO_BIN_EXE_teamster"));
    teamster.args(["run", "gemini", "a secret", "--rehearse", "--background", "--id", "other", "--cwd"]);
    assert!(teamster.arg(other.path()).output().unwrap().status.success());
    let mut client: Client = client;
    assert_eq!(client.done("job_status", json!({}))["jobs"], json!([]));
    for (tool, arguments) in [
        ("job_status", json!({"id": "other"})),
        ("job_result", json!({"id": "other"})),
        ("job_logs", json!({"id": "other"})),
        ("job_wait", json!({"ids": ["other"]})),
        ("job_cancel", json!({"ids": ["oth"]})),
    ] {
        let (_, message) = client.refused(tool, arguments);
        assert!(message.starts_with("id: no job here is called `oth"), "{message}");
    }
}
