//! What a batch comes to, in numbers.

use super::journal::ResultLine;
use crate::reply::Usage;
use indexmap::IndexMap;
use serde::Serialize;

/// The numbers of a batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Tasks in all.
    pub tasks: usize,
    /// Answered.
    pub ok: usize,
    /// Failed.
    pub failed: usize,
    /// Not run, or not to their end: the batch was ended, or its budget is spent.
    pub not_run: usize,
    /// Of those with a result, how many had it from an earlier run.
    pub from_before: usize,
    /// Runs in all, those of earlier runs of the batch among them.
    pub attempts: u64,
    /// Tokens and cost of all results, where told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Results whose tokens nobody told.
    pub untold: usize,
    /// By harness.
    pub harnesses: IndexMap<String, OfHarness>,
    /// Failures by kind.
    pub failures: IndexMap<String, usize>,
    /// Milliseconds that this run of the batch took.
    pub duration_ms: u64,
    /// Why not everything was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// The numbers of one harness.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct OfHarness {
    /// Answered.
    pub ok: usize,
    /// Failed.
    pub failed: usize,
    /// Runs.
    pub attempts: u64,
    /// Milliseconds of all dispatches together.
    pub duration_ms: u64,
    /// Tokens and cost, where told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Summary {
    /// Counts a result.
    pub(super) fn add(&mut self, line: &ResultLine, from_before: bool) {
        let outcome = &line.outcome;
        let attempts = outcome.attempts.len() as u64;
        let of = self.harnesses.entry(outcome.harness.clone()).or_default();
        match &outcome.failure {
            None => (self.ok, of.ok) = (self.ok + 1, of.ok + 1),
            Some(failure) => {
                (self.failed, of.failed) = (self.failed + 1, of.failed + 1);
                *self.failures.entry(failure.kind.name().to_owned()).or_default() += 1;
            }
        }
        self.from_before += usize::from(from_before);
        self.attempts += attempts;
        of.attempts += attempts;
        of.duration_ms += outcome.duration_ms;
        match outcome.usage {
            Some(usage) => {
                *self.usage.get_or_insert_default() += usage;
                *of.usage.get_or_insert_default() += usage;
            }
            None => self.untold += usize::from(outcome.ok),
        }
        self.not_run = self.tasks.saturating_sub(self.ok + self.failed);
    }

    /// Tasks with a result.
    pub fn done(&self) -> usize {
        self.ok + self.failed
    }
}
