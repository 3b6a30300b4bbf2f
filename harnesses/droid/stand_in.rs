//! Plays Factory Droid 0.225.2: its options, its tools, its events.

use super::FACTS;
use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::tool_argument;
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct DroidStandIn;

/// The session that a run begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

/// What is there with no flag.
const UNASKED: [&str; 6] = ["Read", "LS", "Execute", "Grep", "Glob", "Skill"];

/// Tools of other modes: their names are known, and they are not there.
const ELSEWHERE: [&str; 2] = ["EndFeatureRun", "DismissHandoffItems"];

impl StandIn for DroidStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let Some(("exec", args)) = given.args.split_first().map(|(first, rest)| (first.as_str(), rest))
        else {
            return Err(Spoken::refused(1, "the interface is not played\n"));
        };
        let refused = |said: String| Spoken::refused(1, format!("error: {said}\n"));
        let parsed = GRAMMAR.parse(args).map_err(refused)?;
        let prompt = match (parsed.words.first(), parsed.last("file")) {
            (Some(prompt), _) => prompt.as_str(),
            (None, Some(path)) => given.file(path).unwrap_or_default(),
            (None, None) => &given.stdin,
        };
        if prompt.trim().is_empty() || parsed.has("session-id") {
            // As run: not a word.
            return Err(Spoken::refused(1, ""));
        }
        if prompt.trim_start().starts_with('/') {
            return Err(Spoken::refused(1, "a command is not played\n"));
        }
        if let Some(path) = parsed.last("append-system-prompt-file")
            && given.file(path).is_none()
        {
            return Err(Spoken::refused(1, format!("no file {path}\n")));
        }
        let tools = Tools::of(&parsed)?;
        let output = match parsed.last("output-format") {
            Some("stream-json") => Output::Stream,
            Some("json") => Output::Json,
            _ => Output::Text,
        };
        Ok(Received {
            prompt: prompt.to_owned(),
            output,
            model: parsed.last("model").map(str::to_owned),
            session: parsed.last("fork").map(|id| Session::Resume(id.to_owned())),
            may_run: Box::new(move |used| tools.has(tool_argument(used).0)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let model = received.model.as_deref().unwrap_or("custom:Stand-in-0");
        let begin = json!({"type": "system", "subtype": "init", "session_id": SESSION, "model": model});
        let lines = |rest: &[serde_json::Value]| {
            let all = std::iter::once(&begin).chain(rest);
            all.map(|line| format!("{line}\n")).collect::<String>()
        };
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => {
                let said = format!("{status} the stand-in plays it");
                let cause = json!({"type": "error", "source": "agent_loop", "message": said});
                let end = json!({"type": "error", "source": "cli", "message": "Exec failed"});
                let (stdout, stderr) = match received.output {
                    Output::Stream => (lines(&[cause, end]), ""),
                    _ => (String::new(), "Error during droid execution: Exec failed\n"),
                };
                return Spoken { stdout, stderr: stderr.to_owned(), status: 1, ..Spoken::default() };
            }
        };
        let usage = json!({"input_tokens": received.prompt.len() / 4 + 1, "output_tokens": text.len() / 4 + 1,
            "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0});
        match received.output {
            Output::Stream => {
                let message = json!({"type": "message", "role": "assistant", "text": text});
                let end = json!({"type": "completion", "finalText": text, "numTurns": 1, "usage": usage});
                Spoken::said(lines(&[message, end]))
            }
            Output::Json => {
                let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
                    "session_id": SESSION, "usage": usage});
                Spoken::said(format!("{end}\n"))
            }
            _ => Spoken::said(format!("{text}\n")),
        }
    }
}

/// The tools that are there, each of which runs.
struct Tools {
    only: Option<Vec<String>>,
    removed: Vec<String>,
    all: bool,
}

impl Tools {
    fn of(parsed: &Parsed) -> Result<Tools, Spoken> {
        let list = |name: &str| -> Vec<String> {
            let entries = parsed.all(name).flat_map(|list| list.split(','));
            entries.map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
        };
        let (only, removed) = (list("only-tools"), list("remove-tools"));
        let known = |tool: &&String| {
            FACTS.tools.contains_key(*tool) || tool.starts_with("MCP:") || ELSEWHERE.contains(&tool.as_str())
        };
        if only.iter().chain(&removed).any(|tool| !known(&tool)) {
            return Err(Spoken::refused(1, "Unknown tool identifier(s)\n"));
        }
        if !only.is_empty() && !removed.is_empty() {
            let why = "Invalid tool selection: a fixed tool set and removed tools cannot be used together.\n";
            return Err(Spoken::refused(1, why));
        }
        if parsed.has("auto") && parsed.has("skip-permissions-unsafe") {
            return Err(Spoken::refused(1, "Invalid flags: --auto and --skip-permissions-unsafe\n"));
        }
        let all = parsed.has("auto") || parsed.has("skip-permissions-unsafe");
        // A list of nothing is no limit.
        Ok(Tools { only: Some(only).filter(|only| !only.is_empty()), removed, all })
    }

    fn has(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|own| own == tool);
        match &self.only {
            Some(only) => named(only) && !ELSEWHERE.contains(&tool),
            None => (self.all || UNASKED.contains(&tool)) && !named(&self.removed),
        }
    }
}
