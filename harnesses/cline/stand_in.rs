//! Plays Cline CLI 3.0.65: its arguments, what it makes of a prompt, the tools of its settings, its events.

use super::prompt::{BETWEEN, is_mention, is_space, trimmed};
use super::rights::GRAMMAR;
use super::{FACTS, LOG};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::policy::tool_argument;
use crate::request::Output;
use serde_json::{Value, json};

pub(super) struct ClineStandIn;

/// Commands, which a prompt of one word may name.
const COMMANDS: [&str; 16] = [
    "auth",
    "config",
    "plugin",
    "skill",
    "connect",
    "mcp",
    "doctor",
    "history",
    "h",
    "hook",
    "schedule",
    "hub",
    "dashboard",
    "update",
    "version",
    "kanban",
];

impl StandIn for ClineStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(1, format!("\u{1b}[31merror:\u{1b}[0m {said}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(|said| refused(format!("error: {said}")))?;
        let prompt = parsed.words.first().map_or("", String::as_str);
        if COMMANDS.contains(&prompt) || parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("[]\n"));
        }
        let approves = match parsed.last("auto-approve") {
            None | Some("true") => true,
            Some("false") => false,
            Some(other) => return Err(refused(format!("invalid auto-approve value \"{other}\""))),
        };
        if !prompt.is_empty() && (parsed.words.len() > 1 || !prompt.contains(is_space)) {
            return Err(refused(format!("Unknown command or unquoted prompt: {prompt}")));
        }
        let prompt = match trimmed(&given.stdin) {
            "" => trimmed(prompt).to_owned(),
            rest => format!("{prompt}{BETWEEN}{rest}"),
        };
        if prompt.is_empty() {
            return Err(refused("JSON output mode requires a prompt argument or piped stdin".to_owned()));
        }
        if prompt.starts_with('/') {
            return Err(refused("what it is depends on the skills that are there".to_owned()));
        }
        if prompt.split(is_space).any(|word| word.strip_prefix('@').is_some_and(is_mention)) {
            return Err(Spoken::default());
        }
        let tools = Tools::of(given, approves);
        Ok(Received {
            prompt,
            output: if parsed.has("json") { Output::Stream } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session: None,
            may_run: Box::new(move |used| tools.may_run(tool_argument(used).0)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let tokens = |input: usize, output: usize| json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": 0, "cacheWriteTokens": 0, "totalCost": 0});
        let result = |reason: &str, text: &str, usage: Value| {
            json!({"type": "run_result", "finishReason": reason, "iterations": 1, "usage": usage, "aggregateUsage": usage,
                "durationMs": 1, "text": text, "model": {"id": received.model.as_deref().unwrap_or("stand-in"), "provider": "stand-in"}})
        };
        let event = |event: Value| json!({"type": "agent_event", "event": event});
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => {
                let said = "the stand-in plays it";
                let class = if matches!(status, 401 | 403) { "auth" } else { "unknown" };
                let error = json!({"type": "error", "error": {"name": "Error", "message": said},
                    "errorClass": class, "recoverable": false, "iteration": 1});
                let lines = [event(error), result("error", said, tokens(0, 0))];
                let log = json!({"level": 50, "err": {"statusCode": status}, "msg": "[ai-sdk] stream error"});
                return Spoken {
                    stdout: lines.map(|line| format!("{line}\n")).concat(),
                    stderr: format!("{}\n", json!({"type": "error", "message": said})),
                    files: [(LOG.to_owned(), format!("{log}\n"))].into(),
                    status: 1,
                };
            }
        };
        if received.output == Output::Text {
            return Spoken::said(format!("{text}\n"));
        }
        let lines = [
            event(json!({"type": "iteration_start", "iteration": 1})),
            event(json!({"type": "content_start", "contentType": "text", "text": text})),
            event(json!({"type": "content_end", "contentType": "text", "text": text})),
            event(json!({"type": "done", "reason": "completed", "text": text})),
            result("completed", text, tokens(received.prompt.len() / 4 + 1, text.len() / 4 + 1)),
        ];
        Spoken::said(lines.map(|line| format!("{line}\n")).concat())
    }
}

/// The tools that are there.
struct Tools {
    approves: bool,
    disabled: Vec<String>,
    web_search: bool,
    /// Servers of the user's are there.
    servers: bool,
}

impl Tools {
    fn of(given: &Given, approves: bool) -> Tools {
        let path = given.var("CLINE_GLOBAL_SETTINGS_PATH");
        let settings = path.and_then(|path| serde_json::from_str::<Value>(given.file(path)?).ok());
        let settings = settings.unwrap_or_default();
        let disabled = settings["disabledTools"].as_array().into_iter().flatten();
        Tools {
            approves,
            disabled: disabled.filter_map(|tool| Some(tool.as_str()?.to_owned())).collect(),
            web_search: settings["tools"]["web_search"]["enabled"] != json!(false),
            servers: given.var("CLINE_MCP_SETTINGS_PATH").is_none_or(|path| given.file(path).is_none()),
        }
    }

    fn may_run(&self, tool: &str) -> bool {
        let disabled = self.disabled.iter().any(|own| own == tool);
        let there = match tool {
            "web_search" => self.web_search,
            _ => FACTS.tools.contains_key(tool) || tool.starts_with("team_") || self.servers,
        };
        self.approves && there && !disabled
    }
}
