//! What kimi may do: the tools that the agent of the session has. Each of them runs unasked.
//!
//! As run on 2.1.0, 2026-12-01:
//! - With `--prompt` the mode is always that of no questions; `--yolo`, `--auto` and `--plan` are refused with it,
//!   and rules of the configuration that deny do nothing there.
//! - `--agent-file` is the limit: a tool that its `tools` do not name is not there, `[]` leaves none. An agent of the
//!   project with the same name does not take its place.
//! - Its body is the system prompt; one of nothing is refused. `${base_prompt}` is kimi's own.
//! - It cannot be given with `--session`: the session has the agent that it began with, and its tools with it.
//! - `Write` and `Edit` reach every file.
//! - Servers of the project are left out where the user does not trust the folder. Tools of servers are under the
//!   same list (read).

use super::FACTS;
use crate::command::Text;
use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;
use crate::request::Session;

/// The options of 2.1.0.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::COMMANDER,
    options: &[
        opt("version", Some('V'), Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("session", Some('S'), MaybeValue, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("prompt", Some('p'), Value, Ours),
        opt("output-format", None, Value, Ours),
        opt("yolo", Some('y'), Nothing, Ours),
        opt("auto", None, Nothing, Ours),
        opt("plan", None, Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("skills-dir", None, Value, Free),
        opt("agent", None, Value, Right),
        opt("agent-file", None, Value, Right),
        opt("add-dir", None, Value, Right),
    ],
};

const AGENT: &str = "agent.md";

/// Adds the file with the agent, which holds the request's tools and its system prompt. Gives whether the
/// system prompt goes ahead of the prompt instead.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<bool> {
    let request = draft.request;
    let system = draft.system_prompt();
    // What stands around the body is lost, and `${name}` may be one of kimi's own words.
    let folded = system.is_some_and(|system| system.trim() != system || system.contains("${"));
    let body = system.filter(|_| !folded);
    let restricts = request.restricts();
    let resumes = matches!(request.session, Some(Session::Resume(_)));
    if resumes && !request.is_correction() {
        let refused = |field: Field, what: &str| {
            let why = format!("{}: kimi takes {what} for a new session only", field.name());
            Err(Failure::new(Kind::Unsupported, why)
                .hint("a resumed session has those that it began with: start a new one, or leave them out"))
        };
        if restricts {
            return refused(draft.restricting_field(), "limits");
        }
        if system.is_some() {
            return refused(Field::SystemPrompt, "a system prompt");
        }
    }
    let mut lists = String::new();
    if restricts {
        let held = tools(draft, &mut lists)?;
        draft.rights_row(Carried::File, held);
    } else if request.permission == Some(Permission::Full) {
        let free = "no flag: kimi runs every tool that is there, and a resumed session keeps its agent";
        draft.row(Field::Permission, Carried::Flag, free);
    }
    if body.is_some() {
        let how = if resumes {
            "in the session since its first turn"
        } else {
            "the body of --agent-file, in place of kimi's own"
        };
        draft.row(Field::SystemPrompt, Carried::File, how);
    }
    if !resumes && (restricts || body.is_some()) {
        let body = body.unwrap_or("${base_prompt}");
        draft.file(AGENT, format!("---\nname: teamster\ndescription: this run\n{lists}---\n{body}\n"));
        draft.arg(Text::file("--agent-file=", AGENT));
    }
    Ok(folded)
}

/// The lists of the agent's file, and the words for them.
fn tools(draft: &mut Draft<'_>, lists: &mut String) -> Result<String> {
    let rights = draft.rights()?;
    let anywhere = "its Edit and Write reach every file, also outside of the working directory";
    let edits = rights.whole().any(|tool| tool == "Edit" || tool == "Write");
    if edits && draft.request.permission == Some(Permission::Edit) {
        draft.unenforced(Field::Permission, format!("kimi cannot be held to the workspace: {anywhere}"))?;
    }
    let list = |tools: &[&str]| serde_json::Value::from(tools.to_vec()).to_string();
    let there: Vec<&str> = rights.whole().chain(rights.foreign()).collect();
    let mut denied: Vec<&str> = rights.none().collect();
    denied.extend(
        rights
            .rules()
            .iter()
            .filter(|rule| rule.rule != crate::policy::ToolRule::Allow && rule.tool != "*")
            .map(|rule| rule.tool.as_str())
            .filter(|tool| !FACTS.tools.contains_key(*tool)),
    );
    let mut held = if rights.everything() {
        *lists = format!("disallowedTools: {}\n", list(&denied));
        format!("--agent-file without these tools: {}", denied.join(", "))
    } else {
        *lists = format!("tools: {}\n", list(&there));
        let names = if there.is_empty() { "no tool".to_owned() } else { there.join(", ") };
        format!("--agent-file with these tools and no other: {names}")
    };
    if draft.request.is_correction() {
        held = "the session has the agent that it began with, and its tools with it".to_owned();
    }
    if edits && draft.request.permission != Some(Permission::Edit) {
        held = format!("{held}; {anywhere}");
    }
    Ok(held)
}
