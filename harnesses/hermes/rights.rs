//! What hermes may do: whole sets of tools.
//!
//! As run on 0.19.0, 2026-12-01:
//! - With `--toolsets=todo` the model is offered `todo` alone, and a call of `terminal`, `write_file`, `execute_code`,
//!   `patch` or `tool_call` is answered with "Tool … does not exist". Near names are mended to tools that are
//!   there, never to others. Servers and plugins take part where the list names them.
//! - `delegate_task` starts agents with tools of their own: never in a list here.
//! - An unknown name alone ends with 2, one beside known ones is ignored; `all` lifts the limit.
//! - HERMES_WRITE_SAFE_ROOT holds `write_file` and `patch` to a directory, links and moves too. But `write_file` of a
//!   `.ts` file runs `npx tsc` and of a `.go` file `go vet`, and a language server starts (read): with
//!   what lies in the workspace, a file that is written is a command that runs.
//! - A user may have set another agent to take the turns (`codex_app_server`, `copilot-acp`): it has tools of its own.

use super::FACTS;
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::{Draft, May};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};

/// The options of 0.19.0.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::ARGPARSE },
    options: &[
        opt("oneshot", Some('z'), Value, Ours),
        opt("usage-file", None, Value, Ours),
        opt("resume", Some('r'), Value, Ours),
        opt("continue", Some('c'), MaybeValue, Ours),
        opt("tui", None, Nothing, Ours),
        opt("cli", None, Nothing, Ours),
        opt("dev", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('V'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("ignore-user-config", None, Nothing, Free),
        opt("ignore-rules", None, Nothing, Free),
        opt("safe-mode", None, Nothing, Free),
        opt("no-restore-cwd", None, Nothing, Free),
        opt("pass-session-id", None, Nothing, Free),
        opt("provider", None, Value, Right),
        opt("profile", Some('p'), Value, Right),
        opt("toolsets", Some('t'), Value, Right),
        opt("skills", Some('s'), Value, Right),
        opt("worktree", Some('w'), Nothing, Right),
        opt("accept-hooks", None, Nothing, Right),
        opt("yolo", None, Nothing, Right),
    ],
};

/// The sets of tools, by the CLI's names, and all that is in each. `process` looks after what the terminal started.
pub(super) const SETS: &[(&str, &[&str])] = &[
    ("terminal", &["terminal"]),
    ("file", &["read_file", "search_files", "write_file", "patch"]),
    ("web", &["web_search", "web_extract"]),
    ("code_execution", &["execute_code"]),
    ("todo", &["todo"]),
];

/// Adds the sets that hold hermes to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    let all = "one-shot approves everything by itself";
    if !request.restricts() {
        draft.rights_row(Carried::Runner, all);
        return Ok(());
    }
    let rights = draft.rights()?;
    let may = |tool: &str| rights.may(tool) == May::Yes;
    let mut sets: Vec<&str> =
        SETS.iter().filter(|(_, tools)| tools.iter().all(|tool| may(tool))).map(|(set, _)| *set).collect();
    if (may("write_file") || may("patch")) && !may("terminal") {
        let why = "hermes runs compilers and language servers on what it writes, so edits are not to be had without a shell";
        draft.unenforced(draft.restricting_field(), why)?;
    }
    if sets.is_empty() {
        if !may("todo") {
            let why = "hermes wants one set of tools at least, and takes all where it has none";
            draft.unenforced(Field::Tools, why)?;
        }
        sets.push("todo");
    }
    draft.arg(format!("--toolsets={}", sets.join(",")));
    others(draft);
    draft.rights_row(Carried::Flag, format!("--toolsets is the limit: {}", sets.join(", ")));
    let left_out = |tool: &&str| {
        may(tool) && !SETS.iter().any(|(set, tools)| sets.contains(set) && tools.contains(tool))
    };
    let left: Vec<&str> = FACTS.tools.keys().map(String::as_str).filter(left_out).collect();
    if !left.is_empty() {
        let why =
            format!("{}: hermes has no set of tools without others that are not allowed", left.join(", "));
        draft.row(draft.restricting_field(), Carried::Dropped, why);
    }
    Ok(())
}

/// Another agent that takes the turns would not know of the sets.
fn others(draft: &mut Draft<'_>) {
    let own = |file: &str| {
        Text::Pieces(vec![Piece::Env("HERMES_HOME".into()), Piece::Plain(format!("/{file}").into())].into())
    };
    let home =
        |file: &str| Text::Pieces(vec![Piece::Home, Piece::Plain(format!("/.hermes/{file}").into())].into());
    for (file, text) in [
        ("config.yaml", "codex_app_server"),
        ("config.yaml", "copilot-acp"),
        (".env", "copilot-acp"),
        ("auth.json", "copilot-acp"),
        ("active_profile", ""),
    ] {
        let why = match text {
            "" => "the settings of a profile may hand the turns to another agent, with tools of its own",
            _ => "hermes hands the turns to another agent, with tools of its own",
        };
        for path in [own(file), home(file)] {
            draft.checks.push(Check::NoTextIn { path, text: text.into(), why: why.into() });
        }
    }
}
