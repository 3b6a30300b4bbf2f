//! What the tools take, as far as the ceiling goes.

use super::part::{Part, object, part};
use crate::harness::AgentBuilder;
use crate::mcp::ceiling::{Allow, Ceiling};
use crate::mcp::server::{Host, default_harness};
use crate::policy::Permission;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

const REQUEST: &str = include_str!("../../../schemas/request.schema.json");

/// A request as far as the ceiling lets it be, with `more` properties.
pub(in crate::mcp) fn request(host: &Host, more: Value) -> JsonObject {
    let Part { mut schema, defs } = part(REQUEST);
    schema["description"] =
        "A task for an agent. Only `prompt` is needed where there is a default harness.".into();
    if let Some(properties) = schema["properties"].as_object_mut() {
        for field in [Allow::Env, Allow::AllowUnenforced, Allow::FileReferences] {
            if !host.ceiling.allow.contains(&field) {
                properties.remove(field.name());
            }
        }
        properties.insert("harness".to_owned(), harness(host));
        properties.insert("permission".to_owned(), permission(&host.ceiling));
        properties.insert("tools".to_owned(), tools());
        properties["schema"]["type"] = "object".into();
        properties["cwd"]["description"] = format!(
            "The agent's working directory: {} (the default), or below it.",
            host.ceiling.root().display()
        )
        .into();
        if let Value::Object(more) = more {
            properties.extend(more);
        }
    }
    if default_harness(host).is_none() {
        schema["required"] = json!(["harness", "prompt"]);
    }
    object(schema, defs)
}

/// The names of the harnesses that may be used.
pub(in crate::mcp) fn harness(host: &Host) -> Value {
    let all = host.registry.iter().map(AgentBuilder::facts);
    let ids: Vec<&str> = all.filter(|facts| host.ceiling.has(facts)).map(|facts| facts.id.as_str()).collect();
    json!({"type": "string", "description": format!("The agent: {}; also an alias.", ids.join(", "))})
}

/// The forms of a policy that a model has use for.
fn tools() -> Value {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let rules = json!({
        "type": "object", "properties": {"allow": list, "deny": list, "ask": list}, "additionalProperties": false,
    });
    json!({
        "anyOf": [{"type": "string"}, list, rules],
        "description": "Which tools may run: a list of those that may run unasked, or rules. read, edit, shell, web and mcp(server/tool) mean the same on every harness. Absent: none is restricted.",
    })
}

fn permission(ceiling: &Ceiling) -> Value {
    let names = &Permission::NAMES[..=ceiling.permission as usize];
    let none =
        if ceiling.permission < Permission::Full { "read-only" } else { "what the CLI does by itself" };
    json!({
        "type": "string",
        "enum": names,
        "description": format!("How far the agent may go, whatever `tools` says. Absent: {none}."),
    })
}

/// `timeout_s` and `attempts`.
pub(in crate::mcp) fn limits() -> Value {
    json!({
        "timeout_s": {"type": "number", "minimum": 0, "description": "Seconds for the whole dispatch, at most what the settings say (600)."},
        "attempts": {"type": "integer", "minimum": 1, "description": "Attempts for one valid reply, at most what the settings say (3)."},
    })
}
