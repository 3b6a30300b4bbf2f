//! `teamster review` with the real CLIs: the seeded bug comes out, and nothing is written whatever the model asks.

use super::clis::{claude, gemini};
use super::lab::{Lab, done};
use super::place::files_under;
use crate::review::Repo;
use crate::support::model_server::Step;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn finding() -> Step {
    Step::text(
        json!({"findings": [{
            "severity": "high", "file": "src/lib.rs", "line": 2, "title": "reads past the end",
            "detail": "always out of bounds", "confidence": 0.9
        }]})
        .to_string(),
    )
}

/// The review's JSON; no byte of the repository is another.
fn reviewed(lab: &Lab, repo: &Repo, flags: &[&str]) -> Value {
    let before = repo.bytes();
    let root = repo.root().display().to_string();
    let mut args = vec![lab.cli.id, "--json", "-C", &root, "--model", lab.cli.model];
    args.extend(flags);
    let done = done(lab.start_other("review", &args));
    let value: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
    assert_eq!(
        (done.status, &value["ok"], value["findings"].as_array().map(Vec::len)),
        (Some(0), &json!(true), Some(1)),
        "{done:?}"
    );
    let one = &value["findings"][0];
    assert_eq!(
        (&one["file"], &one["line"], one.get("outside_diff")),
        (&json!("src/lib.rs"), &json!(2), None)
    );
    assert_eq!(repo.bytes(), before, "the worktree or the index is another");
    assert_eq!(lab.place.marks(), Vec::<String>::new());
    assert_eq!(lab.place.left_over(), Vec::<String>::new());
    value
}

#[test]
fn the_seeded_bug_is_found_and_an_attempt_to_write_is_refused() {
    for cli in [&gemini::CLI, &claude::CLI] {
        let repo = Repo::new();
        repo.seeded();
        let inside = repo.root().join("written").display().to_string();
        let steps = vec![(cli.write)(&inside), (cli.shell)(&format!("touch '{inside}'")), finding()];
        let Some(lab) = Lab::new(cli, steps) else { continue };
        let value = reviewed(&lab, &repo, &[]);
        assert_eq!(value["inlined"], true);
        let prompt = lab.first_turn().user_texts().join("\n");
        assert!(prompt.contains("+    all[all.len()]\n"), "{}: {prompt}", cli.id);
    }
}

/// The folder of the diff is one that a read tool may read.
#[test]
fn a_diff_that_is_a_file_is_read_by_the_agent() {
    for cli in [&gemini::CLI, &claude::CLI] {
        let repo = Repo::new();
        repo.seeded();
        let Some(lab) = Lab::new(cli, vec![finding()]) else { continue };
        std::thread::scope(|scope| {
            // The folder has a new name each time; it is there well before the agent asks its first turn.
            scope.spawn(|| {
                let until = Instant::now() + Duration::from_secs(30);
                while Instant::now() < until {
                    let names = files_under(&lab.place.tmp());
                    if let Some(diff) = names.iter().find(|name| name.ends_with("review.diff")) {
                        let diff = lab.place.tmp().join(diff).display().to_string();
                        lab.server.script(vec![(cli.read)(&diff), finding()]);
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            assert_eq!(reviewed(&lab, &repo, &["--inline-limit", "10"])["inlined"], false);
        });
        let turns = lab.server.main_requests();
        let seen = |turn: usize| turns[turn].body.to_string().contains("all[all.len()]");
        assert_eq!((seen(0), seen(1)), (false, true), "{}: {:?}", cli.id, turns[1].body);
    }
}

/// gemini would put `@src/lib.rs` in the diff in as that file; the diff goes as a file then.
#[test]
fn a_reference_in_the_diff_is_not_followed() {
    let repo = Repo::new();
    repo.seeded();
    repo.file("notes.md", "see @src/lib.rs, mail a@example.test\n");
    let Some(lab) = Lab::new(&gemini::CLI, vec![finding()]) else { return };
    assert_eq!(reviewed(&lab, &repo, &[])["inlined"], false);
    let prompt = lab.first_turn().user_texts().join("\n");
    assert!(!prompt.contains("pub fn last"), "{prompt}");
}
