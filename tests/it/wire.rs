//! The schemas that ship are those of the types, and what goes in and out fits them.

use serde_json::{Value, json};
use teamster::reply::{By, Json, Usage};
use teamster::schema::Schema;
use teamster::wire::schemas;
use teamster::{DispatchRequest, Event, Failure, HarnessRegistry, Kind, Outcome, ReplySchema};

/// Made anew with `UPDATE_SCHEMAS=1 cargo test --all-features`.
#[test]
fn shipped_schemas_are_those_of_the_types() {
    for (name, schema) in schemas() {
        let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let made = format!("{:#}\n", schema.as_value());
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &made).expect("schemas/ is writable");
        }
        assert_eq!(
            std::fs::read_to_string(&path).expect("the schema ships"),
            made,
            "{name}: see the comment above"
        );
    }
}

fn schema(name: &str) -> Schema {
    let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the schema ships");
    Schema::compile(&ReplySchema::from_text(&text).expect("JSON")).expect("a schema that compiles")
}

#[track_caller]
fn fits(schema: &Schema, value: &Value) {
    assert_eq!(schema.verdict(value).expect("a verdict"), None, "{value:#}");
}

#[test]
fn every_event_fits_the_event_schema() {
    let raw = Json::new("{\"path\":\"a\"}").expect("JSON");
    let text = Json::new("\"out\"").expect("JSON");
    let usage = Usage { input_tokens: Some(1), cost_usd: Some(0.5), ..Usage::default() };
    let events = [
        Event::Session { id: "s".into(), model: Some("m".into()) },
        Event::Session { id: "s".into(), model: None },
        Event::Text { text: "t".into(), delta: true },
        Event::Text { text: "t".into(), delta: false },
        Event::Thinking { text: "t".into() },
        Event::ToolUse { id: Some("1".into()), name: "n".into(), input: Some(raw) },
        Event::ToolResult { id: None, ok: false, output: Some(text) },
        Event::Denied { tool: "t".into(), reason: "r".into() },
        Event::Retry { by: By::Teamster, attempt: Some(2), message: "m".into() },
        Event::Retry { by: By::Harness, attempt: None, message: "m".into() },
        Event::Usage { usage },
        Event::Error { message: "m".into(), fatal: true },
        Event::End { ok: true },
    ];
    let schema = schema("event");
    for event in events {
        fits(&schema, &serde_json::to_value(event).expect("JSON"));
    }
    assert!(!schema.accepts(&json!({"type": "nonsense"})));
}

#[test]
fn requests_and_outcomes_fit_their_schemas() {
    let whole = json!({
        "harness": "gemini", "prompt": "p", "system_prompt": "s", "model": "m", "model_is_exact": true,
        "tools": {"allow": ["read_file"], "deny": "write_file, replace"}, "permission": "plan",
        "schema": {"type": "object"}, "effort": "high", "session": {"id": "s-1"}, "cwd": "/w", "add_dirs": ["/x"],
        "max_turns": 3, "env": {"A": "b"}, "output": "json", "file_references": true, "allow_unenforced": true
    });
    let requests = schema("request");
    let (request, _) = DispatchRequest::from_json(&whole.to_string()).expect("a request");
    fits(&requests, &whole);
    fits(&requests, &serde_json::to_value(&request).expect("JSON"));
    for tools in [json!("a, b"), json!(["a"]), json!({}), json!({"shell": false, "read": "ask"}), json!(null)]
    {
        fits(&requests, &json!({"prompt": "p", "tools": tools}));
    }
    assert!(!requests.accepts(&json!({"prompt": "p", "promt": "q"})));
    let refused = Outcome::refused("gemini", Failure::new(Kind::Auth, "m").hint("h"));
    fits(&schema("outcome"), &serde_json::to_value(refused).expect("JSON"));
    let facts = HarnessRegistry::builtin().get("gemini").expect("built in").facts().clone();
    fits(&schema("harness"), &serde_json::to_value(facts).expect("JSON"));
    fits(
        &schema("config"),
        &json!({"profiles": {"gemini": {"args": ["--debug"], "limits": {"attempts": 2}}}}),
    );
}
