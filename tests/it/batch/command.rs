//! The command: sources, results, faults before anything runs.

use super::{Bench, expected, told};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

#[test]
fn every_task_is_done_once_and_again_nothing_is_run() {
    let bench = Bench::echo();
    let file = bench.requests(40);
    let (status, out, err) = bench.run(&[&file, "-j", "8"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("40 of 40 ok, 0 failed, 0 not run"), "{out}");
    assert_eq!(bench.answers(), expected(40));
    assert!(bench.asked().values().all(|n| *n == 1) && bench.asked().len() == 40);
    let (status, out, _) = bench.run(&[&file]);
    assert_eq!(status, 0);
    assert!(out.contains("40 of 40 ok, 40 of them from before"), "{out}");
    assert_eq!(bench.fake.read("asked").lines().count(), 40);
}

#[test]
fn results_come_in_the_order_of_the_requests_where_that_is_asked_for() {
    // The first takes longest.
    let bench = Bench::new("case $P in task-0) sleep 0.6;; esac; init; say \"did $P\"; result");
    let file = bench.requests(6);
    let (_, out, _) = bench.run(&[&file, "--stream", "-j", "6"]);
    let ids = |out: &str| -> Vec<String> {
        let id = |line| {
            serde_json::from_str::<Value>(line).expect("JSON")["id"].as_str().expect("a name").to_owned()
        };
        out.lines().map(id).collect()
    };
    assert_eq!(ids(&out).last().map(String::as_str), Some("t0"), "{out}");
    let in_order = ["t0", "t1", "t2", "t3", "t4", "t5"];
    let (_, out, _) = bench.run(&[&file, "--stream", "--ordered", "-j", "6", "--out", "other.jsonl"]);
    assert_eq!(ids(&out), in_order);
    let kept = std::fs::read_to_string(bench.path("other.jsonl")).expect("there");
    assert_eq!(ids(&kept), in_order);
}

#[test]
fn a_failure_is_a_result_and_the_status_says_so() {
    let bench = Bench::new("init; case $P in task-1) exit 1;; *) say \"did $P\"; result;; esac");
    let file = bench.requests(3);
    let (status, out, err) = bench.run(&[&file, "--json"]);
    let told: Value = serde_json::from_str(&out).expect("one object");
    let summary = &told["summary"];
    assert_eq!(
        (status, &told["ok"], &summary["ok"], &summary["failed"], &summary["failures"]),
        (1, &json!(false), &json!(2), &json!(1), &json!({"harness_error": 1})),
        "{err}"
    );
    assert_eq!(bench.answers()["t1"], "harness_error");
    // A failure is a result, too, until somebody asks for it again.
    bench.run(&[&file]);
    assert_eq!(bench.asked()["task-1"], 1);
    let (status, _, _) = bench.run(&[&file, "--retry-failed"]);
    assert_eq!((status, bench.asked()["task-1"], bench.asked()["task-0"]), (1, 2, 1));
}

#[test]
fn a_request_that_changed_is_run_again() {
    let bench = Bench::echo();
    let file = bench.requests(2);
    bench.run(&[&file]);
    bench.write("requests.jsonl", "{\"id\":\"t0\",\"harness\":\"gemini\",\"prompt\":\"task-0\"}\n{\"id\":\"t1\",\"harness\":\"gemini\",\"prompt\":\"other\"}\n");
    let (status, out, err) = bench.run(&[&file, "--ordered"]);
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("t1: the request changed since its result, so it is run again"), "{err}");
    assert!(out.contains("2 of 2 ok, 1 of them from before"), "{out}");
    assert_eq!(bench.answers()["t1"], "did other");
    assert_eq!(bench.asked()["task-0"], 1);
}

