//! Reads codex's events, and tells its failures apart.

use super::FACTS;
use crate::error::{Failure, Kind, cut};
use crate::reply::read_line;
use crate::reply::{
    By, Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage,
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

/// The text form, which teamster does not ask for: standard error has everything but the answer in it.
fn text(stdout: String, end: &RunEnd) -> Reply {
    let mut reply = FACTS.text_reply(&stdout, end);
    if let (true, Some(said)) =
        (reply.error.is_some(), end.last_line().and_then(|l| l.strip_prefix("ERROR: ")))
    {
        reply.error = Some(FACTS.failure(kind(said), said));
    }
    reply
}

#[derive(Default)]
struct Events {
    failed: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    thread_id: Option<String>,
    item: Option<Item>,
    usage: Option<Tokens>,
    message: Option<String>,
    error: Option<Said>,
}

#[derive(Deserialize)]
struct Said {
    message: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    text: Option<String>,
    message: Option<String>,
    status: Option<String>,
    command: Option<Json<'static>>,
    aggregated_output: Option<Json<'static>>,
    changes: Option<Json<'static>>,
    server: Option<String>,
    tool: Option<String>,
    arguments: Option<Json<'static>>,
    result: Option<Json<'static>>,
    query: Option<Json<'static>>,
}

#[derive(Deserialize, Clone, Copy)]
struct Tokens {
    input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        match read.kind.as_str() {
            "thread.started" => {
                let id = read.thread_id.unwrap_or_default();
                out.event(Event::Session { id: id.into(), model: None });
            }
            "item.started" | "item.completed" => {
                if let Some(item) = read.item {
                    item.tell(read.kind == "item.completed", out);
                }
            }
            "turn.completed" => {
                if let Some(tokens) = read.usage {
                    out.event(Event::Usage { usage: tokens.usage() });
                }
                out.event(Event::End { ok: true });
            }
            "turn.failed" => {
                let said = read.error.and_then(|error| error.message).unwrap_or_default();
                out.event(Event::Error { message: said.clone().into(), fatal: true });
                out.event(Event::End { ok: false });
                self.failed = Some(said);
            }
            // It may pass: what ends the run is said by `turn.failed`.
            "error" => {
                let message = read.message.unwrap_or_default();
                match attempt(&message) {
                    Some(attempt) => {
                        out.event(Event::Retry { by: By::Harness, attempt, message: message.into() })
                    }
                    None => out.event(Event::Error { message: message.into(), fatal: false }),
                }
            }
            "turn.started" | "item.updated" => {}
            _ => out.noise(line),
        }
    }

    /// What the sandbox or the policy refused is in no event, but in the CLI's own log.
    fn stderr_line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let line = String::from_utf8_lossy(line);
        let Some((_, said)) = line.split_once(" ERROR codex_core::tools::router: error=") else { return };
        let tool = match said {
            _ if said.starts_with("patch rejected") => "apply_patch",
            _ if said.contains("reject command") => "exec_command",
            _ => return,
        };
        out.event(Event::Denied { tool: tool.into(), reason: cut(said, 300).into_owned().into() });
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, ended, last_noise, .. } = collected;
        reply.error = match (self.failed, ended) {
            (Some(said), _) => Some(FACTS.failure(kind(&said), &said)),
            (None, Some(true)) if end.is_fine() && reply.text.trim().is_empty() => Some(FACTS.empty()),
            (None, Some(true)) if end.is_fine() => None,
            (None, _) => Some(no_result(end, &last_noise)),
        };
        reply
    }
}

impl Tokens {
    fn usage(self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            cached_tokens: self.cached_input_tokens,
            cache_write_tokens: self.cache_write_input_tokens,
            output_tokens: self.output_tokens,
            thinking_tokens: self.reasoning_output_tokens,
            ..Usage::default()
        }
    }
}

