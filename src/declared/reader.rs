//! Reading by a file's members.

use super::file::{EventFile, Members, ReaderFile};
use crate::error::Kind;
use crate::harness::Facts;
use crate::reply::{
    Collector, Decode, DocumentReader, Event, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage,
    read_line,
};
use serde_json::Value;
use std::sync::Arc;

/// A reader for the kind of output that the file names.
pub(super) fn reader(file: Arc<ReaderFile>, facts: Facts) -> Box<dyn Reader> {
    match &*file {
        ReaderFile::Text => {
            Box::new(TextReader::new(move |stdout: String, end: &RunEnd| text_reply(&facts, &stdout, end)))
        }
        ReaderFile::Json { read } => {
            let event =
                EventFile { when: Default::default(), delta: false, end: None, read: (**read).clone() };
            Box::new(DocumentReader::new(ByFile { events: vec![event], facts, error: None, said: false }))
        }
        ReaderFile::Lines { event } => {
            Box::new(LineReader::new(ByFile { events: event.clone(), facts, error: None, said: false }))
        }
    }
}

/// Bare text: where the exit status says nothing by itself, the last line on standard error may name a status
/// of the model server.
fn text_reply(facts: &Facts, stdout: &str, end: &RunEnd) -> Reply {
    let mut reply = facts.text_reply(stdout, end);
    let line =
        end.last_line().filter(|line| reply.error.is_some() && crate::reply::http_status(line).is_some());
    if let (None, Some(line)) = (facts.kind_of(end), line) {
        reply.error = Some(facts.api_failure(line));
    }
    reply
}

struct ByFile {
    events: Vec<EventFile>,
    facts: Facts,
    error: Option<(Option<u16>, String)>,
    said: bool,
}

/// The member of a dotted path; numbers are places of a list.
pub(super) fn member<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        Value::Object(map) => map.get(key),
        _ => None,
    })
}

fn text<'v>(value: &'v Value, path: Option<&String>) -> Option<&'v str> {
    member(value, path?)?.as_str()
}

fn usage(value: &Value, members: &Members) -> Option<Usage> {
    let tokens = |path: &Option<String>| member(value, path.as_ref()?)?.as_u64();
    let usage = Usage {
        input_tokens: tokens(&members.input_tokens),
        output_tokens: tokens(&members.output_tokens),
        cached_tokens: tokens(&members.cached_tokens),
        total_tokens: tokens(&members.total_tokens),
        cost_usd: members.cost_usd.as_ref().and_then(|path| member(value, path)?.as_f64()),
        ..Usage::default()
    };
    (usage != Usage::default()).then_some(usage)
}

impl Decode for ByFile {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(value) = read_line::<Value>(line).filter(Value::is_object) else { return out.noise(line) };
        let fits =
            |event: &&EventFile| event.when.iter().all(|(path, wanted)| member(&value, path) == Some(wanted));
        let Some(event) = self.events.iter().find(fits) else { return out.noise(line) };
        let m = &event.read;
        if let Some(id) = text(&value, m.session.as_ref()) {
            out.event(Event::Session {
                id: id.into(),
                model: text(&value, m.model.as_ref()).map(Into::into),
            });
        } else if let Some(model) = text(&value, m.model.as_ref()) {
            out.collector.reply.model = Some(model.to_owned());
        }
        if let Some(thought) = text(&value, m.thinking.as_ref()) {
            out.event(Event::Thinking { text: thought.into() });
        }
        if let Some(name) = text(&value, m.tool_use.as_ref()) {
            out.event(Event::ToolUse { id: None, name: name.into(), input: None });
        }
        if m.tool_result.as_ref().is_some_and(|path| member(&value, path).is_some()) {
            out.event(Event::ToolResult { id: None, ok: true, output: None });
        }
        if let Some(tool) = text(&value, m.denied.as_ref()) {
            out.event(Event::Denied { tool: tool.into(), reason: "the CLI refused it".into() });
        }
        if let Some(said) = text(&value, m.text.as_ref()) {
            self.said = true;
            out.event(Event::Text { text: said.into(), delta: event.delta });
        }
        if let Some(usage) = usage(&value, m) {
            out.event(Event::Usage { usage });
        }
        let failed = m.error.as_ref().and_then(|path| member(&value, path)).filter(|error| !error.is_null());
        if let Some(error) = failed {
            let said = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            let status = m.error_status.as_ref().and_then(|path| member(&value, path)?.as_u64());
            out.event(Event::Error { message: said.as_str().into(), fatal: true });
            self.error = Some((status.and_then(|status| u16::try_from(status).ok()), said));
        }
        if let Some(ok) = event.end {
            out.event(Event::End { ok });
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        let has_end = self.events.iter().any(|event| event.end.is_some());
        reply.error = match (self.error, ended) {
            (Some((Some(status), said)), _) => {
                Some(self.facts.failure(Kind::of_http_status(status).unwrap_or(Kind::HarnessError), &said))
            }
            (Some((None, said)), _) => Some(match self.facts.kind_of(end) {
                Some(kind) => self.facts.failure(kind, &said),
                None => self.facts.api_failure(&said),
            }),
            (None, Some(false)) => {
                Some(self.facts.failure(Kind::HarnessError, "it says that the run failed"))
            }
            _ if !end.is_fine() => Some(self.facts.no_result(end, &last_noise)),
            (None, None) if has_end => {
                Some(self.facts.failure(Kind::HarnessError, "the output breaks off before its end"))
            }
            _ if !self.said || reply.text.trim().is_empty() => Some(self.facts.no_result(end, &last_noise)),
            _ => None,
        };
        reply
    }
}
