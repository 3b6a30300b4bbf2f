//! Reviews of a git diff: what changed, the request that asks for findings, and the findings checked.
//!
//! git is called as a program. Nothing in the repository is written, and the repository's own configuration
//! neither runs a program nor changes the form of the diff. The request is read-only whatever else is asked for.

mod changes;
mod diff;
mod file;
mod findings;
mod git;
mod patch;
mod prompt;
mod sarif;

pub use changes::{Changed, Status};
pub use diff::{Asked, Changes, Scope, collect};
pub use file::{instruction, names_files, wants_file};
pub use findings::{Checked, Finding, Findings, SCHEMA, Severity, checked};
pub use prompt::{INLINE_BYTES, INSTRUCTION, OVERRIDE, Request, request};
pub use sarif::sarif;
