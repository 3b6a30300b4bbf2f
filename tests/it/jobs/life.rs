//! The life of a job: started, looked at, waited for, read, ended, removed.

use super::*;
use crate::support::fake::is_alive;

#[test]
fn a_job_gives_the_answer_that_a_run_gives() {
    let place = Place::new();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/summary.schema.json");
    let request = ["run", "gemini", "Summarise it", "--schema", schema, "--rehearse=wrong-first"];
    let (_, answer, _) = place.run(&request);
    let (status, id, _) = place.run(&[&request[..], &["--background"]].concat());
    assert_eq!(status, 0);
    assert_eq!(place.run(&["job", "wait", id.trim()]).0, 0);
    let (status, out, err) = place.run(&["job", "result", id.trim()]);
    assert_eq!((status, out, err), (0, answer, String::new()));
    let said = place.json(&["result", id.trim()]);
    assert_eq!(
        (said["ok"].clone(), said["partial"].clone(), said["outcome"]["attempts"].as_array().map(Vec::len)),
        (json!(true), json!(false), Some(2))
    );
}

#[test]
fn jobs_are_listed_newest_first_and_the_aliases_do_the_same() {
    let place = Place::new();
    for id in ["b-first", "a-second", "c-third"] {
        place.run(&["task", "gemini", "hi", "--rehearse", "--background", "--id", id]);
        std::thread::sleep(Duration::from_millis(5));
    }
    place.run(&["job", "wait", "b-first", "a-second", "c-third"]);
    let said = place.json(&["job", "status"]);
    let ids: Vec<&str> =
        said["jobs"].as_array().unwrap().iter().filter_map(|job| job["id"].as_str()).collect();
    assert_eq!(ids, ["c-third", "a-second", "b-first"]);
    assert_eq!(place.json(&["status"])["jobs"], said["jobs"]);
    assert_eq!(place.json(&["status", "a"])["job"], said["jobs"][1], "a beginning that no other has");
}

#[test]
fn ids_sort_by_time_and_a_taken_one_is_refused() {
    let place = Place::new();
    let start = |more: &[&str]| {
        let (status, out, _) =
            place.run(&[&["run", "gemini", "hi", "--rehearse", "--background"], more].concat());
        (status, out.trim().to_owned())
    };
    let (first, second) = (start(&[]).1, start(&[]).1);
    assert!(first < second && first.len() == 12, "{first} {second}");
    assert_eq!(start(&["--id", &first]).0, 2);
    failure(
        "invalid_request",
        &place.json(&["run", "gemini", "hi", "--rehearse", "--background", "--id", "../x"]),
    );
    failure("invalid_request", &place.json(&["job", "status", "nope"]));
    // Both begin with the same digits of the time.
    failure("invalid_request", &place.json(&["job", "result", &first[..4]]));
}

