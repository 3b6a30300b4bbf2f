//! Plays aider 0.86.2: its options, its commands, its notices, its log.

use super::rights::GRAMMAR;
use super::{FACTS, LOG};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::request::Output;
use std::collections::BTreeMap;

pub(super) struct AiderStandIn;

impl StandIn for AiderStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage = |what: String| {
            Spoken::refused(2, format!("usage: aider [-h] [--model MODEL]\naider: error: {what}\n"))
        };
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        if let Some(unknown) = parsed.unknown.first() {
            return Err(usage(format!("unrecognized arguments: {unknown}")));
        }
        if parsed.has("version") {
            return Err(Spoken::said("aider 0.86.2\n"));
        }
        // An argument wins over its variable.
        if !parsed.has("load") && given.var("AIDER_LOAD").is_some() {
            return Err(Spoken::said("the commands of a file were run\n"));
        }
        let prompt = match (message(&parsed), parsed.last("message-file")) {
            (Some(message), _) => message.to_owned(),
            (None, Some(path)) => match given.file(path) {
                // As Python reads text.
                Some(text) => text.replace("\r\n", "\n").replace('\r', "\n"),
                None => {
                    return Err(Spoken::said(format!(
                        "{}{path}: file not found error\n\n\n> \n",
                        notices(&parsed)
                    )));
                }
            },
            (None, None) => String::new(),
        };
        match prompt.chars().next() {
            None => return Err(Spoken::said(format!("{}> \n", notices(&parsed)))),
            Some('/') => {
                return Err(Spoken::said(format!("{}Invalid command: {prompt}\n", notices(&parsed))));
            }
            Some('!') => {
                return Err(Spoken::said(format!(
                    "{}Added 1 line of output to the chat.\n",
                    notices(&parsed)
                )));
            }
            Some(_) => {}
        }
        let mode = parsed.last("chat-mode").or(parsed.last("edit-format"));
        let asks = mode == Some("ask");
        let git = parsed.options.iter().rfind(|(name, _)| ["git", "no-git"].contains(name));
        let reads = git.is_none_or(|(name, _)| *name == "git");
        Ok(Received {
            prompt,
            output: Output::Text,
            model: parsed.last("model").map(str::to_owned),
            session: None,
            may_run: Box::new(move |used| (used == "edit" && !asks) || (used == "read" && reads)),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let model = received.model.as_deref().unwrap_or("openai/stand-in");
        let head = format!(
            "Aider v0.86.2\nModel: {model} with ask edit format\nGit repo: none\nRepo-map: disabled\n\n"
        );
        let tokens = "Tokens: 111 sent, 22 received.\n";
        let (said, text) = match answer {
            Answer::Text(text) => (format!("{text}\n\n{tokens}"), text.as_str()),
            Answer::Empty => {
                (format!("Empty response received from LLM. Check your provider account?\n\n{tokens}"), "")
            }
            Answer::Status(status) => {
                let class = match status {
                    401 | 403 => "AuthenticationError",
                    404 => "NotFoundError",
                    429 => "RateLimitError",
                    400..=499 => "BadRequestError",
                    _ => "InternalServerError",
                };
                (
                    format!(
                        "litellm.{class}: {class}: OpenAIException - Error code: {status} - the stand-in plays it\n\n"
                    ),
                    "",
                )
            }
        };
        let lines: String =
            text.split('\n').filter(|_| !text.is_empty()).map(|line| format!("ASSISTANT {line}\n")).collect();
        let log = format!(
            "TO LLM 2026-12-01T12:00:00\n-------\nUSER {}\nLLM RESPONSE 2026-12-01T12:00:01\n{lines}",
            received.prompt.replace('\n', "\nUSER ")
        );
        Spoken { stdout: head + &said, files: BTreeMap::from([(LOG.to_owned(), log)]), ..Spoken::default() }
    }
}

fn message(parsed: &Parsed) -> Option<&str> {
    parsed.last("message").or(parsed.last("msg")).filter(|message| !message.is_empty())
}

fn notices(parsed: &Parsed) -> String {
    let model = parsed.last("model").unwrap_or(&FACTS.id);
    format!("Aider v0.86.2\nModel: {model} with whole edit format\nGit repo: none\nRepo-map: disabled\n\n")
}
