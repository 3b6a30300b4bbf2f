//! Reads cline's events, one a line, and tells its failures apart.
//!
//! The answer and the end are those of `run_result`. What the model server refused has its words there, and its
//! status in the log.

use super::super::families::model_server::is_used_up;
use super::{FACTS, LOG};
use crate::error::{Failure, Kind, cut};
use crate::reply::{
    Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage, read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        // Never asked for.
        Output::Text => Box::new(TextReader::new(|stdout: String, end: &RunEnd| {
            let reply = FACTS.text_reply(&stdout, end);
            match (&reply.error, said_on_stderr(&end.stderr)) {
                (Some(_), Some(said)) => Reply { error: Some(failed(&said, false, end)), ..reply },
                _ => reply,
            }
        })),
        _ => Box::new(LineReader::new(Events::default())),
    }
}

#[derive(Default)]
struct Events {
    /// Where the run came to its end: why, and its last text.
    result: Option<(String, String)>,
    /// The model server did not accept the key.
    auth: bool,
    /// The last error that stands in the events.
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: Option<Inner>,
    finish_reason: Option<String>,
    text: Option<String>,
    usage: Option<Tokens>,
    aggregate_usage: Option<Tokens>,
    model: Option<Model>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inner {
    #[serde(rename = "type")]
    kind: String,
    content_type: Option<String>,
    text: Option<String>,
    reasoning: Option<String>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    input: Option<Json<'static>>,
    output: Option<Json<'static>>,
    error: Option<Json<'static>>,
    error_class: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    message: String,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

#[derive(Deserialize)]
struct Model {
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    total_cost: Option<f64>,
}

impl Tokens {
    /// A run that never reached a model has zeros, which tell nothing, and so has a model with no price.
    fn usage(self) -> Option<Usage> {
        let some = |tokens: Option<u64>| tokens.filter(|tokens| *tokens > 0);
        some(self.input_tokens).or(some(self.output_tokens)).map(|_| Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_tokens: some(self.cache_read_tokens),
            cache_write_tokens: some(self.cache_write_tokens),
            cost_usd: self.total_cost.filter(|cost| *cost > 0.0),
            ..Usage::default()
        })
    }
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match (read.kind.as_str(), read.event) {
            ("agent_event", Some(event)) => self.event(event, out),
            ("run_result", _) => {
                if let Some(model) = read.model.and_then(|model| model.id) {
                    out.collector.reply.model = Some(model);
                }
                if let Some(usage) = read.aggregate_usage.or(read.usage).and_then(Tokens::usage) {
                    out.event(Event::Usage { usage });
                }
                let reason = read.finish_reason.unwrap_or_default();
                out.event(Event::End { ok: reason == "completed" });
                self.result = Some((reason, read.text.unwrap_or_default()));
            }
            ("hook_event" | "run_aborted" | "agent_event", _) => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        let Some((reason, text)) = self.result else {
            reply.error = Some(match said_on_stderr(&end.stderr) {
                Some(said) => failed(&said, self.auth, end),
                None if end.is_fine() && last_noise.is_empty() => {
                    FACTS.empty().hint("a word of the prompt that begins with an @ ends it without a word")
                }
                None => FACTS.no_result(end, &last_noise),
            });
            return reply;
        };
        reply.error = match reason.as_str() {
            "completed" if end.is_fine() => text.trim().is_empty().then(|| FACTS.empty()),
            "error" => Some(failed(&text, self.auth, end)),
            // After some refusals it gives up.
            "aborted" if end.is_fine() && !reply.denied.is_empty() => Some(FACTS.empty()),
            "completed" => Some(FACTS.no_result(end, &last_noise)),
            _ => {
                let said = said_on_stderr(&end.stderr).or(self.error).unwrap_or_default();
                let what = format!("it stopped, {reason}{}{}", if said.is_empty() { "" } else { ": " }, said);
                Some(FACTS.failure(Kind::HarnessError, &what))
            }
        };
        reply.text = if reason == "error" { String::new() } else { text };
        reply
    }
}

impl Events {
    fn event(&mut self, event: Inner, out: &mut Out<'_>) {
        let id = event.tool_call_id.map(Into::into);
        match (event.kind.as_str(), event.content_type.as_deref()) {
            ("content_end", Some("text")) => {
                out.event(Event::Text { text: event.text.unwrap_or_default().into(), delta: false });
            }
            ("content_end", Some("reasoning")) => {
                let text = event.reasoning.or(event.text).unwrap_or_default();
                if !text.is_empty() {
                    out.event(Event::Thinking { text: text.into() });
                }
            }
            ("content_start", Some("tool")) => {
                let name = event.tool_name.unwrap_or_default().into();
                out.event(Event::ToolUse { id, name, input: event.input });
            }
            ("content_end", Some("tool")) => {
                let said = event.output.as_ref().and_then(Json::value::<Refused>);
                if let Some(reason) = said.map(|said| said.error).filter(|said| is_refusal(said)) {
                    let tool = event.tool_name.unwrap_or_default().into();
                    out.event(Event::Denied { tool, reason: cut(&reason, 300).into_owned().into() });
                }
                out.event(Event::ToolResult { id, ok: event.error.is_none(), output: event.output });
            }
            ("error", _) => {
                let said = event.error.and_then(|error| error.value::<Said>()).map(|said| said.message);
                let message = said.unwrap_or_else(|| "an error".to_owned());
                self.auth |= event.error_class.as_deref() == Some("auth");
                out.event(Event::Error { message: message.clone().into(), fatal: false });
                self.error = Some(message);
            }
            _ => {}
        }
    }
}

/// What cline says in place of a tool's own words.
fn is_refusal(said: &str) -> bool {
    said.contains(" was rejected before execution: AI_NoSuchToolError: ")
        || said.contains("requires approval in a TTY session")
        || said.starts_with("Tool approval requires an interactive session")
        || said.starts_with("Command not executed: ")
}

/// The last error on standard error: a line of JSON, or words behind `error:`.
fn said_on_stderr(stderr: &str) -> Option<String> {
    let json = stderr.lines().rev().filter(|line| line.starts_with('{'));
    let mut json = json.filter_map(|line| read_line::<Said>(line.as_bytes()));
    if let Some(said) = json.find(|said| !said.message.starts_with("hook dispatch failed")) {
        return Some(said.message);
    }
    let plain = crate::reply::plain(stderr);
    let line = plain.lines().find_map(|line| line.strip_prefix("error: ").map(str::to_owned))?;
    Some(line.strip_prefix("error: ").map_or(line.clone(), str::to_owned))
}

#[derive(Deserialize)]
struct Logged {
    err: Option<LoggedError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedError {
    status_code: Option<u16>,
    last_error: Option<Box<LoggedError>>,
}

impl LoggedError {
    fn status(self) -> Option<u16> {
        self.status_code.or_else(|| self.last_error?.status())
    }
}

/// The last status of the model server in the log.
fn status(end: &RunEnd) -> Option<u16> {
    let log = end.files.get(LOG)?;
    let lines = log.lines().rev().filter(|line| line.contains("\"statusCode\":"));
    lines.filter_map(|line| read_line::<Logged>(line.as_bytes())?.err?.status()).next()
}

fn failed(said: &str, auth: bool, end: &RunEnd) -> Failure {
    if auth {
        return FACTS.failure(Kind::Auth, said);
    }
    if said.starts_with("Unknown or disabled provider ") {
        return FACTS.failure(Kind::HarnessConfig, said).hint("`cline auth` sets a provider that there is");
    }
    if said == "Model returned empty response" {
        return FACTS.empty();
    }
    match status(end).and_then(Kind::of_http_status) {
        Some(Kind::RateLimit) if is_used_up(said) => FACTS.failure(Kind::Quota, said),
        Some(kind) => FACTS.failure(kind, said),
        None => by_words(said),
    }
}

/// The words of the model server alone: they are of an error, no agent's.
fn by_words(said: &str) -> Failure {
    let lower = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let kind = match () {
        () if has(&["api key", "unauthorized", "forbidden"]) => Kind::Auth,
        () if is_used_up(said) => Kind::Quota,
        () if has(&["rate limit", "too many requests"]) => Kind::RateLimit,
        () => return FACTS.api_failure(said),
    };
    FACTS.failure(kind, said)
}
