//! Reads kimi's events, one a line, and tells its failures apart.
//!
//! A run that went well ends with the line that says how to resume the session. Errors stand on standard error:
//! `error: failed to run prompt: CODE: words`.

use super::super::families::model_server::is_used_up;
use super::FACTS;
use crate::error::{Failure, Kind, cut};
use crate::reply::{
    By, Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, read_line,
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
    /// Tools that were asked for and have no result yet: id and name.
    open: Vec<(String, String)>,
    /// It said how to resume, which is its last line.
    over: bool,
}

#[derive(Deserialize)]
struct Line {
    role: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    content: Option<Json<'static>>,
    tool_calls: Option<Vec<Call>>,
    tool_call_id: Option<String>,
    session_id: Option<String>,
    next_attempt: Option<u32>,
    error_message: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

/// A text, alone or in parts.
fn text_of(content: &Json<'_>) -> Option<String> {
    content.value::<String>().or_else(|| {
        let parts = content.value::<Vec<Part>>()?;
        Some(parts.into_iter().filter_map(|part| part.text).collect())
    })
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match (read.role.as_str(), read.kind.as_deref()) {
            ("assistant", _) => {
                self.over = false;
                // A message without a text is no answer.
                let said = read.content.as_ref().and_then(text_of).unwrap_or_default();
                out.event(Event::Text { text: said.into(), delta: false });
                for Call { id, function } in read.tool_calls.unwrap_or_default() {
                    self.open.push((id.clone().unwrap_or_default(), function.name.clone()));
                    let input = function.arguments.as_deref().map(Json::from_text);
                    out.event(Event::ToolUse { id: id.map(Into::into), name: function.name.into(), input });
                }
            }
            ("tool", _) => {
                let id = read.tool_call_id.unwrap_or_default();
                let at = self.open.iter().position(|(open, _)| *open == id);
                let tool = at.map(|at| self.open.swap_remove(at).1).unwrap_or_default();
                let said = read.content.as_ref().and_then(text_of).unwrap_or_default();
                let not_there = said == format!("Tool \"{tool}\" not found");
                let off = said == format!("Tool \"{tool}\" is disabled by the active tool policy");
                if (not_there && FACTS.tools.contains_key(&tool)) || off {
                    out.event(Event::Denied { tool: tool.into(), reason: "it is not there".into() });
                }
                let ok = !(not_there || off);
                out.event(Event::ToolResult { id: Some(id.into()), ok, output: read.content });
            }
            ("meta", Some("turn.step.retrying")) => {
                let said = read.error_message.unwrap_or_else(|| "an error".to_owned());
                let message = format!("{}; kimi tries again", cut(&said, 300)).into();
                out.event(Event::Retry { by: By::Harness, attempt: read.next_attempt, message });
            }
            ("meta", Some("session.resume_hint")) => {
                self.over = true;
                if let Some(id) = read.session_id {
                    out.event(Event::Session { id: id.into(), model: None });
                }
            }
            ("meta", Some(_)) => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        reply.error = match (self.over && end.is_fine(), reply.text.trim().is_empty()) {
            (true, false) => None,
            (true, true) => Some(FACTS.empty()),
            (false, _) => Some(failed(end, &last_noise)),
        };
        reply
    }
}

/// What its own line on standard error says.
fn failed(end: &RunEnd, last_output: &str) -> Failure {
    let Some(said) = end.stderr.lines().find_map(|line| line.strip_prefix("error: ")) else {
        if end.is_fine() && !last_output.is_empty() && !crate::reply::asks_a_person(last_output) {
            let what = format!("it wrote no events, but: {}", cut(last_output, 300));
            return FACTS
                .failure(Kind::HarnessError, &what)
                .hint("`kimi --version` must say 2.x: the Python package of that name only prints a notice");
        }
        return FACTS.no_result(end, last_output);
    };
    let words = said.strip_prefix("failed to run prompt: ").unwrap_or(said);
    let of = |beginning: &str| words.starts_with(beginning);
    if of("provider.auth_error:") || of("No model configured") {
        return FACTS.failure(Kind::Auth, words);
    }
    if of("provider.rate_limit:") {
        return FACTS.failure(Kind::RateLimit, words);
    }
    if of("Session \"") && words.ends_with("\" not found.") {
        return FACTS.failure(Kind::SessionNotFound, words);
    }
    if of("Model \"") && words.contains("is not configured") {
        return FACTS
            .failure(Kind::InvalidRequest, words)
            .hint("name an alias of a model in kimi's config.toml");
    }
    match words.split_once(": ") {
        Some(("provider.api_error", said)) if said.starts_with("429 ") && is_used_up(said) => {
            FACTS.failure(Kind::Quota, words)
        }
        Some(("provider.api_error", said)) if said.contains("returned an empty response") => {
            FACTS.failure(Kind::EmptyReply, words)
        }
        Some(("provider.api_error", said)) => {
            // The status of the model server stands ahead.
            let status = said.get(..3).and_then(|status| status.parse().ok());
            FACTS.failure(status.and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError), words)
        }
        _ => FACTS.failure(Kind::HarnessError, words),
    }
}

/// The text form, which teamster does not ask for: a bullet ahead of the answer, and two blanks before each
/// other line of it.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let Some(said) = stdout.strip_prefix("• ").filter(|_| end.is_fine()) else {
        let last = stdout.lines().next_back().unwrap_or_default();
        return Reply { error: Some(failed(end, last)), ..Reply::default() };
    };
    let lines: Vec<&str> =
        said.trim_end().lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    let session = end.stderr.lines().find_map(|line| line.strip_prefix("To resume this session: kimi -r "));
    let reply = FACTS.text_reply(&lines.join("\n"), end);
    Reply { session_id: session.map(str::to_owned), ..reply }
}
