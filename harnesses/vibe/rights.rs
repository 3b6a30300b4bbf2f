//! What vibe may do: the tools that are enabled, and the agent that says which of them run unasked.
//!
//! As run on 3.0.2, 2026-12-01:
//! - The agent decides what runs: `ask` refuses what would be asked for, `accept-edits`, the default, lets `edit`
//!   and `write_file` run below the working directory and commands that it knows as reading (`ls`), `auto-approve`
//!   everything, everywhere. A path outside is asked for, so it is refused but with `auto-approve`.
//! - `--enabled-tools` is the limit, also for programs of `run_typescript` and for tools of servers; the names of
//!   other tools are still shown to the model. A list of names in one flag, or a wrong name, matches nothing.
//! - `--disabled-tools` holds against everything, `--auto-approve` and the user's settings among it; a `never` of
//!   the user's holds too.
//! - A resumed session has the rights of the flags that resume it.
//! - The project's `.vibe` counts only in a folder that is trusted, for this run by `--trust`, for good by a file of
//!   the CLI's home, or in one of `--add-dir`: it can bring hooks, which are commands (read).

use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;

/// The options of 3.0.2.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::CLAP,
    options: &[
        opt("version", Some('v'), Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("workdir", None, Value, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("resume", None, MaybeValue, Ours),
        opt("setup", None, Nothing, Ours),
        opt("prompt", Some('p'), MaybeValue, Ours),
        opt("prompt-file", None, Value, Ours),
        opt("output", None, Value, Ours),
        opt("output-dir", None, Value, Ours),
        opt("check-upgrade", None, Nothing, Ours),
        opt("worktree", None, MaybeValue, Right),
        opt("max-turns", None, Value, Free),
        opt("max-price", None, Value, Free),
        opt("max-tokens", None, Value, Free),
        opt("time-limit", None, Value, Free),
        opt("agent", None, Value, Right),
        opt("auto-approve", None, Nothing, Right),
        opt("yolo", None, Nothing, Right),
        opt("smart-approve", None, Nothing, Right),
        opt("enabled-tools", None, Value, Right),
        opt("disabled-tools", None, Value, Right),
        opt("trust", None, Nothing, Right),
        opt("add-dir", None, Value, Right),
    ],
};

/// No tool has this name: a list of nothing else enables none.
const NO_TOOL: &str = "no-tool";

/// Settings by variables that would lift what the flags say.
const LIFTS: [&str; 4] =
    ["VIBE_BYPASS_TOOL_PERMISSIONS", "VIBE_TOOLS", "VIBE_AGENT_PATHS", "VIBE_ENABLE_AUTO_APPROVE"];

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.args(["--auto-approve"]);
            draft.row(Field::Permission, Carried::Flag, "--auto-approve");
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    draft.refuse_env(&LIFTS, "sets what vibe lets run unasked")?;
    if !request.add_dirs.is_empty() {
        let why = "add_dirs: vibe takes hooks and settings from a directory that is added";
        draft.unenforced(draft.restricting_field(), why)?;
    }
    // The user's own settings may let everything run unasked.
    draft.set_env("VIBE_BYPASS_TOOL_PERMISSIONS", "false");
    let there: Vec<&str> = rights.whole().collect();
    let none: Vec<&str> = rights.none().collect();
    let edits = there.iter().any(|tool| ["edit", "write_file"].contains(tool));
    let more = there.iter().any(|tool| draft.facts.tools[*tool].needs == Permission::Full);
    let agent = match (more || rights.everything(), edits) {
        (true, _) => "auto-approve",
        (false, true) => "accept-edits",
        (false, false) => "ask",
    };
    draft.arg(format!("--agent={agent}"));
    let mut held = format!("--agent={agent}");
    if !rights.everything() {
        for tool in if there.is_empty() { &[NO_TOOL][..] } else { &there } {
            draft.arg(format!("--enabled-tools={tool}"));
        }
        let list = if there.is_empty() { "no tool".to_owned() } else { there.join(", ") };
        held = format!("{held}, and --enabled-tools is the limit: {list}");
    }
    for tool in &none {
        draft.arg(format!("--disabled-tools={tool}"));
    }
    if rights.everything() && !none.is_empty() {
        held = format!("{held}; --disabled-tools: {}", none.join(", "));
    }
    draft.rights_row(Carried::Flag, held);
    trusted(draft);
    Ok(())
}

/// The user's list of trusted folders stands in a file of the CLI's home.
fn trusted(draft: &mut Draft<'_>) {
    let own = vec![Piece::Env("VIBE_HOME".into()), Piece::Plain("/trusted_folders.toml".into())];
    for settings in [Text::Pieces(own.into()), Text::home("", "/.vibe/trusted_folders.toml")] {
        draft.checks.push(Check::NoneTrusted {
            settings,
            names: vec![".vibe".into(), ".agents".into()].into(),
            why: "vibe runs what it says in a folder that you trust, beside what the request allows".into(),
        });
    }
}
