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

use super::{FACTS, grammar, unenforced};
use crate::command::{Check, CommandFile, Text};
use crate::error::{Failure, Kind, Result, cut, did_you_mean};
use crate::lowering::{Carried, Field, Report};
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules, permits, tool_argument};
use crate::profile::Profile;
use crate::request::DispatchRequest;
use std::fmt::Write;

const SHELL: &str = "run_shell_command";
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
pub(super) fn lower(
    request: &DispatchRequest,
    args: &mut Vec<Text>,
    files: &mut Vec<CommandFile>,
    checks: &mut Vec<Check>,
    report: &mut Report,
) -> Result<()> {
    if !request.restricts() {
        return Ok(());
    }
    let policy = request.tools.as_ref().map(|tools| own_names(request, tools, report)).transpose()?;
    let allowed = allowed(request, policy.as_ref(), report);

    args.push(Text::file("--admin-policy=", GUARD));
    files.push(CommandFile {
        name: GUARD.into(),
        content: guard(request.permission, policy.as_ref(), &allowed),
    });
    checks.push(Check::NoFilesIn {
        dir: SYSTEM_POLICIES.into(),
        suffix: ".toml".into(),
        why: "gemini would set teamster's guard policy aside for them".into(),
    });
    // No pattern covers the tools that this setting adds (run: `discovered_tool_*` matches nothing), and
    // the user's own policy may allow them.
    if !allowed.iter().any(|entry| entry == "*" || entry.starts_with("discovered_tool_")) {
        for path in [Text::home("", "/.gemini/settings.json"), SYSTEM_SETTINGS.into()] {
            let why = "gemini has no rule that covers the tools which it adds".into();
            checks.push(Check::NoTextIn { path, text: "discoveryCommand".into(), why });
        }
    }
    match &request.tools {
        None => {
            let held = "the mode alone can be left by the model; --admin-policy denies what it would reach";
            report.row(Field::Permission, Carried::File, held);
        }
        Some(ToolPolicy::Flat(_)) => {
            for tool in &allowed {
                args.extend(["--allowed-tools".into(), tool.clone().into()]);
            }
            let flags = match allowed.len() {
                0 => "nothing may run unasked; --admin-policy denies every tool with side effects".to_owned(),
                _ => format!(
                    "--allowed-tools {}; --admin-policy denies the others with side effects",
                    allowed.join(", ")
                ),
            };
            report.row(Field::Tools, Carried::Flag, flags);
        }
        Some(ToolPolicy::Structured(_)) => {
            if !allowed.is_empty() {
                args.push(Text::home("--policy=", "/.gemini/policies"));
                args.push(Text::file("--policy=", ALLOW));
                files.push(CommandFile { name: ALLOW.into(), content: allow_file(&allowed) });
            }
            let rules =
                "denies in --admin-policy; allows in --policy at priority 0, behind the user's own folder";
            report.row(Field::Tools, Carried::File, rules);
        }
    }
    if request.permission.is_some() && request.tools.is_some() {
        report.row(Field::Permission, Carried::File, "--admin-policy denies what is over it, listed or not");
    }
    Ok(())
}

/// Refuses profile arguments that would take a restriction back, or fight with ours.
pub(super) fn profile_args(request: &DispatchRequest, profile: &Profile, report: &mut Report) -> Result<()> {
    let trusts = |env: &indexmap::IndexMap<String, String>| env.contains_key(TRUST) && request.restricts();
    let field = if request.tools.is_some() { Field::Tools } else { Field::Permission };
    if trusts(&profile.env) || trusts(&request.env) {
        unenforced(request, report, field, format!("{TRUST} in env lets the workspace run its own hooks"))
            .map_err(|e| e.hint("leave the variable out; --skip-trust is passed anyway"))?;
    }
    if profile.args.is_empty() {
        return Ok(());
    }
    const OURS: [&str; 14] = [
        "prompt",
        "prompt-interactive",
        "resume",
        "session-id",
        "session-file",
        "list-sessions",
        "delete-session",
        "list-extensions",
        "acp",
        "experimental-acp",
        "worktree",
        "output-format",
        "help",
        "version",
    ];
    const RIGHTS: [&str; 6] =
        ["yolo", "approval-mode", "policy", "admin-policy", "allowed-tools", "allowed-mcp-server-names"];
    let bad = |why: String| Failure::new(Kind::InvalidConfig, format!("profile args: {why}"));
    if profile.args.iter().any(|arg| arg == "--") {
        return Err(bad("gemini ignores what follows `--`, teamster's own arguments too".to_owned()));
    }
    let parsed = grammar::parse(&profile.args).map_err(|e| bad(format!("gemini would say: {e}")))?;
    if let Some(word) = parsed.words.first() {
        return Err(bad(format!("`{}` would be read as a prompt", cut(word, 80))));
    }
    if let Some((name, _)) = parsed.options.iter().find(|(name, _)| OURS.contains(name)) {
        return Err(bad(format!("--{name} is teamster's to set")).hint("take it out of the profile"));
    }
    let rights: Vec<&str> =
        parsed.options.iter().map(|(name, _)| *name).filter(|name| RIGHTS.contains(name)).collect();
    if let (Some(name), true) = (rights.first(), request.restricts()) {
        unenforced(request, report, field, format!("--{name} of the profile sets rights of its own"))
            .map_err(|e| e.hint("take the flag out of the profile, or the restriction out of the request"))?;
    }
    match rights.iter().find(|name| matches!(**name, "yolo" | "approval-mode")) {
        Some(name) if request.permission.is_some() => {
            Err(bad(format!("--{name} and the request's permission both set the mode")))
        }
        _ => Ok(()),
    }
}

