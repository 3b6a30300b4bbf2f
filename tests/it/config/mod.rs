//! Settings in layers: what holds, where it came from, and what a project's file may not do.

mod bounds;
mod show;
mod trusted;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A home, with a folder of settings, and a repository in it.
struct House {
    dir: TempDir,
}

impl House {
    fn new() -> House {
        let house = House { dir: TempDir::new().expect("a folder") };
        std::fs::create_dir_all(house.repo().join(".git")).expect("made");
        std::fs::create_dir_all(house.repo().join("src/deep")).expect("made");
        std::fs::create_dir_all(house.user_file().parent().expect("a folder")).expect("made");
        house
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("there")
    }

    fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    fn user_file(&self) -> PathBuf {
        self.root().join("config/teamster/teamster.toml")
    }

    fn project_file(&self) -> PathBuf {
        self.repo().join("teamster.toml")
    }

    fn user(self, text: &str) -> House {
        std::fs::write(self.user_file(), text).expect("written");
        self
    }

    fn project(self, text: &str) -> House {
        std::fs::write(self.project_file(), text).expect("written");
        self
    }

    fn command(&self, cwd: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(args).current_dir(cwd).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.root()).env("XDG_CONFIG_HOME", self.root().join("config"));
        command
    }

    /// Status, stdout and stderr of the command in the repository; the folder's name is `~`.
    fn teamster(&self, args: &[&str]) -> (i32, String, String) {
        self.told(self.command(&self.repo(), args).output().expect("runs"))
    }

    fn told(&self, output: Output) -> (i32, String, String) {
        let root = self.root().display().to_string();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8").replace(&root, "~");
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}
