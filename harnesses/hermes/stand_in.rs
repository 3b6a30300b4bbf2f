//! Plays hermes 0.19.0 in one-shot: its options, its sets of tools, its report.

use super::rights::{GRAMMAR, SETS};
use super::{FACTS, USAGE};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::request::Output;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) struct HermesStandIn;

impl StandIn for HermesStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage = |what: String| Spoken::refused(2, format!("usage: hermes [-h]\nhermes: error: {what}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        if let Some(unknown) = parsed.unknown.first().or(parsed.words.first()) {
            return Err(usage(format!("unrecognized arguments: {unknown}")));
        }
        if parsed.has("version") {
            return Err(Spoken::said("Hermes Agent v0.19.0 (2026.7.20)\n"));
        }
        let Some(prompt) = parsed.last("oneshot").filter(|prompt| !prompt.is_empty()) else {
            return Err(Spoken::said("a session for people starts\n"));
        };
        let named: Vec<String> =
            parsed.last("toolsets").unwrap_or_default().split(',').map(|set| set.trim().to_owned()).collect();
        let is_known =
            |name: &String| SETS.iter().any(|(set, _)| set == name) || name == "all" || name == "delegation";
        let sets: Vec<String> = named.iter().filter(|name| is_known(name)).cloned().collect();
        // No list, or an empty one: the user's own, which may be all.
        let unlimited = named.iter().all(String::is_empty) || sets.iter().any(|set| set == "all");
        if sets.is_empty() && !unlimited {
            return Err(Spoken::refused(2, "hermes -z: --toolsets did not contain any valid toolsets.\n"));
        }
        Ok(Received {
            prompt: super::trimmed(prompt).to_owned(),
            output: Output::Text,
            model: parsed.last("model").map(str::to_owned),
            session: None,
            may_run: Box::new(move |used| {
                let tool = used.split('(').next().unwrap_or_default();
                let there = SETS
                    .iter()
                    .any(|(set, tools)| sets.iter().any(|own| own == set) && tools.contains(&tool));
                (unlimited && FACTS.tools.contains_key(tool)) || there
            }),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let model = received.model.as_deref().unwrap_or("stand-in");
        let (text, good) = match answer {
            Answer::Text(text) => (text.clone(), true),
            Answer::Empty => (
                "⚠️ No reply: the model returned empty content after retries and any fallback providers."
                    .to_owned(),
                true,
            ),
            Answer::Status(status @ (429 | 500..)) => {
                (format!("API call failed after 3 retries: HTTP {status}: the stand-in plays it"), false)
            }
            Answer::Status(status) => (format!("HTTP {status}: the stand-in plays it"), false),
        };
        let tokens = |count: usize| good.then_some(count);
        let report = json!({
            "estimated_cost_usd": good.then_some(0.0), "cost_status": good.then_some("unknown"),
            "input_tokens": tokens(received.prompt.len() / 4 + 1), "output_tokens": tokens(text.len() / 4 + 1),
            "model": good.then_some(model), "session_id": good.then_some("20261201_120000_000000"),
            "completed": good, "failed": !good,
        });
        let end = if text.ends_with('\n') { "" } else { "\n" };
        Spoken {
            stdout: format!("{text}{end}"),
            files: BTreeMap::from([(USAGE.to_owned(), format!("{report}\n"))]),
            ..Spoken::default()
        }
    }
}