impl Item {
    fn tell(self, completed: bool, out: &mut Out<'_>) {
        let id = self.id.map(std::borrow::Cow::from);
        let failed = self.status.as_deref() == Some("failed");
        let (name, input, output) = match self.kind.as_str() {
            "agent_message" if completed => {
                return out.event(Event::Text { text: self.text.unwrap_or_default().into(), delta: false });
            }
            "reasoning" if completed => {
                return out.event(Event::Thinking { text: self.text.unwrap_or_default().into() });
            }
            // A warning: of an unknown model, of a key of the settings, of a model that changed.
            "error" if completed => {
                let message = self.message.unwrap_or_default().into();
                return out.event(Event::Error { message, fatal: false });
            }
            "command_execution" => ("exec_command".to_owned(), self.command, self.aggregated_output),
            "file_change" => ("apply_patch".to_owned(), self.changes, None),
            "web_search" => ("web_search".to_owned(), self.query, None),
            "collab_tool_call" => (self.tool.unwrap_or_default(), self.arguments, self.result),
            "mcp_tool_call" => {
                let name = format!("{}/{}", self.server.unwrap_or_default(), self.tool.unwrap_or_default());
                (name, self.arguments, self.result)
            }
            _ => return,
        };
        if !completed {
            return out.event(Event::ToolUse { id, name: name.into(), input });
        }
        let no_sandbox = |json: &Json<'static>| json.text().trim_start_matches('"').starts_with("bwrap: ");
        if let Some(said) = output.clone().filter(no_sandbox).and_then(Json::string) {
            let reason = format!("no sandbox can be made here, so no command runs: {}", said.trim());
            out.event(Event::Denied { tool: name.into(), reason: cut(&reason, 300).into_owned().into() });
        }
        out.event(Event::ToolResult { id, ok: !failed, output });
    }
}

/// `Reconnecting... 2/5 (…)`: which try comes now, where it is told.
fn attempt(message: &str) -> Option<Option<u32>> {
    let rest = message.strip_prefix("Reconnecting... ")?;
    Some(rest.split_once('/').and_then(|(number, _)| number.parse().ok()))
}

/// By the HTTP status in what the CLI says of its model server, else by its own words for it. None of it is
/// the agent's.
fn kind(said: &str) -> Kind {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match () {
        () if has(&["invalid_json_schema"]) => Kind::SchemaError,
        () if has(&["insufficient_quota"]) || said.starts_with("Quota exceeded") => Kind::Quota,
        () if said.starts_with("You\u{2019}ve hit your usage limit")
            || said.starts_with("You've hit your usage") =>
        {
            Kind::Quota
        }
        () if said.starts_with("Missing environment variable") => Kind::Auth,
        () if said.starts_with("Selected model is at capacity") => Kind::RateLimit,
        () => crate::reply::http_status(said).and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError),
    }
}

/// Messages on standard error, with no events or none that ends the turn (run).
fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    if end.is_fine() {
        let failure = FACTS.no_result(end, last_output);
        let why = format!("{} ended well, and its turn did not: the output has no end", FACTS.id);
        return if failure.kind == Kind::EmptyReply {
            Failure::new(Kind::HarnessError, why)
        } else {
            failure
        };
    }
    // What it writes in every run says nothing of this one; the first line of an error says most.
    let noise = ["Reading additional input from stdin", "WARNING: proceeding, even though"];
    let lines = || end.stderr.lines().filter(|line| !noise.iter().any(|words| line.starts_with(words)));
    for (words, kind) in [
        ("no rollout found for thread id", Kind::SessionNotFound),
        ("Not inside a trusted directory", Kind::UntrustedDir),
        ("Input exceeds the maximum length", Kind::ArgTooLong),
        ("Error loading config.toml", Kind::HarnessConfig),
        ("Not logged in", Kind::Auth),
    ] {
        let mut rest = lines().skip_while(|line| !line.contains(words));
        if let Some(line) = rest.next() {
            return FACTS.failure(kind, &format!("{line} {}", rest.next().unwrap_or_default()));
        }
    }
    let first = lines().find(|line| line.starts_with("error: ") || line.starts_with("Error: "));
    let stderr = first.map_or_else(|| lines().collect::<Vec<_>>().join("\n"), str::to_owned);
    FACTS.no_result(&RunEnd { stderr, ..end.clone() }, last_output)
}
