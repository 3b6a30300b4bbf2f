//! Jobs: dispatches that run in the background, each a folder that its client, its supervisor and any later
//! command read and write.
//!
//! ```text
//! JOBS/ID/job.json        the record: what runs, since when, and how it ended (written beside, then renamed)
//!         lock            held by the supervisor: tells the living from the dead
//!         spec.json       the dispatch, settled; the values of variables are taken out when it begins
//!         events.jsonl    every event as it happens, with `at_ms`, the milliseconds since the start
//!         runs/           the folder of every run: stdin, stdout, stderr, files
//!         outcome.json    the outcome (written beside, then renamed)
//!         cancel          there when somebody asked for the end
//! ```
//!
//! - The client makes the folder under another name with the lock held, renames it, and hands the lock to the
//!   supervisor as its stdin: there is no moment at which a job that will run looks dead.
//! - A supervisor that was killed lets go of the lock. The next command that sees the job takes the lock, ends
//!   what the job left running (by the mark in its environment, never by a number), and writes the outcome:
//!   kind `lost`, with the text that was there.
//! - No clock decides about life and death. The system's clock is only shown, and sorts.

mod cancel;
mod folder;
mod id;
mod log;
mod lost;
mod record;
mod spec;
mod start;
mod store;
mod supervise;

pub use id::JobId;
pub use log::{LogLine, partial_text};
pub use record::{JobRecord, JobState, JobView};
pub use spec::{JobSpec, Rehearsed};
pub use start::Supervisor;
pub use store::{JOBS_DIR_VAR, Jobs, Pruned};
pub use supervise::supervise;
