//! Every text arrives byte for byte, or is refused.

use super::given::filled;
use super::{Finding, given, hostile_texts, note};
use crate::error::{Kind, cut};
use crate::harness::{AgentBuilder, lower};
use crate::lowering::{Carried, Field, Lowered};
use crate::profile::Profile;
use crate::request::{DispatchRequest, ReplySchema};
use serde_json::Value;

const RULE: &str = "a text arrives byte for byte, or is refused";
const KINDS: [Kind; 4] = [Kind::InvalidRequest, Kind::Unsupported, Kind::ArgTooLong, Kind::Unenforceable];

pub(super) fn check(builder: &dyn AgentBuilder, profile: &Profile, found: &mut Vec<Finding>) {
    let schema = ReplySchema::from_text(r#"{"type": "object", "description": "an @ and a \" in it"}"#).ok();
    for text in hostile_texts() {
        let alone = DispatchRequest::new(text.clone());
        let with_system = DispatchRequest { system_prompt: Some("Be brief.".to_owned()), ..alone.clone() };
        let as_system =
            DispatchRequest { system_prompt: Some(text.clone()), ..DispatchRequest::new("Say hi") };
        let with_schema = DispatchRequest { schema: schema.clone(), ..alone.clone() };
        for (how, request) in [
            ("alone", alone),
            ("after a system prompt", with_system),
            ("as system prompt", as_system),
            ("with a schema", with_schema),
        ] {
            if let Some(what) = fault(builder, profile, &request) {
                note(found, RULE, format!("{:?} {how}", cut(&text, 40)), what);
            }
        }
    }
    for (field, request) in [
        ("prompt", DispatchRequest::new("a\0b")),
        (
            "system_prompt",
            DispatchRequest { system_prompt: Some("a\0b".to_owned()), ..DispatchRequest::new("Say hi") },
        ),
    ] {
        let refused = lower(builder, &request, profile).is_err_and(|e| e.message.contains(field));
        if !refused {
            note(found, RULE, format!("a NUL byte in {field}"), "it is not refused by the field's name");
        }
    }
}

fn fault(builder: &dyn AgentBuilder, profile: &Profile, request: &DispatchRequest) -> Option<String> {
    let lowered = match lower(builder, request, profile) {
        Ok(lowered) => lowered,
        Err(refused) if KINDS.contains(&refused.kind) => return None,
        Err(refused) => return Some(format!("refused as {}: {}", refused.kind, refused.message)),
    };
    let texts = [
        (Field::Prompt, Some(request.prompt.as_str())),
        (Field::SystemPrompt, request.system_prompt.as_deref()),
        (Field::Schema, request.schema.as_ref().map(ReplySchema::text)),
    ];
    for (field, text) in texts.iter().filter_map(|(field, text)| Some((*field, (*text)?))) {
        if !is_dropped(&lowered, field) && !carries(&lowered, text) {
            return Some(format!("the {} stands nowhere in the command as it is", field.name()));
        }
    }
    let stand_in = builder.stand_in()?;
    let received = match stand_in.receive(&given(&lowered.command)) {
        Ok(received) => received.prompt,
        Err(spoken) => {
            return Some(format!("the CLI ends with {}: {}", spoken.status, cut(&spoken.stderr, 200)));
        }
    };
    let alone = request.system_prompt.is_none() && request.schema.is_none();
    if alone
        && received != request.prompt
        && !(received == format!("\n{}", request.prompt) && tells_of_line_feed(&lowered))
    {
        return Some(format!("{:?} arrives", cut(&received, 60)));
    }
    let folded =
        |field: Field| lowered.report.rows.iter().any(|r| r.field == field && r.carried == Carried::Prompt);
    let missing = texts
        .iter()
        .filter_map(|(field, text)| Some((*field, (*text)?)))
        .find(|(field, text)| (*field == Field::Prompt || folded(*field)) && !received.contains(text));
    missing.map(|(field, _)| format!("the {} is not in what arrives: {:?}", field.name(), cut(&received, 60)))
}

fn is_dropped(lowered: &Lowered, field: Field) -> bool {
    lowered.report.dropped().any(|row| row.field == field)
}

/// Whether some text of the command holds this one, unchanged, or is it as a string of JSON: `key="…"`.
fn carries(lowered: &Lowered, text: &str) -> bool {
    let command = &lowered.command;
    let words = command.args.iter().chain(command.env.iter().map(|(_, value)| value));
    words.map(filled).any(|word| holds(&word, text))
        || command.stdin.as_ref().is_some_and(|stdin| stdin.contains(text))
        || command.files.iter().any(|file| holds(&file.content, text))
}

/// As it is, or in a string of JSON.
fn holds(whole: &str, text: &str) -> bool {
    fn inside(value: &Value, text: &str) -> bool {
        match value {
            Value::String(own) => own.contains(text),
            Value::Array(all) => all.iter().any(|value| inside(value, text)),
            Value::Object(all) => all.values().any(|value| inside(value, text)),
            _ => false,
        }
    }
    // A value that is glued to its flag or key may be quoted: `-c key="…"`.
    let quoted =
        |(_, value): (&str, &str)| serde_json::from_str::<String>(value).is_ok_and(|own| own == text);
    whole.contains(text)
        || whole.split_once('=').is_some_and(quoted)
        || (whole.starts_with('{') && serde_json::from_str(whole).is_ok_and(|value| inside(&value, text)))
}

/// The one addition that is allowed has a row of its own words.
fn tells_of_line_feed(lowered: &Lowered) -> bool {
    lowered.report.rows.iter().any(|row| row.field == Field::Prompt && row.detail.contains("line feed"))
}