#[test]
fn what_is_wrong_with_a_request_is_said_before_there_is_a_job() {
    let place = Place::new();
    let said = place.json(&["run", "gemini", "hi", "--background", "--schema", r#"{"type": 7}"#]);
    failure("schema_error", &said);
    failure("bad_cwd", &place.json(&["run", "gemini", "hi", "--background", "--cwd", "/nonexistent/x"]));
    failure("unknown_harness", &place.json(&["run", "nothing", "hi", "--background"]));
    assert_eq!(place.json(&["job", "status"])["jobs"], json!([]));
}

#[test]
fn what_a_running_job_said_so_far_can_be_read_and_followed() {
    let (place, fake) = (Place::new(), slow());
    let tool = place.start_slow(&fake, "j", "2");
    let follower =
        place.command(&["job", "logs", "j", "-f", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    until("there is a text", || place.json(&["job", "result", "j"])["text"] == json!("half of "));
    let said = place.json(&["job", "result", "j"]);
    assert_eq!((said["partial"].clone(), said["job"]["state"].clone()), (json!(true), json!("running")));
    assert_eq!(place.run(&["job", "wait", "j", "--timeout", "0.1"]).0, 124);
    assert_eq!(place.run(&["job", "wait", "j"]).0, 0);
    assert_eq!(place.run(&["job", "result", "j"]).1, "half of the answer\n");
    let log = String::from_utf8(follower.wait_with_output().unwrap().stdout).unwrap();
    let types: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let shown = place.run(&["job", "logs", "j"]).1;
    let told: Vec<&str> = shown.lines().map(|line| line[7..].trim()).collect();
    assert_eq!(told, ["session s-1 m-1", "half of the answer", "end"], "{shown}");
    assert_eq!(types, ["session", "text", "text", "usage", "end"]);
    assert!(!is_alive(&tool));
}

#[test]
fn waiting_for_any_ends_with_the_first() {
    let (place, fake) = (Place::new(), slow());
    place.start_slow(&fake, "long", "200");
    place.run(&["run", "gemini", "hi", "--rehearse", "--background", "--id", "short"]);
    assert_eq!(place.run(&["job", "wait", "long", "short", "--any"]).0, 0);
    assert_eq!((place.state("long"), place.state("short")), ("running".into(), "done".into()));
    place.run(&["job", "cancel", "long"]);
    assert_eq!(place.run(&["job", "wait", "long", "short"]).0, 130, "the status of the one that is not done");
}

#[test]
fn a_cancelled_job_leaves_nothing_running_and_keeps_what_it_had() {
    let (place, fake) = (Place::new(), slow());
    let tool = place.start_slow(&fake, "j", "200");
    until("there is a text", || place.json(&["job", "result", "j"])["text"] == json!("half of "));
    let said = place.json(&["cancel", "j"]);
    assert_eq!(said["jobs"][0]["state"], "cancelled");
    assert!(!is_alive(&tool) && place.supervisor("j").is_none());
    let again = place.json(&["job", "cancel", "j"]);
    assert_eq!(again["jobs"], said["jobs"], "it changes nothing to do it again");
    let (status, out, _) = place.run(&["job", "result", "j"]);
    assert_eq!((status, out.as_str()), (130, "half of \n"));
}

#[test]
fn a_supervisor_that_does_not_answer_is_ended_too() {
    let (place, fake) = (Place::new(), slow());
    let tool = place.start_slow(&fake, "j", "200");
    let supervisor = place.supervisor("j").unwrap();
    signal(supervisor, "STOP");
    assert_eq!(place.json(&["job", "cancel", "j"])["jobs"][0]["state"], "cancelled");
    assert!(!is_alive(&tool) && !is_alive(&supervisor.to_string()));
}

#[test]
fn the_end_of_the_client_ends_no_job_and_cancel_spares_the_others() {
    let (place, fake, other) = (Place::new(), slow(), slow());
    let tool = place.start_slow(&fake, "j", "200");
    let spared = place.start_slow(&other, "k", "200");
    // A process of an unrelated program that happens to have the beginning of the mark.
    let record: Value = serde_json::from_slice(&std::fs::read(place.file("j", "job.json")).unwrap()).unwrap();
    let mark = record["mark"].as_str().unwrap();
    let mut near =
        Command::new("sleep").arg("300").env("TEAMSTER_RUN", format!("{mark}0.1")).spawn().unwrap();
    place.run(&["job", "cancel", "j"]);
    assert!(!is_alive(&tool) && is_alive(&spared) && is_alive(&near.id().to_string()));
    assert_eq!(place.state("k"), "running");
    place.run(&["job", "cancel", "k"]);
    let _ = near.kill();
    let _ = near.wait();
}

#[test]
fn the_values_of_variables_are_in_no_file_of_a_job_that_runs() {
    let (place, fake) = (Place::new(), slow());
    std::fs::write(fake.dir.path().join("seconds"), "200").unwrap();
    let bin = fake.bin.display().to_string();
    let args =
        ["run", "gemini", "hi", "--background", "--id", "j", "--bin", &bin, "--env", "MY_TOKEN=s3cr3t-value"];
    place.run(&args);
    until("it runs", || !fake.read("tool").is_empty());
    let mut open = vec![place.jobs()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
                assert!(!text.contains("s3cr3t-value"), "{}", entry.path().display());
            }
        }
    }
    place.run(&["job", "cancel", "j"]);
}

#[test]
fn pruning_removes_what_is_over_and_nothing_else() {
    let (place, fake) = (Place::new(), slow());
    place.start_slow(&fake, "running", "200");
    place.run(&["run", "gemini", "hi", "--rehearse", "--background", "--id", "done"]);
    place.run(&["job", "wait", "done"]);
    let prune = |args: &[&str]| place.json(&[&["job", "prune"], args].concat())["removed"].clone();
    assert_eq!(prune(&[]), json!([]), "it is not 7 days old");
    assert_eq!(prune(&["--all", "--dry-run"]), json!(["done"]));
    assert_eq!(prune(&["--older-than", "0"]), json!(["done"]));
    assert!(!place.jobs().join("done").exists() && place.state("running") == "running");
    place.run(&["job", "cancel", "running"]);
}
