//! Reads llm's array of one response, and tells its failures apart.

use super::super::families::model_server::is_used_up;
use super::super::families::simple;
use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{
    Collector, Decode, DocumentReader, Event, Out, Reader, Reply, RunEnd, TextReader, Usage, read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Text => Box::new(TextReader::new(text)),
        _ => Box::new(DocumentReader::new(Response::default())),
    }
}

#[derive(Default)]
struct Response {
    there: bool,
}

#[derive(Deserialize)]
struct Said {
    conversation_id: String,
    response: String,
    model: Option<String>,
    reasoning: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Decode for Response {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(said) = read_line::<Said>(line) else { return out.noise(line) };
        self.there = true;
        out.event(Event::Session { id: said.conversation_id.into(), model: said.model.map(Into::into) });
        if let Some(text) = said.reasoning.filter(|text| !text.is_empty()) {
            out.event(Event::Thinking { text: text.into() });
        }
        out.event(Event::Text { text: said.response.into(), delta: false });
        if said.input_tokens.is_some() {
            let usage = Usage {
                input_tokens: said.input_tokens,
                output_tokens: said.output_tokens,
                ..Usage::default()
            };
            out.event(Event::Usage { usage });
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        reply.error = match (self.there && end.is_fine(), reply.text.trim().is_empty()) {
            (true, false) => None,
            (true, true) => Some(FACTS.empty()),
            (false, _) => Some(failed(end, &last_noise)),
        };
        reply
    }
}

/// What its own line on standard error says.
fn failed(end: &RunEnd, last_output: &str) -> Failure {
    let Some(said) = end.stderr.lines().rev().find_map(|line| line.strip_prefix("Error: ")) else {
        return simple::failed(&FACTS, end, last_output);
    };
    if said.starts_with("No conversation found with id=") {
        return FACTS.failure(Kind::SessionNotFound, said);
    }
    if said.starts_with("No key found") {
        return FACTS.failure(Kind::Auth, said);
    }
    if said.contains("Unknown model: ") {
        return FACTS.failure(Kind::InvalidRequest, said).hint("`llm models` lists those that are there");
    }
    if is_used_up(said) {
        return FACTS.failure(Kind::Quota, said);
    }
    FACTS.api_failure(said)
}

/// The text form, which teamster does not ask for.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.error.is_some() && !end.is_fine() {
        reply.error = Some(failed(end, ""));
    }
    reply
}
