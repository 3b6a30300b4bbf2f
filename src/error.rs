//! Failure kinds, which of them are worth another try, and their exit statuses: one table.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What went wrong, as data: a dispatch that fails gives one of these, and so does every refusal.
///
/// - `kind` is what a program branches on; `message` is for a person and names the field, the value
///   (cut) and the place.
/// - `hint` is the next step. `stderr_tail` is the end of what the CLI wrote, secrets replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[error("{message}")]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The kind, from the fixed list.
    pub kind: Kind,
    /// What happened, in one sentence without a final period.
    pub message: String,
    /// Whether the same request may succeed later or with more time, unchanged.
    pub retryable: bool,
    /// The next step for the person who reads this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'static, str>>,
    /// The end of the CLI's standard error, at most 2,000 bytes, secrets replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
}

/// A result whose error is a [`Failure`].
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of this kind, with no hint yet.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), retryable: kind.retryable(), hint: None, stderr_tail: None }
    }

    /// The caller's request is wrong: names the field.
    pub fn invalid(field: &str, what: impl std::fmt::Display) -> Self {
        Failure::new(Kind::InvalidRequest, format!("{field}: {what}"))
    }

    /// The same failure with the next step for the reader.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $name:literal, $status:literal, $retryable:literal; )+) => {
        /// Every kind of failure. The table in this file gives each its exit status.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum Kind { $( $(#[doc = $doc])+ #[serde(rename = $name)] $variant, )+ }

        impl Kind {
            /// All kinds, in the order of the table.
            pub const ALL: &'static [Kind] = &[ $( Kind::$variant, )+ ];

            /// The name on the wire (`rate_limit`).
            pub const fn name(self) -> &'static str { match self { $( Kind::$variant => $name, )+ } }

            /// The exit status of the command for this kind.
            pub const fn exit_status(self) -> u8 { match self { $( Kind::$variant => $status, )+ } }

            /// Whether the same request, unchanged, may succeed later or with more time.
            pub const fn retryable(self) -> bool { match self { $( Kind::$variant => $retryable, )+ } }
        }
    };
}

kinds! {
    /// The CLI failed in a way that has no kind of its own.
    HarnessError = "harness_error", 1, false;
    /// The run wrote more than its caps allow; what was read is kept.
    OutputLimit = "output_limit", 1, false;
    /// The run ended well by its own word, without an answer.
    EmptyReply = "empty_reply", 1, false;
    /// The CLI's own settings are broken, or something on this machine that it needs is.
    HarnessConfig = "harness_config", 1, false;
    /// What ran a job in the background was killed before it could write the outcome.
    Lost = "lost", 1, false;
    /// The request is malformed.
    InvalidRequest = "invalid_request", 2, false;
    /// The harness cannot do what the request asks for.
    Unsupported = "unsupported", 2, false;
    /// A text is larger than every channel of the CLI.
    ArgTooLong = "arg_too_long", 2, false;
    /// The working directory is missing or is no directory.
    BadCwd = "bad_cwd", 2, false;
    /// A configuration file is malformed, or fights the request.
    InvalidConfig = "invalid_config", 2, false;
    /// No harness has this platform name.
    UnknownHarness = "unknown_harness", 2, false;
    /// The caller's JSON Schema does not compile, or cannot be used safely.
    SchemaError = "schema_error", 2, false;
    /// The session to resume does not exist (any more) for this working directory.
    SessionNotFound = "session_not_found", 2, false;
    /// The CLI is not signed in, or its key is refused.
    Auth = "auth", 41, false;
    /// The last reply was not valid against the schema.
    SchemaMismatch = "schema_mismatch", 65, false;
    /// The last reply held several different values that are valid.
    Ambiguous = "ambiguous", 65, false;
    /// The vendor asks for fewer requests.
    RateLimit = "rate_limit", 75, true;
    /// A quota or a balance is used up.
    Quota = "quota", 75, false;
    /// The agent reached its limit of turns.
    MaxTurns = "max_turns", 75, false;
    /// A budget of tokens or dollars is spent.
    Budget = "budget", 75, false;
    /// The harness has no way to hold the agent to the request's restrictions.
    Unenforceable = "unenforceable", 77, false;
    /// A permission that the run needed was refused.
    Permission = "permission", 77, false;
    /// The CLI asked a person a question.
    NeedsInteraction = "needs_interaction", 77, false;
    /// The CLI does not run in a directory that it does not trust.
    UntrustedDir = "untrusted_dir", 77, false;
    /// Agents dispatch agents, deeper than the limit.
    Recursion = "recursion", 77, false;
    /// A clock ran out.
    Timeout = "timeout", 124, true;
    /// The CLI, or the program that it runs on, is not installed.
    NotFound = "not_found", 127, false;
    /// The caller ended the run.
    Cancelled = "cancelled", 130, false;
}

impl Kind {
    /// What an HTTP status of a model server comes to; `None` where it is no error.
    pub const fn of_http_status(code: u16) -> Option<Kind> {
        match code {
            401 | 403 => Some(Kind::Auth),
            402 => Some(Kind::Quota),
            429 => Some(Kind::RateLimit),
            400..=599 => Some(Kind::HarnessError),
            _ => None,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// At most `max` bytes of `text`, cut at a character, with `…` where something was left out.
pub(crate) fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(max)]))
}

/// `; did you mean …?` with the known names nearest to `name`, best first, at most three; empty where
/// none is near.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|k| (strsim::jaro_winkler(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(score, _)| *score > 0.78)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup_by(|a, b| a.1 == b.1);
    let names: Vec<String> = scored.iter().take(3).map(|(_, k)| format!("`{k}`")).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}
