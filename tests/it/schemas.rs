//! Law 6: the caller's schema decides. Cases B31 to B37.

use serde_json::{Value, json};
use std::net::TcpListener;
use teamster::schema::{FEEDBACK_BYTES, Schema};
use teamster::{Kind, ReplySchema};

fn compile(schema: &Value) -> teamster::Result<Schema> {
    Schema::compile(&ReplySchema::from_value(schema).expect("JSON"))
}

#[test]
fn b31_no_reference_leaves_the_schema() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("non-blocking");
    let at = format!("http://{}", listener.local_addr().expect("an address"));
    let refused = [
        json!({"$ref": format!("{at}/x.json")}),
        json!({"$id": format!("{at}/root.json"), "properties": {"a": {"$ref": "b.json"}}}),
        json!({"type": "object", "$defs": {"unused": {"$ref": format!("{at}/x.json")}}}),
        json!({"$ref": "file:///etc/hostname"}),
        json!({"$ref": "other.json"}),
        json!({"$schema": format!("{at}/meta.json"), "type": "object"}),
    ];
    for schema in refused {
        assert_eq!(compile(&schema).map(|_| ()).expect_err("is refused").kind, Kind::SchemaError, "{schema}");
    }
    assert!(listener.accept().is_err(), "nobody connected");
    let works = [
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"p": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/p"}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"p": {"type": "integer"}}, "properties": {"a": {"$ref": "#/definitions/p"}}}),
        json!({"$id": "https://example.test/s.json", "$defs": {"p": {"$anchor": "pp", "type": "integer"}}, "properties": {"a": {"$ref": "#pp"}}}),
    ];
    for schema in works {
        let compiled = compile(&schema).expect("compiles");
        assert_eq!(
            (compiled.accepts(&json!({"a": 1})), compiled.accepts(&json!({"a": "1"}))),
            (true, false),
            "{schema}"
        );
    }
}

#[test]
fn b32_the_dialect_is_the_callers_in_every_spelling() {
    let pair = |dialect: &str| json!({"$schema": dialect, "type": "object", "properties": {"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}}, "required": ["pair"]});
    for dialect in
        ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft/2020-12/schema#"]
    {
        let schema = compile(&pair(dialect)).expect("compiles");
        let verdicts = [json!(["a", 1]), json!([1, "a"]), json!(["a", "b"])]
            .map(|p| schema.accepts(&json!({"pair": p})));
        assert_eq!(verdicts, [true, false, false], "{dialect}");
    }
    for dialect in [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
    ] {
        let schema = compile(
            &json!({"$schema": dialect, "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}),
        );
        let schema = schema.expect("compiles");
        assert_eq!(
            (schema.accepts(&json!({"ok": true})), schema.accepts(&json!({}))),
            (true, false),
            "{dialect}"
        );
    }
}

#[test]
fn b33_optional_and_open_stay_as_the_caller_wrote_them() {
    let schema = compile(
        &json!({"type": "object", "properties": {"ok": {"type": "boolean"}, "note": {"type": "string"}}, "required": ["ok"]}),
    );
    let schema = schema.expect("compiles");
    assert!(schema.accepts(&json!({"ok": true})));
    assert!(schema.accepts(&json!({"ok": true, "extra": 1})));
    assert!(!schema.accepts(&json!({"ok": true, "note": null})));
}

#[test]
fn b34_formats_are_asserted_in_every_dialect() {
    let format = json!({"type": "string", "format": "date-time"});
    let mut schemas = vec![format.clone()];
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let mut schema = format.clone();
        schema["$schema"] = json!(dialect);
        schemas.push(schema);
    }
    for schema in schemas {
        let compiled = compile(&schema).expect("compiles");
        assert_eq!(
            (compiled.accepts(&json!("not a date")), compiled.accepts(&json!("2026-01-31T12:00:00Z"))),
            (false, true),
            "{schema}"
        );
    }
}

#[test]
fn b37_feedback_names_path_keyword_and_form_of_every_branch() {
    let schema = compile(&json!({"anyOf": [
        {"type": "object", "required": ["kind", "url"], "properties": {"kind": {"const": "link"}, "url": {"type": "string"}}},
        {"type": "object", "required": ["kind", "n"], "properties": {"kind": {"const": "num"}, "n": {"type": "integer"}}}
    ]}));
    let invalid = schema
        .expect("compiles")
        .verdict(&json!({"kind": "num", "n": "3"}))
        .expect("a verdict")
        .expect("invalid");
    assert_eq!(
        invalid.feedback,
        "Your last reply is not valid against the JSON Schema:\n\
         - the value: fits none of the 2 forms of anyOf; each of them says why:\n\
         - form 1: /url is missing (required)\n\
         - form 1: /kind: expected \"link\" (const)\n\
         - form 2: /n: expected integer, found string (type)\n\
         Answer again with the whole JSON value, corrected, and with nothing else: no text before or after it."
    );
}

#[test]
fn feedback_is_short_and_quotes_no_value() {
    let schema = compile(&json!({"type": "array", "items": {"type": "integer"}})).expect("compiles");
    let huge = "secret".repeat(20_000);
    let value: Vec<Value> = (0..500).map(|_| json!(huge)).collect();
    let invalid = schema.verdict(&json!(value)).expect("a verdict").expect("invalid");
    assert!(invalid.feedback.len() < FEEDBACK_BYTES, "{}", invalid.feedback.len());
    assert!(!invalid.feedback.contains("secret"));
    assert!(invalid.feedback.contains("/0: expected integer, found string (type)"), "{}", invalid.feedback);
    assert!(invalid.feedback.contains("more"), "{}", invalid.feedback);
}

#[test]
fn a_pattern_that_runs_into_its_limit_is_the_schemas_fault() {
    let schema = compile(&json!({"type": "string", "pattern": "^(a|b|ab)*(?=c)\\1$"})).expect("compiles");
    let failure = schema.verdict(&json!("ab".repeat(200))).expect_err("the limit is reached");
    assert_eq!(failure.kind, Kind::SchemaError);
}

#[test]
fn a_pattern_that_is_no_regular_expression_does_not_compile() {
    assert_eq!(
        compile(&json!({"pattern": "("})).map(|_| ()).expect_err("is refused").kind,
        Kind::SchemaError
    );
}

#[test]
fn a_schema_that_only_refers_to_itself_ends() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    ] {
        if let Ok(compiled) = compile(&schema) {
            let _ = compiled.accepts(&json!({"a": [1, {"b": 2}]}));
        }
    }
}
