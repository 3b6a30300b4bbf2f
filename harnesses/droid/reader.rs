//! Reads droid's events, one a line, and tells its failures apart.
//!
//! A run that went well ends with `completion`. What went wrong is in an `error` of the source `agent_loop`; the one
//! of the source `cli` behind it says `Exec failed`, as the json form does. A stream of the model server that is cut
//! in the middle is a good end to droid, and its half of an answer the whole.

use super::FACTS;
use crate::error::{Failure, Kind, cut};
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
    /// What it said of the failure: the cause comes first.
    failed: Option<String>,
    /// The thought that was read last: it is written twice.
    thought: String,
    /// A message of the agent came last. At the limit of its output droid lets the model go on, so that the next
    /// one is the rest of it.
    goes_on: bool,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    role: Option<String>,
    id: Option<String>,
    session_id: Option<String>,
    model: Option<String>,
    text: Option<String>,
    #[serde(rename = "toolName")]
    tool_name: Option<String>,
    #[serde(rename = "toolId")]
    tool_id: Option<String>,
    parameters: Option<Json<'static>>,
    #[serde(rename = "isError")]
    failed: Option<bool>,
    value: Option<Json<'static>>,
    error: Option<Json<'static>>,
    message: Option<String>,
    #[serde(rename = "finalText")]
    final_text: Option<String>,
    is_error: Option<bool>,
    result: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct ToolError {
    message: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl Tokens {
    /// Those from the cache stand apart. Where the model server told none, and after a stream that was cut, they
    /// are all 0, which no turn costs.
    fn read(&self) -> Option<Usage> {
        self.output_tokens.filter(|output| *output > 0)?;
        let cached = self.cache_read_input_tokens;
        let written = self.cache_creation_input_tokens;
        let more = cached.unwrap_or_default() + written.unwrap_or_default();
        Some(Usage {
            input_tokens: self.input_tokens.map(|input| input + more),
            output_tokens: self.output_tokens,
            cached_tokens: cached,
            cache_write_tokens: written,
            ..Usage::default()
        })
    }
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match (read.kind.as_str(), read.role.as_deref()) {
            ("system", _) => {
                if let Some(id) = read.session_id {
                    out.event(Event::Session { id: id.into(), model: read.model.map(Into::into) });
                }
            }
            ("message", Some("assistant")) => {
                let text = read.text.unwrap_or_default().into();
                out.event(Event::Text { text, delta: self.goes_on });
                self.goes_on = true;
            }
            ("reasoning", _) => {
                let id = read.id.unwrap_or_default();
                if let Some(text) = read.text.filter(|_| id != self.thought) {
                    out.event(Event::Thinking { text: text.into() });
                }
                self.thought = id;
            }
            ("tool_call", _) => {
                self.goes_on = false;
                let name = read.tool_name.or(read.tool_id).unwrap_or_default();
                let id = read.id.map(Into::into);
                out.event(Event::ToolUse { id, name: name.into(), input: read.parameters });
            }
            ("tool_result", _) => {
                self.goes_on = false;
                let said = read.error.as_ref().and_then(Json::value::<ToolError>);
                let said = said.and_then(|error| error.message).unwrap_or_default();
                if read.failed == Some(true) && refuses(&said) {
                    let tool = read.tool_id.unwrap_or_default().into();
                    out.event(Event::Denied { tool, reason: cut(&said, 300).into_owned().into() });
                }
                let ok = read.failed != Some(true);
                let output = read.value.or(read.error);
                out.event(Event::ToolResult { id: read.id.map(Into::into), ok, output });
            }
            ("error", _) => {
                let said = read.message.unwrap_or_else(|| "it gave no reason".to_owned());
                out.event(Event::Error { message: said.clone().into(), fatal: true });
                self.failed.get_or_insert(said);
            }
            ("completion", _) => ended(out, true, read.final_text, read.usage),
            ("result", _) => {
                if let Some(id) = read.session_id {
                    out.event(Event::Session { id: id.into(), model: None });
                }
                let failed = read.is_error != Some(false);
                if failed {
                    self.failed.clone_from(&read.result);
                }
                ended(out, !failed, read.result.filter(|_| !failed), read.usage);
            }
            ("message", Some(_)) => self.goes_on = false,
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        if self.failed.as_deref().is_some_and(|said| said.starts_with(ENDED_EARLY)) {
            // It writes that as a message of the agent, too.
            reply.text.clear();
        }
        let good = ended == Some(true) && end.is_fine();
        reply.error = match (good, reply.text.trim().is_empty(), self.failed) {
            (true, false, _) => None,
            (true, true, _) => Some(FACTS.empty()),
            (false, _, Some(said)) => Some(failed(&said)),
            (false, _, None) if end.is_fine() && reply.session_id.is_some() => {
                let why = "it ended with status 0 ahead of its last event, as it does on a signal";
                Some(FACTS.failure(Kind::HarnessError, why))
            }
            (false, _, None) => Some(no_result(end, &last_noise)),
        };
        reply
    }
}

/// The last line. Its text is that of the last message, the white space around it gone.
fn ended(out: &mut Out<'_>, ok: bool, text: Option<String>, usage: Option<Tokens>) {
    if let Some(text) = text.filter(|_| out.collector.reply.text.is_empty()) {
        out.collector.reply.text = text;
    }
    if let Some(usage) = usage.as_ref().and_then(Tokens::read) {
        out.event(Event::Usage { usage });
    }
    out.event(Event::End { ok });
}

/// Whether a tool did not run because of the rights of the run.
fn refuses(said: &str) -> bool {
    let said = said.strip_prefix("Error: ").unwrap_or(said);
    said.starts_with(ENDED_EARLY)
        || (said.starts_with("Tool ") && said.contains(" is not permitted in this exec session"))
}

const ENDED_EARLY: &str = "Exec ended early: ";

/// The kind of what it said itself.
fn failed(said: &str) -> Failure {
    let said = said.strip_prefix("Error: ").unwrap_or(said);
    if said.starts_with(ENDED_EARLY) {
        return FACTS.failure(
            Kind::Permission,
            "it asked for what the request does not allow, and droid ended the run",
        );
    }
    if said.starts_with("Authentication failed") {
        return FACTS.failure(Kind::Auth, said);
    }
    let quota = ["exceeded your current quota", "insufficient_quota"];
    if quota.iter().any(|words| said.contains(words)) {
        return FACTS.failure(Kind::Quota, said);
    }
    FACTS.api_failure(said)
}

/// What it found out before a session began stands on standard error, or nowhere.
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    if end.is_fine() {
        return FACTS.no_result(end, last_output);
    }
    let line = |begins: &str| end.stderr.lines().find(|line| line.starts_with(begins));
    if let Some(said) = line("Invalid model:") {
        return FACTS
            .failure(Kind::InvalidRequest, said)
            .hint("name a model of Factory's, or custom:NAME of the settings");
    }
    if let Some(said) = line("Error during droid execution: ") {
        return failed(said.trim_start_matches("Error during droid execution: "));
    }
    let failure = FACTS.no_result(end, last_output);
    match end.stderr.trim().is_empty() && last_output.is_empty() {
        true => failure
            .hint("droid says nothing of a session that it does not find; its log is in ~/.factory/logs"),
        false => failure,
    }
}

/// The text form, which teamster does not ask for: the answer, with an error on standard error.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if !end.is_fine() {
        reply.error = Some(no_result(end, stdout.lines().next_back().unwrap_or_default()));
    }
    reply
}
