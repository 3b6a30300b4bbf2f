//! Plays LLM 0.36: its options, a prompt on stdin, an array of one response.

use super::rights::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::request::{Output, Session};
use serde_json::json;

pub(super) struct LlmStandIn;

/// The conversation that a run without `--conversation` begins.
const SESSION: &str = "00000000000000000000000000";

impl StandIn for LlmStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(2, format!("Error: {said}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(refused)?;
        if let Some(unknown) = parsed.unknown.first() {
            return Err(refused(format!("No such option '{unknown}'")));
        }
        let prompt = match &parsed.words[..] {
            [command] if command == "prompt" => given.stdin.clone(),
            [command, word] if command == "prompt" => format!("{}{word}", given.stdin),
            _ => return Err(refused("Got unexpected extra arguments".to_owned())),
        };
        let conversation = parsed.last("conversation");
        // Nobody knows with which tools another conversation began.
        let tools = ["tool", "functions", "template"].iter().any(|option| parsed.has(option))
            || conversation.is_some_and(|id| id != SESSION);
        Ok(Received {
            prompt,
            output: if parsed.has("json") { Output::Json } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session: conversation.map(|id| Session::Resume(id.to_owned())),
            may_run: Box::new(move |_| tools),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => {
                return Spoken::refused(1, format!("Error: Error code: {status} - the stand-in plays it\n"));
            }
        };
        if received.output == Output::Text {
            return Spoken::said(format!("{text}\n"));
        }
        let response = json!({
            "id": SESSION, "model": received.model.as_deref().unwrap_or("stand-in"),
            "conversation_id": received.session_id(SESSION), "response": text, "reasoning": null,
            "input_tokens": received.prompt.len() / 4 + 1, "output_tokens": text.len() / 4 + 1,
        });
        Spoken::said(format!("{:#}\n", json!([response])))
    }
}
