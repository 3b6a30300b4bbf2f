//! A batch that is killed, ended or cut: what has a result is not run again, what has none is.

use super::{Bench, expected};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn killed_ten_times_the_results_are_those_of_an_undisturbed_run() {
    let bench = Bench::new("sleep 0.02; init; say \"did $P\"; result");
    let file = bench.requests(150);
    for round in 0..10_u64 {
        let before = bench.results().len();
        let mut child =
            bench.command(&[&file, "-j", "16", "--quiet"]).stdout(Stdio::null()).spawn().expect("runs");
        let began = Instant::now();
        // At least one more result each time, then at another moment of its life.
        while bench.path("requests.results.jsonl").metadata().map_or(0, |meta| meta.len()) == 0
            || (std::fs::read_to_string(bench.path("requests.results.jsonl"))
                .unwrap_or_default()
                .lines()
                .count()
                <= before
                && child.try_wait().expect("asked").is_none()
                && began.elapsed() < Duration::from_secs(30))
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(round * 7));
        child.kill().expect("killed");
        child.wait().expect("reaped");
        let kept: Vec<String> = {
            let text = std::fs::read_to_string(bench.path("requests.results.jsonl")).expect("there");
            text.lines().filter(|line| line.ends_with('}')).map(str::to_owned).collect()
        };
        assert!(kept.len() >= before, "nothing that was there is lost");
    }
    // Those with a result now are not asked again.
    let done: Vec<String> = bench
        .results()
        .iter()
        .map(|line| format!("task-{}", &line["id"].as_str().expect("a name")[1..]))
        .collect();
    let asked = bench.asked();
    let (status, _, err) = bench.run(&[&file, "-j", "16"]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(bench.answers(), expected(150));
    for task in done {
        assert_eq!(bench.asked()[&task], asked[&task], "{task}");
    }
}

#[test]
fn half_a_line_at_the_end_is_no_result() {
    let bench = Bench::echo();
    let file = bench.requests(3);
    bench.run(&[&file, "-j", "1"]);
    let path = bench.path("requests.results.jsonl");
    let whole = std::fs::read(&path).expect("there");
    let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').expect("three lines") + 1;
    for cut in [last + 1, last + 20, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).expect("written");
        let (status, out, err) = bench.run(&[&file]);
        assert_eq!(status, 0, "{err}");
        assert!(out.contains("3 of 3 ok, 2 of them from before"), "{out}");
        assert_eq!(bench.answers(), expected(3));
    }
}

#[test]
fn ctrl_c_ends_what_runs_keeps_what_is_done_and_leaves_nobody() {
    let bench = Bench::new(
        "case $P in task-0) ;; *) echo $$ >> \"$DIR/pids\"; sleep 60 & wait;; esac; init; say \"did $P\"; result",
    );
    let file = bench.requests(6);
    let child = bench
        .command(&[&file, "-j", "3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let began = Instant::now();
    while bench.results().is_empty() || bench.fake.read("pids").lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .expect("signalled");
    let (status, out, err) = super::told(child.wait_with_output().expect("ends"));
    assert_eq!(status, 130, "{out}{err}");
    assert!(out.contains("1 of 6 ok, 0 failed, 5 not run"), "{out}");
    assert!(began.elapsed() < Duration::from_secs(30), "nobody waited for the sleep");
    for pid in bench.fake.read("pids").lines() {
        assert!(!crate::support::fake::is_alive(pid), "{pid}");
    }
    assert_eq!(bench.answers().into_keys().collect::<Vec<_>>(), ["t0"]);
}
