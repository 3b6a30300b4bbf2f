//! `teamster list`: the harnesses, what is installed, and what each can carry.

use super::args::ListArgs;
use super::argv::table;
use super::print;
use crate::error::Result;
use crate::harness::{AgentBuilder, Evidence, Facts, HarnessRegistry};
use crate::run::find;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(super) fn list(args: &ListArgs) -> Result<ExitCode> {
    let registry = HarnessRegistry::builtin();
    let chosen: Vec<&dyn AgentBuilder> = match &args.harness {
        Some(name) => vec![registry.get(name)?],
        None => registry.iter().collect(),
    };
    if args.json {
        return print::json(&chosen.iter().map(|builder| entry(builder.facts())).collect::<Vec<Value>>());
    }
    let mut text = overview(&chosen);
    if args.harness.is_some() {
        text.push_str(&tools(chosen[0].facts()));
    }
    print::line(&text)
}

fn installed(facts: &Facts) -> Option<String> {
    find(facts, None, None, &|name| std::env::var_os(name)).ok().map(|found| found.path.display().to_string())
}

fn evidence(facts: &Facts) -> &'static str {
    match facts.evidence {
        Evidence::Run => "run",
        Evidence::Documented => "documented",
    }
}

fn entry(facts: &Facts) -> Value {
    let mut value = json!(facts);
    value["installed"] = json!(installed(facts));
    value
}

fn overview(chosen: &[&dyn AgentBuilder]) -> String {
    let mut head = table(&["id", "name", "installed", "verified", "evidence", "aliases"]);
    for facts in chosen.iter().map(|b| b.facts()) {
        let verified =
            facts.verified.first().map_or_else(|| "-".to_owned(), |v| format!("{} ({})", v.version, v.date));
        let at = installed(facts).unwrap_or_else(|| "no".to_owned());
        head.add_row([
            facts.id.as_str(),
            &facts.name,
            &at,
            &verified,
            evidence(facts),
            &facts.aliases.join(", "),
        ]);
    }
    let mut matrix = table(
        &std::iter::once("carried by")
            .chain(chosen.iter().map(|b| b.facts().id.as_str()))
            .collect::<Vec<_>>(),
    );
    let rows: Vec<_> = chosen.iter().map(|b| b.facts().capabilities.rows()).collect();
    for at in 0..rows.first().map_or(0, |r| r.len()) {
        let name = rows[0][at].0;
        matrix.add_row(std::iter::once(name).chain(rows.iter().map(|row| row[at].1)));
    }
    format!("{}\n\n{}\n", head.trim_fmt(), matrix.trim_fmt())
}

fn tools(facts: &Facts) -> String {
    let mut all = table(&["tool", "needs", "also called"]);
    for (name, tool) in &facts.tools {
        let needs = if tool.escalates { "never: it lifts every limit" } else { tool.needs.name() };
        all.add_row([name.as_str(), needs, &tool.aliases.join(", ")]);
    }
    format!(
        "\n{}\n\ninstall  {}\nsign in  {}\ndocs     {}\n",
        all.trim_fmt(),
        facts.install,
        facts.sign_in,
        facts.docs
    )
}
