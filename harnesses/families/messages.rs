//! Output of messages with a `result` at their end: one envelope, an array of all, or one a line.
//!
//! Claude Code began it (run with 2.1.332, 2.1.197 and 2.1.50, 2026-11); Qwen Code and others write the same
//! with fields of their own, so everything but `type` is optional here.

use crate::error::{Failure, Kind};
use crate::harness::Facts;
use crate::reply::{By, Collector, Decode, Event, Json, Out, Reply, RunEnd, Usage, read_line};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// How one CLI's messages are judged.
#[derive(Clone, Copy)]
pub(crate) struct Flavour {
    /// The harness.
    pub(crate) facts: fn() -> &'static Facts,
    /// The kind of a result that is an error.
    pub(crate) kind: fn(&ResultMessage) -> Kind,
    /// The failure of a run that gave no result: by its end and the last line that was no message.
    pub(crate) no_result: fn(&RunEnd, &str) -> Failure,
    /// Its `input_tokens` count those of the cache already.
    pub(crate) input_is_all: bool,
}

/// Reads messages.
pub(crate) struct Messages {
    flavour: Flavour,
    result: Option<ResultMessage>,
    tools: HashMap<String, String>,
    denied: HashSet<String>,
    usage: HashMap<String, Usage>,
    order: u64,
}

impl Messages {
    pub(crate) fn new(flavour: Flavour) -> Self {
        Messages {
            flavour,
            result: None,
            tools: HashMap::new(),
            denied: HashSet::new(),
            usage: HashMap::new(),
            order: 0,
        }
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    session_id: Option<String>,
    model: Option<String>,
    parent_tool_use_id: Option<String>,
    message: Option<Json<'static>>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    attempt: Option<u32>,
    error_status: Option<u16>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    content: Option<Json<'static>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Json<'static>>,
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
    content: Option<Json<'static>>,
}

/// The last message of a run.
#[derive(Deserialize, Default)]
pub(crate) struct ResultMessage {
    pub(crate) subtype: Option<String>,
    pub(crate) session_id: Option<String>,
    #[serde(default)]
    pub(crate) is_error: Option<bool>,
    pub(crate) result: Option<String>,
    structured_output: Option<Json<'static>>,
    structured_result: Option<Json<'static>>,
    pub(crate) api_error_status: Option<u16>,
    pub(crate) terminal_reason: Option<String>,
    #[serde(default)]
    errors: Option<Vec<Json<'static>>>,
    error: Option<Json<'static>>,
    #[serde(default)]
    permission_denials: Option<Vec<Denial>>,
    usage: Option<Tokens>,
    #[serde(rename = "modelUsage")]
    model_usage: Option<HashMap<String, serde::de::IgnoredAny>>,
    total_cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct Denial {
    tool_name: String,
    tool_use_id: Option<String>,
    tool_input: Option<Json<'static>>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct Details {
    thinking_tokens: Option<u64>,
}

impl Tokens {
    /// What came from the cache and what went into it is not in `input_tokens` there, and is in ours.
    fn usage(self, input_is_all: bool) -> Usage {
        let cache = [self.cache_read_input_tokens, self.cache_creation_input_tokens];
        let added: u64 = if input_is_all { 0 } else { cache.iter().flatten().sum() };
        Usage {
            input_tokens: self.input_tokens.map(|tokens| tokens.saturating_add(added)),
            output_tokens: self.output_tokens,
            cached_tokens: self.cache_read_input_tokens,
            cache_write_tokens: self.cache_creation_input_tokens,
            thinking_tokens: self.output_tokens_details.and_then(|details| details.thinking_tokens),
            ..Usage::default()
        }
    }
}

impl ResultMessage {
    /// An error that was said in a text alone.
    pub(crate) fn failed(said: String) -> ResultMessage {
        ResultMessage { is_error: Some(true), result: Some(said), ..ResultMessage::default() }
    }

    /// Whether the CLI calls it an error: `subtype` alone proves nothing, API errors come as `success`.
    fn is_failed(&self) -> bool {
        self.is_error == Some(true)
            || self.subtype.as_deref().is_some_and(|s| s.starts_with("error") || s == "failure")
            || self.error.is_some()
    }

    /// What it says of its failure: one message, never empty.
    pub(crate) fn said(&self) -> String {
        let text = |json: &Json<'static>| {
            let message =
                json.value::<HashMap<String, Json<'static>>>().and_then(|mut m| m.remove("message"));
            message
                .unwrap_or_else(|| json.clone())
                .string()
                .map_or_else(|| json.text().to_owned(), Into::into)
        };
        let from_list = || {
            let all: Vec<String> = self.errors.iter().flatten().map(text).collect();
            (!all.is_empty()).then(|| all.join("; "))
        };
        let said =
            self.error.as_ref().map(text).or_else(|| self.result.clone().filter(|r| !r.trim().is_empty()));
        let how = || self.terminal_reason.clone().or_else(|| self.subtype.clone());
        said.or_else(from_list).or_else(how).unwrap_or_else(|| "it gave no reason".to_owned())
    }

