//! What claude may do: the tools that are there, and what of them runs unasked.
//!
//! As run on 2.1.332, 2026-12-01:
//! - `--tools` is the limit: a tool that is not in it does not exist for the model. `--allowedTools` only
//!   approves, and a bare `Read` in it reads the whole disk, so reading is never in it.
//! - `dontAsk` refuses what nothing approves. `Edit(./**)` approves writing (`Write` too) below the working
//!   directory and nowhere else; `Edit` writes anywhere; `Write(…)` matches nothing.
//! - `plan` is not read-only: a model that the CLI asks decides. `bypassPermissions` is refused to root.
//! - A rule that is not closed, or not of the expected type, is dropped in silence, a deny with it.
//! - Hooks, servers and settings of the project are left out by `--setting-sources=user`; the user's own denies stay
//!   in force.
//! - Commands that the CLI knows as reading (`ls`, `git status`) need no approval where there is a shell.

use super::FACTS;
use crate::command::{Check, Piece, Text};
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::{Draft, Limit, OwnRule, Rights};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value, Values};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::{Permission, ToolRule};

/// The options of 2.1.332 that matter here; others are passed, but not with a request that restricts.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("print", Some('p'), Nothing, Ours),
        opt("output-format", None, Value, Ours),
        opt("input-format", None, Value, Ours),
        opt("verbose", None, Nothing, Ours),
        opt("include-partial-messages", None, Nothing, Ours),
        opt("json-schema", None, Value, Ours),
        opt("session-id", None, Value, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("fork-session", None, Nothing, Ours),
        opt("no-session-persistence", None, Nothing, Free),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("model", None, Value, Free),
        opt("fallback-model", None, Value, Free),
        opt("effort", None, Value, Free),
        opt("max-turns", None, Value, Free),
        opt("max-budget-usd", None, Value, Free),
        opt("system-prompt", None, Value, Free),
        opt("system-prompt-file", None, Value, Free),
        opt("append-system-prompt", None, Value, Free),
        opt("append-system-prompt-file", None, Value, Free),
        opt("debug", Some('d'), MaybeValue, Free),
        opt("betas", None, Values, Free),
        opt("bare", None, Nothing, Free),
        opt("safe-mode", None, Nothing, Free),
        opt("disable-slash-commands", None, Nothing, Free),
        opt("strict-mcp-config", None, Nothing, Free),
        opt("tools", None, Values, Right),
        opt("allowedTools", None, Values, Right),
        opt("allowed-tools", None, Values, Right),
        opt("disallowedTools", None, Values, Right),
        opt("disallowed-tools", None, Values, Right),
        opt("permission-mode", None, Value, Right),
        opt("permission-prompt-tool", None, Value, Right),
        opt("permission-prompts", None, Value, Right),
        opt("restricted", None, Nothing, Right),
        opt("dangerously-skip-permissions", None, Nothing, Right),
        opt("allow-dangerously-skip-permissions", None, Nothing, Right),
        opt("settings", None, Value, Right),
        opt("setting-sources", None, Value, Right),
        opt("mcp-config", None, Values, Right),
        opt("plugin-dir", None, Values, Right),
        opt("agents", None, Value, Right),
        opt("agent", None, Value, Right),
        opt("add-dir", None, Values, Right),
        opt("worktree", Some('w'), MaybeValue, Right),
    ],
};

