//! Plays codex 0.171.0: its options, its sandbox, its events.

use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::tool_argument;
use crate::request::{Output, Session};
use serde_json::json;
use toml::{Table, Value};

pub(super) struct CodexStandIn;

/// The thread that a run begins.
const THREAD: &str = "00000000-0000-7000-8000-000000000000";

impl StandIn for CodexStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage = |e: String| Spoken::refused(2, format!("error: {e}\n\nUsage: codex exec [OPTIONS]\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        if parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("codex-cli 0.171.0\n"));
        }
        let words: Vec<&str> = parsed.words.iter().map(String::as_str).collect();
        let (session, prompt) = match words[..] {
            ["exec", "resume", id, prompt] => (Some(Session::Resume(id.to_owned())), prompt),
            ["exec", prompt] => (None, prompt),
            _ => return Err(usage(format!("unexpected arguments {words:?}"))),
        };
        if parsed.all("sandbox").count() > 1 {
            return Err(usage("the argument '--sandbox' cannot be used multiple times".to_owned()));
        }
        if !parsed.has("skip-git-repo-check") {
            let why = "Not inside a trusted directory and --skip-git-repo-check was not specified.\n";
            return Err(Spoken::refused(1, why));
        }
        let prompt = match prompt {
            "-" if given.stdin.trim().is_empty() => {
                return Err(Spoken::refused(1, "No prompt provided via stdin.\n"));
            }
            "-" => given.stdin.strip_prefix('\u{feff}').unwrap_or(&given.stdin).to_owned(),
            prompt => prompt.to_owned(),
        };
        if let Some(path) = parsed.last("output-schema")
            && given.file(path).is_none_or(|text| serde_json::from_str::<serde_json::Value>(text).is_err())
        {
            return Err(Spoken::refused(1, format!("Failed to read output schema file {path}\n")));
        }
        let rights = Rights::of(&parsed)?;
        Ok(Received {
            prompt,
            output: if parsed.has("json") { Output::Stream } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| rights.may_run(used)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let thread = match &received.session {
            // What is no UUID begins a new thread.
            Some(Session::Resume(id)) if id.len() == 36 => id.as_str(),
            _ => THREAD,
        };
        let message = |text: &str| json!({"id": "item_0", "type": "agent_message", "text": text});
        let done = |text: &str| {
            let usage = json!({"input_tokens": received.prompt.len() / 4 + 1, "cached_input_tokens": 0,
                "output_tokens": text.len() / 4 + 1});
            vec![
                json!({"type": "item.completed", "item": message(text)}),
                json!({"type": "turn.completed", "usage": usage}),
            ]
        };
        let (events, text, status) = match answer {
            Answer::Text(text) => (done(text), text.as_str(), 0),
            // As run: an empty message, and a good end.
            Answer::Empty => (done(""), "", 0),
            Answer::Status(status) => {
                let said =
                    format!("unexpected status {status} the stand-in plays it: no, url: http://127.0.0.1");
                let failed = vec![
                    json!({"type": "error", "message": format!("Reconnecting... 1/5 ({said})")}),
                    json!({"type": "turn.failed", "error": {"message": said}}),
                ];
                (failed, "", 1)
            }
        };
        let stdout = match received.output {
            Output::Text => format!("{text}\n"),
            _ => {
                let begin =
                    [json!({"type": "thread.started", "thread_id": thread}), json!({"type": "turn.started"})];
                begin.iter().chain(&events).map(|event| format!("{event}\n")).collect()
            }
        };
        Spoken { stdout, status, ..Spoken::default() }
    }
}

/// What runs with no one there to ask.
struct Rights {
    /// How far: 0 reads, 1 writes in the workspace, 2 is everything.
    sandbox: u8,
    settings: Table,
}

impl Rights {
    fn of(parsed: &Parsed) -> Result<Rights, Spoken> {
        let mut settings = Table::new();
        for setting in parsed.all("config") {
            let Some((key, value)) = setting.split_once('=') else {
                let why = format!("Error parsing -c overrides: Invalid override (missing '='): {setting}\n");
                return Err(Spoken::refused(1, why));
            };
            // What is no TOML is the text as it stands.
            let plain = || format!("{key}={}", Value::String(value.to_owned()));
            let read = setting.parse::<Table>().or_else(|_| plain().parse());
            merge(&mut settings, read.unwrap_or_default());
        }
        let told = settings.get("sandbox_mode").and_then(Value::as_str);
        let sandbox = match parsed.last("sandbox").or(told) {
            _ if parsed.has("dangerously-bypass-approvals-and-sandbox") || parsed.has("yolo") => 2,
            Some("danger-full-access") => 2,
            Some("workspace-write") => 1,
            _ if parsed.has("approve-for-me") => 1,
            _ => 0,
        };
        Ok(Rights { sandbox, settings })
    }

    /// Whether a switch is off: `features.shell_tool`.
    fn off(&self, table: &str, key: &str) -> bool {
        self.settings.get(table).and_then(|table| table.get(key)).and_then(Value::as_bool) == Some(false)
    }

    /// A command in the sandbox reads or edits, and is not yet the shell: that one is not held.
    fn may_run(&self, used: &str) -> bool {
        match tool_argument(used).0 {
            "exec_command" | "shell_command" | "write_stdin" => {
                self.sandbox == 2 && !self.off("features", "shell_tool")
            }
            "apply_patch" => self.sandbox > 0,
            "view_image" => !self.off("features", "view_image"),
            "web_search" => self.settings.get("web_search").and_then(Value::as_str) != Some("disabled"),
            "spawn_agent" => !self.off("agents", "enabled"),
            "image_generation" => !self.off("features", "image_generation"),
            // Of a server, unless they were turned off.
            _ => !self.settings.contains_key("mcp_servers"),
        }
    }
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
