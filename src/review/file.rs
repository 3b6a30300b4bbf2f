//! Whether the diff of a review goes in the prompt or as a file, and the project's own instruction.

use super::prompt::{INSTRUCTION, OVERRIDE};
use crate::command::Check;
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, lower};
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::request::DispatchRequest;
use std::path::{Path, PathBuf};

/// The instruction text: the named file, the project's own, or the one that ships. A project's file that is a
/// link is not followed.
///
/// Errors: a file that cannot be read, or is empty.
pub fn instruction(named: Option<PathBuf>, root: &Path) -> Result<String> {
    let own = root.join(OVERRIDE);
    let file = match named {
        Some(file) => file,
        None if std::fs::symlink_metadata(&own).is_ok_and(|data| data.is_file()) => own,
        None => return Ok(INSTRUCTION.to_owned()),
    };
    let bad = |what: String| Failure::invalid("instructions", format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|e| bad(e.to_string()))?;
    if text.trim().is_empty() {
        return Err(bad("is empty".into()).hint("write what to look for, or take the file away"));
    }
    Ok(text)
}

/// Whether the CLI takes `@path` in this request for a file: a diff may name one, and then goes as a file
/// itself.
pub fn names_files(builder: &dyn AgentBuilder, request: &DispatchRequest, profile: &Profile) -> bool {
    let refers = |check: &Check| matches!(check, Check::NoSuchFile { .. });
    lower(builder, request, profile).is_ok_and(|lowered| lowered.command.checks.iter().any(refers))
}

/// Whether a review whose diff was in the prompt has to be asked for again with the diff as a file.
pub fn wants_file(outcome: &Outcome, inlined: bool, names_files: bool) -> bool {
    let refused = |failure: &Failure| {
        (failure.kind == Kind::InvalidRequest && names_files) || (failure.kind == Kind::ArgTooLong && inlined)
    };
    outcome.failure.as_ref().is_some_and(refused)
}
