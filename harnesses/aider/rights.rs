//! What aider may do: apply the edits of an answer, or not; and read what is named, or not.
//!
//! As run on 0.86.2, 2026-12-01:
//! - `--chat-mode=ask` applies no edit, whatever the answer holds; as an argument it wins over `architect` and
//!   `edit-format` of the environment, of `.env` and of every `.aider.conf.yml`.
//! - `--no-git` sees no file but those of `--file` and `--read`, runs no git, and makes no repository.
//! - `AIDER_LOAD` in a `.env` ran shell commands; `--load=` keeps it from that. `lint`, `test`, `upgrade` and
//!   their like have no argument that switches them off, so a request that restricts looks for the files.

use super::FACTS;
use crate::command::Check;
use crate::error::Result;
use crate::harness::{Draft, May};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;

/// The options of 0.86.2 that matter here; others are passed, but not with a request that restricts.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::ARGPARSE },
    options: &[
        opt("message", Some('m'), Value, Ours),
        opt("msg", None, Value, Ours),
        opt("message-file", Some('f'), Value, Ours),
        opt("llm-history-file", None, Value, Ours),
        opt("chat-history-file", None, Value, Ours),
        opt("input-history-file", None, Value, Ours),
        opt("restore-chat-history", None, Nothing, Ours),
        opt("yes-always", None, Nothing, Ours),
        opt("pretty", None, Nothing, Ours),
        opt("no-pretty", None, Nothing, Ours),
        opt("stream", None, Nothing, Ours),
        opt("no-stream", None, Nothing, Ours),
        opt("fancy-input", None, Nothing, Ours),
        opt("no-fancy-input", None, Nothing, Ours),
        opt("encoding", None, Value, Ours),
        opt("verbose", Some('v'), Nothing, Ours),
        opt("exit", None, Nothing, Ours),
        opt("gui", None, Nothing, Ours),
        opt("browser", None, Nothing, Ours),
        opt("no-gui", None, Nothing, Ours),
        opt("apply", None, Value, Ours),
        opt("apply-clipboard-edits", None, Nothing, Ours),
        opt("show-prompts", None, Nothing, Ours),
        opt("show-repo-map", None, Nothing, Ours),
        opt("list-models", None, Value, Ours),
        opt("models", None, Value, Ours),
        opt("just-check-update", None, Nothing, Ours),
        opt("shell-completions", None, Value, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", None, Nothing, Ours),
        opt("model", None, Value, Free),
        opt("weak-model", None, Value, Free),
        opt("editor-model", None, Value, Free),
        opt("reasoning-effort", None, Value, Free),
        opt("thinking-tokens", None, Value, Free),
        opt("no-check-model-accepts-settings", None, Nothing, Free),
        opt("no-show-model-warnings", None, Nothing, Free),
        opt("no-check-update", None, Nothing, Free),
        opt("no-show-release-notes", None, Nothing, Free),
        opt("no-analytics", None, Nothing, Free),
        opt("no-verify-ssl", None, Nothing, Free),
        opt("timeout", None, Value, Free),
        opt("map-tokens", None, Value, Free),
        opt("map-refresh", None, Value, Free),
        opt("max-chat-history-tokens", None, Value, Free),
        opt("cache-prompts", None, Nothing, Free),
        opt("alias", None, Value, Free),
        opt("file", None, Value, Free),
        opt("read", None, Value, Free),
        opt("chat-language", None, Value, Free),
        opt("line-endings", None, Value, Free),
        opt("dry-run", None, Nothing, Free),
        opt("no-git", None, Nothing, Free),
        opt("subtree-only", None, Nothing, Free),
        opt("disable-playwright", None, Nothing, Free),
        opt("no-detect-urls", None, Nothing, Free),
        opt("no-suggest-shell-commands", None, Nothing, Free),
        opt("no-auto-lint", None, Nothing, Free),
        opt("no-auto-test", None, Nothing, Free),
        opt("no-auto-commits", None, Nothing, Free),
        opt("no-dirty-commits", None, Nothing, Free),
        opt("no-gitignore", None, Nothing, Free),
        opt("no-watch-files", None, Nothing, Free),
        opt("no-copy-paste", None, Nothing, Free),
        opt("no-notifications", None, Nothing, Free),
        opt("chat-mode", None, Value, Right),
        opt("edit-format", None, Value, Right),
        opt("architect", None, Nothing, Right),
        opt("load", None, Value, Right),
        opt("lint", None, Nothing, Right),
        opt("lint-cmd", None, Value, Right),
        opt("auto-lint", None, Nothing, Right),
        opt("test", None, Nothing, Right),
        opt("test-cmd", None, Value, Right),
        opt("auto-test", None, Nothing, Right),
        opt("commit", None, Nothing, Right),
        opt("auto-commits", None, Nothing, Right),
        opt("dirty-commits", None, Nothing, Right),
        opt("git", None, Nothing, Right),
        opt("gitignore", None, Nothing, Right),
        opt("suggest-shell-commands", None, Nothing, Right),
        opt("detect-urls", None, Nothing, Right),
        opt("watch-files", None, Nothing, Right),
        opt("copy-paste", None, Nothing, Right),
        opt("notifications", None, Nothing, Right),
        opt("notifications-command", None, Value, Right),
        opt("config", Some('c'), Value, Right),
        opt("env-file", None, Value, Right),
        opt("set-env", None, Value, Right),
        opt("upgrade", None, Nothing, Right),
        opt("install-main-branch", None, Nothing, Right),
    ],
};

