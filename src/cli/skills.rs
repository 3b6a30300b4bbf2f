//! `teamster skills`: the skill, agent and command files that there are, and what one of them sets.

use super::argv::table;
use super::print;
use super::request::{profile, settings};
use crate::error::{Failure, Kind, Result, cut};
use crate::request::DispatchRequest;
use crate::skill::{Found, Merge, Places, Scope, Skill, Trust, merge, plain};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct SkillsArgs {
    /// The name or the path of one, to show it whole
    name: Option<String>,
    /// Show what it sets on this harness
    #[arg(long, value_name = "PLATFORM", requires = "name")]
    on: Option<String>,
    /// As if it might grant what it names, wherever it lies
    #[arg(long, requires = "on")]
    trust_skill: bool,
    /// The project's directory, or one in it
    #[arg(long, short = 'C', value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The configuration file, which may declare harnesses
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn skills(args: &SkillsArgs) -> Result<ExitCode> {
    match shown(args) {
        Err(failure) if args.json => {
            let status = ExitCode::from(failure.kind.exit_status());
            print::json(&json!({"ok": false, "failure": failure}))?;
            print::failure(&failure);
            Ok(status)
        }
        done => done,
    }
}

fn shown(args: &SkillsArgs) -> Result<ExitCode> {
    let here = std::env::current_dir()
        .map_err(|e| Failure::new(Kind::BadCwd, format!("the working directory cannot be read: {e}")))?;
    let cwd = args.cwd.as_ref().map_or(here.clone(), |cwd| here.join(cwd));
    if !cwd.is_dir() {
        return Err(Failure::new(Kind::BadCwd, format!("cwd: {} is no directory", cwd.display())));
    }
    let (config, registry) = settings(args.config.as_deref(), Some(&cwd), false)?;
    let places = Places::of_user(&registry, &cwd);
    let Some(name) = &args.name else { return list(&places.list()?, &here, args.json) };
    let found = places.find(name, &here)?;
    let skill = found.skill?;
    let sets = match &args.on {
        Some(on) => {
            let facts = registry.get(on)?.facts();
            let profile = profile(&config, None, &facts.id)?;
            let trust = if args.trust_skill { Trust::Vouched } else { found.scope.trust() };
            let how = Merge { facts, registry: &registry, profile: &profile, trust, tools_stand: false };
            Some(sets(&skill, &cwd, &how)?)
        }
        None => None,
    };
    if args.json {
        let mut value =
            json!({"ok": true, "scope": found.scope, "trusted": trusted(found.scope), "skill": skill});
        if let Some((request, notices)) = sets {
            value["request"] = json!(request);
            value["notices"] = json!(notices);
        }
        return print::json(&value);
    }
    print::line(&plain(&one(&skill, found.scope, sets)))
}

/// What a skill makes of an empty request, and the notices.
fn sets(skill: &Skill, cwd: &Path, how: &Merge<'_>) -> Result<(Value, Vec<String>)> {
    let mut request = DispatchRequest { cwd: Some(cwd.to_owned()), ..DispatchRequest::new("PROMPT") };
    let notices = merge(skill, &mut request, how)?;
    request.cwd = None;
    request.harness = Some(how.facts.id.clone());
    Ok((json!(request), notices))
}

fn trusted(scope: Scope) -> bool {
    scope.trust() > Trust::Restrict
}

fn list(all: &[Found], here: &Path, as_json: bool) -> Result<ExitCode> {
    let shadowed = |at: usize| all[..at].iter().any(|before| before.name == all[at].name);
    if as_json {
        let entries = all.iter().enumerate().map(|(at, found)| {
            let mut entry = json!({
                "name": found.name,
                "path": found.path,
                "scope": found.scope,
                "trusted": trusted(found.scope),
                "shadowed": shadowed(at),
            });
            match &found.skill {
                Ok(skill) => {
                    entry["format"] = json!(skill.format);
                    entry["harness"] = json!(skill.harness);
                    entry["description"] = json!(skill.description);
                    entry["notices"] = json!(skill.notices);
                }
                Err(failure) => entry["failure"] = json!(failure),
            }
            entry
        });
        let entries: Vec<Value> = entries.collect();
        return print::json(&json!({"ok": true, "skills": entries}));
    }
    if all.is_empty() {
        print::note("there is none: .agents/skills in the project and in your home are two of the places");
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = table(&["name", "format", "of", "whose", "description", "file"]);
    for (at, found) in all.iter().enumerate() {
        let skill = found.skill.as_ref().ok();
        let whose = match (found.scope, shadowed(at)) {
            (Scope::Outside, _) => "outside (restricts only)".to_owned(),
            (scope, true) => format!("{} (shadowed)", scope.name()),
            (scope, false) => scope.name().to_owned(),
        };
        let says = match &found.skill {
            Ok(skill) => first_line(skill.description.as_deref().unwrap_or("-")),
            Err(failure) => format!("cannot be read: {}", first_line(&failure.message)),
        };
        let name = plain(&cut(&found.name, 60));
        rows.add_row([
            name.as_str(),
            skill.map_or("-", |skill| skill.format.name()),
            skill.and_then(|skill| skill.harness.as_deref()).unwrap_or("-"),
            &whose,
            &says,
            &plain(&short(&found.path, here)),
        ]);
    }
    print::line(&rows.trim_fmt())
}

/// A path for people: below this folder as it is from there, below the home with a `~`.
fn short(path: &Path, here: &Path) -> String {
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if let Ok(below) = path.strip_prefix(real(here)) {
        return below.display().to_string();
    }
    let home = etcetera::home_dir().ok();
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

fn first_line(text: &str) -> String {
    plain(&cut(text.lines().next().unwrap_or_default(), 100))
}

/// One skill, whole: what it says, what it sets, then its text.
fn one(skill: &Skill, scope: Scope, sets: Option<(Value, Vec<String>)>) -> String {
    let tools = skill.tools.as_ref().map(|tools| json!(tools).to_string());
    let whose =
        if trusted(scope) { scope.name().to_owned() } else { "outside: it can restrict only".to_owned() };
    let closed = skill.closed.then(|| "no other tool, not even to read".to_owned());
    let metadata = (!skill.metadata.is_empty()).then(|| json!(skill.metadata).to_string());
    let rows = [
        ("name", Some(skill.name.clone())),
        ("about", skill.description.clone()),
        ("format", Some(skill.format.name().to_owned())),
        ("of", skill.harness.clone()),
        ("file", Some(skill.path.display().to_string())),
        ("whose", Some(whose)),
        ("tools", tools),
        ("closed", closed),
        ("permission", skill.permission.map(|permission| permission.name().to_owned())),
        ("model", skill.model.clone()),
        ("effort", skill.effort.map(|effort| json!(effort).as_str().unwrap_or_default().to_owned())),
        ("max turns", skill.max_turns.map(|turns| turns.to_string())),
        ("metadata", metadata),
    ];
    let mut text = String::new();
    for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let value = value.trim_end().replace('\n', &format!("\n{:12}", ""));
        text.push_str(&format!("{name:<12}{value}\n"));
    }
    let (fields, notices) = match sets {
        Some((Value::Object(fields), notices)) => (fields, notices),
        _ => (serde_json::Map::new(), skill.notices.clone()),
    };
    for notice in notices {
        let own = format!("skill {}: ", cut(&skill.name, 60));
        text.push_str(&format!("{:<12}{}\n", "note", notice.strip_prefix(&own).unwrap_or(&notice)));
    }
    if !fields.is_empty() {
        let own = |name: &str| fields.get(name).map(|value| format!("  {name:<14}{value}\n"));
        let names = ["tools", "permission", "model", "effort", "max_turns", "add_dirs"];
        let lines: String = names.into_iter().filter_map(own).collect();
        let on = fields.get("harness").and_then(Value::as_str).unwrap_or_default();
        let lines = if lines.is_empty() { "  nothing but its text\n" } else { &lines };
        text.push_str(&format!("\nsets on {on}\n{lines}"));
    }
    if !skill.body.is_empty() {
        text.push_str(&format!("\n{}\n", skill.body));
    }
    text
}
