//! Reads gemini's output: text, the JSON envelope, and stream-json, and what its failures look like.
//!
//! As run on 0.61.0, 2026-11-30: exit 0 comes with empty answers and after kills; a fatal error in
//! `json` is on stderr only, between stack traces; in `stream-json` an API error is the `result` event;
//! the exit status of an API error is the HTTP status modulo 256.

use super::FACTS;
use super::failures::{cut_short, failed, fatal, invalid_stream, message_of, no_result, set_aside};
use crate::error::{Failure, Kind, cut};
use crate::reply::{
    By, Collector, Decode, Documents, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage,
    members, utf8,
};
use crate::request::Output;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Stream => Box::new(LineReader::new(Stream::default())),
        Output::Json => Box::new(TextReader::new(envelope)),
        Output::Text | Output::Auto => Box::new(TextReader::new(text)),
    }
}

// --- stream-json -----------------------------------------------------------------------------------

/// Names of tools by the ids of their uses, until their results come.
#[derive(Default)]
struct Stream {
    uses: HashMap<String, String>,
    error: Option<String>,
    result_error: Option<Value>,
    stopped: Option<String>,
}

/// How gemini says that it cut an answer which repeats itself; the run then ends as a success. The text
/// form does not say it at all.
const LOOP: &str = "Loop detected, stopping execution";

/// The members of an event, as they are written.
#[derive(Default)]
struct Line<'a> {
    kind: Option<Json<'a>>,
    session_id: Option<Json<'a>>,
    model: Option<Json<'a>>,
    role: Option<Json<'a>>,
    content: Option<Json<'a>>,
    delta: bool,
    tool_name: Option<Json<'a>>,
    tool_id: Option<Json<'a>>,
    parameters: Option<Json<'a>>,
    status: Option<Json<'a>>,
    output: Option<Json<'a>>,
    error: Option<Json<'a>>,
    severity: Option<Json<'a>>,
    message: Option<Json<'a>>,
    stats: Option<Json<'a>>,
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Option<Line<'a>> {
        let mut line = Line::default();
        let whole = members(text, |key, value| {
            let place = match key {
                "type" => &mut line.kind,
                "session_id" => &mut line.session_id,
                "model" => &mut line.model,
                "role" => &mut line.role,
                "content" => &mut line.content,
                "tool_name" => &mut line.tool_name,
                "tool_id" => &mut line.tool_id,
                "parameters" => &mut line.parameters,
                "status" => &mut line.status,
                "output" => &mut line.output,
                "error" => &mut line.error,
                "severity" => &mut line.severity,
                "message" => &mut line.message,
                "stats" => &mut line.stats,
                "delta" => return line.delta = value.text() == "true",
                _ => return,
            };
            *place = Some(value);
        });
        whole.then_some(line)
    }
}

