//! Plays OpenHands CLI 1.16.0: its options, its events between lines for people.

use super::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct OpenHandsStandIn;

/// The conversation of a run that names none.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for OpenHandsStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage =
            |what: String| Spoken::refused(2, format!("usage: openhands [-h]\nopenhands: error: {what}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        if let Some(unknown) = parsed.unknown.first().or(parsed.words.first()) {
            return Err(usage(format!("unrecognized arguments: {unknown}")));
        }
        if parsed.has("version") {
            return Err(Spoken::said("OpenHands CLI 1.16.0\n"));
        }
        if !parsed.has("headless") {
            return Err(Spoken::refused(1, "a terminal for people starts, and does not end\n"));
        }
        let task = parsed.last("task").filter(|task| !task.is_empty());
        let Some(prompt) = task else {
            return Err(usage("--headless requires either --task or --file to be specified".to_owned()));
        };
        let session = match parsed.has("resume").then(|| parsed.last("resume").unwrap_or_default()) {
            None => None,
            Some("") => return Err(Spoken::said("Recent Conversations:\n")),
            // One that is there is gone on with, another one begins.
            Some(id) if id.replace('-', "").len() == 32 => Some(Session::Resume(id.to_owned())),
            Some(_) => return Err(Spoken::refused(1, "ValueError: badly formed hexadecimal UUID string\n")),
        };
        let overrides = parsed.has("override-with-envs");
        Ok(Received {
            prompt: prompt.to_owned(),
            output: if parsed.has("json") { Output::Stream } else { Output::Text },
            model: given.var("LLM_MODEL").filter(|_| overrides).map(str::to_owned),
            session,
            may_run: Box::new(|_| true),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let event = |source: &str, kind: &str, rest: serde_json::Value| {
            let mut whole =
                json!({"id": "e", "timestamp": "2026-12-01T12:00:00", "source": source, "kind": kind});
            if let (Some(whole), Some(rest)) = (whole.as_object_mut(), rest.as_object()) {
                whole.extend(rest.clone());
            }
            format!("{whole}\n")
        };
        let message = |role: &str, text: &str| json!({"llm_message": {"role": role, "content": [{"type": "text", "text": text}]}});
        let begin = format!(
            "Initializing agent...\n✓ Agent initialized with model: {}\n{}Agent is working\n",
            received.model.as_deref().unwrap_or("stand-in"),
            event("user", "MessageEvent", message("user", &received.prompt))
        );
        let middle = match answer {
            Answer::Text(text) => {
                event("agent", "MessageEvent", message("assistant", text)) + "Agent finished\n"
            }
            Answer::Empty => event("agent", "MessageEvent", message("assistant", "")) + "Agent finished\n",
            Answer::Status(status) => {
                let code = match status {
                    401 | 403 => "AuthenticationError",
                    404 => "NotFoundError",
                    429 => "LLMRateLimitError",
                    _ => "LLMServiceUnavailableError",
                };
                let detail = format!("Error code: {status} - the stand-in plays it");
                event("environment", "ConversationErrorEvent", json!({"code": code, "detail": detail}))
            }
        };
        let end = format!("Goodbye! 👋\nConversation ID: {}\n", session.replace('-', ""));
        Spoken::said(begin + &middle + &end)
    }
}
