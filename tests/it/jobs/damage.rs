//! Folders that somebody cut, clocks that jump, disks that fill up.

use super::*;

fn done(place: &Place, id: &str) {
    place.run(&["run", "gemini", "hi", "--rehearse", "--background", "--id", id, "-q"]);
    assert_eq!(place.run(&["job", "wait", id]).0, 0);
}

#[test]
fn a_cut_file_is_named_and_hides_no_other_job() {
    let place = Place::new();
    done(&place, "good");
    for name in ["job.json", "outcome.json", "spec.json", "events.jsonl", "lock"] {
        done(&place, "cut");
        let path = place.file("cut", name);
        let whole = std::fs::read(&path).unwrap();
        for keep in [0, whole.len() / 2, whole.len().saturating_sub(1)] {
            std::fs::write(&path, &whole[..keep]).unwrap();
            let said = place.json(&["job", "status"]);
            let states: Vec<(&str, &str)> = said["jobs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|job| (job["id"].as_str().unwrap(), job["state"].as_str().unwrap()))
                .collect();
            let cut = if name == "outcome.json" { "broken" } else { "done" };
            assert!(states.contains(&("good", "done")), "{name} {keep}: {said}");
            assert!(states.contains(&("cut", cut)), "{name} {keep}: {said}");
            let (status, _, err) = place.run(&["job", "result", "cut"]);
            assert_eq!(status == 0, name != "outcome.json", "{name} {keep}: {err}");
            assert!(status == 0 || err.contains("outcome.json"), "{err}");
        }
        std::fs::remove_file(&path).unwrap();
        let (status, _, err) = place.run(&["job", "cancel", "cut"]);
        assert!(status == 0, "{name}: {err}");
        place.json(&["job", "prune", "--all"]);
        done(&place, "good");
    }
}

#[test]
fn an_empty_folder_is_broken_until_it_is_pruned() {
    let place = Place::new();
    std::fs::create_dir_all(place.jobs().join("empty")).unwrap();
    assert_eq!(place.state("empty"), "broken");
    failure("harness_config", &place.json(&["job", "result", "empty"]));
    assert_eq!(place.json(&["job", "prune"])["removed"], json!([]));
    assert_eq!(place.json(&["job", "prune", "--broken"])["removed"], json!(["empty"]));
}

#[test]
fn a_clock_that_jumped_loses_and_removes_no_job() {
    let place = Place::new();
    done(&place, "j");
    for moment in ["2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
        let path = place.file("j", "job.json");
        let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (record["created"], record["ended"]) = (json!(moment), json!(moment));
        std::fs::write(&path, record.to_string()).unwrap();
        assert_eq!(place.state("j"), "done", "{moment}");
        assert!(place.run(&["job", "status"]).1.contains("done"), "{moment}");
        let old = if moment.starts_with("1970") { json!(["j"]) } else { json!([]) };
        assert_eq!(place.json(&["job", "prune", "--dry-run"])["removed"], old, "{moment}");
    }
}

/// A disk of 1 MiB needs a mount, which needs rights that not every machine gives to a test.
#[test]
fn on_a_full_disk_a_job_keeps_its_answer_and_says_what_of_the_log_is_missing() {
    let (place, fake) = (
        Place::new(),
        Fake::new(
            r#"
init
dd if=/dev/zero of="$JOBS/filler" bs=1024 2>/dev/null
for n in 1 2 3 4 5 6 7 8 9; do say "piece $n "; done
say 'the answer'
result
"#,
        ),
    );
    std::fs::create_dir_all(place.jobs()).unwrap();
    let script = "mount -t tmpfs -o size=1m tmpfs \"$JOBS\" 2>/dev/null || exit 99\n\
                  \"$TEAMSTER\" run gemini hi --background --id j --bin \"$FAKE\" --env JOBS=\"$JOBS\" --jobs-dir \"$JOBS\" -q\n\
                  \"$TEAMSTER\" job wait j --json\n\
                  \"$TEAMSTER\" job result j";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).stdin(Stdio::null());
    command.env("JOBS", place.jobs()).env("TEAMSTER_JOBS_DIR", place.jobs()).env("FAKE", &fake.bin);
    command.env("TEAMSTER", env!("CARGO_BIN_EXE_teamster")).env("XDG_CONFIG_HOME", "/nonexistent");
    let output = command.output();
    let Some(output) =
        output.ok().filter(|output| output.status.code() != Some(99) && !output.stdout.is_empty())
    else {
        assert!(std::env::var_os("CI").is_none(), "CI may mount");
        eprintln!("skipped: nothing can be mounted here");
        return;
    };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // stdout of the CLI is on that disk too: what it could not write is not an answer, and is not taken for one.
    let told = out.contains("piece 9 the answer")
        || err.contains("(empty_reply)")
        || err.contains("(harness_error)");
    assert!(told && !out.contains("\"lost\""), "{out}{err}");
}
