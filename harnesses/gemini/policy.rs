//! Restrictions for gemini: what may run unasked, and the denies that hold it there.
//!
//! Two tiers of its policy engine are used, and only these (run on 0.61.0, 2026-11-30):
//! - `--admin-policy` is over everything, the user's settings and every mode included, so it holds
//!   denies and nothing else: an allow there would overrule what the user denies.
//! - `--policy` replaces the user's own policy folder, so that folder is named again before our file,
//!   and our allows stand at priority 0 behind it: whatever the user denies stays denied.
//!
//! A policy file that gemini cannot read is dropped with a note, and everything in it is allowed
//! again. So what goes into one is checked here, byte by byte.

use super::FACTS;
use super::grammar::GRAMMAR;
use crate::command::{Check, Text};
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::{Draft, Limit, OwnRule, Rights};
use crate::lowering::{Carried, Field};
use crate::policy::{ToolPolicy, ToolRule, tool_argument};
use std::fmt::Write;

const GUARD: &str = "guard.toml";
const ALLOW: &str = "allow.toml";
const TRUST: &str = "GEMINI_CLI_TRUST_WORKSPACE";

/// Where system policies live; with one there gemini ignores `--admin-policy` (read in its source).
#[cfg(target_os = "macos")]
const SYSTEM_POLICIES: &str = "/Library/Application Support/GeminiCli/policies";
#[cfg(not(target_os = "macos"))]
const SYSTEM_POLICIES: &str = "/etc/gemini-cli/policies";
#[cfg(target_os = "macos")]
const SYSTEM_SETTINGS: &str = "/Library/Application Support/GeminiCli/settings.json";
#[cfg(not(target_os = "macos"))]
const SYSTEM_SETTINGS: &str = "/etc/gemini-cli/settings.json";

/// Adds the flags and files that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    if !draft.request.restricts() {
        return Ok(());
    }
    let rights = draft.rights()?;
    let flat = matches!(draft.request.tools, Some(ToolPolicy::Flat(_)));
    rights.rules().iter().try_for_each(|rule| sound(rule, flat))?;
    let allowed = allowed(draft, &rights);

    draft.arg(Text::file("--admin-policy=", GUARD));
    draft.file(GUARD, guard(&rights, &allowed));
    draft.checks.push(Check::NoFilesIn {
        dir: SYSTEM_POLICIES.into(),
        suffix: ".toml".into(),
        why: "gemini would set teamster's guard policy aside for them".into(),
    });
    // No pattern covers the tools that this setting adds (run: `discovered_tool_*` matches nothing), and
    // the user's own policy may allow them.
    if !allowed.iter().any(|entry| entry == "*" || entry.starts_with("discovered_tool_")) {
        for path in [Text::home("", "/.gemini/settings.json"), SYSTEM_SETTINGS.into()] {
            let why = "gemini has no rule that covers the tools which it adds".into();
            draft.checks.push(Check::NoTextIn { path, text: "discoveryCommand".into(), why });
        }
    }
    match &draft.request.tools {
        None => {
            let held = "the mode alone can be left by the model; --admin-policy denies what it would reach";
            draft.row(Field::Permission, Carried::File, held);
        }
        Some(ToolPolicy::Flat(_)) => {
            for tool in &allowed {
                draft.args.extend(["--allowed-tools".into(), tool.clone().into()]);
            }
            let flags = match allowed.len() {
                0 => "nothing may run unasked; --admin-policy denies every tool with side effects".to_owned(),
                _ => format!(
                    "--allowed-tools {}; --admin-policy denies the others with side effects",
                    allowed.join(", ")
                ),
            };
            draft.row(Field::Tools, Carried::Flag, flags);
        }
        Some(ToolPolicy::Structured(_)) => {
            if !allowed.is_empty() {
                draft.arg(Text::home("--policy=", "/.gemini/policies"));
                draft.arg(Text::file("--policy=", ALLOW));
                draft.file(ALLOW, allow_file(&allowed));
            }
            let rules =
                "denies in --admin-policy; allows in --policy at priority 0, behind the user's own folder";
            draft.row(Field::Tools, Carried::File, rules);
        }
    }
    if draft.request.permission.is_some() && draft.request.tools.is_some() {
        draft.row(Field::Permission, Carried::File, "--admin-policy denies what is over it, listed or not");
    }
    Ok(())
}

