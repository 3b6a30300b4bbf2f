//! Reads OpenHands' events, which stand between lines for people.
//!
//! - The answer is the message of the last `FinishAction`, or the agent's last message.
//! - `Agent finished` is written after a run that ended well, and only then. Status 0 means nothing.
//! - The conversation's id stands in a line for people at the very end, and nowhere else.

use super::super::families::model_server::is_used_up;
use super::FACTS;
use crate::error::{Failure, Kind};
use crate::reply::{
    Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        // For people, and never asked for.
        Output::Text => Box::new(TextReader::new(|stdout: String, end: &RunEnd| {
            let finished = stdout.lines().any(|line| line == "Agent finished");
            let mut reply = Reply { session_id: stdout.lines().find_map(session), ..Reply::default() };
            reply.text = boxed(&stdout);
            if !(finished && end.is_fine()) || reply.text.is_empty() {
                reply.error = Some(FACTS.no_result(end, stdout.lines().last().unwrap_or_default()));
            }
            reply
        })),
        _ => Box::new(LineReader::new(Events::default())),
    }
}

#[derive(Default)]
struct Events {
    finished: bool,
    error: Option<(String, String)>,
    said: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    kind: String,
    source: Option<String>,
    llm_message: Option<Message>,
    action: Option<Action>,
    thought: Option<Vec<Part>>,
    reasoning_content: Option<String>,
    observation: Option<Observation>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    tool_call: Option<ToolCall>,
    code: Option<String>,
    detail: Option<String>,
    error: Option<Json<'static>>,
    rejection_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Action {
    kind: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct ToolCall {
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Observation {
    is_error: Option<bool>,
    content: Option<Json<'static>>,
}

/// Lines for people that say why it does not run.
const NOTICES: &[&str] = &["Error: ", "Headless mode requires existing settings", "Failed to read file "];

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        match read_line::<Line>(line) {
            Some(event) => self.event(event, out),
            None => self.plain(line, out),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let mut reply = collected.reply;
        reply.error = match (self.error, self.said) {
            (Some((code, detail)), _) => {
                Some(FACTS.failure(kind(&code, &detail), &format!("{code}: {detail}")))
            }
            (None, Some(said)) => Some(FACTS.failure(kind_of_notice(&said), &said)),
            (None, None) if self.finished && end.is_fine() && !reply.text.trim().is_empty() => None,
            (None, None) if self.finished && end.is_fine() => Some(FACTS.empty()),
            (None, None) => Some(unfinished(end, &collected.last_noise)),
        };
        reply
    }
}

impl Events {
    fn event(&mut self, event: Line, out: &mut Out<'_>) {
        let agent = event.source.as_deref() == Some("agent");
        let id = event.tool_call_id.map(Into::into);
        let name = event.tool_name.unwrap_or_default();
        match event.kind.as_str() {
            "MessageEvent" if agent => {
                thinking(event.reasoning_content, out);
                let text = joined(event.llm_message.and_then(|message| message.content));
                out.event(Event::Text { text: text.into(), delta: false });
            }
            "ActionEvent" => {
                thinking(event.reasoning_content, out);
                thinking(event.thought.map(|parts| joined(Some(parts))), out);
                let (kind, message) =
                    event.action.map_or((None, None), |action| (action.kind, action.message));
                if kind.as_deref() == Some("FinishAction") {
                    out.event(Event::Text { text: message.unwrap_or_default().into(), delta: false });
                    return;
                }
                let input = event.tool_call.and_then(|call| call.arguments).and_then(Json::new);
                out.event(Event::ToolUse { id, name: name.into(), input });
            }
            "ObservationEvent" if name != "finish" => {
                let (failed, output) =
                    event.observation.map_or((None, None), |seen| (seen.is_error, seen.content));
                out.event(Event::ToolResult { id, ok: failed != Some(true), output });
            }
            "AgentErrorEvent" => out.event(Event::ToolResult { id, ok: false, output: event.error }),
            "UserRejectObservation" => {
                let reason = event.rejection_reason.unwrap_or_default();
                out.event(Event::Denied { tool: name.into(), reason: reason.into() });
            }
            "ConversationErrorEvent" => {
                let (code, detail) = (event.code.unwrap_or_default(), event.detail.unwrap_or_default());
                out.event(Event::Error { message: format!("{code}: {detail}").into(), fatal: true });
                self.error = Some((code, detail));
            }
            _ => {}
        }
    }

    /// What it writes for people; everything of the model stands in JSON, or behind the edge of a box.
    fn plain(&mut self, line: &[u8], out: &mut Out<'_>) {
        let text = crate::reply::utf8(line);
        if text == "Agent finished" {
            self.finished = true;
        } else if let Some(id) = session(&text) {
            out.event(Event::Session { id: id.into(), model: None });
            // Nothing comes after it, and it can take a while to go.
            out.event(Event::End { ok: self.finished });
        } else if NOTICES.iter().any(|notice| text.starts_with(notice)) {
            self.said.get_or_insert_with(|| text.clone().into_owned());
            out.event(Event::Error { message: text.into_owned().into(), fatal: true });
        } else {
            out.noise(line);
        }
    }
}

fn thinking(text: Option<String>, out: &mut Out<'_>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.event(Event::Thinking { text: text.into() });
    }
}

fn joined(parts: Option<Vec<Part>>) -> String {
    parts.into_iter().flatten().filter_map(|part| part.text).collect::<Vec<_>>().join("\n")
}

/// `Conversation ID: 67cd5c3012fc400e8767d3a9fba37891`, in the form that everything else has.
fn session(line: &str) -> Option<String> {
    let hex = line.strip_prefix("Conversation ID: ")?.trim_end();
    let whole = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    whole.then(|| [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// The text in the box of the summary, cut at the width of the terminal.
fn boxed(stdout: &str) -> String {
    let begin = stdout.rfind("╭─ Agent ").map_or("", |at| &stdout[at..]);
    let lines = begin.lines().skip(1).map_while(|line| line.strip_prefix('│')?.trim_end().strip_suffix('│'));
    let text = lines.map(str::trim).collect::<Vec<_>>().join("\n");
    text.split_once("Finish with message:\n").map_or(text.clone(), |(_, message)| message.to_owned())
}

/// By the name of the error; what it says comes from the model's server.
fn kind(code: &str, detail: &str) -> Kind {
    match code {
        "AuthenticationError" | "LLMAuthenticationError" | "PermissionDeniedError" => Kind::Auth,
        "LLMRateLimitError" | "RateLimitError" if is_used_up(detail) => Kind::Quota,
        "LLMRateLimitError" | "RateLimitError" => Kind::RateLimit,
        "MaxIterationsReached" => Kind::MaxTurns,
        _ => crate::reply::http_status(detail).and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError),
    }
}

fn kind_of_notice(said: &str) -> Kind {
    match said {
        _ if said.starts_with("Headless mode requires")
            || said.contains("environment variable(s): LLM_API_KEY") =>
        {
            Kind::Auth
        }
        _ if said.contains("Missing required environment variable") => Kind::HarnessConfig,
        _ => Kind::HarnessError,
    }
}

/// It came to no end of its own. Most of its standard error is about skills that it could not fetch.
fn unfinished(end: &RunEnd, last: &str) -> Failure {
    let line =
        end.stderr.lines().rfind(|line| line.contains("openhands: error: ") || line.contains("Error: "));
    let end = RunEnd { stderr: line.unwrap_or_default().to_owned(), ..end.clone() };
    let failure = FACTS.no_result(&end, last);
    match failure.kind {
        Kind::EmptyReply => FACTS.failure(Kind::HarnessError, &format!("it did not finish: {last}")),
        _ => failure,
    }
}
