//! Plays Kimi Code 2.1.0: its arguments, the agent's tools, its events.

use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::policy::tool_argument;
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct KimiStandIn;

/// The session that a run without `--session` begins.
const SESSION: &str = "session_00000000-0000-4000-8000-000000000000";

impl StandIn for KimiStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(1, format!("error: {said}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(refused)?;
        let Some(prompt) = parsed.last("prompt").filter(|prompt| !prompt.trim().is_empty()) else {
            return Err(refused("Prompt cannot be empty.".to_owned()));
        };
        for flag in ["yolo", "auto", "plan"] {
            if parsed.has(flag) {
                return Err(refused(format!("Cannot combine --prompt with --{flag}.")));
            }
        }
        let session = parsed.last("session").map(|id| Session::Resume(id.to_owned()));
        let agent = match (parsed.last("agent-file"), &session) {
            (Some(_), Some(_)) => {
                let why = "Cannot combine --agent/--agent-file with --session/--continue".to_owned();
                return Err(refused(why));
            }
            (Some(path), None) => match given.file(path) {
                Some(file) => Agent::of(file).map_err(refused)?,
                None => return Err(refused(format!("no file {path}"))),
            },
            (None, _) => Agent::default(),
        };
        let output = match parsed.last("output-format") {
            Some("stream-json") => Output::Stream,
            _ => Output::Text,
        };
        Ok(Received {
            prompt: prompt.to_owned(),
            output,
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| agent.has(tool_argument(used).0)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => {
                let code = match status {
                    401 | 403 => "provider.auth_error",
                    429 => "provider.rate_limit",
                    _ => "provider.api_error",
                };
                let version = json!({"role": "meta", "type": "system.version", "version": "2.1.0"});
                let stderr = format!("error: failed to run prompt: {code}: {status} the stand-in plays it\n");
                return Spoken { stdout: format!("{version}\n"), stderr, status: 1, ..Spoken::default() };
            }
        };
        if received.output == Output::Text {
            return Spoken::said(format!("• {}\n\n", text.replace('\n', "\n  ")));
        }
        let lines = [
            json!({"role": "meta", "type": "system.version", "version": "2.1.0"}),
            json!({"role": "assistant", "content": text}),
            json!({"role": "meta", "type": "session.resume_hint", "session_id": session}),
        ];
        Spoken::said(lines.map(|line| format!("{line}\n")).concat())
    }
}

/// The tools of an agent: each of them runs.
#[derive(Default)]
struct Agent {
    tools: Option<Vec<String>>,
    without: Vec<String>,
}

impl Agent {
    fn of(file: &str) -> Result<Agent, String> {
        let parts = file.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let Some((head, body)) = parts else { return Err("Missing frontmatter".to_owned()) };
        if body.trim().is_empty() {
            return Err("Missing prompt body".to_owned());
        }
        let list = |name: &str| -> Option<Vec<String>> {
            let line = head.lines().find_map(|line| line.strip_prefix(name))?;
            serde_json::from_str(line.trim()).ok()
        };
        let tools = list("tools:").filter(|tools| *tools != ["*"]);
        Ok(Agent { tools, without: list("disallowedTools:").unwrap_or_default() })
    }

    fn has(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|own| own == tool);
        !named(&self.without) && self.tools.as_ref().is_none_or(|tools| named(tools))
    }
}
