//! Holds a child and everything that it starts, and lets none of it outlive the run.

use super::tree::{self, GRACE, KERNEL, Known, SHORT_GRACE, Signal};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tokio::process::Child;

/// A child with its descendants. Dropped while it runs, all of them are killed at once.
pub(super) struct Guard {
    child: Child,
    id: i32,
    run_id: String,
    noted: Known,
    began: Instant,
    last_note: Instant,
    ended: bool,
}

/// How often the descendants are noted: one that leaves its parents and clears its environment is
/// known by that alone.
const NOTE_EVERY: Duration = Duration::from_secs(1);

impl Guard {
    pub(super) fn new(child: Child, run_id: String) -> Guard {
        let id = child.id().map_or(0, |id| id as i32);
        let now = Instant::now();
        Guard { child, id, run_id, noted: Known::new(), began: now, last_note: now, ended: false }
    }

    /// Waits for the child's own end.
    pub(super) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Notes the descendants when it is time again.
    pub(super) fn note(&mut self) {
        if self.last_note.elapsed() >= NOTE_EVERY {
            self.noted = self.members(None);
            self.last_note = Instant::now();
        }
    }

    /// Ends the child and all that it started: SIGTERM to the group, SIGKILL after the grace, then the
    /// sweep. Gives the child's status.
    pub(super) async fn end(&mut self) -> Option<ExitStatus> {
        self.noted = self.members(None);
        tracing::debug!(pid = self.id, descendants = self.noted.len(), "SIGTERM to the group");
        tree::signal_group(self.id, Signal::Term);
        let status = match tokio::time::timeout(GRACE, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => {
                tree::signal_group(self.id, Signal::Kill);
                // It may have left its own group.
                let _ = self.child.start_kill();
                tokio::time::timeout(KERNEL, self.child.wait()).await.ok().and_then(Result::ok)
            }
        };
        self.sweep().await;
        status
    }

    fn members(&self, after: Option<i32>) -> Known {
        // The id counts while the child is not reaped.
        let child = self.child.id().map(|_| self.id);
        tree::members(child, &self.run_id, &self.noted, after)
    }

    /// After the child's own end: ends who is left, and returns when nobody is.
    pub(super) async fn sweep(&mut self) {
        let after = tree::unwrapped(self.id, self.began.elapsed());
        let mut signal = Signal::Term;
        let began = Instant::now();
        loop {
            let left = self.members(after);
            if left.is_empty() {
                break;
            }
            tracing::debug!(processes = left.len(), ?signal, "left behind; they are ended");
            tree::signal_each(&left, signal);
            self.noted.extend(left);
            if began.elapsed() > SHORT_GRACE {
                signal = Signal::Kill;
            }
            if began.elapsed() > KERNEL {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.ended = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.ended || self.id == 0 {
            return;
        }
        let members = self.members(None);
        if self.child.id().is_some() {
            tree::signal_group(self.id, Signal::Kill);
            let _ = self.child.start_kill();
        }
        tree::signal_each(&members, Signal::Kill);
        self.noted.extend(members);
        tree::signal_each(&self.members(None), Signal::Kill);
    }
}
