//! Plays gemini 0.61.0: its grammar, its policy engine as far as teamster uses it, its output.

use super::FACTS;
use super::grammar::GRAMMAR;
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::lowering::Parsed;
use crate::policy::{Permission, tool_argument};
use crate::request::{Output, Session};
use serde::Deserialize;
use serde_json::json;

pub(super) struct GeminiStandIn;

/// The session that a run without `--session-id` begins.
const SESSION: &str = "00000000-0000-4000-8000-000000000000";

impl StandIn for GeminiStandIn {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let usage = |e: String| Spoken::refused(1, format!("Usage: gemini [options] [command]\n\n{e}\n"));
        let parsed = GRAMMAR.parse(&given.args).map_err(usage)?;
        check_values(&parsed).map_err(usage)?;
        if parsed.has("help") || parsed.has("version") {
            // A false success of the real one: text that is no answer, and status 0.
            let version = FACTS.verified.first().map_or("", |v| v.version.as_str());
            return Err(Spoken { stdout: format!("{version}\n"), ..Spoken::default() });
        }
        let argument = parsed.last("prompt").map(str::to_owned).unwrap_or_else(|| parsed.words.join(" "));
        let mut prompt = given.stdin.clone();
        if !argument.is_empty() && !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str(&argument);
        if prompt.is_empty() {
            return Err(Spoken::refused(42, "No input provided via stdin.\n"));
        }
        if prompt.starts_with('/') {
            return Err(Spoken {
                stdout: "a command of gemini was run, no prompt\n".to_owned(),
                ..Spoken::default()
            });
        }
        let session = match (parsed.last("session-id"), parsed.last("resume")) {
            (Some(id), _) => Some(Session::New(Some(id.to_owned()))),
            (None, Some(id)) => Some(Session::Resume(id.to_owned())),
            (None, None) => None,
        };
        let output = match parsed.last("output-format") {
            Some("json") => Output::Json,
            Some("stream-json") => Output::Stream,
            _ => Output::Text,
        };
        let model = parsed.last("model").map(str::to_owned);
        let rights = Rights::of(&parsed, given);
        Ok(Received { prompt, output, model, session, may_run: Box::new(move |tool| rights.may_run(tool)) })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let session = received.session_id(SESSION);
        let model = received.model.as_deref().unwrap_or("stand-in");
        let text = match answer {
            Answer::Text(text) => text.as_str(),
            Answer::Empty => "",
            Answer::Status(status) => return failed(received.output, session, model, *status),
        };
        let (input, output) = (received.prompt.len() as u64 / 4 + 1, text.len() as u64 / 4 + 1);
        let total = input + output;
        let stdout = match received.output {
            Output::Json => {
                let tokens = json!({"input": input, "prompt": input, "candidates": output, "total": total, "cached": 0, "thoughts": 0, "tool": 0});
                let stats = json!({"models": {model: {"tokens": tokens, "roles": {"main": {}}}}});
                let mut envelope = json!({"session_id": session, "response": text, "stats": stats});
                if text.is_empty() {
                    envelope["error"] = json!({"type": "INVALID_STREAM", "message": "Model stream ended with empty response text."});
                }
                format!("{envelope:#}")
            }
            Output::Stream => {
                let models = json!({model: {"total_tokens": total, "input_tokens": input, "output_tokens": output, "cached": 0}});
                let stats = json!({"total_tokens": total, "input_tokens": input, "output_tokens": output, "cached": 0, "input": input, "models": models});
                let mut lines = vec![
                    json!({"type": "init", "session_id": session, "model": model}),
                    json!({"type": "message", "role": "user", "content": received.prompt}),
                ];
                let status = if text.is_empty() {
                    lines.push(json!({"type": "error", "severity": "error", "message": "Model stream ended with empty response text."}));
                    "error"
                } else {
                    let middle = text.floor_char_boundary(text.len() / 2);
                    for part in [&text[..middle], &text[middle..]].into_iter().filter(|p| !p.is_empty()) {
                        lines.push(
                            json!({"type": "message", "role": "assistant", "content": part, "delta": true}),
                        );
                    }
                    "success"
                };
                lines.push(json!({"type": "result", "status": status, "stats": stats}));
                lines.iter().map(|line| format!("{line}\n")).collect()
            }
            Output::Text | Output::Auto => format!("{text}\n"),
        };
        Spoken::said(stdout)
    }
}

/// An API error: the event in stream-json, an envelope on stderr in json, words in text.
fn failed(output: Output, session: &str, model: &str, status: u16) -> Spoken {
    let google = json!({"error": {"code": status, "message": format!("the stand-in plays HTTP {status}"), "status": "UNKNOWN"}});
    let exit = i32::from(status & 255);
    match output {
        Output::Stream => {
            let error = json!({"type": "unknown", "message": format!("[API Error: {google}]")});
            let init = json!({"type": "init", "session_id": session, "model": model});
            let result = json!({"type": "result", "status": "error", "error": error});
            Spoken { stdout: format!("{init}\n{result}\n"), status: exit, ..Spoken::default() }
        }
        Output::Json => {
            let error = json!({"type": "Error", "message": google.to_string(), "code": status});
            Spoken::refused(exit, format!("{:#}\n", json!({"session_id": session, "error": error})))
        }
        Output::Text | Output::Auto => Spoken::refused(
            1,
            format!(
                "Error when talking to Gemini API Full report available at: /tmp/report.json _ApiError: {google}\n\
                 An unexpected critical error occurred:[object Object]\n"
            ),
        ),
    }
}

