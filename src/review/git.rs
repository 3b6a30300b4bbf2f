//! git as a program that only reads.

use crate::error::{Failure, Kind, Result, cut};
use std::ffi::OsStr;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Settings that win over every configuration file: no program of the repository runs.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.safecrlf", "false"),
    ("core.pager", "cat"),
    ("diff.orderFile", "/dev/null"),
    ("color.ui", "false"),
];

/// Variables of git that only say where the user's settings are.
const KEPT: &[&str] =
    &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"];

/// git in one directory.
pub(super) struct Git<'d> {
    dir: &'d Path,
    settings: Vec<(String, String)>,
}

impl<'d> Git<'d> {
    /// git in this directory, with the filters switched off that its configuration names.
    pub(super) fn new(dir: &'d Path) -> Result<Git<'d>> {
        let settings = SETTINGS.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let mut git = Git { dir, settings };
        let named = git.run(&["config", "-z", "--name-only", "--get-regexp", r"^filter\."])?;
        for name in named.stdout.split(|b| *b == 0) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let off = match name.rsplit('.').next() {
                Some("clean" | "smudge" | "process") => "",
                Some("required") => "false",
                _ => continue,
            };
            git.settings.push((name.to_owned(), off.to_owned()));
        }
        Ok(git)
    }

    /// What it wrote and how it ended.
    pub(super) fn run(&self, args: &[impl AsRef<OsStr>]) -> Result<Output> {
        self.spawn(args, Stdio::null())
    }

    /// What it wrote; not to end well is a failure with its words.
    pub(super) fn read(&self, args: &[impl AsRef<OsStr>]) -> Result<Vec<u8>> {
        good(self.run(args)?)
    }

    /// The same, with this on its stdin.
    pub(super) fn read_with(&self, args: &[impl AsRef<OsStr>], stdin: &[u8]) -> Result<Vec<u8>> {
        let file = tempfile::tempfile().and_then(|mut file| {
            file.write_all(stdin)?;
            file.rewind()?;
            Ok(file)
        });
        let file = file.map_err(|e| Failure::new(Kind::HarnessConfig, format!("no temporary file: {e}")))?;
        good(self.spawn(args, file.into())?)
    }

    /// One line of it, `None` where it does not end well.
    pub(super) fn line(&self, args: &[impl AsRef<OsStr>]) -> Result<Option<String>> {
        let out = self.run(args)?;
        let text = String::from_utf8_lossy(&out.stdout).trim_end_matches('\n').to_owned();
        Ok((out.status.success() && !text.is_empty()).then_some(text))
    }

    fn spawn(&self, args: &[impl AsRef<OsStr>], stdin: Stdio) -> Result<Output> {
        tracing::trace!(args = args.len(), dir = %self.dir.display(), "git");
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT.contains(&&*text) {
                command.env_remove(&name);
            }
        }
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("LC_ALL", "C")
            .arg("--no-pager")
            .args(args)
            .current_dir(self.dir)
            .stdin(stdin);
        command.output().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound if self.dir.is_dir() => {
                Failure::new(Kind::NotFound, "git is not installed")
                    .hint("install git; a review reads its diff")
            }
            _ => Failure::new(Kind::BadCwd, format!("cwd: git cannot run in {}: {e}", self.dir.display()))
                .hint("name a directory that is there"),
        })
    }
}

fn good(out: Output) -> Result<Vec<u8>> {
    if out.status.success() {
        return Ok(out.stdout);
    }
    Err(said("git failed", &out))
}

/// A failure with the last words of git.
pub(super) fn said(what: &str, out: &Output) -> Failure {
    let text = String::from_utf8_lossy(&out.stderr);
    let words = text.trim().trim_start_matches("fatal: ");
    Failure::new(Kind::HarnessConfig, format!("{what}: {}", cut(words, 300)))
        .hint("run `git status` there, and put right what it says")
}
