//! Plays claude 2.1.332: its options, what its rules approve, its messages.

use super::FACTS;
use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::{Permission, split_tools, tool_argument};
use crate::request::{Output, Session};
use serde_json::{Value, json};

pub(super) struct ClaudeStandIn;

/// The session that a run without `--session-id` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for ClaudeStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let parsed = GRAMMAR.parse(&given.args).map_err(|e| Spoken::refused(1, format!("error: {e}\n")))?;
        if let Some(unknown) = parsed.unknown.first() {
            return Err(Spoken::refused(1, format!("error: unknown option '{unknown}'\n")));
        }
        if parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("2.1.332 (Claude Code)\n"));
        }
        let prompt = match (parsed.words.first(), given.stdin.as_str()) {
            (Some(word), "") => word.clone(),
            (Some(word), stdin) => format!("{word}\n{stdin}"),
            (None, stdin) => stdin.to_owned(),
        };
        if prompt.trim().is_empty() {
            let why = "Error: Input must be provided either through stdin or as a prompt argument when using --print\n";
            return Err(Spoken::refused(1, why));
        }
        let output = match parsed.last("output-format") {
            Some("json") => Output::Json,
            Some("stream-json") if parsed.has("verbose") => Output::Stream,
            Some("stream-json") => {
                return Err(Spoken::refused(
                    1,
                    "Error: When using --print, --output-format=stream-json requires --verbose\n",
                ));
            }
            _ => Output::Text,
        };
        let uuid = |id: &str| id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let session = match (parsed.last("session-id"), parsed.last("resume")) {
            (Some(id), _) if !uuid(id) => {
                return Err(Spoken::refused(1, "Error: Invalid session ID. Must be a valid UUID.\n"));
            }
            (Some(id), _) => Some(Session::New(Some(id.to_owned()))),
            (None, Some(id)) => Some(Session::Resume(id.to_owned())),
            (None, None) => None,
        };
        if prompt.starts_with('/') {
            // A command of the CLI: a success with no turn of the model.
            return Err(Spoken::said(format!("{}\n", result(SESSION, "stand-in", "", 0))));
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
        let (end, text, status) = match answer {
            Answer::Text(text) => {
                (result(session, model, text, received.prompt.len() / 4 + 1), text.as_str(), 0)
            }
            Answer::Empty => (result(session, model, "", 1), "", 0),
            Answer::Status(status) => {
                let said = format!("API Error: {status} the stand-in plays it");
                let mut end = result(session, model, &said, 0);
                // As run: an API error is a `success` that is an error.
                end["is_error"] = true.into();
                end["api_error_status"] = (*status).into();
                end["terminal_reason"] = "api_error".into();
                (end, "", 1)
            }
        };
        let stdout = match received.output {
            Output::Stream => {
                let init = json!({"type": "system", "subtype": "init", "session_id": session, "model": model, "tools": []});
                let content = json!([{"type": "text", "text": text}]);
                let message = json!({"id": "msg_1", "role": "assistant", "model": model, "content": content});
                let said = json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": session});
                let said = if text.is_empty() { String::new() } else { format!("{said}\n") };
                format!("{init}\n{said}{end}\n")
            }
            Output::Json => format!("{end}\n"),
            Output::Text | Output::Auto => format!("{}\n", end["result"].as_str().unwrap_or_default()),
        };
        Spoken { stdout, status, ..Spoken::default() }
    }
}

fn result(session: &str, model: &str, text: &str, input: usize) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": session,
        "num_turns": usize::from(input > 0), "api_error_status": null, "permission_denials": [],
        "usage": {"input_tokens": input, "output_tokens": text.len() / 4 + 1},
        "modelUsage": {model: {"inputTokens": input}},
    })
}

/// What runs in `-p`: a tool must be there, and what it does must be approved.
struct Rights {
    there: Option<Vec<String>>,
    approved: Vec<String>,
    denied: Vec<String>,
    edits: bool,
    everything: bool,
    servers: bool,
}

impl Rights {
    fn of(parsed: &Parsed) -> Rights {
        let list = |names: [&str; 2]| {
            let all = names.into_iter().flat_map(|name| parsed.all(name).collect::<Vec<_>>());
            all.flat_map(|list| split_tools(list).unwrap_or_default()).collect::<Vec<_>>()
        };
        let mode = parsed.last("permission-mode").unwrap_or("default");
        Rights {
            there: parsed.has("tools").then(|| list(["tools", "tools"])),
            approved: list(["allowedTools", "allowed-tools"]),
            denied: list(["disallowedTools", "disallowed-tools"]),
            edits: mode == "acceptEdits",
            everything: mode == "bypassPermissions" || parsed.has("dangerously-skip-permissions"),
            servers: !parsed.has("strict-mcp-config"),
        }
    }

    fn may_run(&self, used: &str) -> bool {
        let (tool, argument) = tool_argument(used);
        let covers = |rule: &String| {
            let (name, pattern) = tool_argument(rule);
            // Editing is approved by `Edit` for every tool that edits.
            let same = name == tool || (name == "Edit" && ["Write", "NotebookEdit"].contains(&tool));
            same && match (pattern, argument) {
                (None, _) => true,
                (Some("./**"), None) => true,
                (Some(_), None) => false,
                (Some(pattern), Some(argument)) => {
                    match pattern.strip_suffix(" *").or(pattern.strip_suffix(":*")) {
                        Some(words) => {
                            argument.strip_prefix(words).is_some_and(|r| r.is_empty() || r.starts_with(' '))
                        }
                        None => pattern == argument,
                    }
                }
            }
        };
        let known = FACTS.tools.get(tool);
        if self.denied.iter().any(covers) || (known.is_none() && !tool.starts_with("mcp__")) {
            return false;
        }
        let there = match known {
            Some(_) => self.there.as_ref().is_none_or(|there| there.iter().any(|own| own == tool)),
            None => self.servers,
        };
        let reads = known.is_some_and(|tool| tool.needs == Permission::ReadOnly);
        let edits = self.edits && known.is_some_and(|tool| tool.needs == Permission::Edit);
        there && (self.everything || reads || edits || self.approved.iter().any(covers))
    }
}
