//! What teamster itself needs of this machine.

use super::report::Check;
use crate::error::{Failure, Kind, Result};
use crate::run::{DEPTH_LIMIT, DEPTH_VAR, try_ending};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Less room than this in bytes is worth a word.
const ROOM: u64 = 256 << 20;

/// Looks at the state folder, the folder for temporary files, the ending of processes, git and the depth.
/// The settings are the caller's to read: `settings` is what came of that.
pub async fn check_teamster(settings: Result<String>) -> Vec<Check> {
    let settings = settings.map(|message| (message, None));
    vec![
        check("settings", settings),
        check("state", state()),
        check("temp", temp().await),
        check("processes", processes().await),
        check("git", Ok(git())),
        check("depth", depth()),
    ]
}

/// What was seen, and a next step where something is missing that not everything needs.
type Seen = (String, Option<String>);

fn check(name: &str, seen: Result<Seen>) -> Check {
    let name = name.to_owned();
    match seen {
        Ok((message, hint)) => Check { name, ok: true, message, hint, kind: None },
        Err(failure) => Check {
            name,
            ok: false,
            message: failure.message,
            hint: failure.hint.map(std::borrow::Cow::into_owned),
            kind: Some(failure.kind),
        },
    }
}

/// Where jobs are kept can be written, renamed in and locked.
fn state() -> Result<Seen> {
    let folder = state_folder()?;
    // What is not there yet is made with the first job; the doctor leaves nothing behind.
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let no = |what: &str, e: &dyn std::fmt::Display| {
        let shown = if there == folder { String::new() } else { format!(" (in {})", there.display()) };
        Failure::new(Kind::HarnessConfig, format!("cannot {what} {}{shown}: {e}", folder.display()))
            .hint("jobs need it: make it writable, or name another with TEAMSTER_JOBS_DIR")
    };
    let dir = tempfile::Builder::new().prefix(".doctor-").tempdir_in(there);
    let dir = dir.map_err(|e| no("make a folder in", &e))?;
    let (beside, named) = (dir.path().join("beside"), dir.path().join("named"));
    std::fs::write(&beside, "x").map_err(|e| no("write in", &e))?;
    std::fs::rename(&beside, &named).map_err(|e| no("rename in", &e))?;
    let open = || File::options().write(true).open(&named).map_err(|e| no("open a file in", &e));
    let (first, second) = (open()?, open()?);
    first.try_lock().map_err(|e| no("lock a file in", &e))?;
    if second.try_lock().is_ok() {
        let e = "two may hold one lock at the same time";
        return Err(no("rely on locks in", &e));
    }
    Ok((folder.display().to_string(), room(there, &folder)))
}

#[cfg(feature = "jobs")]
fn state_folder() -> Result<PathBuf> {
    Ok(crate::jobs::Jobs::of_user()?.path().to_owned())
}

#[cfg(not(feature = "jobs"))]
fn state_folder() -> Result<PathBuf> {
    use etcetera::BaseStrategy;
    let strategy = etcetera::choose_base_strategy()
        .map_err(|e| Failure::new(Kind::HarnessConfig, format!("no folder for state: {e}")))?;
    Ok(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("teamster"))
}

/// A word where there is little room left.
fn room(there: &Path, named: &Path) -> Option<String> {
    let stat = rustix::fs::statvfs(there).ok()?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    (free < ROOM).then(|| format!("only {} MiB are free at {}", free >> 20, named.display()))
}

/// The folder of runs can be written; that programs may run from it is what some CLIs need.
async fn temp() -> Result<Seen> {
    let folder = std::env::temp_dir();
    let no = |e: std::io::Error| {
        Failure::new(Kind::HarnessConfig, format!("cannot write in {}: {e}", folder.display()))
            .hint("every run needs it: make it writable, or set TMPDIR to another")
    };
    let dir = tempfile::Builder::new().prefix("teamster-").tempdir().map_err(no)?;
    let program = dir.path().join("program");
    std::fs::write(&program, "#!/bin/sh\nexit 0\n").map_err(no)?;
    std::fs::set_permissions(&program, Permissions::from_mode(0o700)).map_err(no)?;
    // Another thread that forks at this moment may hold the file open for writing: then it is busy, not barred.
    let ran = tokio::process::Command::new(&program).status().await;
    let barred = ran.is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
    let barred =
        barred.then(|| "no program may run from it, which some CLIs need: set TMPDIR to another".into());
    let hint = barred.or_else(|| room(&folder, &folder));
    Ok((folder.display().to_string(), hint))
}

/// A process tree is started and ended as those of runs are.
async fn processes() -> Result<Seen> {
    let ended = try_ending(true).await?;
    Ok((format!("a tree of {ended} was ended, none is left"), None))
}

fn git() -> Seen {
    match which::which("git") {
        Ok(path) => (path.display().to_string(), None),
        Err(_) => ("not found".to_owned(), Some("reviews need it: install git".to_owned())),
    }
}

/// How deep this process is among agents that dispatch agents.
fn depth() -> Result<Seen> {
    let depth: u32 = std::env::var(DEPTH_VAR).ok().and_then(|value| value.parse().ok()).unwrap_or(0);
    if depth >= DEPTH_LIMIT {
        let what = format!("this process is {depth} agents deep, and the limit is {DEPTH_LIMIT}");
        return Err(
            Failure::new(Kind::Recursion, what).hint("nothing can be dispatched from here; end the loop")
        );
    }
    Ok((format!("{depth} of {DEPTH_LIMIT}"), None))
}