/// Below the working directory, and nowhere else.
const HERE: &str = "Edit(./**)";

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            let all = "--permission-mode=dontAsk with every tool approved by name: bypassPermissions is refused to root";
            let every: Vec<&str> = FACTS.tools.keys().map(String::as_str).collect();
            draft.args(["--permission-mode=dontAsk"]);
            draft.arg(format!("--allowedTools={}", every.join(",")));
            draft.row(Field::Permission, Carried::Flag, all);
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    rights.rules().iter().try_for_each(sound)?;
    let foreign: Vec<&str> = rights.foreign().collect();

    draft.args(["--setting-sources=user", "--permission-mode=dontAsk"]);
    if foreign.is_empty() {
        draft.args(["--strict-mcp-config"]);
    }
    let partly: Vec<(&str, Vec<&Limit>)> = rights.partly().collect();
    let there: Vec<&str> = rights.whole().chain(partly.iter().map(|(tool, _)| *tool)).collect();
    draft.arg(format!("--tools={}", there.join(",")));

    let approved = approved(draft, &rights, &partly, &foreign);
    if !approved.is_empty() {
        let flag = format!("--allowedTools={}", approved.join(","));
        draft.fits(draft.restricting_field(), &flag)?;
        draft.arg(flag);
    }
    let mut denied: Vec<String> = Vec::new();
    for rule in rights.rules().iter().filter(|rule| rule.rule != ToolRule::Allow && rule.tool != "*") {
        let own = pattern(&rule.tool, &rule.limit);
        if !denied.contains(&own) && (rule.limit != Limit::Whole || !FACTS.tools.contains_key(&rule.tool)) {
            denied.push(own);
        }
    }
    if !denied.is_empty() {
        draft.arg(format!("--disallowedTools={}", denied.join(",")));
    }
    // The user's own settings stay in force, so what they approve of a tool that may run in part would run too.
    for (tool, _) in &partly {
        let own = Text::Pieces(
            vec![Piece::Env("CLAUDE_CONFIG_DIR".into()), Piece::Plain("/settings.json".into())].into(),
        );
        for path in [own, Text::home("", "/.claude/settings.json")] {
            let why =
                format!("claude would run what it approves of {tool}, beside what the request allows").into();
            draft.checks.push(Check::NoTextIn { path, text: format!("\"{tool}").into(), why });
        }
    }
    let list = if there.is_empty() { "no tool".to_owned() } else { there.join(", ") };
    let held = format!("--tools is the limit: {list}; dontAsk refuses what --allowedTools does not approve");
    draft.rights_row(Carried::Flag, held);
    Ok(())
}

/// What runs unasked: reading needs no approval in the working directory, and gets none elsewhere.
fn approved(
    draft: &Draft<'_>,
    rights: &Rights<'_>,
    partly: &[(&str, Vec<&Limit>)],
    foreign: &[&str],
) -> Vec<String> {
    let mut approved: Vec<String> = Vec::new();
    let anywhere = draft.request.permission == Some(Permission::Full);
    for tool in rights.whole() {
        match FACTS.tools[tool].needs {
            Permission::ReadOnly => {}
            Permission::Edit if anywhere => push(&mut approved, "Edit".to_owned()),
            Permission::Edit => {
                push(&mut approved, HERE.to_owned());
                for dir in &draft.request.add_dirs {
                    push(&mut approved, format!("Edit(/{}/**)", dir.to_string_lossy()));
                }
            }
            Permission::Full => push(&mut approved, tool.to_owned()),
        }
    }
    for (tool, limits) in partly {
        // `Write` has no patterns of its own: those of `Edit` cover it.
        let name = if FACTS.tools[*tool].needs == Permission::Edit { "Edit" } else { tool };
        limits.iter().for_each(|limit| push(&mut approved, pattern(name, limit)));
    }
    foreign.iter().for_each(|tool| push(&mut approved, (*tool).to_owned()));
    approved
}

fn push(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

/// A rule in claude's own words: `Bash(git status *)` covers `git status` and what goes on from it.
fn pattern(tool: &str, limit: &Limit) -> String {
    match limit {
        Limit::Whole => tool.to_owned(),
        Limit::Words(words) => format!("{tool}({words} *)"),
        Limit::Pattern(pattern) => format!("{tool}({pattern})"),
    }
}

/// Refuses rules that claude would drop in silence.
fn sound(rule: &OwnRule) -> Result<()> {
    let (Limit::Words(inside) | Limit::Pattern(inside)) = &rule.limit else { return Ok(()) };
    let bad = |why: &str| {
        Err(Failure::new(Kind::Unsupported, format!("tools: `{}({})`: {why}", rule.tool, cut(inside, 120))))
    };
    let mut open = 0_i32;
    for c in inside.chars() {
        open += i32::from(c == '(') - i32::from(c == ')');
        if open < 0 {
            break;
        }
    }
    match rule.tool.as_str() {
        _ if open != 0 => bad("its parentheses are not balanced, and claude would drop the rule"),
        _ if inside.trim().is_empty() || inside.chars().any(char::is_control) => {
            bad("it is empty, or not on one line")
        }
        "Write" => {
            bad("claude matches no pattern of Write").map_err(|e: Failure| e.hint("Edit(path) covers Write"))
        }
        _ => Ok(()),
    }
}
