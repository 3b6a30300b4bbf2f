//! Reads copilot's events, and tells its failures apart.

use super::super::families::model_server::is_used_up;
use super::{FACTS, USAGE};
use crate::error::{Failure, Kind, cut};
use crate::reply::{
    By, Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage,
    http_status, read_line,
};
use crate::request::Output;
use serde::Deserialize;
use std::collections::HashMap;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Text => Box::new(TextReader::new(text)),
        _ => Box::new(LineReader::new(Events::default())),
    }
}

/// The text form, which teamster does not ask for: a failure is on standard error.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(stdout.trim_end(), end);
    if !end.is_fine() {
        reply.error = Some(no_result(end, ""));
    }
    reply
}

#[derive(Default)]
struct Events {
    failed: Option<Failed>,
    aborted: bool,
    tools: HashMap<String, String>,
}

/// What `session.error` says.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Failed {
    error_type: Option<String>,
    message: Option<String>,
    status_code: Option<u16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    data: Option<Json<'static>>,
    agent_id: Option<String>,
    session_id: Option<String>,
    exit_code: Option<i32>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    content: Option<String>,
    model: Option<String>,
    reasoning_text: Option<String>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    parent_tool_call_id: Option<String>,
    arguments: Option<Json<'static>>,
    success: Option<bool>,
    error: Option<ToolError>,
    result: Option<Json<'static>>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct ToolError {
    message: Option<String>,
    code: Option<String>,
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        // What a sub-agent says is the work of a tool.
        if read.agent_id.is_some() {
            return;
        }
        let data = || read.data.as_ref().and_then(Json::value::<Data>).unwrap_or_default();
        match read.kind.as_str() {
            "assistant.message" => {
                let data = data();
                if data.parent_tool_call_id.is_some() {
                    return;
                }
                if let Some(text) = data.reasoning_text.filter(|text| !text.is_empty()) {
                    out.event(Event::Thinking { text: text.into() });
                }
                out.collector.reply.model = data.model.or(out.collector.reply.model.take());
                if let Some(text) = data.content.filter(|text| !text.is_empty()) {
                    out.event(Event::Text { text: text.into(), delta: false });
                }
            }
            "tool.execution_start" => {
                let data = data();
                let name = data.tool_name.unwrap_or_default();
                if let Some(id) = &data.tool_call_id {
                    self.tools.insert(id.clone(), name.clone());
                }
                let id = data.tool_call_id.map(Into::into);
                out.event(Event::ToolUse { id, name: name.into(), input: data.arguments });
            }
            "tool.execution_complete" => self.tool_ended(data(), out),
            "assistant.turn_retry" => {
                let why = data().reason.unwrap_or_else(|| "an error of the model server".to_owned());
                out.event(Event::Retry { by: By::Harness, attempt: None, message: why.into() });
            }
            "session.error" => {
                let failed = read.data.as_ref().and_then(Json::value::<Failed>).unwrap_or_default();
                out.event(Event::Error { message: failed.said().into(), fatal: true });
                self.failed = Some(failed);
            }
            "abort" => self.aborted = true,
            "result" => {
                if let Some(id) = read.session_id {
                    out.event(Event::Session { id: id.into(), model: None });
                }
                // After a signal it writes this line, too: what was cut short has no end.
                if !self.aborted {
                    let ok = read.exit_code == Some(0) && self.failed.is_none();
                    out.event(Event::End { ok });
                }
            }
            _ if read.data.is_some() => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        let (usage, model) = end.files.get(USAGE).map(|text| usage(text)).unwrap_or_default();
        reply.usage = usage;
        reply.model = reply.model.take().or(model);
        reply.error = match (self.failed, ended) {
            (Some(failed), _) => Some(FACTS.failure(failed.kind(), &failed.said())),
            // A signal ends it with status 0.
            (None, _) if self.aborted => {
                Some(FACTS.failure(Kind::HarnessError, "the run was aborted, and has no answer"))
            }
            (None, Some(true)) if end.is_fine() && reply.text.trim().is_empty() => Some(FACTS.empty()),
            (None, Some(true)) if end.is_fine() => None,
            (None, _) => Some(no_result(end, &last_noise)),
        };
        reply
    }
}

impl Events {
    fn tool_ended(&mut self, data: Data, out: &mut Out<'_>) {
        let name = data.tool_call_id.as_ref().and_then(|id| self.tools.remove(id)).unwrap_or_default();
        let error = data.error.as_ref();
        if error.is_some_and(|error| error.code.as_deref() == Some("denied")) {
            let said = error.and_then(|error| error.message.as_deref()).unwrap_or("not allowed");
            let reason = cut(said, 300).into_owned().into();
            out.event(Event::Denied { tool: name.into(), reason });
        }
        let output = data.result.or_else(|| Some(Json::from_text(data.error?.message.as_deref()?)));
        let id = data.tool_call_id.map(Into::into);
        out.event(Event::ToolResult { id, ok: data.success == Some(true), output });
    }
}

impl Failed {
    fn said(&self) -> String {
        let told = self.message.clone().filter(|message| !message.trim().is_empty());
        told.or_else(|| self.error_type.clone()).unwrap_or_else(|| "it gave no reason".to_owned())
    }

    /// The status of its model server first, then its own word for the error; of a quota it has none.
    fn kind(&self) -> Kind {
        let said = self.said();
        let used_up = is_used_up(&said) || said.contains("quota_exceeded") || said.contains("no quota");
        match (self.status_code.or_else(|| http_status(&said)), self.error_type.as_deref()) {
            (_, Some("quota")) => Kind::Quota,
            (Some(402 | 429), _) | (_, Some("rate_limit")) if used_up => Kind::Quota,
            (_, Some("authentication" | "authorization")) => Kind::Auth,
            (_, Some("rate_limit")) => Kind::RateLimit,
            (Some(status), _) => Kind::of_http_status(status).unwrap_or(Kind::HarnessError),
            _ if said.starts_with("No response was returned") => Kind::EmptyReply,
            _ => Kind::HarnessError,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageFile {
    model_metrics: HashMap<String, Metrics>,
    current_model: Option<String>,
}

#[derive(Deserialize)]
struct Metrics {
    usage: Tokens,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// The tokens of every model that the session used so far, and the last one's name.
fn usage(text: &str) -> (Option<Usage>, Option<String>) {
    let Ok(file) = serde_json::from_str::<UsageFile>(text) else { return (None, None) };
    let mut sum: Option<Usage> = None;
    for metrics in file.model_metrics.into_values() {
        let Tokens { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens } =
            metrics.usage;
        *sum.get_or_insert_default() += Usage {
            input_tokens,
            output_tokens,
            cached_tokens: cache_read_tokens,
            cache_write_tokens,
            thinking_tokens: reasoning_tokens,
            ..Usage::default()
        };
    }
    (sum, file.current_model)
}

/// Messages on standard error, with nothing on standard output (run).
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    if !end.is_fine() {
        let said = |words: &str| end.stderr.lines().find(|line| line.contains(words));
        for (words, kind) in [
            ("No authentication information found", Kind::Auth),
            ("Authentication failed", Kind::Auth),
            ("No session, task, or name matched", Kind::SessionNotFound),
            ("requires a local model provider", Kind::HarnessConfig),
            ("require an explicit model", Kind::HarnessConfig),
        ] {
            if let Some(line) = said(words) {
                return FACTS.failure(kind, line);
            }
        }
        let last = end.last_line().unwrap_or_default();
        if let Some(kind) = http_status(last).and_then(Kind::of_http_status) {
            return FACTS.failure(kind, last);
        }
    }
    FACTS.no_result(end, last_output)
}
