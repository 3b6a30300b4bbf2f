//! The caller's schema in the dialect that a CLI's own checker takes.

use serde_json::Value;

/// Keywords that draft-07 has and that mean the same in every later draft.
const COMMON: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "format",
];
/// Keywords that only tell a reader something.
const SILENT: &[&str] = &["$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly"];

/// The schema for a CLI that has a strict draft-07 checker and wants an object: the caller's own without
/// `$schema` and what only tells a reader something.
///
/// `None` where the schema has a keyword that such a checker does not know or reads in another way (the
/// CLI is then told by instruction alone; the reply is checked against the caller's own schema anyway),
/// where its root is no object, or where it is over `most` bytes.
pub fn draft_07_object(schema: &str, most: usize) -> Option<String> {
    let mut value: Value = serde_json::from_str(schema).ok()?;
    if value.get("type").and_then(Value::as_str) != Some("object") || !sound(&mut value) {
        return None;
    }
    // An object schema whose root is a choice is refused by some checkers of tools.
    if ["anyOf", "oneOf", "allOf", "not", "$ref", "if"].iter().any(|key| value.get(key).is_some()) {
        return None;
    }
    let text = value.to_string();
    (text.len() <= most).then_some(text)
}

/// Keywords of the strict subset that model servers take for a reply's format.
const STRICT: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "definitions",
    "title",
    "description",
];
/// How deep objects may stand in each other there.
const STRICT_DEPTH: usize = 5;

/// The schema for a model server that takes only its strict subset: an object at the root, every property
/// required and no other allowed in each object, and few keywords. The caller's own without what only
/// tells a reader something.
///
/// `None` where the schema is not in it as it stands. It is never made so: a property that may be left
/// out and one that must be null are two things.
pub fn strict_object(schema: &str, most: usize) -> Option<String> {
    let mut value: Value = serde_json::from_str(schema).ok()?;
    let is_object = value.get("type").and_then(Value::as_str) == Some("object");
    if !is_object || value.get("anyOf").is_some() || !strict(&mut value, 0) {
        return None;
    }
    let text = value.to_string();
    (text.len() <= most).then_some(text)
}

fn strict(schema: &mut Value, depth: usize) -> bool {
    let Value::Object(keys) = schema else { return false };
    keys.retain(|key, _| !SILENT.contains(&key.as_str()));
    let is_object = match keys.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(several)) => several.iter().any(|one| one == "object"),
        _ => keys.contains_key("properties"),
    };
    if is_object {
        let names: Vec<&String> = keys
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|all| all.keys())
            .collect();
        let required = keys.get("required").and_then(Value::as_array);
        let must = |name: &&String| required.is_some_and(|all| all.iter().any(|one| one == name.as_str()));
        let closed = keys.get("additionalProperties") == Some(&Value::Bool(false));
        if !closed || depth >= STRICT_DEPTH || !names.iter().all(must) {
            return false;
        }
    }
    let below = depth + usize::from(is_object);
    keys.iter_mut().all(|(key, value)| match key.as_str() {
        "properties" | "$defs" | "definitions" => {
            value.as_object_mut().is_some_and(|all| all.values_mut().all(|one| strict(one, below)))
        }
        "items" => strict(value, below),
        "anyOf" => value.as_array_mut().is_some_and(|all| all.iter_mut().all(|one| strict(one, below))),
        "$ref" => value.as_str().is_some_and(|target| target.starts_with("#/")),
        key => STRICT.contains(&key),
    })
}

/// Takes out what is silent; false where something is in the way.
fn sound(schema: &mut Value) -> bool {
    let Value::Object(keys) = schema else { return schema.is_boolean() };
    keys.retain(|key, _| !SILENT.contains(&key.as_str()));
    keys.iter_mut().all(|(key, value)| match key.as_str() {
        "properties" | "patternProperties" | "$defs" | "definitions" => {
            value.as_object_mut().is_some_and(|all| all.values_mut().all(sound))
        }
        "items" | "additionalProperties" | "propertyNames" | "contains" | "not" | "if" | "then" | "else" => {
            sound(value)
        }
        "anyOf" | "oneOf" | "allOf" => value.as_array_mut().is_some_and(|all| all.iter_mut().all(sound)),
        "$ref" => value.as_str().is_some_and(|target| target.starts_with("#/")),
        key => COMMON.contains(&key),
    })
}