/// Adds the flags that hold aider to the request.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    let all = "every edit of an answer is applied; aider runs no shell command by itself";
    if !request.restricts() {
        if request.permission.is_some() {
            draft.row(Field::Permission, Carried::Runner, all);
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    refuse_settings(draft)?;
    if rights.everything() && rights.none().next().is_none() {
        draft.rights_row(Carried::Runner, all);
        return Ok(());
    }
    let edits = rights.may("edit") == May::Yes;
    let held = if edits {
        if request.permission == Some(Permission::Edit) {
            let why = "aider applies the edits of an answer wherever they point, outside of the working directory too";
            draft.unenforced(Field::Permission, why)?;
        }
        if rights.may("read") == May::No {
            let why = "an edit that does not fit gets the lines of the file for an answer, so reading cannot be denied";
            draft.unenforced(Field::Tools, why)?;
        }
        "--no-git: edits are applied, and nothing runs; git would run what the repository's settings say"
    } else {
        draft.args(["--chat-mode=ask"]);
        "--chat-mode=ask --no-git: no edit is applied, and nothing runs"
    };
    draft.args(["--no-git"]);
    draft.rights_row(Carried::Flag, held);
    if rights.may("read") == May::Yes {
        let why =
            "reading: without git aider sees no file by itself; what it should see stands in the prompt";
        draft.row(draft.restricting_field(), Carried::Dropped, why);
    }
    Ok(())
}

/// Settings that aider reads whatever its arguments are.
fn refuse_settings(draft: &mut Draft<'_>) -> Result<()> {
    // Every option has a variable.
    let set = draft.profile.env.keys().chain(draft.request.env.keys());
    if let Some(name) =
        set.into_iter().find(|name| name.starts_with("AIDER_") && !FACTS.env_pass.contains(name))
    {
        let why = format!("{name} in env sets an option of aider");
        draft.unenforced(draft.restricting_field(), why).map_err(|e| e.hint("leave the variable out"))?;
    }
    draft.checks.push(Check::NoneAbove {
        names: [".env", ".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"]
            .map(Into::into)
            .to_vec()
            .into(),
        why: "aider would take commands to run, and the address of its model, from it".into(),
    });
    Ok(())
}
