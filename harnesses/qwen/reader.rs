//! Reads qwen's messages, and tells its failures apart.

use super::super::families::messages::{Flavour, Messages, ResultMessage};
use super::super::families::model_server::is_used_up;
use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{DocumentReader, LineReader, Reader, Reply, RunEnd, TextReader, http_status};
use crate::request::Output;

const FLAVOUR: Flavour = Flavour { facts: || &FACTS, kind, no_result, input_is_all: true };

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Stream => Box::new(LineReader::new(Messages::new(FLAVOUR))),
        Output::Text => Box::new(TextReader::new(text)),
        _ => Box::new(DocumentReader::new(Messages::new(FLAVOUR))),
    }
}

fn kind(result: &ResultMessage) -> Kind {
    kind_of(&result.said())
}

/// `[API Error: 401 …]`, or the CLI's own words; none is the agent's.
fn kind_of(said: &str) -> Kind {
    const SIGNED_OUT: [&str; 3] =
        ["No auth type is selected", "Qwen OAuth free tier was discontinued", "Missing API key"];
    if SIGNED_OUT.iter().any(|words| said.contains(words)) {
        return Kind::Auth;
    }
    if is_used_up(said) {
        return Kind::Quota;
    }
    if said.contains("structured_output tool as required by --json-schema") {
        return Kind::SchemaMismatch;
    }
    http_status(said).and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError)
}

/// Messages on standard error, with nothing on standard output (run).
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let said = |words: &str| end.stderr.lines().find(|line| line.contains(words));
    let quoted =
        |line: &str| line.trim().trim_start_matches("\"message\": ").trim_matches(['"', ',']).to_owned();
    if let Some(line) = said("No saved session found with ID").or_else(|| said("No conversation found")) {
        return FACTS.failure(Kind::SessionNotFound, line);
    }
    if let Some(line) = said("already exists (active or archived)") {
        return FACTS.failure(Kind::InvalidRequest, line);
    }
    if let Some(line) = said("structured_output tool as required") {
        return FACTS.failure(Kind::SchemaMismatch, line);
    }
    if let Some(line) = said("--json-schema") {
        return FACTS.failure(Kind::SchemaError, line);
    }
    if let Some(line) = said("Reached max session turns") {
        return FACTS.failure(Kind::MaxTurns, &quoted(line));
    }
    if let Some(line) = said("tool-call budget of") {
        return FACTS.failure(Kind::MaxTurns, &quoted(line));
    }
    if let Some(line) = said("wall-clock budget of") {
        // What it waited for all the time.
        return match end.stderr.lines().rfind(|line| line.starts_with("Retrying in ")) {
            Some(retry) => FACTS.failure(kind_of(retry), &format!("{} {retry}", quoted(line))),
            None => FACTS.failure(Kind::Timeout, &quoted(line)),
        };
    }
    if let Some(line) = said("[API Error: ") {
        return FACTS.failure(kind_of(line), &quoted(line));
    }
    if let Some(line) = said("No auth type is selected") {
        return FACTS.failure(Kind::Auth, line);
    }
    if let Some(line) = said("settings.json: ") {
        return FACTS.failure(Kind::HarnessConfig, line);
    }
    // What is no notice: an error in the shape of JSON, or a line that calls itself one.
    match said("\"message\": ").or_else(|| said("Error: ")) {
        Some(line) if !end.is_fine() => FACTS.failure(kind_of(line), &quoted(line)),
        _ => FACTS.no_result(end, last_output),
    }
}

/// The text form, which teamster does not ask for: errors are on standard error.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.error.is_some() {
        reply.error = Some(no_result(end, reply.text.lines().next_back().unwrap_or_default()));
    }
    reply
}
