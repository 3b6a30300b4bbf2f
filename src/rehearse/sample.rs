//! Makes up a value that is valid against a schema, for rehearsals.

use crate::error::Result;
use crate::request::ReplySchema;
use crate::schema::Schema;
use serde_json::{Map, Value, json};

/// A value that the schema accepts, where a simple one can be made up: checked, so never a wrong one.
pub fn sample(schema: &ReplySchema) -> Result<Option<Value>> {
    let compiled = Schema::compile(schema)?;
    let root: Value = serde_json::from_str(schema.text()).unwrap_or(Value::Null);
    let value = make(&root, &root, "value", 0);
    Ok(Some(value).filter(|value| compiled.accepts(value)))
}

/// Deeper than this, only what is required is made.
const DEEP: usize = 6;

fn make(schema: &Value, root: &Value, name: &str, depth: usize) -> Value {
    let Some(object) = schema.as_object() else { return json!(format!("a {name}")) };
    if depth > 3 * DEEP {
        return Value::Null;
    }
    if let Some(target) = object.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
        return root.pointer(target).map_or(Value::Null, |found| make(found, root, name, depth + 1));
    }
    let first = |key: &str| object.get(key).and_then(|list| list.get(0));
    if let Some(value) =
        object.get("const").or_else(|| object.get("default")).or(first("examples")).or(first("enum"))
    {
        return value.clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(branch) = first(key) {
            let mut merged = object.clone();
            merged.remove(key);
            merged.extend(branch.as_object().cloned().unwrap_or_default());
            return make(&Value::Object(merged), root, name, depth + 1);
        }
    }
    let kind = match object.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or("null")
        }
        _ if object.contains_key("properties") => "object",
        _ if object.contains_key("items") => "array",
        _ => "string",
    };
    match kind {
        "object" => record(object, root, depth),
        "array" => list(object, root, name, depth),
        "integer" | "number" => number(object, kind == "integer"),
        "boolean" => Value::Bool(true),
        "null" => Value::Null,
        _ => Value::String(text(object, name)),
    }
}

fn record(schema: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut made = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        if depth < DEEP || required.contains(&name.as_str()) {
            made.insert(name.clone(), make(property, root, name, depth + 1));
        }
    }
    for name in required {
        made.entry(name).or_insert_with(|| json!(format!("a {name}")));
    }
    Value::Object(made)
}

fn list(schema: &Map<String, Value>, root: &Value, name: &str, depth: usize) -> Value {
    let prefix = schema.get("prefixItems").and_then(Value::as_array);
    let mut made: Vec<Value> =
        prefix.into_iter().flatten().map(|item| make(item, root, name, depth + 1)).collect();
    let least = schema
        .get("minItems")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .max(u64::from(depth < DEEP && prefix.is_none()));
    let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let item = schema.get("items").cloned().unwrap_or(json!({}));
    while (made.len() as u64) < least.min(most).min(100) {
        made.push(make(&item, root, name, depth + 1));
    }
    Value::Array(made)
}

fn number(schema: &Map<String, Value>, whole: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|n| n + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|n| n - 1.0));
    let mut value = least.unwrap_or_else(|| most.unwrap_or(1.0).min(1.0));
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        value = (value / step).ceil() * step;
    }
    if whole { json!(value.ceil() as i64) } else { json!(value) }
}

fn text(schema: &Map<String, Value>, name: &str) -> String {
    let by_format = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "someone@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uri" | "iri" | "uri-reference" => "https://example.com/",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "regex" => ".*",
        "json-pointer" => "/a",
        _ => "",
    };
    let mut text = if by_format.is_empty() { format!("a {name}") } else { by_format.to_owned() };
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| n.min(10_000) as usize);
    while text.chars().count() < length("minLength").unwrap_or(0) {
        text.push('.');
    }
    if let Some(most) = length("maxLength") {
        text = text.chars().take(most).collect();
    }
    text
}