/// Adds the profile's arguments; refuses those that would take a restriction back, or fight with ours.
pub(super) fn profile(draft: &mut Draft<'_>) -> Result<()> {
    draft.refuse_env(&[TRUST], "lets the workspace run its own hooks, and --skip-trust is passed anyway")?;
    draft.profile_args(&GRAMMAR)?;
    let parsed = GRAMMAR.parse(&draft.profile.args).unwrap_or_default();
    match parsed.options.iter().find(|(name, _)| matches!(*name, "yolo" | "approval-mode")) {
        Some((name, _)) if draft.request.permission.is_some() => Err(Failure::new(
            Kind::InvalidConfig,
            format!("profile args: --{name} and the request's permission both set the mode"),
        )),
        _ => Ok(()),
    }
}

/// Refuses what gemini would cut or drop in silence.
fn sound(rule: &OwnRule, flat: bool) -> Result<()> {
    let Limit::Words(words) = &rule.limit else { return Ok(()) };
    let bad = |why: &str| {
        Failure::new(Kind::Unsupported, format!("tools: `{}({})`: {why}", rule.tool, cut(words, 120)))
    };
    if flat && words.contains(',') {
        return Err(bad("gemini cuts --allowed-tools at every comma")
            .hint("a structured policy carries it: {\"allow\": [...]}"));
    }
    // Longer or regex-like prefixes become patterns that gemini drops as unsafe, the rule with them.
    if words.len() > 400 || (words.contains('(') && words.contains(['*', '+', '?', '{'])) {
        return Err(bad("gemini would drop the rule, since its words make an unsafe pattern"));
    }
    Ok(())
}

/// What may run unasked, within the permission.
fn allowed(draft: &mut Draft<'_>, rights: &Rights<'_>) -> Vec<String> {
    let over: Vec<&OwnRule> = rights.over().map(|(rule, _)| rule).collect();
    let within = rights.rules().iter().filter(|rule| rule.rule == ToolRule::Allow && !over.contains(rule));
    let mut allowed: Vec<String> = Vec::new();
    for rule in within {
        match &rule.limit {
            Limit::Words(words) | Limit::Pattern(words) => allowed.push(format!("{}({words})", rule.tool)),
            // Under a permission `*` is what it covers of the known tools, and no tool of a server.
            Limit::Whole if rule.tool == "*" && !rights.everything() => {
                allowed.extend(rights.whole().map(str::to_owned));
            }
            Limit::Whole => allowed.push(rule.tool.clone()),
        }
    }
    if let Some(tool) = allowed.iter().find(|tool| tool.starts_with("mcp_")) {
        let why = format!("with `{tool}` allowed, MCP tools that the user's own settings allow stay allowed");
        draft.row(Field::Tools, Carried::Dropped, why);
    }
    allowed
}

/// The policy of the highest tier: denies of every tool that may not run unasked.
///
/// A tool that may run with some first words alone cannot be denied as a whole.
fn guard(rights: &Rights<'_>, allowed: &[String]) -> String {
    let mut file = String::from("# Written by teamster for one run: denies only.\n");
    rule(&mut file, &rights.none().collect::<Vec<_>>(), None, "deny", 999);
    if !allowed.iter().any(|entry| entry == "*" || entry.starts_with("mcp_")) {
        file.push_str("\n[[rule]]\ntoolName = \"*\"\nmcpName = \"*\"\ndecision = \"deny\"\npriority = 999\n");
    }
    for own in rights.rules().iter().filter(|own| own.rule != ToolRule::Allow) {
        match &own.limit {
            Limit::Words(words) => rule(&mut file, &[&own.tool], Some(words), "deny", 999),
            _ if FACTS.tools.contains_key(&own.tool) => {}
            _ => rule(&mut file, &[&own.tool], None, "deny", 999),
        }
    }
    file
}

fn allow_file(allowed: &[String]) -> String {
    let mut file = String::from("# Written by teamster for one run: behind the user's own policies.\n");
    for entry in allowed {
        let (tool, prefix) = tool_argument(entry);
        rule(&mut file, &[tool], prefix, "allow", 0);
    }
    file
}

/// One rule. Names and prefixes were checked, so a JSON string is a TOML string for them.
fn rule(file: &mut String, tools: &[&str], prefix: Option<&str>, decision: &str, priority: u16) {
    if tools.is_empty() {
        return;
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    // A rule with a prefix has to name its tool in a string: gemini complains of a list there.
    let names = match tools {
        [tool] => quoted(tool),
        _ => format!("[{}]", tools.iter().map(|tool| quoted(tool)).collect::<Vec<_>>().join(", ")),
    };
    let _ = write!(file, "\n[[rule]]\ntoolName = {names}\n");
    if let Some(prefix) = prefix {
        let _ = writeln!(file, "commandPrefix = {}", quoted(prefix));
    }
    let _ = write!(file, "decision = \"{decision}\"\npriority = {priority}\n");
}
