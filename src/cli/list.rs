//! `teamster list`: the harnesses, what is installed, and what each can carry.

use super::args::ListArgs;
use super::argv::table;
use super::print;
use super::request::settings;
use crate::error::Result;
use crate::harness::{AgentBuilder, Evidence, Facts};
use crate::run::find;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long a CLI may take to say its version; the slowest one here takes 10 s on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) fn list(args: &ListArgs) -> Result<ExitCode> {
    let (_, registry) = settings(args.config.as_deref(), None, false)?;
    let chosen: Vec<&dyn AgentBuilder> = match &args.harness {
        Some(name) => vec![registry.get(name)?],
        None => registry.iter().collect(),
    };
    let found: Vec<Installed> = installed(&chosen);
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
fn installed(chosen: &[&dyn AgentBuilder]) -> Vec<Installed> {
    let var = |name: &str| std::env::var_os(name);
    let path = |facts: &Facts| find(facts, None, None, &var).ok().map(|found| found.path);
    let asked: Vec<_> = chosen
        .iter()
        .map(|builder| path(builder.facts()))
        .map(|path| {
            let asking = path.clone().map(|path| std::thread::spawn(move || version(&path)));
            (path, asking)
        })
        .collect();
    let told = |(path, asking): (Option<PathBuf>, Option<std::thread::JoinHandle<Option<String>>>)| {
        Installed { path, version: asking.and_then(|asking| asking.join().ok()?) }
    };
    asked.into_iter().map(told).collect()
}

/// The first text of `--version` that looks like one. The CLI gets no key and no terminal.
fn version(program: &PathBuf) -> Option<String> {
    let mut command = Command::new(program);
    let kept = ["PATH", "HOME", "LANG", "TMPDIR", "USERPROFILE", "SystemRoot"];
    let env: Vec<(&str, OsString)> =
        kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    command
        .arg("--version")
        .env_clear()
        .envs(env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let began = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = String::from_utf8_lossy(&child.wait_with_output().ok()?.stdout).into_owned();
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    said.split_whitespace()
        .map(|word| word.trim_matches(['v', ',', '(', ')']))
        .find(is_version)
        .map(str::to_owned)
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
    let version = found.version.as_ref()?;
    Some(facts.verified.iter().any(|verified| verified.version == *version))
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
