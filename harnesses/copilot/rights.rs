//! What copilot may do: the tools that are there, and what of them runs unasked.
//!
//! As run on 1.0.102, 2026-12-01:
//! - `--available-tools` is the limit: a tool that is not in it does not exist, for agents of the agent
//!   neither. An empty list is *all* tools; a name that it does not know is none.
//! - What nothing approves is refused in headless mode. Reading in the working directory needs no approval, nor
//!   do commands that it knows as reading (`ls`, `git status`).
//! - `--allow-tool` and `--deny-tool` take kinds (`shell`, `write`, `url`), not names of tools, and a deny
//!   beats everything: approvals that the user saved for this place, and `COPILOT_ALLOW_ALL`.
//! - `shell(first words:*)` holds for `git` and `gh` alone, so the words of a command cannot be held.
//! - A redirection needs `write`, too, and a path outside of the working directory `--allow-all-paths`; links are
//!   followed before that is looked at. The folder for temporary files is inside: here the run's own.
//! - A folder that the user trusts runs its hooks and servers, and no flag or variable keeps it from that.

use super::FACTS;
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value, Values};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::{Permission, Word};

/// The options of 1.0.102 that matter here; others are passed, but not with a request that restricts.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::CLAP },
    options: &[
        opt("prompt", Some('p'), Value, Ours),
        opt("interactive", Some('i'), Value, Ours),
        opt("output-format", None, Value, Ours),
        opt("usage-output-file", None, Value, Ours),
        opt("session-id", None, Value, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("continue", None, Nothing, Ours),
        opt("connect", None, MaybeValue, Ours),
        opt("name", Some('n'), Value, Free),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("acp", None, Nothing, Ours),
        opt("silent", Some('s'), Nothing, Ours),
        opt("no-color", None, Nothing, Ours),
        opt("no-auto-update", None, Nothing, Ours),
        opt("no-ask-user", None, Nothing, Ours),
        opt("disable-client-telemetry", None, Nothing, Ours),
        opt("model", None, Value, Free),
        opt("reasoning-effort", None, Value, Free),
        opt("effort", None, Value, Free),
        opt("context", None, Value, Free),
        opt("auto-tier", None, Value, Free),
        opt("stream", None, Value, Free),
        opt("log-level", None, Value, Free),
        opt("log-dir", None, Value, Free),
        opt("max-ai-credits", None, Value, Free),
        opt("no-custom-instructions", None, Nothing, Free),
        opt("disable-builtin-mcps", None, Nothing, Free),
        opt("disable-mcp-server", None, Value, Free),
        opt("secret-env-vars", None, Values, Free),
        opt("attachment", None, Value, Free),
        opt("no-remote", None, Nothing, Free),
        opt("no-remote-export", None, Nothing, Free),
        opt("no-experimental", None, Nothing, Free),
        opt("agent", None, Value, Right),
        opt("mode", None, Value, Right),
        opt("plan", None, Nothing, Right),
        opt("autopilot", None, Nothing, Right),
        opt("fleet", None, Nothing, Right),
        opt("trust-folder", None, Nothing, Right),
        opt("add-dir", None, Value, Right),
        opt("plugin-dir", None, Value, Right),
        opt("additional-mcp-config", None, Value, Right),
        opt("allow-tool", None, Values, Right),
        opt("deny-tool", None, Values, Right),
        opt("available-tools", None, Values, Right),
        opt("excluded-tools", None, Values, Right),
        opt("allow-url", None, Values, Right),
        opt("deny-url", None, Values, Right),
        opt("allow-all-urls", None, Nothing, Right),
        opt("allow-all-paths", None, Nothing, Right),
        opt("allow-all-tools", None, Nothing, Right),
        opt("allow-all", None, Nothing, Right),
        opt("yolo", None, Nothing, Right),
        opt("assisted-approval", None, Nothing, Right),
        opt("experimental", None, Nothing, Right),
    ],
};

/// A name that no tool has: an empty list would be all of them.
pub(super) const NO_TOOL: &str = "no-tool";

/// What of a repository runs by itself where the user trusts the folder.
const RUNS: &[&str] = &[
    ".github/hooks",
    ".github/extensions",
    ".github/lsp.json",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
];

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.arg("--allow-all");
            draft.row(Field::Permission, Carried::Flag, "--allow-all");
        }
        return Ok(());
    }
    draft
        .refuse_env(&["COPILOT_ALLOW_ALL", "COPILOT_ASSISTED_APPROVAL"], "approves what nothing else does")?;
    let rights = draft.rights()?;
    trusted(draft);
    if rights.everything() && rights.none().next().is_none() {
        draft.arg("--allow-all");
        draft.rights_row(Carried::Flag, "--allow-all: every tool is allowed");
        return Ok(());
    }
    let there: Vec<&str> = rights.whole().collect();
    let any = |word: Word| there.iter().any(|tool| FACTS.tools[*tool].word == Some(word));
    // The other tools of that word look after what it began.
    let shell = there.contains(&"bash");
    let (edit, web) = (any(Word::Edit), any(Word::Web));
    let list = if there.is_empty() { NO_TOOL.to_owned() } else { there.join(",") };
    draft.arg(format!("--available-tools={list}"));
    // Denied kinds beat what the user approved for this place; a shell that may do all writes by itself.
    let kinds = [("shell", shell), ("write", edit || shell), ("url", web || shell)];
    for (kind, allowed) in kinds {
        draft.arg(format!("--{}-tool={kind}", if allowed { "allow" } else { "deny" }));
    }
    if shell {
        draft.args(["--allow-all-paths", "--allow-all-urls"]);
    }
    draft.args(["--disable-builtin-mcps"]);
    let place = if shell { "its shell runs anything" } else { "it stays in the working directory" };
    let held = format!("--available-tools is the limit: {list}; {place}");
    draft.rights_row(Carried::Flag, held);
    Ok(())
}

/// The user's list of trusted folders stands in a file of the CLI's home.
fn trusted(draft: &mut Draft<'_>) {
    let own = |file: &'static str| {
        Text::Pieces(vec![Piece::Env("COPILOT_HOME".into()), Piece::Plain(file.into())].into())
    };
    let files = [
        own("/config.json"),
        own("/settings.json"),
        Text::home("", "/.copilot/config.json"),
        Text::home("", "/.copilot/settings.json"),
    ];
    for settings in files {
        draft.checks.push(Check::NoneTrusted {
            settings,
            names: RUNS.iter().map(|name| (*name).into()).collect(),
            why: "copilot runs what it says in a folder that you trust, beside what the request allows"
                .into(),
        });
    }
}
