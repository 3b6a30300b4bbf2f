//! Rate limits: pauses, fewer at once, and no more tries than allowed.

use super::{Bench, expected};
use std::time::{Duration, Instant};

/// A 429 as gemini tells it, with the vendor's wait in the message.
const LIMITED: &str = r#"printf '{"type":"result","status":"error","error":{"type":"Error","message":"[API Error: {\\"error\\":{\\"code\\":429,\\"message\\":\\"Quota exceeded for requests per minute. Please retry in 1.2s.\\",\\"status\\":\\"RESOURCE_EXHAUSTED\\"}}]"}}\n'; exit 1"#;

#[test]
fn after_a_rate_limit_the_harness_waits_as_long_as_it_was_told_and_all_is_done() {
    let bench = Bench::new(&format!(
        "if [ ! -e \"$DIR/open\" ]; then init; {LIMITED}; fi; init; say \"did $P\"; result"
    ));
    let file = bench.requests(4);
    let log = bench.path("log").display().to_string();
    let mut child = bench
        .command(&[&file, "-j", "2", "--log-file", &log])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("runs");
    let began = Instant::now();
    while bench.fake.read("asked").lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20) && child.try_wait().expect("asked").is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::write(bench.fake.dir.path().join("open"), "").expect("written");
    let (status, _, err) = super::told(child.wait_with_output().expect("ends"));
    assert_eq!(status, 0, "{err}");
    assert_eq!(bench.answers(), expected(4));
    assert!(began.elapsed() >= Duration::from_millis(1200), "the vendor asked for 1.2 s");
    let log = std::fs::read_to_string(bench.path("log")).expect("there");
    let backed: Vec<&str> = log.lines().filter(|line| line.contains("backed off")).collect();
    assert!(
        !backed.is_empty()
            && backed.iter().all(|line| line.contains("harness=\"gemini\"") && line.contains("limit=1")),
        "{log}"
    );
    assert!(err.contains("gemini: rate limit; 1."), "{err}");
}

#[test]
fn no_more_tries_than_allowed() {
    let bench = Bench::new(&format!("init; {LIMITED}"));
    let file = bench.requests(1);
    let (status, out, err) = bench.run(&[&file, "--retries", "1"]);
    assert_eq!(status, 1, "{err}");
    assert!(out.contains("1 rate_limit"), "{out}");
    assert_eq!((bench.asked()["task-0"], bench.results()[0]["tries"].as_u64()), (2, Some(2)));
}

#[test]
fn at_most_so_many_at_once_overall_and_of_a_harness() {
    let count = "mkdir -p \"$DIR/now\"; : > \"$DIR/now/$$\"; ls \"$DIR/now\" | wc -l >> \"$DIR/most\"; sleep 0.1; rm \"$DIR/now/$$\"; init; say \"did $P\"; result";
    for (flags, most) in [
        (&["-j", "3"][..], 3),
        (&["-j", "8", "--per-harness", "gemini=2"], 2),
        (&["-j", "8", "--per-harness", "1"], 1),
    ] {
        let bench = Bench::new(count);
        let file = bench.requests(9);
        assert_eq!(bench.run(&[&[file.as_str()], flags].concat()).0, 0);
        let seen = bench.fake.read("most").lines().filter_map(|n| n.trim().parse::<usize>().ok()).max();
        assert_eq!(seen, Some(most), "{flags:?}");
    }
}

#[test]
fn starts_are_so_far_apart() {
    let bench = Bench::echo();
    let file = bench.requests(4);
    let began = Instant::now();
    assert_eq!(bench.run(&[&file, "-j", "4", "--stagger", "0.3"]).0, 0);
    assert!(began.elapsed() >= Duration::from_millis(900));
}
