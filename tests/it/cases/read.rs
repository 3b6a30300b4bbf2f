//! Cases about what a run's output comes to.

use serde_json::{Value, json};
use teamster::reply::{Found, RunEnd, Usage, find_value};
use teamster::schema::Schema;
use teamster::{HarnessRegistry, Kind, Output, Reply, ReplySchema};

/// A recorded run, read.
fn read(id: &str, name: &str) -> Reply {
    let registry = HarnessRegistry::builtin();
    let builder = registry.get(id).unwrap();
    let all = crate::transcripts::of(builder);
    all.iter().find(|transcript| transcript.name == name).unwrap().read(builder, &[]).0
}

/// What the caller's schema makes of a text.
fn judged(schema: &Value, text: &str) -> Found {
    let schema = Schema::compile(&ReplySchema::from_value(schema).unwrap()).unwrap();
    find_value(text, |value| match schema.verdict(value).unwrap() {
        None => Ok(()),
        Some(invalid) => Err(invalid.feedback),
    })
}

/// The text is what a value is taken from, so the value that the CLI held to the schema itself comes before the
/// words beside it.
#[test]
fn b20_the_value_usage_and_session_are_those_of_the_last_result() {
    let usage = Usage { input_tokens: Some(30), output_tokens: Some(9), ..Usage::default() };
    let wanted = Reply {
        text: r#"{"ok": true}"#.to_owned(),
        session_id: Some("s-20".to_owned()),
        model: Some("m-1".to_owned()),
        usage: Some(usage),
        ..Reply::default()
    };
    assert_eq!(read("claude", "b20_json"), wanted);
}

#[test]
fn b24_the_limit_of_turns_keeps_its_session() {
    let reply = read("claude", "b24_json");
    assert_eq!(reply.session_id.as_deref(), Some("s-24"));
    let tokens = reply.usage.map(|usage| (usage.input_tokens, usage.output_tokens));
    assert_eq!(tokens, Some((Some(40), Some(7))));
}

#[test]
fn b30_the_value_is_that_of_the_last_message() {
    let schema = json!({"type": "object", "required": ["action", "task"],
        "properties": {"action": {"enum": ["wait", "enqueue"]}, "task": {"type": "string"}}});
    let found = judged(&schema, &read("codex", "b30_stream-json").text);
    assert_eq!(found, Found::One(json!({"action": "enqueue", "task": "fix it"})));
}

#[test]
fn b32_a_schema_that_claude_refuses_is_the_schemas_fault() {
    let registry = HarnessRegistry::builtin();
    for output in [Output::Json, Output::Stream] {
        let reader = registry.get("claude").unwrap().reader(output);
        let said = "Error: --json-schema is not a valid JSON Schema: no schema with key or ref";
        let error = reader.finish(&RunEnd::exited(1, said), &mut |_| {}).error.unwrap();
        assert_eq!((error.kind, error.retryable), (Kind::SchemaError, false));
        assert!(error.message.contains("no schema with key or ref"), "{}", error.message);
    }
}

#[test]
fn b33_replies_are_judged_by_the_callers_schema() {
    let schema = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"},
        "note": {"type": "string"}, "sub": {"type": "object", "properties": {"x": {"type": "integer"}}}}});
    for (text, is_valid) in [
        (r#"{"ok":true}"#, true),
        (r#"{"ok":true,"note":null,"sub":{"x":null}}"#, false),
        (r#"{"ok":true,"extra":1}"#, true),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        match judged(&schema, text) {
            Found::One(found) => assert!(is_valid && found == value, "{text}: {found}"),
            Found::Invalid(found, why) => {
                assert!(!is_valid && found == value, "{text}: {why}");
                assert!(why.contains("/note: expected string, found null"), "{why}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
