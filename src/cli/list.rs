//! `teamster list`: the harnesses, what is installed, and what each can carry.

use super::args::ListArgs;
use super::argv::table;
use super::dispatch::runtime;
use super::print;
use super::request::settings;
use crate::config::Config;
use crate::doctor::{Look, Verdict, ask_version, together, verdict};
use crate::error::Result;
use crate::harness::{AgentBuilder, Evidence, Facts};
use crate::run::find;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) fn list(args: &ListArgs) -> Result<ExitCode> {
    let (config, registry) = settings(args.config.as_deref(), None, false)?;
    let chosen: Vec<&dyn AgentBuilder> = match &args.harness {
        Some(name) => vec![registry.get(name)?],
        None => registry.iter().collect(),
    };
    let found = installed(&chosen, &config)?;
    if args.json {
        let entries = chosen.iter().zip(&found).map(|(builder, found)| entry(builder.facts(), found));
        return print::json(&entries.collect::<Vec<Value>>());
    }
    let mut text = overview(&chosen, &found);
    if args.harness.is_some() {
        text.push_str(&tools(chosen[0].facts()));
    }
    print::line(&text)
}

/// Where a CLI is, and the version that it says.
#[derive(Default)]
struct Installed {
    path: Option<PathBuf>,
    version: Option<String>,
}

/// Looks for every CLI; those that are there are asked for their version, all at once.
fn installed(chosen: &[&dyn AgentBuilder], config: &Config) -> Result<Vec<Installed>> {
    let look = |builder: &dyn AgentBuilder| {
        let facts = builder.facts().clone();
        let profile = config.profile(None, &facts.id).unwrap_or_default();
        async move {
            let var = |name: &str| std::env::var_os(name);
            let Ok(found) = find(&facts, None, profile.bin.as_deref(), &var) else {
                return Installed::default();
            };
            let version = ask_version(&facts, &profile, &found.path, None).await.unwrap_or_default();
            Installed { path: Some(found.path), version }
        }
    };
    let looks: Vec<Look<'_, Installed>> =
        chosen.iter().map(|builder| Box::pin(look(*builder)) as _).collect();
    Ok(runtime()?.block_on(together(looks, usize::MAX)))
}

fn evidence(facts: &Facts) -> &'static str {
    match facts.evidence {
        Evidence::Run => "run",
        Evidence::Documented => "documented",
        Evidence::Declared => "declared",
    }
}

/// Whether the version that is installed is one whose contract was checked.
fn is_verified(facts: &Facts, found: &Installed) -> Option<bool> {
    let version = found.version.as_deref()?;
    Some(verdict(facts, Some(version)) == Verdict::Verified)
}

fn entry(facts: &Facts, found: &Installed) -> Value {
    let mut value = json!(facts);
    value["installed"] = json!(found.path.as_ref().map(|path| path.display().to_string()));
    value["installed_version"] = json!(found.version);
    value["installed_version_is_verified"] = json!(is_verified(facts, found));
    value
}

fn overview(chosen: &[&dyn AgentBuilder], found: &[Installed]) -> String {
    let mut head = table(&["id", "installed", "version", "verified", "on", "evidence", "aliases"]);
    for (facts, found) in chosen.iter().map(|b| b.facts()).zip(found) {
        let (version, date) =
            facts.verified.first().map_or(("-", "-"), |v| (v.version.as_str(), v.date.as_str()));
        let own = match (&found.version, is_verified(facts, found)) {
            (Some(version), Some(false)) => format!("{version} (not verified)"),
            (Some(version), _) => version.clone(),
            (None, _) => "-".to_owned(),
        };
        let at = found.path.as_ref().map_or_else(|| "no".to_owned(), |path| path.display().to_string());
        head.add_row([
            facts.id.as_str(),
            &at,
            &own,
            version,
            date,
            evidence(facts),
            &facts.aliases.join(", "),
        ]);
    }
    format!("{}\n\n{}\n", head.trim_fmt(), matrix(chosen))
}

/// How each harness carries each field: one row a harness, since there are more of them than fields.
fn matrix(chosen: &[&dyn AgentBuilder]) -> String {
    let names = chosen.first().map(|builder| builder.facts().capabilities.rows().map(|(name, _)| name));
    let heads = names.into_iter().flatten().map(|name| name.replace('_', " "));
    let heads: Vec<String> = std::iter::once("id".to_owned()).chain(heads).collect();
    let mut matrix = table(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for facts in chosen.iter().map(|builder| builder.facts()) {
        let carried = facts.capabilities.rows().map(|(_, how)| if how.is_empty() { "no" } else { how });
        matrix.add_row(std::iter::once(facts.id.as_str()).chain(carried));
    }
    matrix.trim_fmt()
}

fn tools(facts: &Facts) -> String {
    let mut all = table(&["tool", "needs", "word", "also called"]);
    for (name, tool) in &facts.tools {
        let needs = if tool.escalates { "never: it lifts every limit" } else { tool.needs.name() };
        let word = tool.word.map_or("", crate::policy::Word::name);
        all.add_row([name.as_str(), needs, word, &tool.aliases.join(", ")]);
    }
    format!(
        "\n{}\n\ninstall  {}\nsign in  {}\ndocs     {}\n",
        all.trim_fmt(),
        facts.install,
        facts.sign_in,
        facts.docs
    )
}
