//! An event in a few words, for a live line or a client that follows.

use super::text::one_line;
use super::{By, Event};
use crate::error::cut;
use serde_json::Value;
use std::collections::HashMap;

/// Members of a tool's input that tell most, the first that there is.
const TELLING: &[&str] = &["command", "cmd", "path", "file", "pattern", "query", "url", "prompt", "name"];

/// What an event comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// For the live line alone.
    Brief(String),
    /// Worth a line of its own.
    Worth(String),
}

/// Events to steps; it knows the tools that were asked for.
#[derive(Default)]
pub(crate) struct Steps {
    tools: HashMap<String, String>,
    /// The tool that was refused last: that it then failed says nothing new.
    refused: Option<String>,
}

impl Steps {
    /// The step of an event, with nothing in it that a terminal obeys.
    pub(crate) fn of(&mut self, event: &Event<'_>) -> Option<Step> {
        let words = |text: &str, most: usize| cut(one_line(text).trim(), most).into_owned();
        Some(match event {
            Event::Session { id, model } => {
                let model =
                    model.as_ref().map_or(String::new(), |model| format!(", model {}", words(model, 60)));
                Step::Worth(format!("session {}{model}", words(id, 60)))
            }
            Event::Text { .. } => Step::Brief("writing".to_owned()),
            Event::Thinking { text } if text.trim().is_empty() => Step::Brief("thinking".to_owned()),
            Event::Thinking { text } => Step::Worth(format!("thinking: {}", words(text, 160))),
            Event::ToolUse { id, name, input } => {
                let name = words(name, 60);
                if let Some(id) = id {
                    self.tools.insert(id.to_string(), name.clone());
                }
                let input = input.as_ref().map_or(String::new(), |json| telling(json.text()));
                Step::Worth(format!("{name} {}", words(&input, 120)).trim_end().to_owned())
            }
            Event::ToolResult { id, ok: false, output } => {
                let name = id.as_ref().and_then(|id| self.tools.get(&**id));
                if name.is_some() && name == self.refused.take().as_ref() {
                    return None;
                }
                let name = name.map_or("the tool", String::as_str);
                let said = output.as_ref().map_or(String::new(), |json| {
                    json.clone().string().map_or_else(|| json.text().to_owned(), std::borrow::Cow::into_owned)
                });
                Step::Worth(format!("{name} failed: {}", words(&said, 120)))
            }
            Event::Denied { tool, reason } => {
                let tool = words(tool, 60);
                self.refused = Some(tool.clone());
                Step::Worth(format!("{tool} was refused: {}", words(reason, 120)))
            }
            Event::Retry { by: By::Harness, message, .. } => {
                Step::Worth(format!("it tries again: {}", words(message, 160)))
            }
            Event::Error { message, .. } => Step::Worth(format!("it says: {}", words(message, 200))),
            _ => return None,
        })
    }
}

/// The part of a tool's input that tells most: a path, a command; else the input as it is.
fn telling(input: &str) -> String {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(input) else { return input.to_owned() };
    let best = TELLING.iter().find_map(|word| {
        members.iter().find(|(name, value)| name.to_lowercase().contains(word) && !value.is_null())
    });
    match best.map(|(_, value)| value) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None if members.is_empty() => String::new(),
        None => input.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Json;

    fn tool(input: &str) -> Option<Step> {
        let input = Json::new(input);
        Steps::default().of(&Event::ToolUse { id: None, name: "t".into(), input })
    }

    #[test]
    fn a_tool_is_told_with_what_tells_most_and_nothing_that_a_terminal_obeys() {
        let cases = [
            (r#"{"content":"long","file_path":"src/a.rs"}"#, "t src/a.rs"),
            (r#"{"description":"list","command":"ls -la\n\u001b[2Jx"}"#, "t ls -la  [2Jx"),
            (r#"{"a":1}"#, r#"t {"a":1}"#),
            (r#"{"paths":["a","b"]}"#, r#"t ["a","b"]"#),
            ("{}", "t"),
        ];
        for (input, expected) in cases {
            assert_eq!(tool(input), Some(Step::Worth(expected.to_owned())), "{input}");
        }
    }

    #[test]
    fn a_tool_that_failed_is_told_by_its_name() {
        let mut steps = Steps::default();
        steps.of(&Event::ToolUse { id: Some("1".into()), name: "read".into(), input: None });
        let output = Json::new(r#""no such\nfile""#);
        assert_eq!(
            steps.of(&Event::ToolResult { id: Some("1".into()), ok: false, output }),
            Some(Step::Worth("read failed: no such file".to_owned()))
        );
        steps.of(&Event::Denied { tool: "read".into(), reason: "no".into() });
        let refused = Event::ToolResult { id: Some("1".into()), ok: false, output: None };
        assert_eq!(steps.of(&refused), None, "its refusal was told");
        assert_eq!(steps.of(&Event::ToolResult { id: None, ok: true, output: None }), None);
    }
}
