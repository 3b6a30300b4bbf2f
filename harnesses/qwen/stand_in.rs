//! Plays qwen 0.24.4: its options, the modes and denies as far as teamster uses them, its messages.

use super::FACTS;
use super::rights::{COVERS, GRAMMAR};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::{Permission, tool_argument};
use crate::request::{Output, Session};
use serde_json::{Value, json};

pub(super) struct QwenStandIn;

/// The session that a run without `--session-id` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for QwenStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let parsed = GRAMMAR.parse(&given.args).map_err(|e| Spoken::refused(1, format!("{e}\n")))?;
        if parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("0.24.4\n"));
        }
        let argument = parsed.last("prompt").or(parsed.words.first().map(String::as_str)).unwrap_or_default();
        let prompt = match given.stdin.as_str() {
            "" => argument.to_owned(),
            stdin => format!("{stdin}\n\n{argument}"),
        };
        if prompt.is_empty() {
            return Err(Spoken::refused(1, "No input provided via stdin.\n"));
        }
        let output = match parsed.last("output-format") {
            Some("json") => Output::Json,
            Some("stream-json") => Output::Stream,
            _ => Output::Text,
        };
        let session = match (parsed.last("session-id"), parsed.last("resume")) {
            (Some(id), _) => Some(Session::New(Some(id.to_owned()))),
            (None, id) => id.map(|id| Session::Resume(id.to_owned())),
        };
        if prompt.starts_with('/') {
            let said = json!([{"type": "result", "subtype": "success", "is_error": false, "result": "", "num_turns": 0}]);
            return Err(Spoken::said(format!("{said}\n")));
        }
        let rights = Rights::of(&parsed);
        Ok(Received {
            prompt,
            output,
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| rights.may_run(used)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let model = received.model.as_deref().unwrap_or("stand-in");
        let error = match answer {
            Answer::Status(status) => Some(format!("[API Error: {status} the stand-in plays it]")),
            _ => None,
        };
        let text = if let Answer::Text(text) = answer { text.as_str() } else { "" };
        let status = i32::from(error.is_some());
        if received.output == Output::Text {
            return match error {
                Some(said) => Spoken::refused(1, format!("{said}\n")),
                None => Spoken::said(format!("{text}\n")),
            };
        }
        let init =
            json!({"type": "system", "subtype": "init", "session_id": session, "model": model, "tools": []});
        let usage =
            json!({"input_tokens": received.prompt.len() / 4 + 1, "output_tokens": text.len() / 4 + 1});
        let content = json!([{"type": "text", "text": text}]);
        let message =
            json!({"id": "m-1", "role": "assistant", "model": model, "content": content, "usage": usage});
        let said = json!({"type": "assistant", "session_id": session, "parent_tool_use_id": null, "message": message});
        let end = result(session, text, error.as_deref(), &usage);
        let all = if error.is_some() || text.is_empty() { vec![init, end] } else { vec![init, said, end] };
        let stdout = match received.output {
            Output::Stream => all.iter().map(|line| format!("{line}\n")).collect(),
            _ => format!("{}\n", Value::from(all)),
        };
        Spoken { stdout, status, ..Spoken::default() }
    }
}

fn result(session: &str, text: &str, error: Option<&str>, usage: &Value) -> Value {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": session,
        "num_turns": 1, "permission_denials": [], "usage": usage,
    });
    if let Some(said) = error {
        result["subtype"] = "error_during_execution".into();
        result["is_error"] = true.into();
        result["error"] = json!({ "message": said });
        result["usage"] = Value::Null;
    }
    result
}

struct Rights {
    mode: String,
    safe: bool,
    denied: Vec<String>,
}

impl Rights {
    fn of(parsed: &Parsed) -> Rights {
        let denied = parsed.all("exclude-tools").flat_map(|list| list.split(','));
        let yolo = parsed.has("yolo").then_some("yolo");
        Rights {
            mode: parsed.last("approval-mode").or(yolo).unwrap_or("auto").to_owned(),
            safe: parsed.has("safe-mode"),
            denied: denied.map(|tool| tool.trim().to_owned()).collect(),
        }
    }

    fn may_run(&self, used: &str) -> bool {
        let name = tool_argument(used).0;
        let Some((tool, facts)) = FACTS.tool(name) else {
            // Servers and extensions bring more, but for the safe mode.
            return !self.safe && self.mode == "yolo";
        };
        let denied = |tool: &str| self.denied.iter().any(|own| own == tool);
        let covered = COVERS.iter().any(|(own, covered)| denied(own) && covered.contains(&tool));
        if denied(tool) || covered {
            return false;
        }
        match self.mode.as_str() {
            "yolo" => true,
            "auto-edit" => !matches!(tool, "run_shell_command" | "monitor"),
            // Only these are asked about, and nobody answers: the others run.
            _ => {
                facts.needs == Permission::ReadOnly
                    || !matches!(
                        tool,
                        "run_shell_command"
                            | "monitor"
                            | "edit"
                            | "write_file"
                            | "notebook_edit"
                            | "web_fetch"
                    )
            }
        }
    }
}
