//! The tools: names, what they do in one sentence, schemas, and what they change.

use super::schemas;
use super::server::Host;
use crate::policy::Permission;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// The names.
pub(super) const TOOLS: &[&str] = &[
    "list_harnesses",
    "lower",
    "dispatch",
    "job_start",
    "job_status",
    "job_wait",
    "job_result",
    "job_logs",
    "job_cancel",
    "review",
];

/// The tools of a server, in the order of [`TOOLS`].
pub(super) fn tools(host: &Host) -> Vec<Tool> {
    let with = |more: Value| {
        let mut all = schemas::limits();
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
        schemas::request(host, all)
    };
    let id = json!({"type": "string", "description": "A job's id, or the beginning of it."});
    let ids = json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Ids of jobs, or beginnings of them."});
    let new_job = json!({
        "id": {"type": "string", "description": "The id of the job; made up where it is absent."},
        "title": {"type": "string", "description": "What the job is, in one line."},
    });
    let wait = json!({
        "ids": ids,
        "any": {"type": "boolean", "description": "Until the first of them is over, not all."},
        "timeout_s": {"type": "number", "minimum": 0, "description": "At most so many seconds; the jobs go on after it. Default 50."},
    });
    let logs = json!({
        "id": id,
        "after": {"type": "integer", "minimum": 0, "description": "Leave out so many events: the `next` of the last call."},
        "most": {"type": "integer", "minimum": 0, "description": "At most so many events. Default 200."},
    });
    let one = json!({"harness": {"type": "string", "description": "One harness, with its tools."}});
    let reads = ToolAnnotations::new().read_only(true).open_world(false);
    // What an agent changes is up to the ceiling.
    let acts = ToolAnnotations::new()
        .read_only(false)
        .destructive(host.ceiling.permission > Permission::ReadOnly)
        .idempotent(false)
        .open_world(true);
    let asks = acts.clone().destructive(false);
    let ends = ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false);
    vec![
        tool(
            "list_harnesses",
            "List the coding agents: which are installed, what each can carry, and what you may ask for.",
            schemas::closed(one, &[]),
            schemas::harnesses(),
            reads.clone(),
        ),
        tool(
            "lower",
            "Show the command that `dispatch` would run for a request, and how each field is carried. Runs nothing.",
            schemas::request(host, json!({})),
            schemas::lowered(),
            reads.clone(),
        ),
        tool(
            "dispatch",
            "Hand a task to another coding agent and wait for its answer; with `schema` the answer is a value that is \
             valid against it.",
            with(json!({})),
            schemas::outcome(),
            acts.clone(),
        ),
        tool(
            "job_start",
            "Hand a task to another coding agent in the background; gives the job's id at once.",
            with(new_job),
            schemas::jobs(),
            acts,
        ),
        tool(
            "job_status",
            "Show one job, or all of them, newest first.",
            schemas::closed(json!({"id": id}), &[]),
            schemas::jobs(),
            reads.clone(),
        ),
        tool(
            "job_wait",
            "Wait until jobs are over.",
            schemas::closed(wait, &["ids"]),
            schemas::jobs(),
            reads.clone(),
        ),
        tool(
            "job_result",
            "Read the answer of a job, or what there is of it while it runs.",
            schemas::closed(json!({"id": id}), &["id"]),
            schemas::job_result(),
            reads.clone(),
        ),
        tool(
            "job_logs",
            "Read the events of a job.",
            schemas::closed(logs, &["id"]),
            schemas::job_logs(),
            reads,
        ),
        tool(
            "job_cancel",
            "End jobs; nothing of them runs any more when this returns.",
            schemas::closed(json!({"ids": ids}), &["ids"]),
            schemas::jobs(),
            ends,
        ),
        tool(
            "review",
            "Have another coding agent review a git change, read-only; gives findings with file and line.",
            review(host),
            schemas::review(),
            asks,
        ),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    input: JsonObject,
    output: JsonObject,
    annotations: ToolAnnotations,
) -> Tool {
    Tool::new(name, description, Arc::new(input))
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

fn review(host: &Host) -> JsonObject {
    let effort = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    let mut properties = json!({
        "harness": schemas::harness(host),
        "scope": {"type": "string", "enum": ["auto", "working-tree", "branch"], "description": "Which change. auto: the working tree where it has changes, else the branch."},
        "base": {"type": "string", "description": "The branch or commit to compare the branch with."},
        "paths": {"type": "array", "items": {"type": "string"}, "description": "Only these files and folders, relative to `cwd`."},
        "cwd": {"type": "string", "description": "The repository, or a directory in it."},
        "model": {"type": "string", "description": "A model name or alias."},
        "effort": {"type": "string", "enum": effort},
    });
    if let (Some(all), Value::Object(limits)) = (properties.as_object_mut(), schemas::limits()) {
        all.extend(limits);
    }
    let required: &[&str] = if super::server::default_harness(host).is_none() { &["harness"] } else { &[] };
    schemas::closed(properties, required)
}
