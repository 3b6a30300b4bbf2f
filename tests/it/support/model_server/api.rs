//! What the APIs have in common: a trait that each implements in a file of its own.

use super::Recorded;
use super::chat::Chat;
use super::gemini::Gemini;
use super::http::Event;
use super::messages::Messages;
use super::responses::Responses;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One vendor's API, as far as a coding agent needs it for a run.
pub(super) trait Api: Sync {
    /// Whether a path is a request of this API.
    fn takes(&self, path: &str) -> bool;

    /// The answer to what is no turn: counting tokens, listing models.
    fn fixed(&self, request: &Recorded) -> Option<Value>;

    /// The text for a call that an agent makes beside its turns: a title, a route, a summary.
    fn beside(&self, request: &Recorded) -> Option<&'static str>;

    /// Whether the client wants the answer as a stream.
    fn streams(&self, request: &Recorded) -> bool;

    /// The answer as a stream.
    fn events(&self, model: &str, reply: &Reply) -> Vec<Event>;

    /// The answer in one piece.
    fn whole(&self, model: &str, reply: &Reply) -> Value;

    /// The error object of a status.
    fn error(&self, code: u16, message: &str) -> Value;

    /// The parts of [`Recorded`] with this API's names for them.
    fn user_texts(&self, body: &Value) -> Vec<String>;
    fn system_text(&self, body: &Value) -> String;
    fn tool_results(&self, body: &Value) -> Vec<(String, Value)>;
    fn offered_tools(&self, body: &Value) -> Vec<String>;
    fn effort(&self, body: &Value) -> Option<String>;
    fn model(&self, request: &Recorded) -> String;
}

/// The API of a path; that of Gemini for what none knows, since its 404 is as good as any.
pub(super) fn of(path: &str) -> Option<&'static dyn Api> {
    const ALL: [&dyn Api; 4] = [&Gemini, &Chat, &Responses, &Messages];
    ALL.into_iter().find(|api| api.takes(path.split('?').next().unwrap_or_default()))
}

/// What the model says in one turn.
pub(super) struct Reply {
    pub(super) parts: Vec<Part>,
    pub(super) end: End,
}

pub(super) enum Part {
    Text(String),
    Call { id: String, name: String, args: Value },
}

/// How a turn ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    /// As it should.
    Done,
    /// The vendor's filter stopped it.
    Blocked,
    /// It does not: the stream stays open.
    Open,
}

impl Reply {
    pub(super) fn text(text: impl Into<String>) -> Reply {
        Reply { parts: vec![Part::Text(text.into())], end: End::Done }
    }

    pub(super) fn calls(list: Vec<(String, Value)>) -> Reply {
        let call = |(name, args)| Part::Call { id: fresh("call"), name, args };
        Reply { parts: list.into_iter().map(call).collect(), end: End::Done }
    }

    /// What was said before the filter, or nothing.
    pub(super) fn nothing(end: End) -> Reply {
        Reply { parts: Vec::new(), end }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }

    /// All text in one piece.
    pub(super) fn all_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call { .. } => None,
        });
        texts.collect()
    }
}

/// Two parts, so that whoever reads the reply has to join deltas.
pub(super) fn halves(text: &str) -> impl Iterator<Item = &str> {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second].into_iter().filter(|part| !part.is_empty())
}

/// An id that no other turn has.
pub(super) fn fresh(what: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("{what}_{:06}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The items of a list in a body; none where it is no list.
pub(super) fn list(value: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The texts of a message's content: a string, or parts that have a `text`.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        parts => list(parts).filter_map(|part| part["text"].as_str().map(str::to_owned)).collect(),
    }
}

/// The names of a list of tools.
pub(super) fn names<'a>(tools: impl Iterator<Item = &'a Value>) -> Vec<String> {
    tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// The first of `known` whose first half begins the system prompt or stands in it, with its answer.
pub(super) fn known_call(system: &str, known: &[(&str, &'static str)]) -> Option<&'static str> {
    known.iter().find(|(mark, _)| system.contains(mark)).map(|(_, answer)| *answer)
}
