//! Batches: nothing lost, nothing twice, paced, and shown.

mod command;
mod killed;
mod pacing;
mod page;
mod worktrees;

use crate::support::fake::Fake;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder with requests, and a CLI that notes every prompt that it gets in `$DIR/asked`.
struct Bench {
    dir: TempDir,
    fake: Fake,
}

impl Bench {
    /// `body` runs with the prompt in `$P`, after it was noted.
    fn new(body: &str) -> Bench {
        let script = format!("for P in \"$@\"; do :; done\nprintf '%s\\n' \"$P\" >> \"$DIR/asked\"\n{body}");
        Bench { dir: TempDir::new().expect("a folder"), fake: Fake::new(&script) }
    }

    /// A CLI that answers with its prompt.
    fn echo() -> Bench {
        Bench::new("init; say \"did $P\"; result")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("written");
        self.path(name).display().to_string()
    }

    /// `requests.jsonl` with so many requests; names are `t0`, `t1`, ….
    fn requests(&self, count: usize) -> String {
        let line = |n| format!("{{\"id\":\"t{n}\",\"harness\":\"gemini\",\"prompt\":\"task-{n}\"}}\n");
        self.write("requests.jsonl", &(0..count).map(line).collect::<String>())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.arg("batch").args(args).stdin(Stdio::null()).current_dir(self.dir.path());
        for name in ["TEAMSTER_HARNESS", "TEAMSTER_LOG", "NO_COLOR"] {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", "/nonexistent").env("TEAMSTER_GEMINI_BIN", &self.fake.bin);
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        told(self.command(args).output().expect("runs"))
    }

    /// What the CLI was asked, with how often.
    fn asked(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for line in self.fake.read("asked").lines() {
            *all.entry(line.to_owned()).or_default() += 1;
        }
        all
    }

    /// The lines of the file of results.
    fn results(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("requests.results.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect()
    }

    /// Name → answer, or kind of failure; a name that is there twice fails.
    fn answers(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for line in self.results() {
            let outcome = &line["outcome"];
            let said = if outcome["ok"] == true { &outcome["text"] } else { &outcome["failure"]["kind"] };
            let id = line["id"].as_str().expect("a name").to_owned();
            let before = all.insert(id.clone(), said.as_str().expect("a text").to_owned());
            assert_eq!(before, None, "{id} is there twice");
        }
        all
    }
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// The answers that an undisturbed batch of so many tasks gives.
fn expected(count: usize) -> BTreeMap<String, String> {
    (0..count).map(|n| (format!("t{n}"), format!("did task-{n}"))).collect()
}