    /// The value that the CLI held to a schema itself, else the text.
    fn answer(&self) -> String {
        let structured = self.structured_output.as_ref().or(self.structured_result.as_ref());
        let structured = structured.filter(|json| json.text() != "null").map(|json| json.text().to_owned());
        structured.or_else(|| self.result.clone()).unwrap_or_default()
    }
}

impl Decode for Messages {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        let Some(read) = read_line::<Line>(line) else { return out.noise(line) };
        // What a sub-agent says is the work of a tool.
        if read.parent_tool_use_id.is_some() {
            return;
        }
        match (read.kind.as_str(), read.subtype.as_deref()) {
            ("system", Some("init")) => {
                if let Some(id) = read.session_id {
                    out.event(Event::Session { id: id.into(), model: read.model.map(Into::into) });
                }
            }
            ("system", Some("api_retry")) => {
                let why =
                    read.error_status.map_or_else(|| "an error".to_owned(), |status| status.to_string());
                let message = format!("the model server answered {why}; the CLI tries again").into();
                let attempt = read.attempt.map(|n| n.saturating_add(1));
                out.event(Event::Retry { by: By::Harness, attempt, message });
            }
            ("system", Some("permission_denied")) => {
                self.denied.extend(read.tool_use_id);
                let reason = read.message.and_then(Json::string).unwrap_or("not allowed".into());
                out.event(Event::Denied { tool: read.tool_name.unwrap_or_default().into(), reason });
            }
            ("assistant" | "user", _) => match read.message.and_then(|message| message.value::<Message>()) {
                Some(message) => self.message(message, read.kind == "assistant", out),
                None => out.noise(line),
            },
            ("result", _) => match read_line::<ResultMessage>(line) {
                Some(result) => self.end(result, out),
                None => out.noise(line),
            },
            ("system" | "stream_event" | "rate_limit_event", _) => {}
            _ => out.noise(line),
        }
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        let facts = (self.flavour.facts)();
        let Collector { mut reply, last_noise, .. } = collected;
        let Some(result) = self.result else {
            let mut sum: Option<Usage> = None;
            self.usage.into_values().for_each(|usage| *sum.get_or_insert_default() += usage);
            reply.usage = sum;
            reply.error = Some((self.flavour.no_result)(end, &last_noise));
            return reply;
        };
        reply.error = if result.is_failed() {
            Some(facts.failure((self.flavour.kind)(&result), &result.said()))
        } else {
            reply.text = result.answer();
            match (end.is_fine(), reply.text.trim().is_empty()) {
                (true, false) => None,
                (true, true) => Some(facts.empty()),
                (false, _) => Some((self.flavour.no_result)(end, &last_noise)),
            }
        };
        reply
    }
}

impl Messages {
    fn message(&mut self, message: Message, of_agent: bool, out: &mut Out<'_>) {
        if let (true, Some(tokens)) = (of_agent, message.usage) {
            // A message comes as one line a block, and each line has the usage so far: the last one counts.
            self.order += 1;
            let id = message.id.clone().unwrap_or_else(|| self.order.to_string());
            self.usage.insert(id, tokens.usage(self.flavour.input_is_all));
        }
        if let (true, Some(model), None) = (of_agent, &message.model, &out.collector.reply.model) {
            out.collector.reply.model = Some(model.clone());
        }
        let Some(content) = message.content else { return };
        let Some(blocks) = content.value::<Vec<Block>>() else {
            // Content may be one text.
            if let (true, Some(text)) = (of_agent, content.string()) {
                out.event(Event::Text { text, delta: false });
            }
            return;
        };
        for block in blocks {
            match (block.kind.as_str(), of_agent) {
                ("text", true) => {
                    out.event(Event::Text { text: block.text.unwrap_or_default().into(), delta: false });
                }
                ("thinking", true) => {
                    out.event(Event::Thinking { text: block.thinking.unwrap_or_default().into() });
                }
                ("tool_use", true) => {
                    let name = block.name.unwrap_or_default();
                    if let Some(id) = &block.id {
                        self.tools.insert(id.clone(), name.clone());
                    }
                    let id = block.id.map(Into::into);
                    out.event(Event::ToolUse { id, name: name.into(), input: block.input });
                }
                ("tool_result", false) => {
                    if let Some(id) = &block.tool_use_id {
                        self.tools.remove(id);
                    }
                    let ok = block.is_error != Some(true);
                    out.event(Event::ToolResult {
                        id: block.tool_use_id.map(Into::into),
                        ok,
                        output: block.content,
                    });
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, mut result: ResultMessage, out: &mut Out<'_>) {
        let reply = &mut out.collector.reply;
        if let Some(id) = result.session_id.take() {
            reply.session_id = Some(id);
        }
        if let Some(models) = &result.model_usage
            && reply.model.is_none()
            && let [model] = models.keys().collect::<Vec<_>>()[..]
        {
            reply.model = Some(model.clone());
        }
        for denial in result.permission_denials.take().unwrap_or_default() {
            if denial.tool_use_id.is_some_and(|id| !self.denied.insert(id)) {
                continue;
            }
            let asked = denial.tool_input.map_or_else(String::new, |input| input.text().to_owned());
            let reason = crate::error::cut(&asked, 300).into_owned().into();
            out.event(Event::Denied { tool: denial.tool_name.into(), reason });
        }
        if let Some(tokens) = result.usage {
            let usage = Usage { cost_usd: result.total_cost_usd, ..tokens.usage(self.flavour.input_is_all) };
            out.event(Event::Usage { usage });
        }
        out.event(Event::End { ok: !result.is_failed() });
        self.result = Some(result);
    }
}
