//! The JSON Schemas of what goes in and comes out, made from the types (feature `typed`).
//!
//! `schemas/*.schema.json` holds them; a test makes them anew and compares, so they cannot drift.

use crate::outcome::Outcome;
use crate::policy::{Permission, ToolPolicy};
use crate::reply::Denied;
use crate::request::{DispatchRequest, ReplySchema, Session};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use std::borrow::Cow;

/// Name and schema of everything that has one.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    let mut all = vec![
        ("request", schema_for!(DispatchRequest)),
        ("harness", schema_for!(crate::harness::Facts)),
        ("event", schema_for!(EventLine)),
        ("outcome", schema_for!(Outcome)),
    ];
    #[cfg(feature = "cli")]
    all.push(("config", schema_for!(crate::config::Config)));
    #[cfg(feature = "jobs")]
    all.push(("job", schema_for!(crate::jobs::JobView)));
    #[cfg(feature = "doctor")]
    all.push(("doctor", schema_for!(crate::doctor::Report)));
    #[cfg(feature = "review")]
    all.push(("review", schema_for!(crate::review::Findings)));
    #[cfg(feature = "skill")]
    all.push(("skill", schema_for!(crate::skill::Skill)));
    for (name, schema) in &mut all {
        schema.insert("title".into(), format!("teamster {name}").into());
    }
    all
}

macro_rules! by_hand {
    ($type:ty, $name:literal, |$generator:ident| $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

by_hand!(Permission, "Permission", |_g| json_schema!({
    "type": "string",
    "enum": [
        "read-only", "edit", "full", "plan", "acceptEdits", "bypassPermissions", "default", "read_only", "readonly",
        "accept-edits", "auto_edit", "auto-edit", "bypass-permissions", "yolo"
    ]
}));
#[cfg(feature = "skill")]
by_hand!(crate::skill::Value, "Value", |_g| json_schema!(true));
by_hand!(ReplySchema, "ReplySchema", |_g| json_schema!({"type": ["object", "boolean"]}));
by_hand!(Session, "Session", |_g| json_schema!({
    "type": "object",
    "properties": {"id": {"type": ["string", "null"]}, "resume": {"type": ["string", "null"]}},
    "additionalProperties": false
}));
by_hand!(ToolPolicy, "ToolPolicy", |_g| {
    let names = json_schema!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    json_schema!({
        "anyOf": [
            names,
            {
                "type": "object",
                "properties": {"allow": names, "deny": names, "ask": names},
                "additionalProperties": false
            },
            {
                "type": "object",
                "additionalProperties": {"enum": ["allow", "deny", "ask", true, false]}
            }
        ]
    })
});

/// One line of `--stream`.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "a mirror of Event for its schema; a test holds the two together"
)]
enum EventLine {
    Session {
        id: String,
        model: Option<String>,
    },
    Text {
        text: String,
        #[serde(default)]
        delta: bool,
    },
    Thinking {
        text: String,
    },
    ToolUse {
        id: Option<String>,
        name: String,
        input: Option<serde_json::Value>,
    },
    ToolResult {
        id: Option<String>,
        ok: bool,
        output: Option<serde_json::Value>,
    },
    Denied(Denied),
    Retry {
        by: ByLine,
        attempt: Option<u32>,
        message: String,
    },
    Usage(crate::reply::Usage),
    Error {
        message: String,
        fatal: bool,
    },
    End {
        ok: bool,
    },
    Outcome {
        outcome: Outcome,
    },
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "a mirror of By")]
enum ByLine {
    Harness,
    Teamster,
}
