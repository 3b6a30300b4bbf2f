//! The outcome of a dispatch: a value or a text, or a failure; with every attempt.

use crate::error::{Failure, Kind};
use crate::reply::{Denied, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The end of a dispatch.
///
/// - `ok` with a schema: `value` is there and valid. Without one: `text` is there and not empty.
/// - not `ok`: `failure` says why; `text` is what was read all the same.
/// - `usage` is summed over the attempts; what no attempt told is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether the request was answered.
    pub ok: bool,
    /// The platform name of the harness.
    pub harness: String,
    /// The value, valid against the request's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The final text of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text was shortened for the reader; the value never is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The session's id after the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of all attempts together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Tools that were refused, in all attempts.
    #[serde(default)]
    pub denied: Vec<Denied>,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
    /// The harnesses that were asked before this one, in order, and why each was left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<FallbackStep>,
    /// Milliseconds from the start of the first attempt to the end of the last.
    pub duration_ms: u64,
}

/// A harness that a dispatch left for the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FallbackStep {
    /// Its platform name.
    pub harness: String,
    /// The profile, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Why it was left.
    pub failure: Failure,
    /// Runs that it made; 0: it was not started.
    pub attempts: u32,
    /// Tokens of those runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// One run inside a dispatch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Whether this attempt gave the answer.
    pub ok: bool,
    /// Whether it went on in the session of the attempt before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
    /// The kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Kind>,
    /// Why it is not the answer, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the next attempt was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What the agent said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The session's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The exit status of the CLI, where it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Milliseconds.
    pub duration_ms: u64,
    /// The run's folder, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl Outcome {
    /// An outcome of a request that was refused before any attempt.
    pub fn refused(harness: &str, failure: Failure) -> Outcome {
        Outcome {
            ok: false,
            harness: harness.to_owned(),
            value: None,
            text: None,
            truncated: false,
            failure: Some(failure),
            session_id: None,
            model: None,
            usage: None,
            denied: Vec::new(),
            attempts: Vec::new(),
            fallback: Vec::new(),
            duration_ms: 0,
        }
    }

    /// The exit status of the command for this outcome.
    pub fn exit_status(&self) -> u8 {
        match &self.failure {
            _ if self.ok => 0,
            Some(failure) => failure.kind.exit_status(),
            None => Kind::HarnessError.exit_status(),
        }
    }

    /// The same outcome with a text of at most `max` bytes; `truncated` says whether it was longer.
    #[must_use]
    pub fn shortened(mut self, max: usize) -> Outcome {
        let texts = self.text.iter_mut().chain(self.attempts.iter_mut().filter_map(|a| a.text.as_mut()));
        for text in texts.filter(|text| text.len() > max) {
            text.truncate(text.floor_char_boundary(max));
            self.truncated = true;
        }
        self
    }
}
