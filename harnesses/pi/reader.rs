//! Reads pi's events, one a line, and tells its failures apart.
//!
//! The last message of the assistant says how the run went: `stopReason`, with `errorMessage`. What follows it
//! may be another try (`auto_retry_start`, then a new `agent_start`).

use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{
    By, Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage, read_line,
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
    /// How the last message of the assistant ended.
    last: Option<Ended>,
    /// Nothing comes after it by the agent's own word.
    over: bool,
    usage: Option<Usage>,
}

struct Ended {
    reason: String,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    message: Option<Json<'static>>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    args: Option<Json<'static>>,
    result: Option<Json<'static>>,
    is_error: Option<bool>,
    attempt: Option<u32>,
    error_message: Option<String>,
    will_retry: Option<bool>,
    aborted: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: String,
    content: Option<Json<'static>>,
    provider: Option<String>,
    model: Option<String>,
    usage: Option<Tokens>,
    stop_reason: Option<String>,
    error_message: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
    total_tokens: Option<u64>,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    total: Option<f64>,
}

#[derive(Deserialize)]
struct ToolResult {
    content: Option<Json<'static>>,
}

impl Tokens {
    /// What came from the cache and what went into it is not in `input` there. A message that never came has
    /// zeros, which tell nothing, and so has the price of a model that pi does not know.
    fn usage(&self) -> Option<Usage> {
        let cache = [self.cache_read, self.cache_write].into_iter().flatten();
        let cached = self.cache_read.filter(|tokens| *tokens > 0);
        self.total_tokens.filter(|total| *total > 0).map(|total| Usage {
            input_tokens: self.input.map(|tokens| cache.fold(tokens, u64::saturating_add)),
            output_tokens: self.output,
            cached_tokens: cached,
            cache_write_tokens: self.cache_write.filter(|tokens| *tokens > 0),
            thinking_tokens: self.reasoning,
            total_tokens: Some(total),
            cost_usd: self.cost.as_ref().and_then(|cost| cost.total).filter(|total| *total > 0.0),
            ..Usage::default()
        })
    }
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match read.kind.as_str() {
            "session" => {
                if let Some(id) = read.id {
                    out.event(Event::Session { id: id.into(), model: None });
                }
            }
            "agent_start" => self.over = false,
            "message_end" => match read.message.and_then(|message| message.value::<Message>()) {
                Some(message) if message.role == "assistant" => self.message(message, out),
                Some(_) => {}
                None => out.noise(line),
            },
            "tool_execution_start" => {
                let name = read.tool_name.unwrap_or_default().into();
                out.event(Event::ToolUse { id: read.tool_call_id.map(Into::into), name, input: read.args });
            }
            "tool_execution_end" => {
                let output = read
                    .result
                    .map(|result| result.value::<ToolResult>().and_then(|r| r.content).unwrap_or(result));
                let ok = read.is_error != Some(true);
                if let (false, Some(tool), Some(said)) = (ok, read.tool_name, &output)
                    && FACTS.tools.contains_key(&tool)
                    && said.text().contains(&format!("\"Tool {tool} not found\""))
                {
                    let reason = "it is not there".into();
                    out.event(Event::Denied { tool: tool.into(), reason });
                }
                out.event(Event::ToolResult { id: read.tool_call_id.map(Into::into), ok, output });
            }
            "auto_retry_start" => {
                let said = read.error_message.unwrap_or_else(|| "an error".to_owned());
                let message = format!("{}; pi tries again", crate::error::cut(&said, 300)).into();
                let attempt = read.attempt.map(|n| n.saturating_add(1));
                out.event(Event::Retry { by: By::Harness, attempt, message });
            }
            "agent_end" => self.over = read.will_retry != Some(true),
            "agent_settled" => {
                self.over = true;
                let good = self.last.as_ref().is_some_and(|last| last.reason == "stop");
                out.event(Event::End { ok: good && read.aborted != Some(true) });
            }
            "message_start"
            | "message_update"
            | "turn_start"
            | "turn_end"
            | "tool_execution_update"
            | "auto_retry_end"
            | "entry_appended"
            | "queue_update"
            | "compaction_start"
            | "compaction_end" => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        reply.error = match self.last {
            Some(last) if self.over => match last.reason.as_str() {
                "stop" if !end.is_fine() => Some(no_result(end, &last_noise)),
                "stop" if reply.text.trim().is_empty() => Some(FACTS.empty()),
                "stop" => None,
                reason => Some(failed(reason, last.error.as_deref())),
            },
            _ => Some(no_result(end, &last_noise)),
        };
        reply
    }
}

