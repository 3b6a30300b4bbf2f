//! Reads vibe's entries, one a line, and `export.json`, which says how the run ended.
//!
//! An entry stands there when it is whole. The answer is the last message of the assistant; a run that fails ends
//! with no such message, with words on standard error, and with an outcome and a code in the export.

use super::super::families::model_server::is_used_up;
use super::{EXPORT, FACTS};
use crate::error::{Failure, Kind};
use crate::reply::{
    Collector, Decode, DocumentReader, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader,
    Usage, read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(super) fn reader(output: Output) -> Box<dyn Reader> {
    match output {
        Output::Text => Box::new(TextReader::new(text)),
        Output::Json => Box::new(DocumentReader::new(Entries::default())),
        _ => Box::new(LineReader::new(Entries::default())),
    }
}

#[derive(Default)]
struct Entries {
    begun: bool,
    /// The last entry is a message of the assistant that is whole.
    answered: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    session_id: Option<String>,
    generation_status: Option<String>,
    role: Option<String>,
    content: Option<Json<'static>>,
    detail: Option<Json<'static>>,
    state: Option<Json<'static>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    tool_name: Option<String>,
    input: Option<Json<'static>>,
}

#[derive(Deserialize)]
struct State {
    status: Option<String>,
    output: Option<Json<'static>>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Export {
    outcome: Option<String>,
    error: Option<Refused>,
    session_id: Option<String>,
    usage: Option<Tokens>,
    cost_usd: Option<f64>,
    config: Option<Config>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Config {
    active_model: Option<String>,
}

impl Export {
    /// A run that never reached a model has zeros, which tell nothing, and so has a model with no price.
    fn usage(&self) -> Option<Usage> {
        let tokens = self.usage.as_ref()?;
        tokens.total_tokens.filter(|total| *total > 0).map(|total| Usage {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cached_tokens: tokens.cached_input_tokens.filter(|tokens| *tokens > 0),
            total_tokens: Some(total),
            cost_usd: self.cost_usd.filter(|cost| *cost > 0.0),
            ..Usage::default()
        })
    }
}

impl Decode for Entries {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(entry) = read_line::<Entry>(line) else { return out.noise(line) };
        if let (false, Some(id)) = (self.begun, entry.session_id) {
            self.begun = true;
            out.event(Event::Session { id: id.into(), model: None });
        }
        // Notices of hooks can stand behind the answer.
        self.answered &= entry.kind == "notice";
        match (entry.kind.as_str(), entry.role.as_deref()) {
            ("message", Some("assistant")) => {
                self.answered = entry.generation_status.as_deref() == Some("completed");
                let parts =
                    entry.content.and_then(|content| content.value::<Vec<Part>>()).unwrap_or_default();
                let mut text = String::new();
                for part in parts {
                    match (part.kind.as_str(), part.text) {
                        ("text", Some(said)) => text.push_str(&said),
                        (_, Some(thought)) => out.event(Event::Thinking { text: thought.into() }),
                        _ => {}
                    }
                }
                out.event(Event::Text { text: text.into(), delta: false });
            }
            ("message" | "callback" | "notice", _) => {}
            ("effect", _) => effect(entry.id, entry.detail, entry.state, out),
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        let export = export(end);
        if let Some(export) = &export {
            reply.usage = export.usage();
            reply.model = export
                .config
                .as_ref()
                .and_then(|config| config.active_model.clone())
                .filter(|model| !model.is_empty());
            if reply.session_id.is_none() {
                reply.session_id.clone_from(&export.session_id);
            }
        }
        let finished = export.as_ref().is_none_or(|export| export.outcome.as_deref() == Some("finished"));
        reply.error = match (end.is_fine() && finished, self.answered) {
            (true, true) if reply.text.trim().is_empty() => Some(FACTS.empty()),
            (true, true) => None,
            _ => Some(failed(export.as_ref(), end, &last_noise)),
        };
        reply
    }
}

/// A tool, when it has run or was refused.
fn effect(id: Option<String>, detail: Option<Json<'_>>, state: Option<Json<'_>>, out: &mut Out<'_>) {
    let detail = detail.and_then(|detail| detail.value::<Detail>());
    let (name, input) = detail.map(|detail| (detail.tool_name, detail.input)).unwrap_or_default();
    let tool = own_name(&name.unwrap_or_default()).to_owned();
    out.event(Event::ToolUse { id: id.clone().map(Into::into), name: tool.clone().into(), input });
    let Some(state) = state.and_then(|state| state.value::<State>()) else { return };
    if let Some(refused) = state.error.filter(|error| error.code.as_deref() == Some("tool_denied")) {
        let reason = refused.message.unwrap_or_default().into();
        out.event(Event::Denied { tool: tool.into(), reason });
    }
    let ok = state.status.as_deref() == Some("completed");
    out.event(Event::ToolResult { id: id.map(Into::into), ok, output: state.output });
}

/// `file_system.bash` is `bash` in its flags, and what it calls `edit` there is `search_replace` here.
fn own_name(name: &str) -> &str {
    let own = name.rsplit('.').next().unwrap_or(name);
    FACTS.tool(own).map_or(own, |(own, _)| own)
}

fn export(end: &RunEnd) -> Option<Export> {
    end.files.get(EXPORT).and_then(|text| serde_json::from_str(text).ok())
}

/// The words are the CLI's own: of the export, else behind `Error: ` or `Stopped: ` on standard error.
fn failed(export: Option<&Export>, end: &RunEnd, last_output: &str) -> Failure {
    let error = export.and_then(|export| export.error.as_ref());
    let said = error.and_then(|error| error.message.clone()).or_else(|| words(&end.stderr));
    let stopped = export.and_then(|export| export.outcome.as_deref()).or_else(|| stopped(&end.stderr));
    let Some(said) = said else {
        return match stopped {
            Some("deadline") => FACTS.failure(Kind::Timeout, "it stopped at its own limit of time"),
            Some("turn_limit") => FACTS.failure(Kind::MaxTurns, "it stopped at its limit of turns"),
            Some(outcome) if outcome != "finished" => {
                FACTS.failure(Kind::HarnessError, &format!("it stopped: {outcome}"))
            }
            _ => FACTS.no_result(end, last_output),
        };
    };
    let code = error.and_then(|error| error.code.as_deref()).unwrap_or_default();
    let of = |beginning: &str| said.starts_with(beginning);
    if code == "invalid_api_key"
        || of("Invalid API key")
        || (of("Missing ") && said.contains(" environment variable"))
    {
        return FACTS.failure(Kind::Auth, &said);
    }
    if of("Session not found") {
        return FACTS.failure(Kind::SessionNotFound, &said);
    }
    if code == "rate_limit" {
        return FACTS.failure(if is_used_up(&said) { Kind::Quota } else { Kind::RateLimit }, &said);
    }
    FACTS.api_failure(&said)
}

/// What follows `Error: `, which can be several lines.
fn words(stderr: &str) -> Option<String> {
    let at = if stderr.starts_with("Error: ") { 0 } else { stderr.find("\nError: ")? + 1 };
    stderr[at..].strip_prefix("Error: ").map(|said| said.trim_end().to_owned())
}

fn stopped(stderr: &str) -> Option<&str> {
    stderr.lines().find_map(|line| line.strip_prefix("Stopped: "))
}

/// The text form, which teamster does not ask for.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.text.starts_with("Run the Mistral Vibe interactive CLI\n") {
        reply.error = Some(FACTS.failure(Kind::HarnessError, "it printed its help in place of an answer"));
    } else if reply.error.is_some() && !end.is_fine() {
        reply.error =
            Some(failed(export(end).as_ref(), end, reply.text.lines().next_back().unwrap_or_default()));
    }
    reply
}
