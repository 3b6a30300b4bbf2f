//! Jobs: dispatches in the background that nobody loses, doubles or leaves behind.

mod damage;
mod killed;
mod life;

use crate::support::fake::Fake;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder for jobs, and the command that uses it.
struct Place {
    dir: tempfile::TempDir,
}

/// An agent that answers after a while, with a tool of its own that left the group and would outlive it.
const SLOW: &str = r#"
init
say 'half of '
setsid sleep 300 & echo $! > "$DIR/tool"
sleep "$(cat "$DIR/seconds")"
say 'the answer'
kill -9 "$(cat "$DIR/tool")"
result
"#;

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().expect("a folder") }
    }

    fn jobs(&self) -> PathBuf {
        self.dir.path().join("jobs")
    }

    fn file(&self, id: &str, name: &str) -> PathBuf {
        self.jobs().join(id).join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command
            .args(args)
            .stdin(Stdio::null())
            .env_remove("TEAMSTER_HARNESS")
            .env("TEAMSTER_JOBS_DIR", self.jobs())
            .env("XDG_CONFIG_HOME", "/nonexistent");
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.command(args).output().expect("teamster runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    /// What a command with `--json` says, which is one object whatever happens.
    fn json(&self, args: &[&str]) -> Value {
        let (_, out, err) = self.run(&[args, &["--json"]].concat());
        assert_eq!(out.lines().count(), 1, "one object: {out}{err}");
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"))
    }

    fn state(&self, id: &str) -> String {
        let said = self.json(&["job", "status", id]);
        said["job"]["state"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    /// Starts a job with a fake CLI.
    fn start(&self, fake: &Fake, id: &str) {
        let bin = fake.bin.display().to_string();
        let said =
            self.run(&["run", &fake.harness, "go on", "--background", "--id", id, "--bin", &bin, "-q"]);
        assert_eq!(said, (0, format!("{id}\n"), String::new()));
    }

    /// Starts a job that takes so many seconds, and waits until its tool runs.
    fn start_slow(&self, fake: &Fake, id: &str, seconds: &str) -> String {
        std::fs::write(fake.dir.path().join("seconds"), seconds).expect("written");
        self.start(fake, id);
        until("the agent's tool runs", || !fake.read("tool").trim().is_empty());
        fake.read("tool").trim().to_owned()
    }

    /// The supervisor's id: the one process that has the job's folder as its last argument.
    fn supervisor(&self, id: &str) -> Option<i32> {
        let folder = self.jobs().join(id).canonicalize().ok()?.display().to_string();
        let named = self.jobs().join(id).display().to_string();
        std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let args: Vec<&[u8]> = line.split(|b| *b == 0).collect();
            let last = args.iter().rev().find(|arg| !arg.is_empty())?;
            let is = *last == folder.as_bytes() || *last == named.as_bytes();
            (is && args.contains(&&b"supervise"[..])).then(|| entry.file_name().to_str()?.parse().ok())?
        })
    }
}

fn slow() -> Fake {
    Fake::new(SLOW)
}

fn signal(pid: i32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{name} to {pid}");
}

/// Waits for what has to come; generous, since it only ends a test that would hang.
fn until(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "in a minute it was never so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn failure(kind: &str, said: &Value) {
    assert_eq!((said["ok"].clone(), said["failure"]["kind"].clone()), (json!(false), json!(kind)), "{said}");
}
