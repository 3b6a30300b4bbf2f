//! What cline may do: the tools that its settings do not take away. Each of them runs unasked, everywhere.
//!
//! As run on 3.0.65, 2026-12-01:
//! - With no flag everything runs. `--auto-approve false` refuses reading too.
//! - `--plan` is no limit: it looks for the names of commands that write, so that `sh -c`, `python3 -c` and whatever
//!   it does not know run, and what is below `/tmp` may be written.
//! - `disabledTools` of the global settings is the limit: such a tool is not there, for sub-agents neither.
//!   `CLINE_GLOBAL_SETTINGS_PATH` names the file. A file that cannot be read takes nothing away.
//! - `editor` reaches every file.
//! - It does not hold plugins, hooks and servers. A repository brings plugins in `.cline/plugins`, hooks in
//!   `.cline/hooks` and `.clinerules/hooks`, and `bunfig.toml`, which names code to load: all of it runs with no one
//!   asked and no tool used. So a request that restricts looks for them.
//! - Servers are those of a file of the user's alone, and it can be another one.
//! - At its start it asks git, which runs what a repository's `.git/config` names.

use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;
use serde_json::json;
use std::borrow::Cow;

/// The options of 3.0.65.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::COMMANDER,
    options: &[
        opt("version", Some('V'), Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("json", None, Nothing, Ours),
        opt("cwd", Some('c'), Value, Ours),
        opt("tui", Some('i'), Nothing, Ours),
        opt("id", None, Value, Ours),
        opt("model", Some('m'), Value, Free),
        opt("system", Some('s'), Value, Ours),
        opt("zen", Some('z'), Nothing, Ours),
        opt("acp", None, Nothing, Ours),
        opt("update", None, Nothing, Ours),
        opt("kanban", None, Nothing, Ours),
        opt("worktree", None, Nothing, Ours),
        opt("thinking", None, MaybeValue, Free),
        opt("compaction", None, Value, Free),
        opt("provider", Some('P'), Value, Free),
        opt("key", Some('k'), Value, Free),
        opt("retries", None, MaybeValue, Free),
        opt("timeout", Some('t'), Value, Free),
        opt("verbose", Some('v'), Nothing, Free),
        opt("team-name", None, Value, Free),
        opt("plan", Some('p'), Nothing, Right),
        opt("act", Some('a'), Nothing, Right),
        opt("yolo", Some('y'), Nothing, Right),
        opt("auto-approve", None, Value, Right),
        opt("config", None, Value, Right),
        opt("data-dir", None, Value, Right),
        opt("hooks-dir", None, Value, Right),
    ],
};

/// The rest of the tools of a team; without `team_spawn_teammate` there is none to speak to.
const TEAM: [&str; 17] = [
    "team_shutdown_teammate",
    "team_status",
    "team_task",
    "team_run_task",
    "team_cancel_run",
    "team_list_runs",
    "team_await_runs",
    "team_send_message",
    "team_broadcast",
    "team_read_mailbox",
    "team_mission_log",
    "team_cleanup",
    "team_create_outcome",
    "team_attach_outcome_fragment",
    "team_review_outcome_fragment",
    "team_finalize_outcome",
    "team_list_outcomes",
];

/// Variables that would lift the limits, or take the place of what holds them.
const LIFTS: [&str; 12] = [
    "CLINE_GLOBAL_SETTINGS_PATH",
    "CLINE_MCP_SETTINGS_PATH",
    "CLINE_DIR",
    "CLINE_DATA_DIR",
    "CLINE_HOOKS_DIR",
    "CLINE_SANDBOX",
    "CLINE_SESSION_BACKEND_MODE",
    "CLINE_TOOL_APPROVAL_MODE",
    "BUN_OPTIONS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_0",
    "GIT_CONFIG_VALUE_0",
];

const SETTINGS: &str = "settings.json";
const SERVERS: &str = "servers.json";

