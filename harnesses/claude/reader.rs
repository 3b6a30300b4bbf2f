//! Reads claude's messages, and tells its failures apart.

use super::super::families::messages::{Flavour, Messages, ResultMessage};
use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{DocumentReader, LineReader, Reader, Reply, RunEnd, TextReader};
use crate::request::Output;

const FLAVOUR: Flavour = Flavour { facts: || &FACTS, kind, no_result, input_is_all: false };

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Stream => Box::new(LineReader::new(Messages::new(FLAVOUR))),
        Output::Text => Box::new(TextReader::new(text)),
        _ => Box::new(DocumentReader::new(Messages::new(FLAVOUR))),
    }
}

/// The text form, which teamster does not ask for: an error stands where the answer would.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if !end.is_fine() && !reply.text.is_empty() {
        let said = ResultMessage::failed(std::mem::take(&mut reply.text));
        reply.error = Some(FACTS.failure(kind(&said), &said.said()));
    }
    reply
}

/// Structure first: the HTTP status, the subtype, the reason; then the words that claude puts before an API
/// error. All are fields of the CLI, none is the agent's.
fn kind(result: &ResultMessage) -> Kind {
    let said = result.said();
    match result.subtype.as_deref() {
        Some("error_max_turns") => return Kind::MaxTurns,
        Some("error_max_budget_usd") => return Kind::Budget,
        Some("error_max_structured_output_retries") => return Kind::SchemaMismatch,
        _ => {}
    }
    let by_status = result.api_error_status.or_else(|| crate::reply::http_status(&said));
    match by_status.and_then(Kind::of_http_status) {
        // A used-up balance comes as 400 or 403.
        Some(_) if said.contains("Credit balance is too low") => Kind::Quota,
        Some(Kind::RateLimit) if said.contains("usage limit") || said.contains("session limit") => {
            Kind::Quota
        }
        Some(kind) => kind,
        None if said.starts_with("Not logged in") || said.starts_with("Invalid API key") => Kind::Auth,
        None if said.starts_with("API Error: Rate limit reached") => Kind::RateLimit,
        None if said.starts_with("You've hit your") || said.starts_with("Claude AI usage limit") => {
            Kind::Quota
        }
        None if said.starts_with("Error: Reached max turns") => Kind::MaxTurns,
        None if said.starts_with("Error: Exceeded USD budget") => Kind::Budget,
        None if result.terminal_reason.as_deref() == Some("max_turns") => Kind::MaxTurns,
        None => Kind::HarnessError,
    }
}

/// Messages on standard error, with nothing on standard output (run).
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let said = |words: &str| end.stderr.lines().find(|line| line.contains(words));
    if let Some(line) = said("No conversation found with session ID") {
        return FACTS.failure(Kind::SessionNotFound, line);
    }
    if let Some(line) = said("--json-schema") {
        return FACTS.failure(Kind::SchemaError, line);
    }
    if let Some(line) = said("is already in use") {
        return FACTS.failure(Kind::InvalidRequest, line);
    }
    if let Some(line) = end.stderr.lines().find(|line| line.starts_with("API Error: ")) {
        return FACTS.failure(kind(&ResultMessage::failed(line.to_owned())), line);
    }
    if let Some(line) = said("cannot be used with root/sudo privileges") {
        return FACTS.failure(Kind::Permission, line).hint("run it as another user, or without that mode");
    }
    FACTS.no_result(end, last_output)
}