/// The policy with gemini's own names, each entry checked.
fn own_names(request: &DispatchRequest, tools: &ToolPolicy, report: &mut Report) -> Result<ToolPolicy> {
    let flat = matches!(tools, ToolPolicy::Flat(_));
    let mut rules = ToolRules::default();
    for (rule, entry) in tools.entries() {
        let own = own_name(entry, rule, flat)?;
        if rule == ToolRule::Allow && FACTS.tool(&own).is_some_and(|(_, tool)| tool.escalates) {
            let why = format!("`{own}` hands the agent full autonomy, so no list with it is a limit");
            unenforced(request, report, Field::Tools, why)?;
        }
        match rule {
            ToolRule::Allow => rules.allow.push(own),
            ToolRule::Deny => rules.deny.push(own),
            ToolRule::Ask => rules.ask.push(own),
        }
    }
    Ok(if flat { ToolPolicy::Flat(rules.allow) } else { ToolPolicy::Structured(rules) })
}

/// An entry in gemini's own words. Names that it does not know it would ignore in silence, and patterns
/// it would match against nothing, so both are refused.
fn own_name(entry: &str, rule: ToolRule, flat: bool) -> Result<String> {
    let (name, argument) = tool_argument(entry);
    let bad = |why: String| Failure::new(Kind::Unsupported, format!("tools: `{}`: {why}", cut(entry, 120)));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let own = match FACTS.tool(name) {
        Some((own, _)) => own,
        None if name == "*" => "*",
        None if (name.starts_with("mcp_") || name.starts_with("discovered_tool_"))
            && name.chars().all(plain) =>
        {
            name
        }
        None => {
            let near = did_you_mean(name, FACTS.tools.keys().map(String::as_str));
            return Err(bad(format!("gemini has no such tool and would ignore it{near}"))
                .hint("gemini's tools: `teamster list gemini`"));
        }
    };
    let Some(argument) = argument else { return Ok(own.to_owned()) };
    if own != SHELL {
        return Err(bad(format!("only {SHELL} takes an argument")));
    }
    if argument.trim() != argument || argument.is_empty() || argument.chars().any(char::is_control) {
        return Err(bad("the argument is the first words of a command, on one line".to_owned()));
    }
    if argument.ends_with('*') {
        return Err(bad("gemini matches the first words of a command and knows no *".to_owned())
            .hint("leave the * out: run_shell_command(git status) covers `git status -s`"));
    }
    if flat && argument.contains(',') {
        return Err(bad("gemini cuts --allowed-tools at every comma".to_owned())
            .hint("a structured policy carries it: {\"allow\": [...]}"));
    }
    // Longer or regex-like prefixes become patterns that gemini drops as unsafe, the rule with them.
    if argument.len() > 400 || (argument.contains('(') && argument.contains(['*', '+', '?', '{'])) {
        let what = if rule == ToolRule::Allow { "this prefix" } else { "a deny with this prefix" };
        return Err(bad(format!("gemini would drop {what} as an unsafe pattern")));
    }
    Ok(format!("{own}({argument})"))
}

/// What may run unasked, within the permission; what is over it gets a row.
fn allowed(request: &DispatchRequest, policy: Option<&ToolPolicy>, report: &mut Report) -> Vec<String> {
    let mut allowed = Vec::new();
    let entries =
        policy.into_iter().flat_map(ToolPolicy::entries).filter(|(rule, _)| *rule == ToolRule::Allow);
    for (_, entry) in entries {
        let needs = FACTS.tool(tool_argument(entry).0).map_or(Permission::Full, |(_, tool)| tool.needs);
        match request.permission {
            Some(ceiling) if needs > ceiling => {
                let why = format!("`{entry}` is not granted: it needs permission {}", needs.name());
                report.row(Field::Tools, Carried::Dropped, why);
            }
            _ => allowed.push(entry.to_owned()),
        }
    }
    let mcp = |t: &&String| t.starts_with("mcp_");
    if let Some(tool) = allowed.iter().find(mcp) {
        let why = format!("with `{tool}` allowed, MCP tools that the user's own settings allow stay allowed");
        report.row(Field::Tools, Carried::Dropped, why);
    }
    allowed
}

/// The denies: every tool that is not permitted, the ways out of a restriction, and by name what the
/// policy denies.
fn guard(permission: Option<Permission>, policy: Option<&ToolPolicy>, allowed: &[String]) -> String {
    let denied: Vec<&str> = FACTS
        .tools
        .iter()
        .filter(|(name, tool)| {
            // A tool that may run with some first words alone cannot be denied as a whole.
            let some =
                |entry: &String| matches!(tool_argument(entry), (own, Some(_)) if own == name.as_str());
            let partly = allowed.iter().any(some) && !policy.is_some_and(|policy| policy.refuses(name));
            tool.escalates || !(permits(permission, policy, name, tool.needs) || partly)
        })
        .map(|(name, _)| name.as_str())
        .collect();
    let mut file = String::from("# Written by teamster for one run: denies only.\n");
    rule(&mut file, &denied, None, "deny", 999);
    if !allowed.iter().any(|entry| entry == "*" || entry.starts_with("mcp_")) {
        file.push_str("\n[[rule]]\ntoolName = \"*\"\nmcpName = \"*\"\ndecision = \"deny\"\npriority = 999\n");
    }
    for (_, entry) in
        policy.into_iter().flat_map(ToolPolicy::entries).filter(|(rule, _)| *rule != ToolRule::Allow)
    {
        match tool_argument(entry) {
            (tool, Some(prefix)) => rule(&mut file, &[tool], Some(prefix), "deny", 999),
            (tool, None) if FACTS.tool(tool).is_none() => rule(&mut file, &[tool], None, "deny", 999),
            _ => {}
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
