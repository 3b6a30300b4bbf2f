//! A try of what every run relies on: that all processes of a run can be ended here.

use super::environment::MARKER_VAR;
use super::guard::Guard;
use super::local::{run_id, session_and_spawn};
use super::tree::{self, Known};
use crate::error::{Failure, Kind, Result};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A child in the group, and one that left it for a session of its own where there is a program for that.
const SCRIPT: &str = "sleep 60 & if command -v setsid >/dev/null 2>&1; then setsid sleep 60 & fi; wait";

/// How long the processes may take to start.
const START: Duration = Duration::from_secs(5);

/// Starts a shell with children, ends them as a run is ended, and looks whether one is left.
///
/// Gives how many processes there were. Errors: they cannot be started, seen or ended, or one is left.
pub async fn try_ending(end_with_thread: bool) -> Result<usize> {
    let no = |what: String| Failure::new(Kind::HarnessConfig, what);
    let shell = Path::new("/bin/sh");
    let run_id = run_id(None);
    let mut child = tokio::process::Command::new(shell);
    child.args(["-c", SCRIPT]).env(MARKER_VAR, &run_id).current_dir("/");
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = session_and_spawn(child, shell, end_with_thread)?;
    let id = child.id().map_or(0, |id| id as i32);
    let mut guard = Guard::new(child, run_id.clone());
    let expected = if which::which("setsid").is_ok() { 2 } else { 1 };
    let began = Instant::now();
    let mut seen = 0;
    while seen < expected && began.elapsed() < START {
        tokio::time::sleep(Duration::from_millis(10)).await;
        seen = tree::members(Some(id), &run_id, &Known::new(), None).len();
    }
    guard.end().await;
    let left = tree::members(None, &run_id, &Known::new(), None).len();
    if left > 0 {
        return Err(no(format!("{left} of {} processes that were to be ended are left", seen + 1))
            .hint("a run here may leave processes behind; look at what limits signals on this system"));
    }
    if seen < expected {
        return Err(no(format!("{seen} of {expected} children of a process could be seen"))
            .hint("/proc has to be mounted, and may not hide a user's own processes"));
    }
    Ok(seen + 1)
}
