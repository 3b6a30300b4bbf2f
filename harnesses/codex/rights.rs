//! What codex may do: the sandbox around its commands and patches, and the tools that are there.
//!
//! As run on 0.171.0, 2026-12-01:
//! - It has no list of tools to allow. What holds is the sandbox: in `read-only` a command reads, and neither
//!   writes nor reaches the network; in `workspace-write` it writes in the workspace too. `exec` asks for
//!   nothing: a command that wants out is refused.
//! - So its reading *is* its shell, in the sandbox. A shell that is allowed as a tool is one without.
//! - Without `--sandbox` the user's settings decide, and any entry on the project in them is write access.
//! - A rule of the user's that allows a command (`rules/*.rules`) takes it out of the sandbox: they are left
//!   out, and where there are some that forbid, nothing is run.
//! - A server's tool that calls itself reading, or that the user approved, runs in any sandbox. Each server
//!   has to be turned off by its name: an empty table of them is merged into the user's.
//! - A project that the user trusts brings settings and servers of its own, as does every directory above.
//! - `agents.enabled=false` and `features.shell_tool=false` take those tools away, with the models that
//!   call tools by scripts, too. `apply_patch` cannot be taken away.
//! - `managed_config.toml` of an administrator wins over `-c`.

use crate::command::{Check, Listed, Piece, Text};
use crate::error::Result;
use crate::harness::{Draft, May};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value, Values};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::{Permission, ToolRule};
use std::borrow::Cow;

/// The options of 0.171.0.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::CLAP,
    options: &[
        opt("json", None, Nothing, Ours),
        opt("skip-git-repo-check", None, Nothing, Ours),
        opt("sandbox", Some('s'), Value, Ours),
        opt("output-schema", None, Value, Ours),
        opt("output-last-message", Some('o'), Value, Ours),
        opt("cd", Some('C'), Value, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('V'), Nothing, Ours),
        opt("worktree", None, Nothing, Ours),
        opt("remote", None, Value, Ours),
        opt("remote-auth-token-env", None, Value, Ours),
        opt("model", Some('m'), Value, Free),
        opt("oss", None, Nothing, Free),
        opt("local-provider", None, Value, Free),
        opt("strict-config", None, Nothing, Free),
        opt("image", Some('i'), Values, Free),
        opt("color", None, Value, Free),
        opt("ephemeral", None, Nothing, Free),
        opt("thread-source", None, Value, Free),
        opt("cyber-access-program", None, Value, Free),
        opt("config", Some('c'), Value, Right),
        opt("profile", Some('p'), Value, Right),
        opt("enable", None, Value, Right),
        opt("disable", None, Value, Right),
        opt("add-dir", None, Value, Right),
        opt("trust", None, Nothing, Right),
        opt("ignore-rules", None, Nothing, Right),
        opt("ignore-user-config", None, Nothing, Right),
        opt("approve-for-me", None, Nothing, Right),
        opt("dangerously-bypass-approvals-and-sandbox", None, Nothing, Right),
        opt("yolo", None, Nothing, Right),
        opt("dangerously-bypass-hook-trust", None, Nothing, Right),
    ],
};

/// The end of waiting for a network: on by itself, it waits for ever.
const BOUNDED: &str = "unbounded_connection_retries=false";
/// What brings tools that no list holds, and ways to ask for more rights.
const OFF: &str = "apps=false,plugins=false,tool_suggest=false,image_generation=false,multi_agent=false,\
                   request_permissions_tool=false,exec_permission_approvals=false";
/// The user's settings may open more of the disk, and the network.
const WORKSPACE: &str = "sandbox_workspace_write={writable_roots=[],network_access=false,\
                         exclude_slash_tmp=true,exclude_tmpdir_env_var=true}";
const DANGER: &str = "--dangerously-bypass-approvals-and-sandbox";

