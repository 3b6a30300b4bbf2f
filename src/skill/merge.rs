//! A skill and a request, made one.

use super::meet::{meet, own_rules};
use super::native::Native;
use super::parse::PLACES;
use super::read::{Skill, plain};
use crate::error::{Failure, Result, cut};
use crate::harness::{AgentBuilder, Facts, HarnessRegistry, OwnRule, SkillFormat};
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules};
use crate::profile::Profile;
use crate::request::DispatchRequest;
use std::path::Path;

/// What a skill file may do for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Hold the agent back, and nothing else.
    Restrict,
    /// Also give the rights that it names one by one.
    Grant,
    /// Also give everything: the caller vouches for the file.
    Vouched,
}

/// What a merge needs to know beside skill and request.
#[derive(Clone, Copy)]
pub struct Merge<'a> {
    /// The harness in use.
    pub facts: &'a Facts,
    /// All harnesses, for the names of tools in the file.
    pub registry: &'a HarnessRegistry,
    /// The profile in use, for its model aliases.
    pub profile: &'a Profile,
    /// What the file may do.
    pub trust: Trust,
    /// The request's tools are the caller's last word: the file's are left aside even where they would
    /// restrict.
    pub tools_stand: bool,
}

/// Puts into the request what the skill says and the request does not; gives the notices.
///
/// - Model, effort, turns, permission and tools of the request win. The body goes ahead of the request's system
///   prompt; a command with a place for the prompt takes it in and becomes the prompt, as does one where there is none.
/// - A file that may only restrict: tools become what request and file both let, the permission the smaller of
///   the two, and where the request has neither, nothing may run unasked.
/// - Names of tools come into the words of the harness in use: see [`Skill::tools`].
///
/// Errors: [`Kind::Unsupported`](crate::Kind::Unsupported) for a tool that the file denies and the harness in use
/// cannot be held from; [`Kind::InvalidRequest`](crate::Kind::InvalidRequest) for a command whose prompt is missing.
pub fn merge(skill: &Skill, request: &mut DispatchRequest, how: &Merge<'_>) -> Result<Vec<String>> {
    let mut notices = skill.notices.clone();
    tools(skill, request, how, &mut notices).map_err(|failure| named(skill, failure))?;
    model(skill, request, how, &mut notices);
    request.effort = request.effort.or(skill.effort);
    request.max_turns = request.max_turns.or(skill.max_turns);
    text(skill, request)?;
    folder(skill, request, how, &mut notices);
    Ok(notices
        .into_iter()
        .map(|notice| plain(&format!("skill {}: {notice}", cut(&skill.name, 60))))
        .collect())
}

fn named(skill: &Skill, failure: Failure) -> Failure {
    let message = plain(&format!("skill: {}: {}", skill.path.display(), failure.message));
    Failure { message, ..failure }
}

fn tools(
    skill: &Skill,
    request: &mut DispatchRequest,
    how: &Merge<'_>,
    notices: &mut Vec<String>,
) -> Result<()> {
    let own = request.tools.take();
    let replaced = own.is_some() && (how.tools_stand || how.trust > Trust::Restrict);
    let policy = match skill.tools.as_ref().filter(|_| !replaced) {
        Some(tools) => policy(skill, tools, how, notices)?,
        None => None,
    };
    let bare = own.is_none() && request.permission.is_none();
    request.tools = match (own, policy) {
        (own, None) => own,
        (None, Some(policy)) if how.trust == Trust::Restrict && bare => {
            Some(denied_only(policy, how.facts, notices))
        }
        (None, Some(policy)) => Some(policy),
        (Some(own), Some(policy)) => Some(meet(how.facts, &own, &policy)?),
    };
    permission(skill, request, how.trust, bare, notices);
    Ok(())
}

/// The file's policy on the harness in use; none where it says nothing.
fn policy(
    skill: &Skill,
    tools: &ToolPolicy,
    how: &Merge<'_>,
    notices: &mut Vec<String>,
) -> Result<Option<ToolPolicy>> {
    let everything = tools.entries().any(|(rule, entry)| rule == ToolRule::Allow && entry == "*");
    let mut tools = tools.clone();
    let mut kept = false;
    if everything {
        // In the other formats it means the tools that there are, not that they run unasked.
        kept = skill.format == SkillFormat::ModeAgent && how.trust == Trust::Vouched;
        if !kept {
            let list = match &mut tools {
                ToolPolicy::Flat(list) => list,
                ToolPolicy::Structured(rules) => &mut rules.allow,
            };
            list.retain(|entry| entry != "*");
            notices.push("`*` for its tools gives no right, and takes none".to_owned());
            if tools.entries().all(|(rule, _)| rule == ToolRule::Allow) {
                return Ok(None);
            }
        }
    }
    let source = skill.harness.as_deref().and_then(|id| how.registry.get(id).ok());
    let native = Native {
        target: how.facts,
        source: source.map(AgentBuilder::facts),
        registry: how.registry,
        parts: &skill.parts,
    };
    native.policy(&tools, skill.closed && !kept, notices).map(Some)
}

