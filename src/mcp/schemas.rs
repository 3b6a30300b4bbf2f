//! The schemas of the tools: those of `schemas/`, put together and made small enough for a model to read.

use super::ceiling::{Allow, Ceiling};
use super::server::{Host, default_harness};
use crate::harness::AgentBuilder;
use crate::policy::Permission;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

const REQUEST: &str = include_str!("../../schemas/request.schema.json");
const OUTCOME: &str = include_str!("../../schemas/outcome.schema.json");
const JOB: &str = include_str!("../../schemas/job.schema.json");
const REVIEW: &str = include_str!("../../schemas/review.schema.json");

/// A schema with its definitions apart, so that schemas can be put together.
struct Part {
    schema: Value,
    defs: Map<String, Value>,
}

fn part(text: &str) -> Part {
    let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
    let defs = match schema.as_object_mut() {
        Some(object) => {
            ["$schema", "title"].iter().for_each(|key| drop(object.remove(*key)));
            object.remove("$defs").and_then(|defs| defs.as_object().cloned()).unwrap_or_default()
        }
        None => Map::new(),
    };
    Part { schema, defs }
}

/// The same schema in fewer words: what a model pays for each time that it reads the list of tools.
///
/// - The sizes of numbers are no formats of JSON Schema, and some clients refuse what they do not know.
/// - A choice of constants is a list.
/// - Absent and `null` are the same: absent is left, since some clients know one type for a value alone.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            without_null(object);
            let is_size =
                |format: &str| ["int", "uint", "float", "double"].iter().any(|f| format.starts_with(f));
            if object.get("format").and_then(Value::as_str).is_some_and(is_size) {
                object.remove("format");
            }
            let forms = object.get("oneOf").and_then(Value::as_array);
            let text = |form: &Value| form.get("const").filter(|constant| constant.is_string()).cloned();
            let constants = forms.and_then(|forms| forms.iter().map(text).collect());
            if let Some(constants) = constants {
                object.remove("oneOf");
                object.insert("type".to_owned(), "string".into());
                object.insert("enum".to_owned(), Value::Array(constants));
            }
            object.values_mut().for_each(shorten);
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(only)] = &forms[..] {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

/// Without what is said of the parts: the answer itself shows it.
fn without_words(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // A property of this name is no text.
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(without_words);
        }
        Value::Array(list) => list.iter_mut().for_each(without_words),
        _ => {}
    }
}

fn object(mut schema: Value, defs: Map<String, Value>) -> JsonObject {
    if !defs.is_empty() {
        schema["$defs"] = Value::Object(defs);
    }
    shorten(&mut schema);
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// An object with these properties, no others, and some that have to be there.
pub(super) fn closed(properties: Value, required: &[&str]) -> JsonObject {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    object(schema, Map::new())
}

/// An answer: `ok`, `failure` where it is not, and these. `parts` are the definitions that they use.
fn answer(properties: Value, parts: Vec<Part>) -> JsonObject {
    let mut defs = part(OUTCOME).defs;
    defs.extend(parts.into_iter().flat_map(|part| part.defs));
    let mut all = json!({
        "ok": {"type": "boolean"},
        "failure": {"$ref": "#/$defs/Failure"},
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), properties) {
        all.extend(more);
    }
    let schema = json!({"type": "object", "properties": all, "required": ["ok"]});
    let used = used(&schema, &defs);
    defs.retain(|name, _| used.contains(name));
    defs.values_mut().for_each(without_words);
    object(schema, defs)
}

/// The definitions that a schema reaches.
fn used(schema: &Value, defs: &Map<String, Value>) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![schema]);
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                let name =
                    object.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
                if let Some(name) = name.filter(|name| !found.iter().any(|f| f == name)) {
                    found.push(name.to_owned());
                    open.extend(defs.get(name));
                }
                open.extend(object.values());
            }
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    found
}

