//! The facts of a harness are whole, and agree with what its builder does.

use super::requests::{SESSION, tool};
use super::{Finding, Suite, note};
use crate::error::Kind;
use crate::harness::{AgentBuilder, Facts, lower};
use crate::lowering::{Carried, Field};
use crate::policy::{Permission, ToolPolicy, ToolRules};
use crate::request::{DispatchRequest, Effort, ReplySchema, Session};
use std::collections::HashSet;

const RULE: &str = "the facts agree with the builder";

pub(super) fn check(builder: &dyn AgentBuilder, suite: &Suite, found: &mut Vec<Finding>) {
    let facts = builder.facts();
    let mut bad = |case: &str, what: String| note(found, RULE, case, what);
    if facts != builder.facts() {
        bad("facts", "asked twice, they are not the same".to_owned());
    }
    if facts.id.is_empty() {
        bad("id", "it is empty".to_owned());
    }
    if facts.bins.iter().any(String::is_empty) || facts.bins.is_empty() {
        bad("bins", "no name of a program".to_owned());
    }
    if let Some(status) = facts.exit_statuses.keys().find(|status| status.parse::<u8>().is_err()) {
        bad("exit_statuses", format!("`{status}` is no exit status"));
    }
    let blank = |words: &String| words.trim().is_empty();
    if facts.signed_out.iter().any(blank) {
        bad("signed_out", "no words".to_owned());
    }
    if let Some(status) = &facts.status
        && (status.args.is_empty()
            || status.says_in.is_empty()
            || status.says_in.iter().chain([&status.says_out]).any(blank))
    {
        bad("status", "no arguments, or no words".to_owned());
    }
    let mut names = HashSet::new();
    for name in facts.tools.iter().flat_map(|(name, tool)| std::iter::once(name).chain(&tool.aliases)) {
        if !names.insert(name) {
            bad("tools", format!("`{name}` names two tools"));
        }
        if name.is_empty() || name.contains(['(', ')', ',', ' ', '*', '"', '\\']) {
            bad("tools", format!("`{name}` is no plain name"));
        }
    }
    for place in &facts.skills {
        let folders = || place.project.iter().chain(&place.user);
        let below = |folder: &&String| {
            let mut parts = std::path::Path::new(folder.as_str()).components();
            !folder.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        if folders().next().is_none() || !folders().all(|folder| below(&folder)) {
            bad("skills", format!("{place:?} is no folder below a project or a home"));
        }
    }
    if let Some(name) = facts.skill_tools.keys().find(|name| names.contains(name)) {
        bad("skill_tools", format!("`{name}` is one of its tools"));
    }
    for (capability, word) in facts.capabilities.rows() {
        let word = if word.is_empty() { "no" } else { word };
        if let Some(what) = disagreement(builder, suite, capability, word) {
            bad(capability, format!("told as `{word}`, and {what}"));
        }
    }
}

fn disagreement(builder: &dyn AgentBuilder, suite: &Suite, capability: &str, word: &str) -> Option<String> {
    let Some((field, request)) = probe(builder.facts(), capability) else {
        let known = ["yes", "no"].contains(&word);
        return (!known).then(|| "it is `yes` or `no`".to_owned());
    };
    let carried = [
        Carried::Flag,
        Carried::Env,
        Carried::Stdin,
        Carried::File,
        Carried::Prompt,
        Carried::Config,
        Carried::Runner,
    ];
    if word != "no" && !carried.iter().any(|c| c.name() == word) {
        return Some("that is neither `no` nor a word of the report".to_owned());
    }
    match (lower(builder, &request, &suite.profile), word) {
        (Err(e), "no")
            if matches!(e.kind, Kind::Unsupported | Kind::Unenforceable | Kind::InvalidRequest) =>
        {
            None
        }
        (Err(e), _) => Some(format!("a request with it is refused: {}", e.message)),
        (Ok(lowered), _) => {
            let mut rows = lowered.report.rows.iter().filter(|row| row.field == field);
            let wanted = if word == "no" { Carried::Dropped.name() } else { word };
            match rows.any(|row| row.carried.name() == wanted) {
                true => None,
                false => Some(format!("no row of {} says `{wanted}`", field.name())),
            }
        }
    }
}

/// A request that uses the capability, and the field that it is in; none where lowering does not show it.
fn probe(facts: &Facts, capability: &str) -> Option<(Field, DispatchRequest)> {
    let name = tool(facts, Permission::ReadOnly)
        .or_else(|| tool(facts, Permission::Edit))
        .unwrap_or("shell")
        .to_owned();
    let rules = ToolRules { allow: vec![name.clone()], ..ToolRules::default() };
    let mut request = DispatchRequest::new("Say hi");
    let field = match capability {
        "system_prompt" => {
            request.system_prompt = Some("Be brief.".to_owned());
            Field::SystemPrompt
        }
        "model" => {
            request.model = Some("m-1".to_owned());
            Field::Model
        }
        "tools" => {
            request.tools = Some(ToolPolicy::Flat(vec![name]));
            Field::Tools
        }
        "tool_rules" => {
            request.tools = Some(ToolPolicy::Structured(rules));
            Field::Tools
        }
        "permission" => {
            request.permission = Some(Permission::ReadOnly);
            Field::Permission
        }
        "schema" => {
            request.schema = ReplySchema::from_text(r#"{"type": "object"}"#).ok();
            Field::Schema
        }
        "effort" => {
            request.effort = Some(Effort::High);
            Field::Effort
        }
        "session_id" => {
            request.session = Some(Session::New(Some(SESSION.to_owned())));
            Field::Session
        }
        "resume" => {
            request.session =
                Some(Session::Resume(facts.session_example.as_deref().unwrap_or(SESSION).to_owned()));
            Field::Session
        }
        "add_dirs" => {
            request.add_dirs = vec!["/repo/other".into()];
            Field::AddDirs
        }
        "max_turns" => {
            request.max_turns = Some(3);
            Field::MaxTurns
        }
        _ => return None,
    };
    Some((field, request))
}