/// What is left of a policy where it may give nothing.
fn denied_only(policy: ToolPolicy, facts: &Facts, notices: &mut Vec<String>) -> ToolPolicy {
    let (mut allow, rules) = match policy {
        ToolPolicy::Flat(allow) => (allow, ToolRules::default()),
        ToolPolicy::Structured(rules) => {
            (rules.allow, ToolRules { allow: Vec::new(), deny: rules.deny, ask: rules.ask })
        }
    };
    let only_reads = |entry: &str| {
        let needs = |own: OwnRule| facts.tools.get(&own.tool).map(|tool| tool.needs);
        let own = own_rules(facts, ToolRule::Allow, entry).unwrap_or_default();
        own.into_iter().all(|own| needs(own) == Some(Permission::ReadOnly))
    };
    allow.retain(|entry| !only_reads(entry));
    if !allow.is_empty() {
        notices.push(format!(
            "not granted, since it lies outside the project and your skill folders: {}; --trust-skill grants it",
            cut(&allow.join(", "), 300)
        ));
    }
    super::meet::policy(rules)
}

fn permission(
    skill: &Skill,
    request: &mut DispatchRequest,
    trust: Trust,
    bare: bool,
    notices: &mut Vec<String>,
) {
    let Some(asked) = skill.permission else { return };
    let least = match trust {
        Trust::Vouched => Permission::Full,
        Trust::Grant => Permission::Edit,
        // A ceiling over what the request has, and over nothing where it has nothing.
        Trust::Restrict if !bare => Permission::Full,
        Trust::Restrict => Permission::ReadOnly,
    };
    match request.permission {
        Some(own) if trust == Trust::Restrict => request.permission = Some(own.min(asked)),
        Some(_) => {}
        None if asked <= least => request.permission = Some(asked),
        None => {
            notices.push(format!("its permission `{}` is not granted without --trust-skill", asked.name()));
        }
    }
}

fn model(skill: &Skill, request: &mut DispatchRequest, how: &Merge<'_>, notices: &mut Vec<String>) {
    let Some(model) = skill.model.as_ref().filter(|_| request.model.is_none()) else { return };
    let id = &how.facts.id;
    let of = |by: &indexmap::IndexMap<String, String>| by.contains_key(id) || by.contains_key("*");
    let alias =
        how.profile.models.contains_key(model) || how.profile.shared_models.get(model).is_some_and(of);
    match &skill.harness {
        Some(harness) if harness != id && !alias => notices.push(format!(
            "its model `{}` is one of {harness}, so it is left out; give one with --model, or an alias in the configuration",
            cut(model, 60)
        )),
        _ => request.model = Some(model.clone()),
    }
}

/// The body: a command's takes the prompt in where it has a place for it, and is the prompt where there is none;
/// else it is a system prompt.
fn text(skill: &Skill, request: &mut DispatchRequest) -> Result<()> {
    if skill.format == SkillFormat::Command
        && let Some(place) = PLACES.iter().find(|place| skill.body.contains(**place))
    {
        if request.prompt.is_empty() {
            let why = format!("is missing, and the command `{}` has a place for it, {place}", skill.name);
            return Err(Failure::invalid("prompt", why));
        }
        // In one pass: the prompt may hold such a place too.
        request.prompt = skill.body.split(place).collect::<Vec<_>>().join(&request.prompt);
        return Ok(());
    }
    if skill.format == SkillFormat::Command && request.prompt.is_empty() {
        request.prompt.clone_from(&skill.body);
        return Ok(());
    }
    let mut parts = vec![skill.body.clone()];
    if let Some(folder) = skill.folder() {
        parts.push(format!("The files that these instructions name lie in {}", folder.display()));
    }
    parts.extend(request.system_prompt.take());
    parts.retain(|part| !part.is_empty());
    request.system_prompt = (!parts.is_empty()).then(|| parts.join("\n\n"));
    Ok(())
}

/// The agent has to reach the files beside the skill.
fn folder(skill: &Skill, request: &mut DispatchRequest, how: &Merge<'_>, notices: &mut Vec<String>) {
    let Some(folder) = skill.folder() else { return };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let reached = |dir: &Path| real(&folder).starts_with(real(dir));
    let cwd = request.cwd.as_deref().unwrap_or(Path::new("."));
    if reached(cwd) || request.add_dirs.iter().any(|dir| reached(dir)) {
        return;
    }
    let at = folder.display().to_string();
    match how.trust {
        Trust::Restrict => notices.push(format!(
            "its folder {at} is outside the working directory, so its other files may be out of reach; --add-dir or --trust-skill adds it"
        )),
        _ => {
            notices.push(format!("its folder {at} is added to the agent's directories"));
            request.add_dirs.push(folder);
        }
    }
}