impl Events {
    fn message(&mut self, message: Message, out: &mut Out<'_>) {
        if let Some(model) = message.model {
            // As `--model` takes it.
            out.collector.reply.model = Some(match message.provider {
                Some(provider) => format!("{provider}/{model}"),
                None => model,
            });
        }
        let blocks = message.content.and_then(|content| content.value::<Vec<Block>>()).unwrap_or_default();
        let mut text: Option<String> = None;
        for block in blocks {
            match (block.kind.as_str(), block.text, block.thinking) {
                ("text", Some(part), _) => match &mut text {
                    Some(text) => {
                        text.push('\n');
                        text.push_str(&part);
                    }
                    None => text = Some(part),
                },
                ("thinking", _, Some(thought)) => out.event(Event::Thinking { text: thought.into() }),
                _ => {}
            }
        }
        // A message without a text is an answer without one.
        out.collector.reply.text.clear();
        if let Some(text) = text {
            out.event(Event::Text { text: text.into(), delta: false });
        }
        if let Some(tokens) = message.usage.and_then(|tokens| tokens.usage()) {
            let sum = self.usage.get_or_insert_default();
            *sum += tokens;
            out.event(Event::Usage { usage: *sum });
        }
        let reason = message.stop_reason.unwrap_or_default();
        if let Some(said) = &message.error_message {
            out.event(Event::Error { message: said.clone().into(), fatal: false });
        }
        self.last = Some(Ended { reason, error: message.error_message });
    }
}

/// What the last message says of its own end.
fn failed(reason: &str, said: Option<&str>) -> Failure {
    match (reason, said) {
        ("length", _) => FACTS
            .failure(Kind::HarnessError, "the answer breaks off: the model reached its limit of tokens")
            .hint("ask for less at once, or take a model with a larger limit"),
        (_, Some(said)) => api_failure(said),
        (reason, None) => {
            FACTS.failure(Kind::HarnessError, &format!("the last message ended with `{reason}`"))
        }
    }
}

/// `429: {"message": …, "code": "insufficient_quota"}`: status and body of the model server.
fn api_failure(said: &str) -> Failure {
    const USED_UP: [&str; 2] = ["\"insufficient_quota\"", "\"usage_limit_reached\""];
    if USED_UP.iter().any(|code| said.contains(code)) {
        return FACTS.failure(Kind::Quota, said);
    }
    FACTS.api_failure(said)
}

/// Messages on standard error, with nothing or only the session on standard output (run).
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let said = |words: &str| end.stderr.lines().find(|line| line.contains(words));
    if let Some(line) =
        said("No session found matching").or_else(|| said("Session found in different project"))
    {
        return FACTS.failure(Kind::SessionNotFound, line);
    }
    let model = said("Error: Model ");
    let signed_out = said("No API key found").or_else(|| said("Warning: No models available"));
    match (signed_out, model) {
        // With no provider at all no model is found either.
        (Some(line), None) => FACTS.failure(Kind::Auth, line),
        (Some(_), Some(line)) => FACTS.failure(Kind::Auth, &format!("{line} No model is available.")),
        (None, Some(line)) => FACTS
            .failure(Kind::InvalidRequest, line)
            .hint("name the model as provider/id; `pi --list-models` shows them"),
        (None, None) => FACTS.no_result(end, last_output),
    }
}

/// The text form, which teamster does not ask for: errors are on standard error, with the status of the
/// model server ahead.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.text.contains("\u{1b}[?") {
        reply.error = Some(FACTS.failure(Kind::HarnessError, "it drew its screen in place of an answer"));
    } else if reply.error.is_some() {
        let line = end.last_line().unwrap_or_default();
        let by_status = line.get(..3).is_some_and(|status| crate::reply::http_status(status).is_some());
        reply.error = Some(match by_status {
            true => api_failure(line),
            false => no_result(end, reply.text.lines().next_back().unwrap_or_default()),
        });
    }
    reply
}
