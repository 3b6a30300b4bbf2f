//! Runs a command: resolve, environment, spawn, follow, clocks, and the end of the whole process tree.
//!
//! - stdin, stdout and stderr of the child are regular files in the run's own folder (0700): real CLIs
//!   cut a pipe at 64 KiB and exit 0, lose what a late writer sends, or keep a pipe open through a
//!   grandchild. A follower reads the files as they grow, and once more after the end.
//! - The child has a session of its own, or a group where there is no terminal anyway. To end it: its
//!   descendants are noted, the group gets SIGTERM, 3 s later SIGKILL, and then whoever left the group is
//!   swept, found by the run's marker in its environment or as a noted descendant. The sweep also
//!   follows a normal end.

#[cfg(feature = "doctor")]
mod ask;
mod cancel;
mod clocks;
mod depth;
mod detach;
mod env_files;
mod environment;
mod folder;
mod follow;
mod guard;
mod listed;
mod local;
mod named;
mod places;
mod preflight;
mod redact;
mod resolve;
#[cfg(feature = "doctor")]
mod selftest;
mod shim;
mod tree;
mod watch;

#[cfg(feature = "doctor")]
pub use ask::{Question, Said, ask};
pub use cancel::{Cancel, Canceller};
pub use depth::{allowed_depth, own_depth};
#[cfg(feature = "jobs")]
pub(crate) use detach::own_session;
pub use environment::{DEPTH_LIMIT, DEPTH_VAR, MARKER_VAR};
pub use local::{LocalRunner, Rehearse};
pub use resolve::{Found, find};
#[cfg(feature = "doctor")]
pub use selftest::try_ending;
pub use shim::{ShimPlan, plan_shim};
pub use tree::end_marked;

use crate::error::Failure;
use crate::harness::AgentBuilder;
use crate::lowering::Lowered;
use crate::profile::{Profile, SettledLimits};
use crate::reply::{Event, Reply};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Variables of an environment.
type Vars = std::collections::BTreeMap<std::ffi::OsString, std::ffi::OsString>;

/// What one run is given besides the command.
pub struct RunContext<'r> {
    /// The harness: facts, and the reader of its output.
    pub builder: &'r dyn AgentBuilder,
    /// How the installation runs it.
    pub profile: &'r Profile,
    /// Clocks and caps.
    pub limits: SettledLimits,
    /// When the whole dispatch has to be over.
    pub deadline: Instant,
    /// Which attempt this is, counted from 1.
    pub attempt: u32,
    /// Who listens to the events.
    pub emit: &'r mut (dyn FnMut(Event<'_>) + Send),
}

/// What came of one run.
#[derive(Debug, Default)]
pub struct Ran {
    /// The reply; its `error` is set where the run is no success for whatever reason.
    pub reply: Reply,
    /// The exit status, where the CLI ended by itself.
    pub exit_status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it took.
    pub duration: Duration,
    /// The run's folder, where it was kept.
    pub files: Option<PathBuf>,
}

/// Anything that can run a command: processes on this machine, or a script in a test.
pub trait Runner {
    /// Runs the command to its end.
    ///
    /// Errors: what keeps the command from being started at all. What goes wrong later is in
    /// [`Ran::reply`].
    fn run(
        &mut self,
        lowered: &Lowered,
        context: RunContext<'_>,
    ) -> impl Future<Output = Result<Ran, Failure>> + Send;
}
