//! What is installed, which version, and whether it is signed in; and whether this machine has what
//! teamster itself needs.
//!
//! A harness is looked at in steps, the cheapest first, and the first that fails ends it:
//!
//! 1. Is the program there, and does it start?
//! 2. Which version is it, and is that one known to work?
//! 3. Which variables that sign it in are set (names, never values), and what does the CLI's own status
//!    command say? A stored credential proves nothing: only a *no* of a command that looks at everything
//!    ends it here.
//! 4. One small call with no rights proves the rest. Where the harness cannot hold the agent to
//!    reading, no call is made.

mod examine;
mod own;
mod probe;
mod report;
mod signed;
mod together;
mod version;

pub use examine::{Examination, examine};
pub use own::check_teamster;
pub use report::{Check, HarnessReport, Reason, Report, SignedIn, Verdict};
pub use together::{Look, together};
pub use version::{ask_version, verdict};
