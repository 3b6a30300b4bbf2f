//! A git worktree for each task, so that agents that write do not meet.

use crate::error::{Failure, Kind, Result, cut};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Where the worktrees of a batch are made. One that nothing was changed in is removed when its task is over.
#[derive(Debug, Clone)]
pub struct Worktrees {
    /// The folder that they are made in.
    folder: PathBuf,
}

/// One worktree.
#[derive(Debug)]
pub(super) struct Worktree {
    repository: PathBuf,
    path: PathBuf,
    commit: String,
}

impl Worktrees {
    /// Worktrees in this folder, which is made.
    ///
    /// Errors: it cannot be made.
    pub fn in_folder(folder: &Path) -> Result<Worktrees> {
        std::fs::create_dir_all(folder)
            .and_then(|()| folder.canonicalize())
            .map(|folder| Worktrees { folder })
            .map_err(|e| Failure::invalid("worktrees", format!("{}: {e}", folder.display())))
    }

    /// The repository of a directory, and the directory in it.
    ///
    /// Errors: it is in no repository with a commit.
    pub(super) fn repository(cwd: &Path) -> Result<(PathBuf, PathBuf)> {
        let no = |why: String| {
            Failure::new(Kind::BadCwd, format!("worktrees: {}: {why}", cwd.display()))
                .hint("a worktree is made of a commit: run it in a git repository that has one")
        };
        let top = line(cwd, &["rev-parse", "--show-toplevel"]).map_err(no)?;
        line(cwd, &["rev-parse", "--verify", "HEAD^{commit}"]).map_err(no)?;
        let (top, cwd) = (Path::new(&top).canonicalize(), cwd.canonicalize());
        let (Ok(top), Ok(cwd)) = (top, cwd) else { return Err(no("cannot be read".to_owned())) };
        let below = cwd.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
        Ok((top, below))
    }

    /// A new worktree of the repository's HEAD. A worktree of the same name, from a run that was killed, is
    /// kept where something was changed in it, under another name.
    ///
    /// Errors: what git says.
    pub(super) fn make(&self, repository: &Path, name: &str) -> Result<Worktree> {
        let no = |why: String| Failure::new(Kind::HarnessConfig, format!("worktrees: {name}: {why}"));
        let commit = line(repository, &["rev-parse", "HEAD"]).map_err(no)?;
        let mut path = self.folder.join(folder_name(name));
        for more in 2.. {
            if !path.exists() {
                break;
            }
            let old =
                Worktree { repository: repository.to_owned(), path: path.clone(), commit: commit.clone() };
            if old.unchanged() && old.remove().is_ok() {
                break;
            }
            path = self.folder.join(format!("{}.{more}", folder_name(name)));
        }
        let made = [
            OsStr::new("worktree"),
            "add".as_ref(),
            "--detach".as_ref(),
            "--quiet".as_ref(),
            path.as_os_str(),
            commit.as_ref(),
        ];
        line(repository, &made).map_err(no)?;
        Ok(Worktree { repository: repository.to_owned(), path, commit })
    }
}

impl Worktree {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, if nothing was changed in it; else gives its path.
    pub(super) fn finish(self) -> Option<PathBuf> {
        if self.unchanged() && self.remove().is_ok() { None } else { Some(self.path) }
    }

    fn unchanged(&self) -> bool {
        let status = line(&self.path, &["status", "--porcelain", "--ignored"]);
        let head = line(&self.path, &["rev-parse", "HEAD"]);
        status.is_ok_and(|status| status.is_empty()) && head.is_ok_and(|head| head == self.commit)
    }

    fn remove(&self) -> std::result::Result<(), String> {
        let args = [OsStr::new("worktree"), "remove".as_ref(), self.path.as_os_str()];
        line(&self.repository, &args).map(drop)
    }
}

/// A name that is one part of a path: what is not plain is written as its number.
fn folder_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => out.push(c),
            other => out.push_str(&format!("%{:x}", u32::from(other))),
        }
    }
    out
}

/// What git writes, without the line's end; no hook of the repository runs.
fn line(dir: &Path, args: &[impl AsRef<OsStr>]) -> std::result::Result<String, String> {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]).args(args);
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").current_dir(dir).stdin(Stdio::null());
    let out: Output = command.output().map_err(|e| format!("git cannot be run: {e}"))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        return Err(cut(said.trim().trim_start_matches("fatal: "), 300).into_owned());
    }
    Ok(String::from_utf8_lossy(&out.stdout).trim_end_matches('\n').to_owned())
}
