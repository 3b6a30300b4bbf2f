//! Plays pi 1.6.0: its arguments, the tools that are there, its events.

use super::FACTS;
use super::prompt::trim;
use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::request::{Output, Session};
use serde_json::{Value, json};

pub(super) struct PiStandIn;

/// The session that a run without `--session-id` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for PiStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(1, format!("Error: {said}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(refused)?;
        if let Some(unknown) = parsed.unknown.first() {
            return Err(refused(format!("Unknown option: {unknown}")));
        }
        let output = match parsed.last("mode") {
            Some("json") => Output::Stream,
            None | Some("text") => Output::Text,
            Some(other) => {
                return Err(refused(format!("Invalid mode \"{other}\". Valid values: text, json, rpc")));
            }
        };
        if let Some(file) = parsed.words.iter().find_map(|word| word.strip_prefix('@')) {
            return Err(refused(format!("File not found: {file}")));
        }
        let mut words = parsed.words.iter();
        let prompt = format!("{}{}", trim(&given.stdin), words.next().map_or("", String::as_str));
        if words.next().is_some() {
            return Err(refused("a second prompt".to_owned()));
        }
        let session = match (parsed.last("session-id"), parsed.last("session")) {
            (Some(_), Some(_)) => {
                return Err(refused("--session-id cannot be combined with --session".to_owned()));
            }
            (Some(id), None) => Some(Session::New(Some(id.to_owned()))),
            (None, id) => id.map(|id| Session::Resume(id.to_owned())),
        };
        let id = session.as_ref().and_then(Session::id).unwrap_or(SESSION);
        if prompt.is_empty() || prompt.starts_with('/') {
            // Nothing goes to the model: no prompt, or what an extension of the user takes for a command.
            return Err(Spoken::said(format!("{}\n", json!({"type": "session", "id": id}))));
        }
        let tools = Tools::of(&parsed).map_err(refused)?;
        Ok(Received {
            prompt,
            output,
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| tools.may_run(used)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let (text, error) = match answer {
            Answer::Text(text) => (text.as_str(), None),
            Answer::Empty => ("", None),
            Answer::Status(status) => {
                ("", Some(format!("{status}: {{\"message\":\"the stand-in plays it\"}}")))
            }
        };
        if received.output == Output::Text {
            return match error {
                Some(said) => Spoken::refused(1, format!("{said}\n")),
                None if text.is_empty() => Spoken::default(),
                None => Spoken::said(format!("{text}\n")),
            };
        }
        let id = received.session_id(SESSION);
        let (provider, model) =
            received.model.as_deref().and_then(|m| m.split_once('/')).unwrap_or(("stand-in", "m"));
        let message = message(provider, model, text, error.as_deref(), received.prompt.len() / 4 + 1);
        let lines = [
            json!({"type": "session", "version": 3, "id": id}),
            json!({"type": "agent_start"}),
            json!({"type": "message_end", "message": message}),
            json!({"type": "agent_end", "messages": [message], "willRetry": false}),
            json!({"type": "agent_settled", "aborted": false}),
        ];
        // Status 0 whatever happened, as run.
        Spoken::said(lines.map(|line| format!("{line}\n")).concat())
    }
}

fn message(provider: &str, model: &str, text: &str, error: Option<&str>, input: usize) -> Value {
    let content = if text.is_empty() { json!([]) } else { json!([{"type": "text", "text": text}]) };
    let (input, output) = if error.is_some() { (0, 0) } else { (input, text.len() / 4 + 1) };
    let mut message = json!({
        "role": "assistant", "content": content, "provider": provider, "model": model,
        "usage": {"input": input, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": input + output},
        "stopReason": if error.is_some() { "error" } else { "stop" },
    });
    if let Some(said) = error {
        message["errorMessage"] = said.into();
    }
    message
}

/// The tools that are there: each of them runs.
struct Tools {
    /// The list, where there is one.
    only: Option<Vec<String>>,
    /// The defaults, changed by entries with `+` and `-`.
    defaults: Vec<String>,
    without: Vec<String>,
    servers: bool,
}

impl Tools {
    fn of(parsed: &Parsed) -> Result<Tools, String> {
        let list = |name: &str| {
            let entries = parsed.last(name).map(|list| list.split(',').map(str::trim).map(str::to_owned));
            entries.map(|all| all.filter(|entry| !entry.is_empty()).collect::<Vec<_>>())
        };
        let mut defaults = ["read", "bash", "edit", "write"].map(str::to_owned).to_vec();
        let mut only = list("tools");
        let is_change = |entry: &String| entry.starts_with(['+', '-']);
        if let Some(changes) = only.take_if(|list| list.iter().any(is_change)) {
            if !changes.iter().all(is_change) {
                return Err("--tools: tool names cannot be mixed with +name or -name entries".to_owned());
            }
            for change in &changes {
                defaults.retain(|tool| *tool != change[1..]);
                if let Some(added) = change.strip_prefix('+') {
                    defaults.push(added.to_owned());
                }
            }
        }
        if parsed.has("no-tools") && only.is_none() {
            only = Some(Vec::new());
        }
        Ok(Tools {
            only,
            defaults,
            without: list("exclude-tools").unwrap_or_default(),
            servers: !parsed.has("no-mcp"),
        })
    }

    fn may_run(&self, used: &str) -> bool {
        let tool = crate::policy::tool_argument(used).0;
        let named = |list: &[String]| {
            list.iter().any(|entry| match entry.strip_suffix('*') {
                Some(beginning) => tool.starts_with(beginning),
                None => entry == tool,
            })
        };
        if named(&self.without) {
            return false;
        }
        let of_server = tool.starts_with("mcp_") && self.servers;
        match &self.only {
            Some(list) if list.is_empty() => false,
            Some(list) => named(list) || of_server,
            // What extensions and servers bring is there too.
            None => named(&self.defaults) || of_server || !FACTS.tools.contains_key(tool),
        }
    }
}