/// The outcome of a dispatch.
pub(super) fn outcome() -> JsonObject {
    let Part { mut schema, mut defs } = part(OUTCOME);
    without_words(&mut schema);
    defs.values_mut().for_each(without_words);
    object(schema, defs)
}

/// A whole schema as the definition `name` of others.
fn named(name: &str, text: &str) -> Part {
    let Part { schema, mut defs } = part(text);
    defs.insert(name.to_owned(), schema);
    Part { schema: Value::Null, defs }
}

/// A lowered request.
pub(super) fn lowered() -> JsonObject {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let row = json!({
        "type": "object",
        "properties": {"field": {"type": "string"}, "carried": {"type": "string"}, "detail": {"type": "string"}},
        "required": ["field", "carried", "detail"],
    });
    answer(
        json!({
            "harness": {"type": "string"},
            "program": {"type": "string"},
            "args": texts,
            "shell_line": {"type": "string", "description": "Program and arguments for a shell; places that the run fills are in braces."},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "stdin": {"type": "string"},
            "files": {"type": "array", "items": {"type": "object"}},
            "report": {"type": "array", "items": row, "description": "How each field of the request is carried."},
        }),
        Vec::new(),
    )
}

/// Jobs.
pub(super) fn jobs() -> JsonObject {
    let jobs = json!({"type": "array", "items": {"$ref": "#/$defs/Job"}});
    answer(json!({"jobs": jobs, "timed_out": {"type": "boolean"}}), vec![named("Job", JOB)])
}

/// What came of a job.
pub(super) fn job_result() -> JsonObject {
    answer(
        json!({
            "job": {"$ref": "#/$defs/Job"},
            "partial": {"type": "boolean", "description": "It still runs; `text` is what it said so far."},
            "outcome": {"$ref": "#/$defs/Outcome"},
            "text": {"type": "string"},
        }),
        vec![named("Job", JOB), named("Outcome", OUTCOME)],
    )
}

/// The events of a job.
pub(super) fn job_logs() -> JsonObject {
    answer(
        json!({
            "events": {"type": "array", "items": {"type": "object"}},
            "next": {"type": "integer", "description": "The `after` of the next call."},
            "over": {"type": "boolean", "description": "Nothing more will come."},
        }),
        Vec::new(),
    )
}

/// A review.
pub(super) fn review() -> JsonObject {
    let mut review = named("Findings", REVIEW);
    // What a review adds to a finding is left open.
    if let Some(finding) = review.defs.get_mut("Finding").and_then(Value::as_object_mut) {
        finding.remove("additionalProperties");
    }
    answer(
        json!({
            "scope": {"type": "string"},
            "base": {"type": "string"},
            "inlined": {"type": "boolean"},
            "files": {"type": "array", "items": {"type": "object"}},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
            "outcome": {"$ref": "#/$defs/Outcome"},
        }),
        vec![review, named("Outcome", OUTCOME)],
    )
}

/// The list of harnesses.
pub(super) fn harnesses() -> JsonObject {
    let harness = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"}, "name": {"type": "string"}, "installed": {"type": "boolean"},
            "may_be_used": {"type": "boolean"},
        },
        "required": ["id", "name", "installed", "may_be_used"],
    });
    answer(
        json!({
            "harnesses": {"type": "array", "items": harness},
            "default": {"type": "string"},
            "ceiling": {"type": "object"},
        }),
        Vec::new(),
    )
}

/// A request as far as the ceiling lets it be, with `more` properties.
pub(super) fn request(host: &Host, more: Value) -> JsonObject {
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
pub(super) fn harness(host: &Host) -> Value {
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
pub(super) fn limits() -> Value {
    json!({
        "timeout_s": {"type": "number", "minimum": 0, "description": "Seconds for the whole dispatch, at most what the settings say (600)."},
        "attempts": {"type": "integer", "minimum": 1, "description": "Attempts for one valid reply, at most what the settings say (3)."},
    })
}
