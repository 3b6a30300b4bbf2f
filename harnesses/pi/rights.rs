//! What pi may do: the tools that are there. A tool that is there runs unasked.
//!
//! As run on 1.6.0, 2026-12-01:
//! - With no flag `read`, `bash`, `edit` and `write` are there. `--tools` is the limit, also on what extensions
//!   bring, and `--no-tools` leaves none; a list that is empty does the same. An unknown name is ignored.
//! - An entry that begins with `+` or `-` makes the list one of changes to the defaults: `--tools --help` left
//!   `bash` there.
//! - Tools of MCP servers stay beside the list, so the servers are not started.
//! - A session that is resumed with no list keeps the tools that it had, and with one gets those of the list.
//! - `edit` and `write` reach every file, `read` too.
//! - The project's own settings, extensions and servers count only where the user trusts the project;
//!   `--no-approve` leaves them out. The user's own extensions stay: some of them forbid things.

use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;

/// The options of 1.6.0. Extensions of the user can bring more.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::BY_HAND },
    options: &[
        opt("mode", None, Value, Ours),
        opt("print", Some('p'), MaybeValue, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("resume", Some('r'), Nothing, Ours),
        opt("session", None, Value, Ours),
        opt("session-id", None, Value, Ours),
        opt("fork", None, Value, Ours),
        opt("no-session", None, Nothing, Ours),
        opt("export", None, Value, Ours),
        opt("list-models", None, MaybeValue, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("offline", None, Nothing, Free),
        opt("provider", None, Value, Free),
        opt("model", None, Value, Free),
        opt("models", None, Value, Free),
        opt("api-key", None, Value, Free),
        opt("thinking", None, Value, Free),
        opt("name", Some('n'), Value, Free),
        opt("session-dir", None, Value, Free),
        opt("system-prompt", None, Value, Free),
        opt("append-system-prompt", None, Value, Free),
        opt("no-extensions", None, Nothing, Free),
        opt("no-mcp", None, Nothing, Free),
        opt("no-skills", None, Nothing, Free),
        opt("skill", None, Value, Free),
        opt("prompt-template", None, Value, Free),
        opt("no-prompt-templates", None, Nothing, Free),
        opt("no-context-files", None, Nothing, Free),
        opt("theme", None, Value, Free),
        opt("use-theme", None, Value, Free),
        opt("no-themes", None, Nothing, Free),
        opt("tui-mode", None, Value, Free),
        opt("verbose", None, Nothing, Free),
        opt("no-approve", None, Nothing, Free),
        opt("approve", Some('a'), Nothing, Right),
        opt("tools", Some('t'), Value, Right),
        opt("exclude-tools", None, Value, Right),
        opt("no-tools", None, Nothing, Right),
        opt("no-builtin-tools", None, Nothing, Right),
        opt("extension", Some('e'), Value, Right),
    ],
};

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            let free =
                "no flag: pi runs every tool that is there, and a resumed session keeps those that it had";
            draft.row(Field::Permission, Carried::Flag, free);
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    draft.args(["--no-approve"]);
    let anywhere = "its edit and write reach every file, also outside of the working directory";
    let edits = rights.whole().any(|tool| tool == "edit" || tool == "write");
    if edits && request.permission == Some(Permission::Edit) {
        draft.unenforced(Field::Permission, format!("pi cannot be held to the workspace: {anywhere}"))?;
    }
    let there: Vec<&str> = rights.whole().collect();
    let none: Vec<&str> = rights.none().collect();
    let held = if rights.everything() {
        draft.args(["--tools", "*"]);
        if none.is_empty() {
            "--tools *".to_owned()
        } else {
            draft.arg("--exclude-tools");
            draft.arg(none.join(","));
            format!("--tools * --exclude-tools {}", none.join(","))
        }
    } else if there.is_empty() {
        draft.args(["--no-mcp", "--no-tools"]);
        "--no-tools".to_owned()
    } else {
        draft.args(["--no-mcp", "--tools"]);
        draft.arg(there.join(","));
        format!("--tools {}: no other tool is there", there.join(","))
    };
    let note = if edits && request.permission != Some(Permission::Edit) {
        format!("; {anywhere}")
    } else {
        String::new()
    };
    draft.rights_row(Carried::Flag, format!("{held}{note}"));
    Ok(())
}
