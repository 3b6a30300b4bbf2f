//! Plays opencode 1.18.33 and its forks: the options of `run`, the rules of an agent, the events.

use super::{Fork, GRAMMAR};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::policy::tool_argument;
use crate::request::{Output, Session};
use serde_json::{Map, Value, json};

/// Plays a fork.
pub(crate) struct ForkStandIn(pub(crate) &'static Fork);

/// The session that a run begins.
const SESSION: &str = "ses_dd1f5d506ffeiuEVjrg8HSzcwm";

impl StandIn for ForkStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let parsed = match given.args.split_first() {
            Some((run, rest)) if run == "run" => GRAMMAR.parse(rest),
            _ => return Err(Spoken::refused(1, "it would start its terminal\n")),
        };
        // As run: the help on standard error, with no word of the option.
        let parsed = parsed.map_err(|_| Spoken::refused(1, "run [message..]\n"))?;
        if parsed.has("help") || parsed.has("version") {
            return Err(Spoken::said("1.18.33\n"));
        }
        let words = parsed.words.iter().map(|word| match word.contains(' ') {
            true => format!("\"{}\"", word.replace('"', "\\\"")),
            false => word.clone(),
        });
        let words = words.collect::<Vec<_>>().join(" ");
        let stdin = given.stdin.strip_prefix('\u{feff}').unwrap_or(&given.stdin);
        let prompt = match (words.is_empty(), stdin.is_empty()) {
            (true, _) => stdin.to_owned(),
            (false, true) => words,
            (false, false) => format!("{words}\n{stdin}"),
        };
        if prompt.trim().is_empty() {
            return Err(Spoken::refused(1, "Error: You must provide a message or a command\n"));
        }
        let session = match parsed.last("session") {
            Some(id) if !id.starts_with("ses_") => {
                return Err(Spoken::refused(1, "Error: Session not found\n"));
            }
            id => id.map(|id| Session::Resume(id.to_owned())),
        };
        let rules = self.rules(given, parsed.last("agent"))?;
        let auto = ["auto", "yolo", "dangerously-skip-permissions"].iter().any(|flag| parsed.has(flag));
        let facts = (self.0.facts)();
        Ok(Received {
            prompt,
            output: if parsed.last("format") == Some("json") { Output::Stream } else { Output::Text },
            model: parsed.last("model").map(str::to_owned),
            session,
            may_run: Box::new(move |used| {
                let (name, argument) = tool_argument(used);
                let key = facts.tool(name).map_or(name, |(own, _)| own);
                let action = evaluate(&rules, key, argument.unwrap_or("x"));
                // A plain deny takes the tool away; what is asked about is refused where nobody is.
                let offered = rules
                    .iter()
                    .rfind(|rule| matches(&rule.0, key))
                    .is_none_or(|rule| rule.1 != "*" || rule.2 != "deny");
                offered && (action == "allow" || (action == "ask" && auto))
            }),
        })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let line = |kind: &str, rest: Value| {
            let mut line = json!({"type": kind, "timestamp": 1_796_068_753_337_u64, "sessionID": session});
            if let (Some(line), Value::Object(rest)) = (line.as_object_mut(), rest) {
                line.extend(rest);
            }
            format!("{line}\n")
        };
        let part = |kind: &str, more: Value| {
            let mut part = json!({"id": "prt_1", "messageID": "msg_1", "sessionID": session, "type": kind});
            if let (Some(part), Value::Object(more)) = (part.as_object_mut(), more) {
                part.extend(more);
            }
            json!({ "part": part })
        };
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => {
                let message = format!("the stand-in plays {status}");
                let data = json!({"message": message, "statusCode": status, "isRetryable": false});
                let error = line("error", json!({"error": {"name": "APIError", "data": data}}));
                let as_text = received.output == Output::Text;
                return Spoken {
                    stdout: if as_text { String::new() } else { error },
                    stderr: if as_text { format!("Error: {message}\n") } else { String::new() },
                    status: 1,
                    ..Spoken::default()
                };
            }
        };
        if received.output == Output::Text {
            return Spoken::said(format!("{}\n", text.trim()));
        }
        let (input, output) = (received.prompt.len() / 4 + 1, text.len() / 4 + 1);
        let tokens = json!({"total": input + output, "input": input, "output": output, "reasoning": 0,
            "cache": {"write": 0, "read": 0}});
        let said =
            if text.is_empty() { String::new() } else { line("text", part("text", json!({ "text": text }))) };
        let end = part("step-finish", json!({"reason": "stop", "tokens": tokens, "cost": 0}));
        Spoken::said(line("step_start", part("step-start", json!({}))) + &said + &line("step_finish", end))
    }
}

