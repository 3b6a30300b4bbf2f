//! Reads the events of opencode and its forks, and tells their failures apart.
//!
//! - The events of one step come in any order, and there is none for the end: the answer is the text of the last step,
//!   where that step says `stop`.
//! - An error is an event with a name and the status of the model server; the forks also write a plain string.
//! - What was refused stands in the tool's error. A refusal of what was asked about ends the run, with status 0.

use super::Fork;
use crate::error::{Failure, Kind, cut};
use crate::harness::Facts;
use crate::reply::{
    Collector, Decode, Event, Json, LineReader, Out, Reader, Reply, RunEnd, TextReader, Usage, http_status,
    read_line,
};
use crate::request::Output;
use serde::Deserialize;

/// A reader for this form of output.
pub(crate) fn reader(fork: &'static Fork, output: Output) -> Box<dyn Reader> {
    let facts = (fork.facts)();
    match output {
        Output::Text => {
            Box::new(TextReader::new(move |stdout: String, end: &RunEnd| text(facts, &stdout, end)))
        }
        _ => Box::new(LineReader::new(Events::new(facts))),
    }
}

struct Events {
    facts: &'static Facts,
    session: Option<String>,
    /// The message of the last step, and the text in it.
    message: Option<String>,
    text: String,
    reason: Option<String>,
    usage: Option<Usage>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "sessionID")]
    session: Option<String>,
    part: Option<Part>,
    error: Option<Json<'static>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "messageID")]
    message: Option<String>,
    text: Option<String>,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call: Option<String>,
    state: Option<State>,
    reason: Option<String>,
    tokens: Option<Tokens>,
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct State {
    status: Option<String>,
    input: Option<Json<'static>>,
    output: Option<Json<'static>>,
    error: Option<String>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct Tokens {
    total: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache: Option<Cache>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct Cache {
    read: Option<u64>,
    write: Option<u64>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    message: Option<String>,
    #[serde(rename = "statusCode")]
    status: Option<u16>,
    #[serde(rename = "responseBody")]
    body: Option<String>,
}

impl Tokens {
    /// What came from the cache is not in `input` there, and is in ours.
    fn usage(self, cost: Option<f64>) -> Usage {
        let cache = self.cache.unwrap_or_default();
        let cached: u64 = [cache.read, cache.write].into_iter().flatten().sum();
        Usage {
            input_tokens: self.input.map(|tokens| tokens.saturating_add(cached)),
            output_tokens: self.output,
            cached_tokens: cache.read,
            cache_write_tokens: cache.write,
            thinking_tokens: self.reasoning,
            total_tokens: self.total,
            // 0 is also what it says of a model without a price.
            cost_usd: cost.filter(|cost| *cost > 0.0),
            ..Usage::default()
        }
    }
}

impl Decode for Events {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        if let Some(id) = read.session.filter(|_| self.session.is_none()) {
            self.session = Some(id.clone());
            out.event(Event::Session { id: id.into(), model: None });
        }
        match (read.kind.as_str(), read.part, read.error) {
            ("step_start", Some(part), _) => self.step(part.message),
            ("text", Some(part), _) => {
                let text = part.text.unwrap_or_default();
                self.step(part.message);
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(&text);
                out.event(Event::Text { text: text.into(), delta: false });
            }
            ("reasoning", Some(part), _) => {
                out.event(Event::Thinking { text: part.text.unwrap_or_default().into() });
            }
            ("tool_use", Some(part), _) => self.tool(part, out),
            ("step_finish", Some(part), _) => {
                self.step(part.message);
                self.reason = part.reason;
                // A step that broke off counts nothing, and says so with zeros.
                if let Some(tokens) = part.tokens.filter(|tokens| tokens.input.max(tokens.output) > Some(0)) {
                    *self.usage.get_or_insert_default() += tokens.usage(part.cost);
                }
                if let Some(usage) = self.usage {
                    out.event(Event::Usage { usage });
                }
            }
            ("error", _, Some(error)) => {
                let failure = self.failure(&error);
                out.event(Event::Error { message: failure.message.as_str().into(), fatal: true });
                self.error.get_or_insert(failure);
            }
            ("done", ..) => out.event(Event::End { ok: self.error.is_none() }),
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let Collector { mut reply, last_noise, .. } = collected;
        reply.text = self.text;
        let refused = reply.denied.last();
        reply.error = match (fell_back(self.facts, end), self.error, self.reason.as_deref()) {
            (Some(other), ..) => Some(other),
            (None, Some(_), _) if refused.is_some() && ended_by_refusal(end) => {
                refused.map(|denied| stopped(self.facts, &denied.tool))
            }
            (None, Some(error), _) => Some(error),
            (None, None, _) if !end.is_fine() => Some(no_events(self.facts, end, &last_noise)),
            (None, None, None) => Some(no_events(self.facts, end, &last_noise)),
            (None, None, Some("tool-calls")) => match refused {
                Some(denied) => Some(stopped(self.facts, &denied.tool)),
                None => {
                    Some(self.facts.failure(Kind::HarnessError, "it ended after a tool, without an answer"))
                }
            },
            (None, None, Some("length")) => Some(
                Failure::new(
                    Kind::OutputLimit,
                    format!("{}: the model's answer was cut at its limit of tokens", self.facts.id),
                )
                .hint("ask for less at once, or raise the model's limit of output in the CLI's settings"),
            ),
            (None, None, Some("stop")) if !reply.text.trim().is_empty() => None,
            (None, None, Some("stop")) => Some(self.facts.empty()),
            (None, None, Some(other)) => {
                let why = format!("the last step ended with `{}`", cut(other, 80));
                Some(self.facts.failure(Kind::HarnessError, &why))
            }
        };
        reply
    }
}

impl Events {
    fn new(facts: &'static Facts) -> Self {
        Events {
            facts,
            session: None,
            message: None,
            text: String::new(),
            reason: None,
            usage: None,
            error: None,
        }
    }

    /// A step of another message begins: what was said before is no answer.
    fn step(&mut self, message: Option<String>) {
        if self.message != message {
            self.message = message;
            self.text.clear();
            self.reason = None;
        }
    }

    fn tool(&mut self, part: Part, out: &mut Out<'_>) {
        let name = part.tool.unwrap_or_default();
        let state = part.state.unwrap_or(State { status: None, input: None, output: None, error: None });
        let id = part.call;
        out.event(Event::ToolUse {
            id: id.clone().map(Into::into),
            name: name.clone().into(),
            input: state.input,
        });
        let said = state.error.unwrap_or_default();
        if ["The user rejected permission", "The user has specified a rule which prevents"]
            .iter()
            .any(|words| said.starts_with(words))
        {
            // The rest is a list of all rules.
            let reason = said.split(". Here are").next().unwrap_or_default();
            out.event(Event::Denied { tool: name.into(), reason: cut(reason, 300).into_owned().into() });
        }
        let ok = state.status.as_deref() == Some("completed");
        let output = state.output.or_else(|| (!said.is_empty()).then(|| Json::from_text(&said)));
        out.event(Event::ToolResult { id: id.map(Into::into), ok, output });
    }

    /// Structure first: the status of the model server, then the error's name.
    fn failure(&self, error: &Json<'static>) -> Failure {
        let Some(named) = error.value::<Named>() else {
            let said = error.clone().string().unwrap_or_else(|| error.text().to_owned().into());
            if said.starts_with("run ended without an assistant message") {
                return self.facts.failure(Kind::EmptyReply, &said);
            }
            return self.facts.api_failure(&said);
        };
        let name = named.name.unwrap_or_default();
        let data = named.data.unwrap_or(Data { message: None, status: None, body: None });
        let said = data.message.unwrap_or_else(|| name.clone());
        let body = data.body.unwrap_or_default();
        match (name.as_str(), data.status.and_then(Kind::of_http_status)) {
            ("ProviderAuthError", _) => self.facts.failure(Kind::Auth, &said),
            ("ContextOverflowError", _) => self
                .facts
                .failure(Kind::HarnessError, &said)
                .hint("ask for less at once, or name a model with a larger context"),
            ("MessageOutputLengthError", _) => self.facts.failure(Kind::OutputLimit, &said),
            (_, Some(Kind::RateLimit))
                if body.contains("insufficient_quota") || body.contains("UsageLimitError") =>
            {
                self.facts.failure(Kind::Quota, &said)
            }
            (_, Some(kind)) => self.facts.failure(kind, &said),
            // It keeps the cause to itself: an unknown model or provider, or no key for it.
            ("UnknownError", None) if said.starts_with("Unexpected server error") => {
                self.facts.failure(Kind::HarnessError, &said).hint(
                    "mostly the model is unknown, or its provider has no key: name a model as provider/model",
                )
            }
            (_, None) => self.facts.api_failure(&said),
        }
    }
}

/// The run went on with another agent, and so with other rights, when ours was not there.
fn fell_back(facts: &Facts, end: &RunEnd) -> Option<Failure> {
    let line = end.stderr.lines().find(|line| line.contains("Falling back to default agent"))?;
    let line = line.rsplit_once("\u{1b}[0m").map_or(line, |(_, said)| said);
    let why = format!("{} ran with the rights of another agent: {}", facts.id, cut(plain(line), 300));
    Some(
        Failure::new(Kind::Unenforceable, why)
            .hint("look at what it did; its settings hide the agent of the command"),
    )
}

/// A fork's own word for a run that a refusal ended.
fn ended_by_refusal(end: &RunEnd) -> bool {
    end.stderr.lines().any(|line| line.contains("auto-rejected permission"))
}

fn stopped(facts: &Facts, tool: &str) -> Failure {
    let why = format!(
        "{} asked before `{}`, was refused since nobody is there, and stopped",
        facts.id,
        cut(tool, 80)
    );
    Failure::new(Kind::Permission, why)
        .hint("grant it in the request; what your own settings ask about has to be allowed there")
}

/// What stands on standard error where no event came.
fn no_events(facts: &Facts, end: &RunEnd, last_output: &str) -> Failure {
    let unmarked = |line| plain(line).strip_prefix("Error: ").map_or(plain(line), plain);
    let said = |words: &str| end.stderr.lines().map(unmarked).find(|line| line.contains(words));
    if let Some(line) = said("Session not found") {
        return facts.failure(Kind::SessionNotFound, line);
    }
    if let Some(line) = said("Model not found").or_else(|| said("ModelNotFoundError")) {
        return facts.failure(Kind::HarnessError, line).hint("name a model as provider/model");
    }
    if let Some(line) = said("Failed to change directory") {
        return facts.failure(Kind::BadCwd, line);
    }
    if let Some(line) = said("is not valid JSON").or_else(|| said("Configuration is invalid")) {
        return facts.failure(Kind::HarnessConfig, line);
    }
    facts.no_result(end, last_output)
}

/// The text form, which teamster does not ask for: errors are on standard error alone.
fn text(facts: &'static Facts, stdout: &str, end: &RunEnd) -> Reply {
    let mut reply = facts.text_reply(stdout, end);
    if let Some(other) = fell_back(facts, end) {
        reply.error = Some(other);
    } else if reply.error.is_some() && !end.is_fine() {
        let line = end.stderr.lines().map(plain).find_map(|line| line.strip_prefix("Error: ")).map(plain);
        reply.error = Some(match line {
            Some(line) if line.starts_with("Incorrect API key") => facts.failure(Kind::Auth, line),
            Some(line) if http_status(line).is_some() => facts.api_failure(line),
            Some(line) if !line.contains("Session not found") => facts.failure(Kind::HarnessError, line),
            _ => no_events(facts, end, ""),
        });
    }
    reply
}

/// A line without the colours that it has also where nobody sees them.
fn plain(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some((_, after)) = rest.strip_prefix("\u{1b}[").and_then(|code| code.split_once('m')) {
        rest = after.trim_start();
    }
    rest
}
