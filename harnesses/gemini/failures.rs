//! What gemini's failures look like: in its own words, by its exit status, on stderr.

use super::FACTS;
use crate::error::{Failure, Kind, cut};
use crate::reply::{Documents, RunEnd};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

pub(super) fn invalid_stream(said: &str) -> Failure {
    Failure::new(Kind::EmptyReply, format!("gemini gave no answer: {}", cut(said.trim(), 600)))
        .hint("the answer was blocked or broke off; another wording or another model may get one")
}

/// An answer that gemini cut since it repeated itself.
pub(super) fn cut_short(said: &str) -> Failure {
    Failure::new(Kind::HarnessError, format!("gemini cut the answer short: {}", cut(said.trim(), 300)))
        .hint("it thinks that the answer repeats itself; another wording may help")
}

/// With system policies gemini ignores ours and says so, and then nothing held the agent.
pub(super) fn set_aside(end: &RunEnd) -> Option<Failure> {
    let said = end.stderr.contains("Ignoring --admin-policy because system policies");
    said.then(|| {
        Failure::new(Kind::Unenforceable, "gemini set teamster's guard policy aside for system policies")
    })
}

/// A failure that gemini reported in words of its own. Structure first: the Google error that many
/// messages hold as JSON, then the exit status; only then words of gemini, never the agent's.
pub(super) fn failed(said: &str, end: &RunEnd) -> Failure {
    let google = Documents::new(said).find_map(|d| serde_json::from_str::<Google>(d).ok());
    let message = google.as_ref().map_or(said, |g| &g.error.message);
    let quota = said.contains("exhausted your daily quota")
        || said.contains("QuotaFailure") && said.contains("PerDay");
    let kind = match &google {
        _ if quota => Some(Kind::Quota),
        Some(g) if g.error.is_key() => Some(Kind::Auth),
        Some(g) => Kind::of_http_status(g.error.code),
        // The text form has only the names of its errors (run: the first; read in its source: the second).
        None if said.starts_with("RetryableQuotaError") => Some(Kind::RateLimit),
        None if said.starts_with("TerminalQuotaError") => Some(Kind::Quota),
        None if said.contains("Invalid auth method") => Some(Kind::Auth),
        None if said.contains("reached max session turns") || said.contains("max session turns") => {
            Some(Kind::MaxTurns)
        }
        None if said.contains("exhausted your capacity") || said.contains("RESOURCE_EXHAUSTED") => {
            Some(Kind::RateLimit)
        }
        None => None,
    };
    let by_status = FACTS.kind_of(end);
    let kind = kind.filter(|k| *k != Kind::HarnessError).or(by_status).unwrap_or(Kind::HarnessError);
    FACTS.failure(kind, message)
}

/// A Google API error.
#[derive(Deserialize)]
struct Google {
    error: GoogleError,
}

#[derive(Deserialize)]
struct GoogleError {
    code: u16,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Vec<Value>,
}

impl GoogleError {
    /// A refused key comes as 400, with the reason in the details.
    fn is_key(&self) -> bool {
        self.details.iter().any(|d| d.get("reason").and_then(Value::as_str) == Some("API_KEY_INVALID"))
            || self.message.starts_with("API key not valid")
    }
}

/// No result on stdout: what the exit status and gemini's own words on stderr say.
pub(super) fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let stderr = end.stderr.as_str();
    if let Some(error) = fatal(stderr).and_then(|f| f.error) {
        return failed(&message_of(&error), end);
    }
    // The session is not there: for this cwd, or at all.
    let says = |words: &str| stderr.lines().any(|line| line.contains(words));
    let kind = FACTS.kind_of(end);
    if kind == Some(Kind::InvalidRequest)
        && (says("Invalid session identifier") || says("No previous sessions"))
    {
        let line = own_line(stderr, &["Invalid session identifier", "No previous sessions"]);
        return FACTS.failure(Kind::SessionNotFound, &line);
    }
    if let Some(failure) = set_aside(end) {
        return failure;
    }
    if kind.is_none() && says("Please set an Auth method") {
        return FACTS.failure(Kind::Auth, "no auth method is set");
    }
    if let Some(google) = api_error(stderr) {
        return failed(&google, end);
    }
    let failure = FACTS.no_result(end, last_output);
    match failure.kind {
        Kind::UntrustedDir => failure.hint(
            "gemini does not run in a directory that it does not trust: set a permission (teamster then passes \
             --skip-trust), or trust the directory in `gemini` once",
        ),
        _ => failure,
    }
}

/// The API error in the line that gemini writes before the stack: in text mode it is all there is.
fn api_error(stderr: &str) -> Option<String> {
    let line = stderr.lines().rfind(|line| line.starts_with("Error when talking to Gemini API"))?;
    let (_, said) = line.split_once(".json ").unwrap_or(("", line));
    Some(said.trim_start_matches("_ApiError: ").to_owned())
}

fn own_line<'s>(stderr: &'s str, words: &[&str]) -> Cow<'s, str> {
    let line = stderr.lines().find(|line| words.iter().any(|w| line.contains(w))).unwrap_or_default();
    cut(line.trim(), 300)
}

pub(super) fn message_of(error: &Value) -> String {
    match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    }
}

/// A fatal error, as gemini writes it to stderr in `json`.
#[derive(Deserialize)]
pub(super) struct Fatal {
    pub(super) session_id: Option<String>,
    pub(super) error: Option<Value>,
}

/// The envelope of a fatal error between stack traces on stderr.
pub(super) fn fatal(stderr: &str) -> Option<Fatal> {
    Documents::new(stderr)
        .filter(|document| document.starts_with('{'))
        .filter_map(|document| serde_json::from_str::<Fatal>(document).ok())
        .find(|e| e.session_id.is_some() && e.error.is_some())
}
