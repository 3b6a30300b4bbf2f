//! Plays Mistral Vibe 3.0.2: its arguments, its agents and lists of tools, its entries.

use super::rights::GRAMMAR;
use super::{EXPORT, FACTS};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::{Permission, tool_argument};
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct VibeStandIn;

/// The session that a run without `--resume` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for VibeStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(1, format!("Error: {said}\n"));
        let parsed =
            GRAMMAR.parse(&given.args).map_err(|said| Spoken::refused(1, format!("error: {said}\n")))?;
        if parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("vibe 3.0.2\n"));
        }
        if !parsed.has("prompt") {
            let why = "Interactive mode needs a terminal. Use -p/--prompt to run without one.".to_owned();
            return Err(refused(why));
        }
        let prompt = match parsed.last("prompt") {
            Some(prompt) if !prompt.is_empty() => prompt.to_owned(),
            _ => given.stdin.trim().to_owned(),
        };
        if prompt.trim().is_empty() {
            return Err(refused("No prompt provided for programmatic mode".to_owned()));
        }
        let output = match parsed.last("output") {
            Some("streaming") => Output::Stream,
            Some("json") => Output::Json,
            _ => Output::Text,
        };
        let tools = Tools::of(&parsed, given);
        Ok(Received {
            prompt,
            output,
            model: given.var("VIBE_ACTIVE_MODEL").map(str::to_owned),
            session: parsed.last("resume").map(|id| Session::Resume(id.to_owned())),
            may_run: Box::new(move |used| tools.may_run(used)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let entry = |role: &str, text: &str| {
            json!({"id": format!("{role}-1"), "sessionId": session, "generationStatus": "completed", "type": "message",
                "role": role, "content": [{"type": "text", "text": text}]})
        };
        let (text, error) = match answer {
            Answer::Text(text) => (Some(text.as_str()), None),
            // An answer of one blank, as run.
            Answer::Empty => (Some(" "), None),
            Answer::Status(401) => (None, Some((1, "Invalid API key (the stand-in plays it)".to_owned()))),
            Answer::Status(status) => {
                (None, Some((2, format!("Client error '{status} Played' for url 'http://stand-in/'"))))
            }
        };
        let (input, output) = match text {
            Some(text) => (received.prompt.len() / 4 + 1, text.len() / 4 + 1),
            None => (0, 0),
        };
        let said = error.as_ref().map(|(_, said)| json!({"message": said, "code": "backend_error"}));
        let export = json!({
            "outcome": if error.is_some() { "infrastructure_failure" } else { "finished" }, "error": said,
            "session_id": session, "cost_usd": 0.0, "config": {"active_model": received.model},
            "usage": {"input_tokens": input, "output_tokens": output, "cached_input_tokens": 0,
                "total_tokens": input + output},
        });
        let mut entries = vec![entry("user", &received.prompt)];
        entries.extend(text.map(|text| entry("assistant", text)));
        let stdout = match received.output {
            Output::Text | Output::Auto => text.map_or_else(String::new, |text| format!("{text}\n")),
            Output::Json => format!("{}\n", json!(entries)),
            Output::Stream => entries.iter().map(|entry| format!("{entry}\n")).collect(),
        };
        let (status, stderr) = match error {
            Some((status, said)) => (status, format!("Error: {said}\n")),
            None => (0, String::new()),
        };
        Spoken { stdout, stderr, status, files: [(EXPORT.to_owned(), export.to_string())].into() }
    }
}

/// What is enabled, and what of it runs with no one there to ask.
struct Tools {
    enabled: Vec<String>,
    disabled: Vec<String>,
    everything: bool,
    edits: bool,
}

impl Tools {
    fn of(parsed: &Parsed, given: &Given) -> Tools {
        let list = |name: &str| parsed.all(name).map(str::to_owned).collect::<Vec<_>>();
        let agent = parsed.last("agent").unwrap_or("accept-edits");
        let bypass = given.var("VIBE_BYPASS_TOOL_PERMISSIONS") == Some("true");
        Tools {
            enabled: list("enabled-tools"),
            disabled: list("disabled-tools"),
            everything: bypass || agent == "auto-approve" || parsed.has("auto-approve") || parsed.has("yolo"),
            edits: agent == "accept-edits",
        }
    }

    fn may_run(&self, used: &str) -> bool {
        let tool = tool_argument(used).0;
        let named = |list: &[String]| list.iter().any(|entry| entry == tool);
        if named(&self.disabled) || !(self.enabled.is_empty() || named(&self.enabled)) {
            return false;
        }
        let needs = FACTS.tools.get(tool).map(|tool| tool.needs);
        self.everything
            || needs == Some(Permission::ReadOnly)
            || (needs == Some(Permission::Edit) && (self.edits || !["edit", "write_file"].contains(&tool)))
    }
}
