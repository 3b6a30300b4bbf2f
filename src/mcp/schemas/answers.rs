//! What each tool answers.

use super::part::{Part, answer, named, object, part, without_words};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(super) const OUTCOME: &str = include_str!("../../../schemas/outcome.schema.json");
const JOB: &str = include_str!("../../../schemas/job.schema.json");
const REVIEW: &str = include_str!("../../../schemas/review.schema.json");

/// The outcome of a dispatch.
pub(in crate::mcp) fn outcome() -> JsonObject {
    let Part { mut schema, mut defs } = part(OUTCOME);
    without_words(&mut schema);
    defs.values_mut().for_each(without_words);
    object(schema, defs)
}

/// A lowered request.
pub(in crate::mcp) fn lowered() -> JsonObject {
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
pub(in crate::mcp) fn jobs() -> JsonObject {
    let jobs = json!({"type": "array", "items": {"$ref": "#/$defs/Job"}});
    answer(json!({"jobs": jobs, "timed_out": {"type": "boolean"}}), vec![named("Job", JOB)])
}

/// What came of a job.
pub(in crate::mcp) fn job_result() -> JsonObject {
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
pub(in crate::mcp) fn job_logs() -> JsonObject {
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
pub(in crate::mcp) fn review() -> JsonObject {
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
pub(in crate::mcp) fn harnesses() -> JsonObject {
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
