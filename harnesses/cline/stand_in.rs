//! Plays Cline 3.0.65: one word for a prompt, sub-commands, all tools or none.

use super::rights::GRAMMAR;
use super::{BETWEEN, SETTINGS};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::request::Output;
use serde_json::{Value, json};

pub(super) struct ClineStandIn;

impl StandIn for ClineStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let refused = |said: String| Spoken::refused(1, format!("error: {said}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(refused)?;
        if let Some(unknown) = parsed.unknown.first() {
            return Err(refused(format!("unknown option '{unknown}'")));
        }
        let json = parsed.has("json");
        let word = match &parsed.words[..] {
            [word] if word.contains(char::is_whitespace) => word.trim(),
            [word] => return Err(refused(format!("Unknown command or unquoted prompt: {word}"))),
            _ => {
                let why = "JSON output mode requires a prompt argument or piped stdin";
                return Err(Spoken::refused(1, format!("{}\n", json!({"type": "error", "message": why}))));
            }
        };
        let prompt = match given.stdin.trim() {
            "" => word.to_owned(),
            rest => format!("{word}{BETWEEN}{rest}"),
        };
        if prompt.is_empty() {
            return Err(refused("no prompt".to_owned()));
        }
        let mentions = prompt.split_whitespace().any(|word| word.starts_with('@') && word.len() > 1);
        if mentions || prompt.starts_with('/') {
            // It may look for a file, and end with nothing said; a workflow's text would take the place of its name.
            return Err(Spoken::default());
        }
        if parsed.has("model") && given.var(SETTINGS).is_none() {
            return Err(refused("the stand-in changes no settings of the user".to_owned()));
        }
        let all = parsed.last("auto-approve") != Some("false");
        Ok(Received {
            prompt,
            output: if json { Output::Stream } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session: None,
            may_run: Box::new(move |_| all),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let (reason, text, status) = match answer {
            Answer::Text(text) => ("completed", text.clone(), 0),
            Answer::Empty => ("error", "Model returned empty response".to_owned(), 1),
            Answer::Status(401 | 403) => ("error", "Incorrect API key provided".to_owned(), 1),
            Answer::Status(429) => ("error", "Rate limit reached".to_owned(), 1),
            Answer::Status(status) => ("error", format!("status {status}: the stand-in plays it"), 1),
        };
        let stderr = match status {
            0 => String::new(),
            _ => format!("{}\n", json!({"type": "error", "message": text})),
        };
        if received.output == Output::Text {
            let stdout = if status == 0 { format!("{text}\n") } else { String::new() };
            return Spoken { stdout, stderr, status, ..Spoken::default() };
        }
        let model = received.model.as_deref().unwrap_or("stand-in");
        let said = |kind: &str| -> Value {
            json!({"type": "agent_event", "event": {"type": kind, "contentType": "text", "text": text}})
        };
        let tokens = if status == 0 { received.prompt.len() / 4 + 1 } else { 0 };
        let usage = json!({"inputTokens": tokens, "outputTokens": text.len() / 4, "cacheReadTokens": 0, "totalCost": 0});
        let end = json!({
            "type": "run_result", "finishReason": reason, "iterations": 1, "usage": usage, "aggregateUsage": usage,
            "durationMs": 1, "text": text, "model": {"id": model, "provider": "stand-in"},
        });
        let mut lines =
            if status == 0 { vec![said("content_start"), said("content_end")] } else { Vec::new() };
        lines.push(end);
        let stdout = lines.iter().map(|line| format!("{line}\n")).collect();
        Spoken { stdout, stderr, status, ..Spoken::default() }
    }
}
