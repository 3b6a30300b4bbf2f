//! What cline may do: everything unasked, or nothing at all.
//!
//! As run on 3.0.65, 2026-12-01:
//! - With no flag every tool runs, everywhere. `--auto-approve=false` refuses each tool, reading too, as there is nobody
//!   to ask; sub-agents are under the same rule.
//! - `--plan` is not read-only: it looks at the words of a command, and `python3 -c` wrote a file.
//! - Hooks and plugins of the repository (`.cline/hooks`, `.clinerules/hooks`, `.cline/plugins`) are programs that run
//!   in every mode, from the working directory up to the root of the repository.
//! - `bunfig.toml` in the working directory names programs that run before anything else does.
//! - What tools of the user's servers may do unasked was not looked at (read: each may have a list of its own).

use super::FACTS;
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;
use std::borrow::Cow;

/// The options of 3.0.65.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::COMMANDER,
    options: &[
        opt("json", None, Nothing, Ours),
        opt("cwd", Some('c'), Value, Ours),
        opt("id", None, Value, Ours),
        opt("tui", Some('i'), Nothing, Ours),
        opt("zen", Some('z'), Nothing, Ours),
        opt("acp", None, Nothing, Ours),
        opt("kanban", None, Nothing, Ours),
        opt("update", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('V'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("provider", Some('P'), Value, Free),
        opt("key", Some('k'), Value, Free),
        opt("system", Some('s'), Value, Free),
        opt("thinking", None, MaybeValue, Free),
        opt("compaction", None, Value, Free),
        opt("retries", None, MaybeValue, Free),
        opt("timeout", Some('t'), Value, Free),
        opt("verbose", Some('v'), Nothing, Free),
        opt("auto-approve", None, Value, Right),
        opt("plan", Some('p'), Nothing, Right),
        opt("config", None, Value, Right),
        opt("data-dir", None, Value, Right),
        opt("hooks-dir", None, Value, Right),
        opt("worktree", None, Nothing, Right),
    ],
};

/// What of a repository runs by itself.
const RUNS: &[Cow<'static, str>] = &[
    Cow::Borrowed(".cline/hooks"),
    Cow::Borrowed(".cline/plugins"),
    Cow::Borrowed(".clinerules/hooks"),
    Cow::Borrowed("bunfig.toml"),
];

/// Where servers of the user stand.
static SERVERS: [Text; 4] = [
    Text::Pieces(Cow::Borrowed(&[
        Piece::Home,
        Piece::Plain(Cow::Borrowed("/.cline/data/settings/cline_mcp_settings.json")),
    ])),
    Text::Pieces(Cow::Borrowed(&[
        Piece::Env(Cow::Borrowed("CLINE_DIR")),
        Piece::Plain(Cow::Borrowed("/data/settings/cline_mcp_settings.json")),
    ])),
    Text::Pieces(Cow::Borrowed(&[
        Piece::Env(Cow::Borrowed("CLINE_DATA_DIR")),
        Piece::Plain(Cow::Borrowed("/settings/cline_mcp_settings.json")),
    ])),
    Text::Pieces(Cow::Borrowed(&[Piece::Env(Cow::Borrowed("CLINE_MCP_SETTINGS_PATH"))])),
];

/// Adds the flag that holds cline to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.args(["--auto-approve=true"]);
            draft.row(Field::Permission, Carried::Flag, "--auto-approve=true: every tool runs unasked");
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    if rights.everything() && rights.none().next().is_none() {
        draft.args(["--auto-approve=true"]);
        draft.rights_row(Carried::Flag, "--auto-approve=true: every tool runs unasked");
        return Ok(());
    }
    let there: Vec<&str> = rights.whole().chain(rights.foreign()).collect();
    let partly = rights.partly().next().map(|(tool, _)| tool);
    let is_reading =
        |tool: &&str| FACTS.tools.get(*tool).is_some_and(|tool| tool.needs == Permission::ReadOnly);
    if let Some(more) = there.iter().find(|tool| !is_reading(tool)).copied().or(partly) {
        let why =
            format!("cline approves every tool or none, so `{more}` is not to be had without the others");
        return draft.rights_fields().try_for_each(|field| draft.unenforced(field, why.clone()));
    }
    draft.args(["--auto-approve=false"]);
    draft
        .rights_row(Carried::Flag, "--auto-approve=false: no tool runs, since nobody is there to approve it");
    if !there.is_empty() {
        let why =
            format!("{}: cline refuses them too; what it should see stands in the prompt", there.join(", "));
        draft.row(draft.restricting_field(), Carried::Dropped, why);
    }
    draft.checks.push(Check::NoneAbove {
        names: RUNS.into(),
        why: "cline runs what it brings, beside what the request allows".into(),
    });
    draft.checks.push(Check::NoTextsIn {
        paths: Cow::Borrowed(&SERVERS),
        texts: Cow::Borrowed(&[Cow::Borrowed("\"command\""), Cow::Borrowed("\"url\"")]),
        why: "nobody has seen that cline asks about the tools of such a server".into(),
    });
    Ok(())
}