/// The checks of yargs on values, as run.
fn check_values(parsed: &Parsed) -> Result<(), String> {
    let choice = |name: &str, choices: &[&str]| match parsed.last(name) {
        Some(value) if !choices.contains(&value) => {
            Err(format!("Invalid values:\n  Argument: {name}, Given: \"{value}\""))
        }
        _ => Ok(()),
    };
    choice("approval-mode", &["default", "auto_edit", "yolo", "plan"])?;
    choice("output-format", &["text", "json", "stream-json"])?;
    if parsed.has("yolo") && parsed.has("approval-mode") {
        return Err("Cannot use both --yolo (-y) and --approval-mode together.".to_owned());
    }
    if parsed.has("prompt") && !parsed.words.is_empty() {
        return Err("Cannot use both a positional prompt and the --prompt (-p) flag together".to_owned());
    }
    if parsed.all("prompt").count() > 1 {
        return Err("query.startsWith is not a function".to_owned());
    }
    if parsed.has("session-id") && parsed.has("resume") {
        return Err("Cannot use both --session-id and --resume together".to_owned());
    }
    match parsed.last("session-id") {
        Some(id) if !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') => {
            Err(format!("Invalid session ID \"{id}\""))
        }
        _ => Ok(()),
    }
}

/// One rule of a policy file; `toolName` and `commandPrefix` may be a string or a list there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    tool_name: OneOrMany,
    mcp_name: Option<String>,
    command_prefix: Option<OneOrMany>,
    decision: String,
    priority: u16,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn any(&self, test: impl Fn(&str) -> bool) -> bool {
        match self {
            OneOrMany::One(one) => test(one),
            OneOrMany::Many(many) => many.iter().any(|one| test(one)),
        }
    }
}

/// What the agent may do, by the policy engine: the rule of the highest tier and priority decides.
struct Rights {
    rules: Vec<(u32, Rule)>,
    mode: Permission,
    plan: bool,
}

impl Rights {
    fn of(parsed: &Parsed, given: &Given) -> Rights {
        let mut rules = Vec::new();
        let mut load = |name: &str, tier: u32| {
            let paths = parsed.all(name).flat_map(|paths| paths.split(',')).collect::<Vec<_>>();
            for path in paths {
                // What gemini cannot read it leaves out: fail open, as the real one.
                let file = given.files.get(path.trim()).and_then(|text| read_policy(text));
                rules.extend(
                    file.into_iter().flatten().map(|rule| (tier * 1000 + u32::from(rule.priority), rule)),
                );
            }
        };
        load("admin-policy", 5);
        load("policy", 4);
        for entry in parsed.all("allowed-tools").flat_map(|tools| tools.split(',')) {
            let (name, prefix) = tool_argument(entry.trim());
            let own = FACTS.tool(name).map_or(name, |(own, _)| own);
            rules.push((
                4300,
                Rule {
                    tool_name: OneOrMany::One(own.to_owned()),
                    mcp_name: None,
                    command_prefix: prefix.map(|p| OneOrMany::One(p.to_owned())),
                    decision: "allow".to_owned(),
                    priority: 300,
                },
            ));
        }
        rules.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
        let mode = match parsed.last("approval-mode") {
            Some("auto_edit") => Permission::Edit,
            Some("yolo") => Permission::Full,
            _ if parsed.has("yolo") => Permission::Full,
            _ => Permission::ReadOnly,
        };
        Rights { rules, mode, plan: parsed.last("approval-mode") == Some("plan") }
    }

    fn may_run(&self, entry: &str) -> bool {
        let (tool, argument) = tool_argument(entry);
        let decided = self
            .rules
            .iter()
            .find(|(_, rule)| rule.covers(tool, argument))
            .map(|(_, r)| r.decision == "allow");
        decided.unwrap_or_else(|| match FACTS.tool(tool) {
            // Both are allowed headless in every mode: the way to full autonomy.
            Some((_, facts)) if facts.escalates => true,
            Some(_) if tool == "web_fetch" => self.mode >= Permission::Edit,
            Some(_) if tool == "invoke_agent" => !self.plan,
            Some((_, facts)) => facts.needs <= self.mode,
            None => self.mode == Permission::Full,
        })
    }
}

impl Rule {
    fn covers(&self, tool: &str, argument: Option<&str>) -> bool {
        // The only patterns that it knows are `*` and those of MCP tools.
        let name = self.tool_name.any(|own| match own.strip_suffix('*') {
            Some(prefix) if prefix.is_empty() || prefix.starts_with("mcp_") => tool.starts_with(prefix),
            _ => own == tool,
        });
        let server = self.mcp_name.is_none() || tool.starts_with("mcp_");
        let words = match (&self.command_prefix, argument) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(prefixes), Some(argument)) => prefixes.any(|prefix| {
                argument.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }),
        };
        name && server && words
    }
}

fn read_policy(text: &str) -> Option<Vec<Rule>> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        rule: Vec<Rule>,
    }
    let rules = toml::from_str::<File>(text).ok()?.rule;
    let sound = |r: &Rule| r.priority <= 999 && matches!(r.decision.as_str(), "allow" | "deny" | "ask_user");
    rules.iter().all(sound).then_some(rules)
}
