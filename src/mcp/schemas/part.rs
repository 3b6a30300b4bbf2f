//! Schemas put together, in few words.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// A schema with its definitions apart, so that schemas can be put together.
pub(super) struct Part {
    pub(super) schema: Value,
    pub(super) defs: Map<String, Value>,
}

pub(super) fn part(text: &str) -> Part {
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
pub(super) fn without_words(value: &mut Value) {
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

pub(super) fn object(mut schema: Value, defs: Map<String, Value>) -> JsonObject {
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
pub(in crate::mcp) fn closed(properties: Value, required: &[&str]) -> JsonObject {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    object(schema, Map::new())
}

/// A whole schema as the definition `name` of others.
pub(super) fn named(name: &str, text: &str) -> Part {
    let Part { schema, mut defs } = part(text);
    defs.insert(name.to_owned(), schema);
    Part { schema: Value::Null, defs }
}

/// An answer: `ok`, `failure` where it is not, and these. `parts` are the definitions that they use.
pub(super) fn answer(properties: Value, parts: Vec<Part>) -> JsonObject {
    let mut defs = part(super::answers::OUTCOME).defs;
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
