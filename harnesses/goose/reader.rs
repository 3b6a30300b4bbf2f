//! Reads goose's events, and tells its failures apart.
//!
//! `{"type":"message","message":{"id","role","content":[…]}}`, `{"type":"error","error"}`, `{"type":"complete",…}` (read).
//! Pieces of a text carry the id of their message.

use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{Collector, Decode, Event, Json, Out, Reply, RunEnd, read_line};
use serde::Deserialize;

/// What goose says in the place of an answer (read).
const FAILED: (&str, &str) =
    ("Ran into this error", "Please retry if you think this is a transient or recoverable error.");
const TURNS: &str =
    "I've reached the maximum number of actions I can do without user input. Would you like me to continue?";

#[derive(Default)]
pub(super) struct GooseLines {
    /// The id of the message that the last text was of; none before the first text and after a tool.
    last: Option<Option<String>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Message>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    tool_call: Option<Json<'static>>,
    tool_result: Option<Json<'static>>,
}

/// `{"status":"success","value":…}`
#[derive(Deserialize)]
struct Outcome {
    status: Option<String>,
    value: Option<Json<'static>>,
    error: Option<Json<'static>>,
}

#[derive(Deserialize)]
struct Call {
    name: Option<String>,
    arguments: Option<Json<'static>>,
}

impl Decode for GooseLines {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match (read.kind.as_str(), read.message) {
            ("message", Some(message)) => self.message(message, out),
            ("error", _) => {
                let said = read.error.unwrap_or_else(|| "it gave no reason".to_owned());
                out.event(Event::Error { message: said.as_str().into(), fatal: true });
                self.error = Some(said);
            }
            ("complete", _) => out.event(Event::End { ok: self.error.is_none() }),
            ("notification" | "model_change", _) => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        reply.error = if let Some(said) = &self.error {
            Some(FACTS.api_failure(said))
        } else if let Some(failure) = own_words(&reply.text) {
            Some(failure)
        } else {
            match (ended.is_some() && end.is_fine(), reply.text.trim().is_empty()) {
                (true, false) => None,
                (true, true) => Some(FACTS.empty()),
                (false, _) => Some(super::simple::failed(&FACTS, end, &last_noise)),
            }
        };
        reply
    }
}

impl GooseLines {
    fn message(&mut self, message: Message, out: &mut Out<'_>) {
        let of_agent = message.role.as_deref() == Some("assistant");
        for part in message.content {
            match (part.kind.as_str(), of_agent) {
                ("text", true) => {
                    let goes_on = self.last.as_ref().is_none_or(|last| *last == message.id);
                    self.last = Some(message.id.clone());
                    out.event(Event::Text { text: part.text.unwrap_or_default().into(), delta: goes_on });
                }
                ("thinking", true) => {
                    out.event(Event::Thinking { text: part.thinking.unwrap_or_default().into() });
                }
                ("toolRequest", true) => {
                    let call = part.tool_call.and_then(|call| call.value::<Outcome>());
                    let call = call.and_then(|call| call.value?.value::<Call>());
                    let (name, input) = call.map_or((None, None), |call| (call.name, call.arguments));
                    let name = name.unwrap_or_default().into();
                    out.event(Event::ToolUse { id: part.id.map(Into::into), name, input });
                }
                ("toolResponse", _) => {
                    let outcome = part.tool_result.and_then(|result| result.value::<Outcome>());
                    let ok = outcome.as_ref().is_some_and(|o| o.status.as_deref() == Some("success"));
                    let output = outcome.and_then(|outcome| outcome.value.or(outcome.error));
                    out.event(Event::ToolResult { id: part.id.map(Into::into), ok, output });
                    self.last = None;
                }
                _ => {}
            }
        }
    }
}

/// A failure that goose tells as an answer: whole sentences of its own at the end of the text.
fn own_words(text: &str) -> Option<Failure> {
    let said = text.trim_end();
    if said.ends_with(TURNS) {
        return Some(FACTS.failure(Kind::MaxTurns, TURNS));
    }
    let at = said.rfind(FAILED.0).filter(|_| said.ends_with(FAILED.1))?;
    Some(FACTS.api_failure(&said[at..]))
}