/// Key, pattern and action, in their order.
type Rules = Vec<(String, String, String)>;

impl ForkStandIn {
    /// The rules of the agent that runs: the CLI's own, then those of the agent of the settings.
    fn rules(&self, given: &Given, agent: Option<&str>) -> Result<Rules, Spoken> {
        let fork = self.0;
        let mut rules: Rules = Vec::new();
        let mut add = |key: &str, pattern: &str, action: &str| {
            rules.push((key.to_owned(), pattern.to_owned(), action.to_owned()));
        };
        add("*", "*", "allow");
        for (key, action) in [("doom_loop", "ask"), ("external_directory", "ask"), ("question", "deny")] {
            add(key, "*", action);
        }
        fork.asks.iter().for_each(|key| add(key, "*", "ask"));
        let file = given.var(fork.config).and_then(|path| given.file(path));
        for text in [file, given.var(fork.content)].into_iter().flatten() {
            let Ok(settings) = serde_json::from_str::<Ordered>(text) else {
                return Err(Spoken::refused(1, "Error: settings: is not valid JSON\n"));
            };
            // An agent that is not there: a note, and the default agent's rules.
            let Some(own) = agent.and_then(|name| settings.agent?.swap_remove(name)) else { continue };
            for (key, rule) in own.permission.unwrap_or_default() {
                match rule {
                    Value::String(action) => add(&key, "*", &action),
                    Value::Object(patterns) => by_pattern(&key, &patterns, &mut add),
                    _ => {}
                }
            }
        }
        Ok(rules)
    }
}

/// The patterns of a key. Their order is lost here, and `*` is the first one in every map of ours.
fn by_pattern(key: &str, patterns: &Map<String, Value>, add: &mut impl FnMut(&str, &str, &str)) {
    let action = |value: &Value| value.as_str().unwrap_or("ask").to_owned();
    for (pattern, value) in patterns.iter().filter(|(pattern, _)| *pattern == "*") {
        add(key, pattern, &action(value));
    }
    for (pattern, value) in patterns.iter().filter(|(pattern, _)| *pattern != "*") {
        add(key, pattern, &action(value));
    }
}

/// Settings, as far as they matter here.
#[derive(serde::Deserialize)]
struct Ordered {
    agent: Option<indexmap::IndexMap<String, Agent>>,
}

#[derive(serde::Deserialize)]
struct Agent {
    permission: Option<indexmap::IndexMap<String, Value>>,
}

/// The last rule that matches.
fn evaluate<'r>(rules: &'r Rules, key: &str, pattern: &str) -> &'r str {
    let found = rules.iter().rfind(|rule| matches(&rule.0, key) && matches(&rule.1, pattern));
    found.map_or("ask", |rule| rule.2.as_str())
}

/// `*` stands for any text, `?` for any character.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = &pattern[1..];
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| matches(rest, &text[at..]))
        }
        Some(first) => text.chars().next().is_some_and(|c| {
            (first == '?' || first == c) && matches(&pattern[first.len_utf8()..], &text[c.len_utf8()..])
        }),
    }
}
