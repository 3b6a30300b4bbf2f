//! Plays goose by its source: everything runs.

use super::super::families::simple::{Prompt, Simple};
use super::{COMMANDS, GRAMMAR};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::request::Output;
use serde_json::json;

pub(super) struct GooseStandIn;

static RUN: Simple = Simple {
    grammar: &GRAMMAR,
    head: |words| (words.first()? == "run").then_some(1),
    prompt: Prompt::Stdin,
    commands: COMMANDS,
    trims: false,
    model: "GOOSE_MODEL",
    lead: "",
    form: |parsed| match parsed.last("output-format") {
        Some("stream-json") => Output::Stream,
        Some("json") => Output::Json,
        _ => Output::Text,
    },
    may_run: |_, _| Box::new(|_| true),
};

impl StandIn for GooseStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        if !given.args.iter().any(|arg| arg == "--instructions=-") {
            return Err(Spoken::refused(
                1,
                "Error: Must provide either --instructions (-i), --text (-t), or --recipe\n",
            ));
        }
        RUN.receive(given)
    }

    fn answer(&self, _: &Received, answer: &Answer) -> Spoken {
        let message = |text: &str| {
            let content = json!([{"type": "text", "text": text}]);
            json!({"type": "message", "message": {"id": "m-1", "role": "assistant", "created": 1, "content": content}})
        };
        let complete = json!({"type": "complete", "total_tokens": null});
        let said = match answer {
            Answer::Text(text) => message(text),
            Answer::Empty => return Spoken::said(format!("{complete}\n")),
            // Status 0 all the same, as its source has it.
            Answer::Status(status) => {
                json!({"type": "error", "error": format!("Request failed with status {status}: the stand-in plays it")})
            }
        };
        Spoken::said(format!("{said}\n{complete}\n"))
    }
}
