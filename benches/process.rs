//! What a run costs over a bare spawn, how fast `teamster argv` starts, and how much memory reading
//! takes. A program of its own, since processes are measured: `cargo bench --bench process`.
//!
//! Every figure is a median of runs that alternate with what they are held against, so that both see the
//! same machine.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench may stop, and prints its figures")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use teamster::dispatch::{DispatchOptions, until_valid};
use teamster::reply::RunEnd;
use teamster::run::LocalRunner;
use teamster::{DispatchRequest, HarnessRegistry, Output, Profile};

fn main() {
    // Only `cargo bench` passes this; a test run wants to know that it works.
    let quick = !std::env::args().any(|a| a == "--bench");
    let rounds = if quick { 3 } else { 301 };
    overhead(rounds);
    start(rounds);
    memory(if quick { 4 } else { 50 });
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

fn timed(what: impl FnOnce()) -> Duration {
    let began = Instant::now();
    what();
    began.elapsed()
}

/// A whole dispatch of a program that only prints an answer, against spawning the same program with its
/// output to the null device.
fn overhead(rounds: usize) {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a folder");
    let bin = dir.path().join("gemini");
    let lines = [
        r#"{"type":"init","session_id":"s","model":"m"}"#,
        r#"{"type":"message","role":"assistant","content":"hi","delta":true}"#,
        r#"{"type":"result","status":"success","stats":{"total_tokens":3,"input_tokens":2,"output_tokens":1}}"#,
    ];
    std::fs::write(dir.path().join("answer"), lines.join("\n") + "\n").expect("written");
    std::fs::write(&bin, format!("#!/bin/sh\nexec cat {}/answer\n", dir.path().display())).expect("written");
    std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let profile = Profile::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut runner = LocalRunner { bin: Some(bin.clone().into()), ..LocalRunner::default() };
    let mut request = DispatchRequest::new("hi");
    request.output = Output::Stream;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        bare.push(timed(|| {
            let status = Command::new(&bin)
                .args(["-p", "hi"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(status.expect("runs").success());
        }));
        ours.push(timed(|| {
            let outcome = runtime.block_on(until_valid(
                gemini,
                request.clone(),
                &profile,
                &mut runner,
                DispatchOptions::default(),
            ));
            assert!(outcome.ok, "{outcome:?}");
        }));
    }
    let (bare, ours) = (median(bare), median(ours));
    println!(
        "run overhead          bare spawn {bare:.3} ms   dispatch {ours:.3} ms   over it {:.3} ms   ratio {:.2}",
        ours - bare,
        ours / bare
    );
}

/// `teamster argv` against a shell that does nothing.
fn start(rounds: usize) {
    let teamster = env!("CARGO_BIN_EXE_teamster");
    let (mut argv, mut shell) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        argv.push(timed(|| {
            let out = Command::new(teamster).args(["argv", "gemini", "hi"]).stdin(Stdio::null()).output();
            assert!(out.expect("runs").status.success());
        }));
        shell.push(timed(|| {
            let out = Command::new("/bin/sh").args(["-c", ":"]).stdin(Stdio::null()).output();
            assert!(out.expect("runs").status.success());
        }));
    }
    let (argv, shell) = (median(argv), median(shell));
    println!(
        "start                 teamster argv {argv:.3} ms   sh -c : {shell:.3} ms   ratio {:.2}",
        argv / shell
    );
}

/// Resident memory while a stream is read, over that before.
fn memory(megabytes: usize) {
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let mut reader = gemini.reader(Output::Stream);
    let tool = r#"{"type":"tool_use","tool_name":"read_file","tool_id":"t","parameters":{}}"#;
    let output = "x".repeat(4000);
    let result = format!(r#"{{"type":"tool_result","tool_id":"t","status":"success","output":"{output}"}}"#);
    let part = format!("{tool}\n{result}\n").repeat(16);
    let before = resident();
    let mut read = 0;
    let mut most = 0;
    let began = Instant::now();
    while read < megabytes << 20 {
        reader.push(part.as_bytes(), &mut |_| {});
        read += part.len();
        if read % (1 << 20) < part.len() {
            most = most.max(resident());
        }
    }
    let took = began.elapsed();
    reader.push(b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\",\"delta\":true}\n{\"type\":\"result\",\"status\":\"success\"}\n", &mut |_| {});
    let reply = reader.finish(&RunEnd::exited(0, ""), &mut |_| {});
    assert_eq!(reply.text, "done");
    println!(
        "memory                {} MB read in {:.0} ms   resident {} KiB before, {} KiB over it at most",
        read >> 20,
        took.as_secs_f64() * 1000.0,
        before,
        most.saturating_sub(before)
    );
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}
