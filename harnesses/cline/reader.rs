//! Reads cline's events, one a line, and tells its failures apart.
//!
//! As run on 3.0.65, 2026-12-01: texts come in pieces and again whole at their end; the last line is the result, with
//! the last text of the agent or the words of the error. An error is JSON on standard error too.

use super::FACTS;
use crate::error::{Failure, Kind};
use crate::harnesses::families::model_server::is_used_up;
use crate::reply::{
    Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage, read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Text => Box::new(TextReader::new(text)),
        _ => Box::new(LineReader::new(Events::default())),
    }
}

#[derive(Default)]
struct Events {
    /// How the run ended, and what was said last.
    result: Option<(String, String)>,
    /// Pieces of the text that is not at its end yet.
    pieces: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: Option<Step>,
    finish_reason: Option<String>,
    text: Option<String>,
    /// Those of agents of the agent are among them.
    aggregate_usage: Option<Tokens>,
    model: Option<Model>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    #[serde(rename = "type")]
    kind: String,
    content_type: Option<String>,
    text: Option<String>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    input: Option<Json<'static>>,
    output: Option<Json<'static>>,
    error: Option<Json<'static>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    total_cost: Option<f64>,
}

#[derive(Deserialize)]
struct Model {
    id: Option<String>,
}

/// Stands in what a tool is answered that nobody approved, behind words that depend on where its sessions are kept.
const REFUSED: &str = " -- NOT a tool or system failure. Clarify with user before proceeding.";

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match (read.kind.as_str(), read.event) {
            ("agent_event", Some(step)) => self.step(step, out),
            ("run_result", _) => {
                // A run that failed counts none, which is not known to be none.
                let tokens = read.aggregate_usage.filter(|t| t.input_tokens.is_some_and(|n| n > 0));
                if let Some(tokens) = tokens {
                    out.event(Event::Usage { usage: tokens.usage() });
                }
                out.collector.reply.model = read.model.and_then(|model| model.id);
                let reason = read.finish_reason.unwrap_or_default();
                out.event(Event::End { ok: reason == "completed" });
                self.result = Some((reason, read.text.unwrap_or_default()));
            }
            ("run_aborted" | "hook_event" | "agent_event", _) => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        let Some((reason, said)) = self.result else {
            reply.error = Some(failed(end, &last_noise));
            return reply;
        };
        reply.error = match (reason.as_str(), end.is_fine()) {
            ("completed", true) if said.trim().is_empty() => Some(FACTS.empty()),
            ("completed", true) => None,
            ("completed", false) => Some(FACTS.no_result(end, &last_noise)),
            ("error", _) => Some(error(&said)),
            // After six refusals in a row it gives up.
            ("aborted", _) if !reply.denied.is_empty() && !end.ended_by_us => Some(FACTS.empty()),
            (other, _) => Some(FACTS.failure(Kind::HarnessError, &format!("the run ended with `{other}`"))),
        };
        if reason == "completed" {
            reply.text = said;
        }
        reply.voided_by_refusals()
    }
}

impl Events {
    fn step(&mut self, step: Step, out: &mut Out<'_>) {
        match (step.kind.as_str(), step.content_type.as_deref()) {
            ("content_start", Some("text")) => {
                self.pieces = true;
                out.event(Event::Text { text: step.text.unwrap_or_default().into(), delta: true });
            }
            // Said in pieces before.
            ("content_end", Some("text")) if std::mem::take(&mut self.pieces) => {}
            ("content_end", Some("text")) => {
                out.event(Event::Text { text: step.text.unwrap_or_default().into(), delta: false });
            }
            ("content_end", Some("reasoning")) => {
                out.event(Event::Thinking { text: step.text.unwrap_or_default().into() });
            }
            ("content_start", Some("tool")) => {
                let name = step.tool_name.unwrap_or_default().into();
                out.event(Event::ToolUse { id: step.tool_call_id.map(Into::into), name, input: step.input });
            }
            ("content_end", Some("tool")) => {
                let refused = step.error.as_ref().is_some_and(|error| error.text().contains(REFUSED));
                if refused {
                    let tool = step.tool_name.unwrap_or_default().into();
                    out.event(Event::Denied { tool, reason: "nobody is there to approve it".into() });
                }
                let ok = step.error.is_none();
                out.event(Event::ToolResult {
                    id: step.tool_call_id.map(Into::into),
                    ok,
                    output: step.output,
                });
            }
            _ => {}
        }
    }
}

impl Tokens {
    fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_tokens: self.cache_read_tokens,
            // Where it knows no price it says 0.
            cost_usd: self.total_cost.filter(|cost| *cost > 0.0),
            ..Usage::default()
        }
    }
}

/// The words of the model server are all that cline passes on: the texts are its own, no agent's.
fn error(said: &str) -> Failure {
    let lower = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if lower == "model returned empty response" {
        return FACTS.empty();
    }
    let kind = match () {
        () if has(&["api key", "unauthorized", "authenticat", "forbidden"]) => Kind::Auth,
        () if is_used_up(said) => Kind::Quota,
        () if has(&["rate limit", "too many requests"]) => Kind::RateLimit,
        () => return FACTS.api_failure(said),
    };
    FACTS.failure(kind, said)
}

#[derive(Deserialize)]
struct Told {
    message: String,
}

/// No result: what the last line on standard error says, which is JSON where cline itself wrote it.
fn failed(end: &RunEnd, last_output: &str) -> Failure {
    let told = end.stderr.lines().rev().find_map(|line| serde_json::from_str::<Told>(line).ok());
    match told {
        Some(told) if !end.is_fine() => error(&told.message),
        _ => FACTS.no_result(end, last_output),
    }
}

/// The form for people, which teamster does not ask for.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.error.is_some() && !end.is_fine() {
        reply.error = Some(failed(end, reply.text.lines().next_back().unwrap_or_default()));
    }
    reply
}