/// A member's string.
fn text_of(member: Option<Json<'_>>) -> Option<Cow<'_, str>> {
    member.and_then(Json::string)
}

/// Whether a member is this string.
fn is(member: Option<&Json<'_>>, text: &str) -> bool {
    member.is_some_and(|m| m.text().trim_matches('"') == text)
}

impl Decode for Stream {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let text = utf8(line);
        let Some(read) = Line::read(&text) else { return out.noise(line) };
        let Some(kind) = text_of(read.kind) else { return out.noise(line) };
        match kind.as_ref() {
            "init" => {
                if let Some(id) = text_of(read.session_id) {
                    // `auto` is no model: the stats at the end name the one that answered.
                    let model = text_of(read.model).filter(|m| m != "auto");
                    out.event(Event::Session { id, model });
                }
            }
            "message" if is(read.role.as_ref(), "assistant") => {
                if let Some(text) = text_of(read.content) {
                    out.event(Event::Text { text, delta: read.delta });
                }
            }
            // The echo of the prompt.
            "message" => {}
            "tool_use" => {
                let (Some(name), id) = (text_of(read.tool_name), text_of(read.tool_id)) else {
                    return out.noise(line);
                };
                if let Some(id) = &id {
                    self.uses.insert(id.to_string(), name.to_string());
                }
                out.event(Event::ToolUse { id, name, input: read.parameters });
            }
            "tool_result" => {
                let id = text_of(read.tool_id);
                let name = id.as_ref().and_then(|id| self.uses.remove(id.as_ref()));
                let error = read.error.and_then(|error| error.value::<ToolError>());
                if let Some(reason) = error.as_ref().and_then(|e| e.refusal(name.as_deref())) {
                    let tool = name.map_or(Cow::Borrowed("unknown"), Cow::Owned);
                    out.event(Event::Denied { tool, reason: reason.into() });
                }
                let ok = is(read.status.as_ref(), "success");
                let output = read.output.or_else(|| Some(Json::from_text(&error?.message)));
                out.event(Event::ToolResult { id, ok, output });
            }
            "error" => {
                let message = text_of(read.message).unwrap_or("no message".into());
                if read.severity.is_none() || is(read.severity.as_ref(), "error") {
                    self.error = Some(message.to_string());
                } else if message.contains(LOOP) {
                    self.stopped = Some(message.to_string());
                }
                out.event(Event::Error { message, fatal: false });
            }
            "result" => {
                if let Some(stats) = read.stats.and_then(|stats| stats.value::<StreamStats>()) {
                    if out.collector.reply.model.is_none() {
                        out.collector.reply.model = only_key(stats.models.keys());
                    }
                    out.event(Event::Usage { usage: stats.usage() });
                }
                self.result_error = read.error.and_then(|error| error.value());
                out.event(Event::End { ok: is(read.status.as_ref(), "success") });
            }
            _ => out.noise(line),
        }
    }

    fn stderr_line(&mut self, line: &[u8], out: &mut Out<'_>) {
        // `Attempt 3 failed with status 429. Retrying with backoff... _ApiError: {…`
        if let Some(rest) = line.strip_prefix(b"Attempt ") {
            let text = String::from_utf8_lossy(&rest[..rest.len().min(200)]);
            if let Some((attempt, why)) = text.split_once(" failed with status ") {
                let attempt = attempt.parse::<u32>().ok().map(|n| n.saturating_add(1));
                let status = why.split(['.', ' ']).next().unwrap_or_default();
                let message = format!("the model server answered {status}; gemini tries again").into();
                out.event(Event::Retry { by: By::Harness, attempt, message });
            }
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        if let Some(bad) = self.stopped.as_deref().map(cut_short).or_else(|| set_aside(end)) {
            reply.error = Some(bad);
            return reply;
        }
        let fatal = self.result_error.as_ref().and_then(|e| e.get("message")?.as_str().map(str::to_owned));
        // A stream without a usable answer (0.61.0: INVALID_STREAM) is an error event, and status 0.
        if let (Some(false), None, Some(said), true) = (ended, &fatal, &self.error, end.is_fine()) {
            reply.error = Some(invalid_stream(said));
            return reply;
        }
        let said = fatal.or(self.error);
        reply.error = match (ended, said) {
            (Some(true), None) if !reply.text.trim().is_empty() && end.is_fine() => None,
            (Some(true), None) if end.is_fine() => Some(FACTS.empty()),
            (Some(true), Some(said)) if reply.text.trim().is_empty() => Some(failed(&said, end)),
            // A warning before a good end is no failure.
            (Some(true), Some(_)) if end.is_fine() => None,
            (_, Some(said)) => Some(failed(&said, end)),
            (_, None) => Some(no_result(end, &last_noise)),
        };
        reply
    }
}

#[derive(Deserialize)]
struct ToolError {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

impl ToolError {
    /// What the CLI said, where it refused the tool instead of running it.
    ///
    /// A tool that is denied as a whole is not offered and so "not registered", and so is a name that the
    /// model made up: that is no refusal.
    fn refusal(&self, tool: Option<&str>) -> Option<String> {
        let refused = match self.kind.as_str() {
            "policy_violation" => true,
            "tool_not_registered" => tool.is_none_or(|t| FACTS.tool(t).is_some() || t.starts_with("mcp_")),
            _ => self.message.contains("requires user confirmation"),
        };
        refused.then(|| cut(&self.message, 400).into_owned())
    }
}

#[derive(Deserialize)]
struct StreamStats {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached: Option<u64>,
    total_tokens: Option<u64>,
    #[serde(default)]
    models: HashMap<String, serde::de::IgnoredAny>,
}

impl StreamStats {
    fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_tokens: self.cached,
            total_tokens: self.total_tokens,
            ..Usage::default()
        }
    }
}

