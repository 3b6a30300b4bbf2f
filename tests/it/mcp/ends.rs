//! How a dispatch ends: cancelled, with a client that goes away, with the server; and how deep it may be.

use super::{Client, command, with_fake};
use crate::support::fake::{Fake, is_alive};
use serde_json::json;
use std::time::{Duration, Instant};

/// An agent that ignores SIGTERM, with a tool that left its group.
const STUBBORN: &str = r#"
trap '' TERM
init
setsid sleep 300 & echo $! > "$DIR/tool"
echo $$ > "$DIR/agent"
while :; do sleep 0.2; done
"#;

fn dispatched(client: &mut Client, fake: &Fake) -> (u64, [String; 2]) {
    let id = client.start("dispatch", json!({"harness": "gemini", "prompt": "hi"}));
    let began = Instant::now();
    while fake.read("agent").trim().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "the agent never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
    (id, [fake.read("tool"), fake.read("agent")])
}

fn gone(processes: &[String], within: Duration) {
    let began = Instant::now();
    while processes.iter().any(|pid| is_alive(pid)) {
        assert!(began.elapsed() < within, "{processes:?} live");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_cancelled_dispatch_leaves_nothing_and_the_server_goes_on() {
    let fake = Fake::new(STUBBORN);
    let mut client = with_fake(&fake, &[]);
    let (id, processes) = dispatched(&mut client, &fake);
    let cancelled = json!({"requestId": id, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    gone(&processes, Duration::from_secs(10));
    assert_eq!(client.done("job_status", json!({}))["jobs"], json!([]));
    assert!(client.told.iter().all(|told| told["id"] != id), "a request that is cancelled has no answer");
}

#[test]
fn a_dispatch_that_waits_is_cancelled_before_it_begins() {
    let fake = Fake::new(STUBBORN);
    let mut client = with_fake(&fake, &["--concurrency", "1"]);
    let (first, processes) = dispatched(&mut client, &fake);
    let second = client.start("dispatch", json!({"harness": "gemini", "prompt": "hi"}));
    for id in [second, first] {
        client.done("job_status", json!({}));
        let params = json!({"requestId": id});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    gone(&processes, Duration::from_secs(10));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!([fake.read("tool"), fake.read("agent")], processes, "the second never ran");
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let fake = Fake::new(STUBBORN);
    let mut client = with_fake(&fake, &[]);
    let (_, processes) = dispatched(&mut client, &fake);
    client.stdin = None;
    assert_eq!(client.status(), Some(0));
    // Before the server ends, not some time after.
    gone(&processes, Duration::ZERO);
}

#[test]
fn a_server_that_is_told_to_end_leaves_nothing() {
    for signal in ["TERM", "INT", "HUP"] {
        let fake = Fake::new(STUBBORN);
        let mut client = with_fake(&fake, &[]);
        let (_, processes) = dispatched(&mut client, &fake);
        client.signal(signal);
        assert_eq!(client.status(), Some(0), "{signal}");
        gone(&processes, Duration::ZERO);
    }
}

#[test]
fn a_server_that_is_killed_takes_the_agent_with_it() {
    let fake = Fake::new(STUBBORN);
    let mut client = with_fake(&fake, &[]);
    let (_, [tool, agent]) = dispatched(&mut client, &fake);
    client.signal("KILL");
    gone(&[agent], Duration::from_secs(5));
    let _ = std::process::Command::new("kill").args(["-9", tool.trim()]).status();
}

#[test]
fn a_client_without_a_request_ends_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let done = command(dir.path(), env!("CARGO_BIN_EXE_teamster"))
        .arg("mcp")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!((done.status.code(), done.stdout.len(), done.stderr.len()), (Some(0), 0, 0));
}

/// The count is in the server's environment, or only in that of a process above it: a client starts its servers
/// with an environment of its own.
#[test]
fn an_agent_that_calls_teamster_too_deep_is_refused() {
    let direct = |depth: &str| Client::new(&["--rehearse"], &[("TEAMSTER_DEPTH", depth)]);
    let lost = |depth: &str| {
        let dir = tempfile::tempdir().unwrap();
        let mut shell = command(dir.path(), "sh");
        shell.env("TEAMSTER_DEPTH", depth).args(["-c", "env -u TEAMSTER_DEPTH \"$0\" mcp --rehearse; :"]);
        shell.arg(env!("CARGO_BIN_EXE_teamster"));
        Client::of(dir, shell)
    };
    let ask = json!({"harness": "gemini", "prompt": "hi"});
    let refused = ("recursion".to_owned(), "agents dispatch agents 6 deep, the limit is 5".to_owned());
    for start in [&direct as &dyn Fn(&str) -> Client, &lost] {
        let mut client = start("5");
        assert_eq!(client.refused("dispatch", ask.clone()), refused);
        assert_eq!(client.refused("job_start", ask.clone()), refused);
        start("4").done("dispatch", ask.clone());
    }
}

/// A job has no one above it when its client is gone; it has the count in its own environment.
#[test]
fn a_job_is_as_deep_as_what_started_it() {
    let fake = Fake::new("init; say \"$TEAMSTER_DEPTH\"; result");
    let dir = tempfile::tempdir().unwrap();
    let mut shell = command(dir.path(), "sh");
    shell.env("TEAMSTER_DEPTH", "3").env("TEAMSTER_GEMINI_BIN", &fake.bin);
    shell.args(["-c", "env -u TEAMSTER_DEPTH \"$0\" mcp; :"]).arg(env!("CARGO_BIN_EXE_teamster"));
    let mut client = Client::of(dir, shell);
    client.done("job_start", json!({"harness": "gemini", "prompt": "hi", "id": "deep"}));
    client.done("job_wait", json!({"ids": ["deep"]}));
    assert_eq!(client.call("job_result", json!({"id": "deep"})).2, "4");
}
