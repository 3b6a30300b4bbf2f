//! The record of a job, and what a reader of its folder sees.

use super::id::JobId;
use crate::error::Failure;
use crate::outcome::Outcome;
use crate::reply::Usage;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `job.json`: what a job is. How it stands is worked out from the folder ([`JobView`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its id.
    pub id: JobId,
    /// The platform name.
    pub harness: String,
    /// What it is, in one line.
    pub title: String,
    /// The agent's working directory.
    pub cwd: PathBuf,
    /// When it was made, by the system's clock.
    pub created: jiff::Timestamp,
    /// When it ended, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<jiff::Timestamp>,
    /// What every process of the job has in its environment.
    pub mark: String,
    /// Events that could not be written, with the reason for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_gap: Option<String>,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Its supervisor lives.
    Running,
    /// It has an answer.
    Done,
    /// It ended without one.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its supervisor was killed; what it had is there.
    Lost,
    /// Its folder cannot be read as a job's.
    Broken,
}

impl JobState {
    /// Whether nothing more will come.
    pub fn is_over(self) -> bool {
        self != JobState::Running
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
            JobState::Lost => "lost",
            JobState::Broken => "broken",
        }
    }
}

/// A job as `--json` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// How it stands.
    pub state: JobState,
    /// The platform name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// What it is, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The agent's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// When it was made (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typed", schemars(with = "Option<String>"))]
    pub created: Option<jiff::Timestamp>,
    /// When it ended (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typed", schemars(with = "Option<String>"))]
    pub ended: Option<jiff::Timestamp>,
    /// Milliseconds that the dispatch took, by a clock that does not jump.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The session's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What of the events could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_gap: Option<String>,
    /// Its folder.
    pub folder: PathBuf,
}

impl JobView {
    pub(super) fn new(
        id: JobId,
        folder: PathBuf,
        state: JobState,
        record: Option<JobRecord>,
        outcome: Option<&Outcome>,
    ) -> JobView {
        JobView {
            id,
            state,
            harness: record.as_ref().map(|record| record.harness.clone()),
            title: record.as_ref().map(|record| record.title.clone()),
            cwd: record.as_ref().map(|record| record.cwd.clone()),
            created: record.as_ref().map(|record| record.created),
            ended: record.as_ref().and_then(|record| record.ended),
            log_gap: record.and_then(|record| record.log_gap),
            duration_ms: outcome.map(|outcome| outcome.duration_ms),
            failure: outcome.and_then(|outcome| outcome.failure.clone()),
            session_id: outcome.and_then(|outcome| outcome.session_id.clone()),
            usage: outcome.and_then(|outcome| outcome.usage),
            folder,
        }
    }
}