/// Adds the settings that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.args(["--act", "--auto-approve=true"]);
            draft.row(Field::Permission, Carried::Flag, "--act --auto-approve=true");
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    draft.refuse_env(&LIFTS, "sets what cline runs")?;
    let anywhere = "its editor and apply_patch reach every file, also outside of the working directory";
    let there: Vec<&str> = rights.whole().collect();
    let none: Vec<&str> = rights.none().collect();
    let edits = there.iter().any(|tool| ["editor", "apply_patch"].contains(tool));
    if edits && request.permission == Some(Permission::Edit) {
        draft.unenforced(Field::Permission, format!("cline cannot be held to the workspace: {anywhere}"))?;
    }
    let disabled: Vec<&str> = none.iter().copied().chain(TEAM).collect();
    let web_search = there.contains(&"web_search");
    let settings = json!({
        "telemetryOptOut": true,
        "autoUpdateEnabled": false,
        "disabledTools": disabled,
        "tools": {"web_search": {"enabled": web_search}},
    });
    draft.args(["--act", "--auto-approve=true"]);
    draft.file(SETTINGS, format!("{settings:#}\n"));
    draft.set_env("CLINE_GLOBAL_SETTINGS_PATH", Text::file("", SETTINGS));
    // A repository may be on disk with a `.git/config` of somebody else's.
    for (name, value) in [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", "false"),
        ("GIT_CONFIG_KEY_1", "core.hooksPath"),
        ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ] {
        draft.set_env(name, value);
    }
    let mut held = if rights.everything() {
        format!("settings without these tools: {}", none.join(", "))
    } else {
        draft.file(SERVERS, "{\"mcpServers\":{}}\n");
        draft.set_env("CLINE_MCP_SETTINGS_PATH", Text::file("", SERVERS));
        let list = if there.is_empty() { "no tool".to_owned() } else { there.join(", ") };
        format!("settings with these tools and no other: {list}")
    };
    if edits {
        held = format!("{held}; {anywhere}");
    }
    draft.rights_row(Carried::File, held);
    repository(draft);
    user(draft, web_search, rights.everything());
    Ok(())
}

/// What a repository brings that runs by itself.
fn repository(draft: &mut Draft<'_>) {
    draft.checks.push(Check::NoneAbove {
        names: ["bunfig.toml", ".cline/plugins", ".cline/hooks", ".clinerules/hooks"]
            .map(Into::into)
            .to_vec()
            .into(),
        why: "cline would run what it names, beside what the request allows".into(),
    });
}

/// What the user forbids in the settings that ours stand in for, and plugins, which no list holds.
fn user(draft: &mut Draft<'_>, web_search: bool, everything: bool) {
    let below = |name: &'static str, path: &'static str| {
        Text::Pieces(vec![Piece::Env(name.into()), Piece::Plain(path.into())].into())
    };
    let mut forbids = vec![
        "\"disabledTools\"",
        "\"toolAutoApprove\": false",
        "\"toolAutoApprove\":false",
        "\"disabledPlugins\"",
        "\"disabledAgentPlugins\"",
    ];
    if web_search {
        forbids.push("\"web_search\"");
    }
    draft.checks.push(Check::NoTextsIn {
        paths: vec![
            Text::home("", "/.cline/data/settings/global-settings.json"),
            below("CLINE_DIR", "/data/settings/global-settings.json"),
            below("CLINE_DATA_DIR", "/settings/global-settings.json"),
        ]
        .into(),
        texts: forbids.into_iter().map(Cow::Borrowed).collect::<Vec<_>>().into(),
        why: "the settings of the run would stand in for what it forbids".into(),
    });
    if everything {
        return;
    }
    for path in [
        Text::home("", "/.cline/plugins"),
        Text::home("", "/.agents/plugins"),
        Text::home("", "/Documents/Cline/Plugins"),
        below("CLINE_DIR", "/plugins"),
    ] {
        let why = "the tools of plugins run unasked, and no list of cline's holds them";
        draft.checks.push(Check::NoTextIn { path, text: "".into(), why: why.into() });
    }
}
