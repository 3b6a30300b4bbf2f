//! Where a doctor looks: a home of its own, folders for state, settings and temporary files, and programs.

#![expect(clippy::expect_used, reason = "a helper of tests")]

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A value that no output may hold.
pub(super) const SECRET: &str = "sk-not-for-anyone-to-see";

/// Folders, and the fakes in them.
pub(super) struct Place {
    dir: TempDir,
}

/// How a `teamster doctor` ended.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) status: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Told {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The report of the only harness, without what differs from place to place.
    pub(super) fn harness(&self) -> Value {
        let mut json = self.json();
        let mut harness = json["harnesses"][0].take();
        let fields = harness.as_object_mut().expect("a harness");
        fields.retain(|name, _| !["path", "duration_ms"].contains(&name.as_str()));
        harness
    }

    /// A check of teamster's own needs.
    pub(super) fn check(&self, name: &str) -> Value {
        let json = self.json();
        let mut checks = json["teamster"].as_array().expect("checks").iter();
        checks.find(|check| check["name"] == name).expect("a check of that name").clone()
    }
}

impl Place {
    pub(super) fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["bin", "home", "config", "state", "tmp"] {
            std::fs::create_dir(place.path(folder)).expect("a folder");
        }
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    /// A program in PATH: it notes each of its calls in `calls`, and finds this place in `$DIR`.
    pub(super) fn program(&self, name: &str, body: &str) -> PathBuf {
        let dir = self.dir.path().display();
        self.script(name, &format!("#!/bin/sh\nDIR='{dir}'\necho \"$1\" >> \"$DIR/calls\"\n{body}\n"))
    }

    pub(super) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        std::fs::write(&path, text).expect("a program");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(args).env_clear().stdin(Stdio::null()).current_dir(self.path("home"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display())).env("LANG", "C.UTF-8");
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("XDG_CONFIG_HOME", self.path("config")).env("XDG_STATE_HOME", self.path("state"));
        command
    }

    pub(super) fn doctor(&self, args: &[&str], env: &[(&str, &str)]) -> Told {
        let mut command = self.command(&[&["doctor"], args].concat());
        let output = command.envs(env.iter().copied()).output().expect("teamster runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let told = Told {
            status: output.status.code().expect("a status"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!format!("{told:?}").contains(SECRET), "{told:?}");
        told
    }

    /// What is left where temporary files are.
    pub(super) fn left_over(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("tmp")).expect("a folder");
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// gemini with this version, whose call does this.
pub(super) fn gemini(place: &Place, version: &str, call: &str) -> PathBuf {
    let body = format!(
        "case \"$1\" in --version) echo {version}; exit 0;; esac\n{}\n{call}",
        crate::support::fake::PRELUDE
    );
    place.program("gemini", &body)
}

/// A call that is answered.
pub(super) const FINE: &str = "init; say ok; result";

/// A call that the vendor refuses, as gemini 0.61.0 says it.
pub(super) const REFUSED: &str = r#"init
printf '%s\n' '{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":401,\"message\":\"API keys are not supported by this API.\",\"status\":\"UNAUTHENTICATED\"}}]"},"stats":{}}'
exit 145"#;
