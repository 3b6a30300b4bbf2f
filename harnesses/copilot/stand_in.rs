//! Plays copilot 1.0.102: its options, what its flags approve, its events.

use super::FACTS;
use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::{Word, tool_argument};
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct CopilotStandIn;

/// The session that a run without `--session-id` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for CopilotStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage = |e: String| {
            Spoken::refused(1, format!("error: {e}\n\nTry 'copilot --help' for more information.\n"))
        };
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        if parsed.has("help") || parsed.has("version") {
            // A false success of the real one: text that is no answer, and status 0.
            return Err(Spoken::said("GitHub Copilot CLI 1.0.102.\n"));
        }
        if let Some(wrong) = parsed.unknown.first().or(parsed.words.first()) {
            return Err(usage(format!("unexpected argument '{wrong}' found")));
        }
        let is_space = |c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
        let prompt = match parsed.last("prompt") {
            Some(prompt) => prompt,
            None => given.stdin.strip_prefix('\u{feff}').unwrap_or(&given.stdin),
        };
        let prompt = prompt.trim_end_matches(is_space).to_owned();
        if prompt.trim().is_empty() {
            let why = "No prompt provided. Run in an interactive terminal or provide a prompt with -p or via standard in.\n";
            return Err(Spoken::refused(1, why));
        }
        let uuid = |id: &str| id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let session = match (parsed.last("session-id"), parsed.last("resume")) {
            (Some(id), _) if !uuid(id) => return Err(usage(format!("'{id}' is no UUID"))),
            (Some(id), _) => Some(Session::New(Some(id.to_owned()))),
            (None, Some(id)) => Some(Session::Resume(id.to_owned())),
            (None, None) => None,
        };
        let rights = Rights::of(&parsed, given);
        Ok(Received {
            prompt,
            output: if parsed.last("output-format") == Some("json") { Output::Stream } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| rights.may_run(used)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let model = received.model.as_deref().unwrap_or("stand-in");
        let error = |kind: &str, message: String, status: Option<u16>| json!({"type": "session.error", "data": {"errorType": kind, "message": message, "statusCode": status}});
        let (event, text, status) = match answer {
            Answer::Text(text) => {
                let data = json!({"model": model, "content": text, "toolRequests": []});
                (json!({"type": "assistant.message", "data": data}), text.as_str(), 0)
            }
            Answer::Empty => {
                let said = "No response was returned. Send your message again to retry.";
                (error("query", said.to_owned(), None), "", 1)
            }
            Answer::Status(status) => {
                let kind = match status {
                    401 => "authentication",
                    429 => "rate_limit",
                    _ => "query",
                };
                (error(kind, format!("{status} the stand-in plays it"), Some(*status)), "", 1)
            }
        };
        let stdout = match received.output {
            Output::Text => format!("{text}\n\n"),
            _ => {
                let end = json!({"type": "result", "sessionId": session, "exitCode": status, "usage": {}});
                format!("{event}\n{end}\n")
            }
        };
        let tokens =
            json!({"inputTokens": received.prompt.len() / 4 + 1, "outputTokens": text.len() / 4 + 1});
        let metrics = json!({"modelMetrics": {model: {"usage": tokens}}, "currentModel": model}).to_string();
        let files = [("usage.json".to_owned(), metrics)].into_iter().filter(|_| status == 0).collect();
        Spoken { stdout, status, files, ..Spoken::default() }
    }
}

/// What runs headless: a tool must be there, and what it does must be approved.
struct Rights {
    there: Option<Vec<String>>,
    excluded: Vec<String>,
    allowed: Vec<String>,
    denied: Vec<String>,
    all_tools: bool,
    all_urls: bool,
}

impl Rights {
    fn of(parsed: &Parsed, given: &Given) -> Rights {
        let list = |name: &str| -> Vec<String> {
            let all = parsed
                .all(name)
                .flat_map(|list| list.split(',').map(|one| one.trim().to_owned()).collect::<Vec<_>>());
            all.filter(|one| !one.is_empty()).collect()
        };
        let truthy =
            |value: &str| ["true", "1", "yes", "on", "y"].contains(&value.trim().to_lowercase().as_str());
        let everything = parsed.has("allow-all") || parsed.has("yolo");
        let there = list("available-tools");
        Rights {
            // As run: an empty list is no list.
            there: (!there.is_empty()).then_some(there),
            excluded: list("excluded-tools"),
            allowed: list("allow-tool"),
            denied: list("deny-tool"),
            all_tools: everything
                || parsed.has("allow-all-tools")
                || given.var("COPILOT_ALLOW_ALL").is_some_and(truthy),
            all_urls: everything || parsed.has("allow-all-urls"),
        }
    }

    fn may_run(&self, used: &str) -> bool {
        let (tool, argument) = tool_argument(used);
        let named = |list: &[String], name: &str| list.iter().any(|one| one == name);
        if self.there.as_ref().is_some_and(|there| !named(there, tool))
            || (self.there.is_none() && named(&self.excluded, tool))
        {
            return false;
        }
        let approved = |kind: &str, all: bool| {
            !named(&self.denied, kind) && (all || self.all_tools || named(&self.allowed, kind))
        };
        let Some(known) = FACTS.tools.get(tool) else { return self.all_tools };
        match known.word {
            // Commands that it knows as reading need no approval.
            Some(Word::Shell) if tool == "bash" => {
                let reads = argument.is_some_and(|words| words.starts_with("git status") || words == "git");
                approved("shell", reads)
            }
            Some(Word::Edit) => approved("write", false),
            Some(Word::Web) => approved("url", self.all_urls),
            _ => true,
        }
    }
}
