//! Batches: many dispatches with bounded concurrency, each result on disk before it counts.
//!
//! ```text
//! items (JSON lines, a folder, a template over rows) ──▶ tasks ──▶ run, so many at once ──▶ results.jsonl
//!                                                          ▲  paced by harness                │
//!                                                          └────── what is there is not run again
//! ```
//!
//! - [`read_items`] and [`rows`] give requests; the caller settles each into a [`Task`].
//! - [`run`] runs them on one thread, at most so many at once and so many of one harness. A harness that
//!   asks for fewer requests is paused, for as long as it says or ever longer, and gets fewer at once.
//! - The [`Journal`] is a file of JSON lines, one a task, each on disk before it counts. Whoever runs the
//!   same batch again runs what has no line there.

mod each;
mod journal;
mod pace;
mod run;
mod source;
mod summary;
mod task;
mod worktree;

pub use each::{Row, filled, rows};
pub use journal::{Journal, ResultLine};
pub use pace::{Pace, Paces};
pub use run::{BatchEvent, BatchOptions, Rehearsal, run};
pub use source::{Item, read_items, read_lines};
pub use summary::{OfHarness, Summary};
pub use task::{Choice, Task};
pub use worktree::Worktrees;
