//! A supervisor that is killed: no lost result that was written, no orphan, no wrong status.

use super::*;
use crate::support::fake::is_alive;

#[test]
fn a_job_whose_supervisor_was_killed_is_lost_with_what_it_had_and_leaves_nothing_running() {
    let (place, fake) = (Place::new(), slow());
    let tool = place.start_slow(&fake, "j", "200");
    until("there is a text", || place.json(&["job", "result", "j"])["text"] == json!("half of "));
    signal(place.supervisor("j").unwrap(), "KILL");
    until("it is seen", || place.state("j") == "lost");
    assert!(!is_alive(&tool), "the command that saw it ended what it left");
    let (status, out, err) = place.run(&["job", "result", "j"]);
    assert_eq!((status, out.as_str()), (1, "half of \n"));
    assert!(err.contains("(lost)") && err.contains("next: "), "{err}");
    let said = place.json(&["job", "result", "j"]);
    assert_eq!(said["outcome"]["session_id"], "s-1");
}

#[test]
fn killed_at_any_moment_a_job_is_done_with_its_answer_or_lost_and_leaves_nothing() {
    let place = Place::new();
    for round in 0..20_u64 {
        let (fake, id) = (slow(), format!("j{round}"));
        std::fs::write(fake.dir.path().join("seconds"), "0.1").unwrap();
        place.start(&fake, &id);
        // From before the spawn to after the outcome: the whole takes about 300 ms.
        std::thread::sleep(Duration::from_millis(round * 20));
        if let Some(supervisor) = place.supervisor(&id) {
            let _ = Command::new("kill").args(["-9", &supervisor.to_string()]).stderr(Stdio::null()).status();
        }
        let written = place.file(&id, "outcome.json").exists();
        until("it is over", || place.state(&id) != "running");
        let state = place.state(&id);
        match written {
            true => assert_eq!(state, "done", "round {round}: what was written is kept"),
            false => assert!(state == "lost" || state == "done", "round {round}: {state}"),
        }
        if state == "done" {
            assert_eq!(place.run(&["job", "result", &id]).1, "half of the answer\n", "round {round}");
        }
        let tool = fake.read("tool");
        assert!(tool.trim().is_empty() || !is_alive(&tool), "round {round}: {state}, and its tool lives");
        assert!(place.supervisor(&id).is_none(), "round {round}");
    }
}

#[test]
fn b39_a_record_that_names_a_process_of_somebody_else_ends_nothing_of_theirs() {
    let (place, fake) = (Place::new(), slow());
    let mut foreign = Command::new("sleep").arg("300").spawn().unwrap();
    place.start_slow(&fake, "j", "200");
    signal(place.supervisor("j").unwrap(), "KILL");
    // As a dispatcher would have it that goes by numbers: one that another program has by now.
    let path = place.file("j", "job.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    (record["pid"], record["pgid"]) = (json!(foreign.id()), json!(foreign.id()));
    std::fs::write(&path, record.to_string()).unwrap();
    until("it is seen", || place.state("j") == "lost");
    place.json(&["job", "cancel", "j"]);
    assert_eq!(place.state("j"), "lost");
    assert!(is_alive(&foreign.id().to_string()));
    let _ = foreign.kill();
    let _ = foreign.wait();
}

#[test]
fn of_many_clients_one_settles_a_lost_job_and_one_gets_an_id() {
    let (place, fake) = (Place::new(), slow());
    place.start_slow(&fake, "j", "200");
    signal(place.supervisor("j").unwrap(), "KILL");
    let clients: Vec<_> = (0..8)
        .map(|_| place.command(&["job", "wait", "j", "--json"]).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    for client in clients {
        let said: Value = serde_json::from_slice(&client.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(said["jobs"][0]["state"], "lost", "{said}");
    }
    let request = ["run", "gemini", "hi", "--rehearse", "--background", "--id", "one", "-q"];
    let clients: Vec<_> = (0..8)
        .map(|_| place.command(&request).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    let won = clients.into_iter().filter_map(|client| client.wait_with_output().ok()?.status.code());
    assert_eq!(won.filter(|status| *status == 0).count(), 1);
    assert_eq!(place.run(&["job", "wait", "one"]).0, 0);
}

#[test]
fn a_client_that_is_killed_while_it_starts_a_job_leaves_none_running() {
    let place = Place::new();
    std::fs::create_dir_all(place.file(".new-half-1", "runs")).unwrap();
    std::fs::write(place.file(".new-half-1", "lock"), "").unwrap();
    assert_eq!(place.json(&["job", "status"])["jobs"], json!([]));
    place.json(&["job", "prune"]);
    assert!(!place.jobs().join(".new-half-1").exists());
}