/// Adds the flags that hold the agent to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.arg(DANGER);
            draft.row(Field::Permission, Carried::Flag, DANGER);
        } else {
            // What it would do by itself, were nothing in the user's settings.
            draft.arg("--sandbox=read-only");
        }
        draft.arg("-c");
        draft.arg(format!("features={{{BOUNDED}}}"));
        return Ok(());
    }
    draft.refuse_env(
        &["CODEX_EXEC_SERVER_URL"],
        "runs its commands elsewhere, in no sandbox of this machine",
    )?;
    let rights = draft.rights()?;
    let may = |tool: &str| rights.may(tool) == May::Yes;
    let denies = |tool: &str| {
        let mut rules = rights.rules().iter().filter(|rule| rule.rule != ToolRule::Allow);
        rules.any(|rule| rule.tool == "*" || rule.tool == tool)
    };
    if may("exec_command") && !may("apply_patch") {
        let why = "its shell cannot be had without apply_patch, which writes files, too";
        draft.unenforced(Field::Tools, why)?;
    }
    let sandbox = match (may("exec_command"), may("apply_patch")) {
        (true, _) => Sandbox::None,
        (false, true) => Sandbox::Workspace,
        (false, false) => Sandbox::Reading,
    };
    let reads = may("view_image");
    let shell = may("exec_command") || (reads && !denies("exec_command"));
    let everything = rights.everything() && rights.none().next().is_none();

    draft.arg(sandbox.flag());
    if sandbox == Sandbox::Workspace {
        draft.args(["-c", WORKSPACE]);
    }
    let mut features = vec![BOUNDED];
    if !everything {
        features.push(OFF);
    }
    if !shell {
        features.push("shell_tool=false");
    }
    if !reads {
        features.push("view_image=false");
    }
    draft.arg("-c");
    draft.arg(format!("features={{{}}}", features.join(",")));
    if !may("web_search") {
        draft.args(["-c", "web_search=\"disabled\""]);
    }
    if !everything {
        draft.args(["-c", "agents.enabled=false"]);
        each(draft, "mcp_servers", servers(), "={enabled=false}");
        for tool in ["spawn_agent", "image_generation"].into_iter().filter(|tool| may(tool)) {
            let why = format!("`{tool}` is off: nothing holds what it brings to the rest of the policy");
            draft.row(Field::Tools, Carried::Dropped, why);
        }
    }
    each(draft, "projects", Listed::Directories, "={trust_level=\"untrusted\"}");
    if shell && sandbox != Sandbox::None {
        draft.arg("--ignore-rules");
        user_rules(draft);
    }
    administrator(draft);
    told(draft, sandbox, shell);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sandbox {
    Reading,
    Workspace,
    None,
}

impl Sandbox {
    const fn flag(self) -> &'static str {
        match self {
            Sandbox::Reading => "--sandbox=read-only",
            Sandbox::Workspace => "--sandbox=workspace-write",
            Sandbox::None => "--sandbox=danger-full-access",
        }
    }
}

/// `-c table={"…"={…},…}`: merged into the user's table, name by name.
fn each(draft: &mut Draft<'_>, table: &'static str, listed: Listed, after: &'static str) {
    let pieces = vec![
        Piece::Plain(format!("{table}={{").into()),
        Piece::Each(Cow::Owned(listed), after.into()),
        Piece::Plain("}".into()),
    ];
    draft.arg("-c");
    draft.arg(Text::Pieces(pieces.into()));
}

fn servers() -> Listed {
    Listed::Names {
        variable: "CODEX_HOME".into(),
        folder: ".codex".into(),
        file: "config.toml".into(),
        table: "mcp_servers".into(),
    }
}

/// The rules are left out since some may allow; what some forbid must stay forbidden.
fn user_rules(draft: &mut Draft<'_>) {
    let own = Text::Pieces(vec![Piece::Env("CODEX_HOME".into()), Piece::Plain("/rules".into())].into());
    for path in [own, Text::home("", "/.codex/rules")] {
        for decision in ["\"forbidden\"", "\"prompt\""] {
            let why = "rules are left out, since those that allow a command lift the sandbox, and so this one \
                       would be left out, too";
            draft.checks.push(Check::NoTextIn { path: path.clone(), text: decision.into(), why: why.into() });
        }
    }
}

fn administrator(draft: &mut Draft<'_>) {
    let wins = "what it sets wins over what holds the agent here";
    draft.checks.push(Check::NoFilesIn {
        dir: "/etc/codex".into(),
        suffix: "managed_config.toml".into(),
        why: wins.into(),
    });
    for (path, text) in [("/etc/codex/config.toml", "mcp_servers"), ("/etc/codex/rules", "\"allow\"")] {
        let why = "it brings tools, or commands without a sandbox, beside what the request allows";
        draft.checks.push(Check::NoTextIn { path: path.into(), text: text.into(), why: why.into() });
    }
}

/// The rows: what holds, and what of codex reads.
fn told(draft: &mut Draft<'_>, sandbox: Sandbox, shell: bool) {
    let _request = draft.request;
    let shell = match (shell, sandbox) {
        (_, Sandbox::None) => "its commands run without one, as allowed",
        (true, Sandbox::Reading) => "it reads by commands, which can neither write nor reach the network",
        (true, Sandbox::Workspace) => {
            "it reads and edits by commands, too, which write in the workspace alone and reach no network"
        }
        (false, _) => "the shell is off, and with it what reads text files",
    };
    let held = format!("{}; {shell}", sandbox.flag());
    draft.rights_row(Carried::Flag, held);
}
