//! What droid may do: the tools that are there, and how far its shell is believed.
//!
//! As run on 0.225.2, 2026-12-01:
//! - With no flag it is not read-only: `Execute` runs whatever the *model* calls a low risk. `--auto` raises what it
//!   may call it, and one call above the level ends the run. So a level is no limit, and never stands for one.
//! - `--only-tools` is the limit, with every level: a tool that is not in it is not there. What is in it is there
//!   without a level too, `Create` among it. An unknown name is an error; one that the model has no use for is left
//!   out with a word; **an empty list, or one of commas, is no limit**; two lists are added up.
//! - `--remove-tools` takes tools from what the level gives, and cannot stand beside `--only-tools`.
//! - Sub-agents have tools of their own: with `Execute` removed, one that the repository brings ran it.
//! - A tool of a server is `MCP:server/tool`. It runs with a level, or where the server says of it that it only reads;
//!   the list is the limit there too. One that is not there ends the run.
//! - `Create` and `Edit` reach every file.
//! - A fork has the rights of the flags that make it.
//! - What `.factory` of the project says runs in every folder, trusted or not, in the working directory and up to the
//!   root of the repository: hooks and servers are started, and its models take the place of the user's own of the
//!   same name, so that the request goes elsewhere. The other names of that folder (`.agents`, `.agent`) bring skills.
//! - Nothing in a `.env` counts.

use super::FACTS;
use crate::command::Check;
use crate::error::Result;
use crate::harness::{Draft, Rights};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::{Permission, ToolRule};
use std::borrow::Cow;

/// The options of `droid exec` 0.225.2.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::COMMANDER,
    options: &[
        opt("help", Some('h'), Nothing, Ours),
        opt("output-format", Some('o'), Value, Ours),
        opt("input-format", None, Value, Ours),
        opt("file", Some('f'), Value, Ours),
        opt("session-id", Some('s'), Value, Ours),
        opt("fork", None, Value, Ours),
        opt("cwd", None, Value, Ours),
        opt("list-tools", None, Nothing, Ours),
        opt("disable-builtin-skills", None, Nothing, Free),
        opt("model", Some('m'), Value, Free),
        opt("reasoning-effort", Some('r'), Value, Free),
        opt("tag", None, Value, Free),
        opt("log-group-id", None, Value, Free),
        opt("append-system-prompt", None, Value, Free),
        opt("append-system-prompt-file", None, Value, Free),
        opt("auto", None, Value, Right),
        opt("skip-permissions-unsafe", None, Nothing, Right),
        opt("use-spec", None, Nothing, Right),
        opt("spec-model", None, Value, Right),
        opt("spec-reasoning-effort", None, Value, Right),
        opt("only-tools", None, Value, Right),
        opt("add-tools", None, Value, Right),
        opt("remove-tools", None, Value, Right),
        opt("settings", None, Value, Right),
        opt("worktree", Some('w'), MaybeValue, Right),
        opt("worktree-dir", None, Value, Right),
        opt("mission", None, Nothing, Right),
        opt("worker-model", None, Value, Right),
        opt("worker-reasoning-effort", None, Value, Right),
        opt("validator-model", None, Value, Right),
        opt("validator-reasoning-effort", None, Value, Right),
    ],
};

/// A tool of another mode, which is not there in this one: a list of it alone leaves none.
pub(super) const NO_TOOL: &str = "EndFeatureRun";

/// Settings by variables that would lift what the flags say.
const LIFTS: [&str; 2] = ["FACTORY_RUNTIME_SETTINGS_PATH", "FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH"];

/// What of the project starts programs, or says where requests go.
const SETTINGS: [Cow<'static, str>; 6] = [
    Cow::Borrowed(".factory/settings.json"),
    Cow::Borrowed(".factory/settings.local.json"),
    Cow::Borrowed(".factory/config.json"),
    Cow::Borrowed(".factory/hooks.json"),
    Cow::Borrowed(".factory/hooks"),
    Cow::Borrowed(".factory/mcp.json"),
];

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.args(["--auto=high"]);
            let how = "--auto=high: what the user's settings forbid stays forbidden";
            draft.row(Field::Permission, Carried::Flag, how);
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    draft.refuse_env(&LIFTS, "brings settings of its own")?;
    let held = tools(draft, &rights)?;
    draft.rights_row(Carried::Flag, held);
    draft.checks.push(Check::NoneAbove {
        names: Cow::Borrowed(&SETTINGS),
        why: "droid runs what it says, and asks the models that it names, whatever the request allows".into(),
    });
    Ok(())
}

/// Adds the list of tools, and gives the words for it.
fn tools(draft: &mut Draft<'_>, rights: &Rights<'_>) -> Result<String> {
    let there: Vec<&str> = rights.whole().chain(rights.foreign()).collect();
    let of = |names: &[&str]| there.iter().any(|tool| names.contains(tool));
    let anywhere = "its Create and Edit reach every file, also outside of the working directory";
    let edits = of(&["Edit", "Create", "ApplyPatch"]);
    if edits && draft.request.permission == Some(Permission::Edit) {
        draft.unenforced(Field::Permission, format!("droid cannot be held to the workspace: {anywhere}"))?;
    }
    let full = |tool: &str| draft.facts.tools.get(tool).is_none_or(|tool| tool.needs == Permission::Full);
    let more = there.iter().any(|tool| full(tool));
    if more {
        // Each of them asks, and who asks ends the run, where no level is given.
        draft.args(["--auto=high"]);
    }
    let mut held = if rights.everything() {
        let servers = rights.rules().iter().filter(|rule| rule.rule != ToolRule::Allow && rule.tool != "*");
        let servers = servers.map(|rule| rule.tool.as_str()).filter(|tool| !FACTS.tools.contains_key(*tool));
        let removed: Vec<&str> = rights.none().chain(servers).collect();
        draft.arg(format!("--remove-tools={}", removed.join(",")));
        format!("--auto=high, and these tools are taken away: {}", removed.join(", "))
    } else if there.is_empty() {
        draft.arg(format!("--only-tools={NO_TOOL}"));
        "--only-tools with a name that is no tool here, so there is none: an empty list would be no limit"
            .to_owned()
    } else {
        draft.arg(format!("--only-tools={}", there.join(",")));
        format!("--only-tools is the limit: {}", there.join(", "))
    };
    if edits && draft.request.permission != Some(Permission::Edit) {
        held = format!("{held}; {anywhere}");
    }
    Ok(held)
}