fn only_key<'k>(mut keys: impl Iterator<Item = &'k String>) -> Option<String> {
    let first = keys.next()?;
    keys.next().is_none().then(|| first.clone())
}

// --- json ------------------------------------------------------------------------------------------

#[derive(Deserialize)]
struct Envelope {
    session_id: Option<String>,
    response: Option<String>,
    #[serde(default)]
    stats: Option<Stats>,
    error: Option<Value>,
    #[serde(default)]
    warnings: Vec<Value>,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    models: HashMap<String, ModelStats>,
}

#[derive(Deserialize)]
struct ModelStats {
    #[serde(default)]
    tokens: Tokens,
    #[serde(default)]
    roles: HashMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default)]
struct Tokens {
    prompt: Option<u64>,
    candidates: Option<u64>,
    total: Option<u64>,
    cached: Option<u64>,
    thoughts: Option<u64>,
    tool: Option<u64>,
}

impl Stats {
    /// The tokens of all models of the run, the router's among them.
    fn usage(&self) -> Option<Usage> {
        let mut sum: Option<Usage> = None;
        for model in self.models.values() {
            let t = &model.tokens;
            *sum.get_or_insert_default() += Usage {
                input_tokens: t.prompt,
                output_tokens: t.candidates,
                cached_tokens: t.cached,
                thinking_tokens: t.thoughts,
                tool_tokens: t.tool,
                total_tokens: t.total,
                ..Usage::default()
            };
        }
        sum
    }

    /// The model that answered: the one with the main role, else the only one.
    fn model(&self) -> Option<String> {
        let main = self.models.iter().find(|(_, stats)| stats.roles.contains_key("main"));
        main.map(|(name, _)| name.clone()).or_else(|| only_key(self.models.keys()))
    }
}

/// The envelope among everything else on stdout: the last document that has its keys.
fn envelope(stdout: String, end: &RunEnd) -> Reply {
    let found = Documents::new(&stdout)
        .filter(|document| document.starts_with('{'))
        .filter_map(|document| serde_json::from_str::<Envelope>(document).ok())
        .filter(|e| e.response.is_some() || (e.session_id.is_some() && e.error.is_some()))
        .last();
    let Some(envelope) = found else {
        let fatal = fatal(&end.stderr);
        let session_id = fatal.as_ref().and_then(|f| f.session_id.clone());
        let error = match fatal.and_then(|f| f.error) {
            Some(error) => failed(&message_of(&error), end),
            None if !stdout.is_empty() && stdout.len().is_multiple_of(65_536) && end.is_fine() => {
                Failure::new(
                    Kind::HarnessError,
                    format!("gemini's output breaks off after {} bytes", stdout.len()),
                )
            }
            None => no_result(end, stdout.lines().rfind(|l| !l.trim().is_empty()).unwrap_or_default()),
        };
        return Reply { session_id, error: Some(error), ..Reply::default() };
    };
    let text = envelope.response.unwrap_or_default();
    let warned = envelope.warnings.iter().filter_map(Value::as_str).find(|warning| warning.contains(LOOP));
    let error = match &envelope.error {
        None if warned.is_some() => warned.map(cut_short),
        _ if set_aside(end).is_some() => set_aside(end),
        Some(error) if error.get("type").and_then(Value::as_str) == Some("INVALID_STREAM") => {
            Some(invalid_stream(&message_of(error)))
        }
        Some(error) => Some(failed(&message_of(error), end)),
        None if !end.is_fine() => Some(no_result(end, "")),
        None if text.trim().is_empty() => Some(FACTS.empty()),
        None => None,
    };
    Reply {
        text,
        session_id: envelope.session_id,
        model: envelope.stats.as_ref().and_then(Stats::model),
        usage: envelope.stats.as_ref().and_then(Stats::usage),
        denied: Vec::new(),
        error,
    }
}

// --- text ------------------------------------------------------------------------------------------

fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if let Some(failure) = &reply.error {
        let last = reply.text.lines().next_back().unwrap_or_default();
        reply.error = Some(if end.is_fine() { failure.clone() } else { no_result(end, last) });
    }
    reply.error = set_aside(end).or(reply.error);
    reply
}