#[test]
fn requests_come_from_a_folder_from_stdin_and_from_rows() {
    let bench = Bench::echo();
    std::fs::create_dir(bench.path("all")).expect("made");
    bench.write("all/b.json", r#"{"harness":"gemini","prompt":"B"}"#);
    bench.write("all/a.json", r#"{"id":"own","harness":"gemini","prompt":"A"}"#);
    bench.write("all/notes.txt", "no request");
    let listed = |args: &[&str]| {
        let (status, out, err) = bench.run(&[args, &["--dry-run"]].concat());
        assert_eq!(status, 0, "{err}");
        let row = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        out.lines().skip(1).map(row).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["all"]), [["own", "gemini", "A"], ["b", "gemini", "B"]]);
    bench.write("d.csv", "id,who\nx,\"O, K\"\ny,{{id}}\n");
    let rows = listed(&["--each", "d.csv", "gemini", "Greet {{who}}"]);
    assert_eq!(rows[0], ["x", "gemini", "Greet", "O,", "K"]);
    assert_eq!(rows[1], ["y", "gemini", "Greet", "{{id}}"]);
    bench.write("d.jsonl", "{\"id\":\"n\",\"who\":{\"a\":1}}\n");
    assert_eq!(
        listed(&["--each", "d.jsonl", "gemini", "Greet {{ who }}"])[0],
        ["n", "gemini", "Greet", "{\"a\":1}"]
    );

    let mut child = bench
        .command(&["-", "--out", "o.jsonl", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("runs");
    let request = b"{\"harness\":\"gemini\",\"prompt\":\"from stdin\"}\n";
    child.stdin.take().expect("a pipe").write_all(request).expect("written");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert_eq!(bench.asked()["from stdin"], 1);
    let (status, _, err) = bench.run(&["-"]);
    assert_eq!(status, 2);
    assert!(err.contains("--out RESULTS.jsonl"), "{err}");
}

#[test]
fn every_fault_is_told_with_its_place_and_nothing_runs() {
    let bench = Bench::echo();
    let file = bench.write(
        "requests.jsonl",
        "{\"harness\":\"gemini\",\"prompt\":\"a\"}\n\n{\"harness\":\"gemni\",\"prompt\":\"b\"}\n\
         {\"harness\":\"gemini\",\"prompt\":\"c\",\"tools\":\"no_such_tool\"}\n{\"prompt\":\"d\"}\n",
    );
    let (status, out, err) = bench.run(&[&file]);
    assert_eq!((status, out.as_str(), bench.fake.read("asked")), (2, "", String::new()));
    assert!(err.starts_with("error: 3 requests are wrong, and none was run:\n"), "{err}");
    for place in [":3: no harness is called `gemni`", ":4: tools: ", ":5: no harness is named"] {
        assert!(err.contains(place), "{place}: {err}");
    }
    let cases = [
        ("{\"harness\":\"gemini\",\"promt\":\"a\"}", "requests.jsonl:1: request: unknown key `promt`"),
        ("[1]", "requests.jsonl:1: "),
        ("", "has no requests"),
        ("{\"id\":[],\"harness\":\"gemini\",\"prompt\":\"a\"}", "requests.jsonl:1: id: a text or a number"),
        (
            "{\"id\":\"a\",\"harness\":\"gemini\",\"prompt\":\"1\"}\n{\"id\":\"a\",\"harness\":\"gemini\",\"prompt\":\"2\"}",
            ":2: `a` is there twice",
        ),
        (
            "{\"harness\":\"gemini\",\"prompt\":\"a\",\"schema\":{\"type\":\"nonsense\"}}",
            "requests.jsonl:1: schema",
        ),
    ];
    for (text, expected) in cases {
        bench.write("requests.jsonl", text);
        let (status, _, err) = bench.run(&[&file]);
        assert_eq!(status, 2, "{text}");
        assert!(err.contains(expected), "{text}: {err}");
    }
    assert_eq!(bench.fake.read("asked"), "");
}

#[test]
fn the_same_request_twice_is_two_tasks() {
    let bench = Bench::echo();
    let file = bench.write("requests.jsonl", &"{\"harness\":\"gemini\",\"prompt\":\"same\"}\n".repeat(3));
    assert_eq!(bench.run(&[&file]).0, 0);
    assert_eq!((bench.asked()["same"], bench.results().len()), (3, 3));
    assert_eq!(bench.run(&[&file]).0, 0);
    assert_eq!(bench.asked()["same"], 3);
}

#[test]
fn a_file_that_is_no_results_or_is_in_use_is_left_alone() {
    let bench = Bench::new("sleep 0.5; init; say x; result");
    let file = bench.requests(1);
    let text = "{\"my\":\"notes\"}\n";
    bench.write("requests.results.jsonl", text);
    let (status, _, err) = bench.run(&[&file]);
    assert_eq!(status, 2);
    assert!(err.contains("requests.results.jsonl:1: no result of a batch"), "{err}");
    assert_eq!(std::fs::read_to_string(bench.path("requests.results.jsonl")).expect("there"), text);

    let mut first = bench
        .command(&[&file, "--out", "o.jsonl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    while bench.fake.read("asked").is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (status, _, err) = bench.run(&[&file, "--out", "o.jsonl"]);
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("is written by another batch"), "{err}");
    assert_eq!(first.wait().expect("ends").code(), Some(0));
}

#[test]
fn a_spent_budget_stops_the_batch_and_the_same_command_goes_on() {
    // Each answer is 12 tokens.
    let bench = Bench::echo();
    let file = bench.requests(5);
    let (status, out, err) = bench.run(&[&file, "-j", "1", "--max-tokens", "24"]);
    assert_eq!(status, 75, "{err}");
    assert!(out.contains("2 of 5 ok, 0 failed, 3 not run"), "{out}");
    assert!(
        err.contains("3 of 5 were not run: the budget of 24 tokens is spent: 24; the same command goes on"),
        "{err}"
    );
    // What was spent before counts.
    assert_eq!(bench.run(&[&file, "--max-tokens", "24"]).0, 75);
    assert_eq!(bench.asked().len(), 2);
    assert_eq!(bench.run(&[&file, "--max-tokens", "1000"]).0, 0);
    assert_eq!(bench.answers(), expected(5));
}

#[test]
fn a_harness_that_is_missing_falls_back_and_the_result_says_so() {
    let bench = Bench::echo();
    let file =
        bench.write("requests.jsonl", "{\"id\":\"t0\",\"harness\":\"claude\",\"prompt\":\"task-0\"}\n");
    let mut command = bench.command(&[&file, "--fallback", "gemini"]);
    let (status, _, err) =
        told(command.env("TEAMSTER_CLAUDE_BIN", "/nonexistent/claude").output().expect("runs"));
    assert_eq!(status, 0, "{err}");
    let line = &bench.results()[0]["outcome"];
    assert_eq!(
        (&line["harness"], &line["fallback"][0]["harness"], &line["fallback"][0]["failure"]["kind"]),
        (&json!("gemini"), &json!("claude"), &json!("not_found"))
    );
}

#[test]
fn run_falls_back_too_and_tells_it() {
    let bench = Bench::echo();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_teamster"));
    command.args(["run", "claude", "go", "--fallback", "gemini", "--json"]).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("TEAMSTER_GEMINI_BIN", &bench.fake.bin);
    let (status, out, err) =
        told(command.env("TEAMSTER_CLAUDE_BIN", "/nonexistent/claude").output().expect("runs"));
    assert_eq!(status, 0, "{err}");
    let outcome: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&outcome["harness"], &outcome["text"]), (&json!("gemini"), &json!("did go")));
    assert_eq!(outcome["fallback"][0]["failure"]["kind"], json!("not_found"));
    assert!(err.contains("claude: ") && err.contains("the next harness is asked"), "{err}");
}
