//! What qwen may do: which tools are taken away, and the mode in which the rest runs.
//!
//! As run on 0.24.4, 2026-12-01:
//! - `--safe-mode` leaves out hooks, servers, extensions and agents of every place. It also ignores
//!   `--core-tools`, and the user's own rules: a user's deny of `touch` was gone.
//! - `--exclude-tools` holds in every mode. A deny of `read_file`, `edit` or `run_shell_command` covers the tools
//!   that do the same, and one of `edit` every command that is seen to write a file.
//! - In `default` edits and commands are refused, other tools run: worktrees, timers, agents. `auto-edit` writes
//!   in every directory, not only in the workspace.
//! - The project's `.qwen/settings.json` counts in `--safe-mode` too: it sets variables, writes telemetry to a
//!   file and names the model server, over `--openai-base-url`. So does its `.env`, where an empty variable
//!   counts as none.

use super::FACTS;
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::{Draft, May, Rights};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value, Values};
use crate::lowering::{Carried, Dialect, Field, Grammar, opt};
use crate::policy::Permission;
use std::borrow::Cow;

/// The options of 0.24.4.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::YARGS,
    options: &[
        opt("prompt", Some('p'), Value, Ours),
        opt("prompt-interactive", Some('i'), Value, Ours),
        opt("output-format", Some('o'), Value, Ours),
        opt("input-format", None, Value, Ours),
        opt("include-partial-messages", None, Nothing, Ours),
        opt("json-schema", None, Value, Ours),
        opt("json-fd", None, Value, Ours),
        opt("json-file", None, Value, Ours),
        opt("input-file", None, Value, Ours),
        opt("max-wall-time", None, Value, Ours),
        opt("session-id", None, Value, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("fork-session", None, Nothing, Ours),
        opt("chat-recording", None, Nothing, Ours),
        opt("list-extensions", Some('l'), Nothing, Ours),
        opt("acp", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("fallback-model", None, Values, Free),
        opt("system-prompt", None, Value, Free),
        opt("append-system-prompt", None, Value, Free),
        opt("output-style", None, Value, Free),
        opt("max-session-turns", None, Value, Free),
        opt("max-tool-calls", None, Value, Free),
        opt("max-subagent-depth", None, Value, Free),
        opt("auth-type", None, Value, Free),
        opt("openai-api-key", None, Value, Free),
        opt("openai-base-url", None, Value, Free),
        opt("openai-logging", None, Nothing, Free),
        opt("openai-logging-dir", None, Value, Free),
        opt("proxy", None, Value, Free),
        opt("insecure", None, Nothing, Free),
        opt("debug", Some('d'), Nothing, Free),
        opt("screen-reader", None, Nothing, Free),
        opt("disabled-slash-commands", None, Values, Free),
        opt("sandbox", Some('s'), Nothing, Free),
        opt("sandbox-image", None, Value, Free),
        opt("telemetry", None, Nothing, Free),
        opt("telemetry-target", None, Value, Free),
        opt("telemetry-otlp-endpoint", None, Value, Free),
        opt("telemetry-otlp-protocol", None, Value, Free),
        opt("telemetry-log-prompts", None, Nothing, Free),
        opt("telemetry-outfile", None, Value, Free),
        opt("safe-mode", None, Nothing, Right),
        opt("bare", None, Nothing, Right),
        opt("yolo", Some('y'), Nothing, Right),
        opt("approval-mode", None, Value, Right),
        opt("allowed-tools", None, Values, Right),
        opt("core-tools", None, Values, Right),
        opt("exclude-tools", None, Values, Right),
        opt("allowed-mcp-server-names", None, Values, Right),
        opt("mcp-config", None, Value, Right),
        opt("extensions", Some('e'), Values, Right),
        opt("include-directories", None, Values, Right),
        opt("add-dir", None, Values, Right),
        opt("worktree", None, MaybeValue, Right),
        opt("channel", None, Value, Right),
        opt("experimental-lsp", None, Nothing, Right),
    ],
};

/// A deny of the first covers the others too.
pub(super) const COVERS: [(&str, &[&str]); 3] = [
    ("read_file", &["grep_search", "glob", "list_directory", "zoom_image"]),
    ("edit", &["write_file", "notebook_edit"]),
    ("run_shell_command", &["monitor"]),
];

/// Rules of the user's own, or of the machine's, that `--safe-mode` sets aside, as they stand in a settings file.
const OWN_RULES: &[Cow<'static, str>] = &[
    Cow::Borrowed("\"deny\""),
    Cow::Borrowed("\"ask\""),
    Cow::Borrowed("\"exclude\""),
    Cow::Borrowed("\"excludeTools\""),
    Cow::Borrowed("\"core\""),
    Cow::Borrowed("\"coreTools\""),
    Cow::Borrowed("\"disabled\""),
    Cow::Borrowed("\"PreToolUse\""),
];
/// Where they may stand.
static OWN_SETTINGS: [Text; 5] = [
    Text::Pieces(Cow::Borrowed(&[Piece::Home, Piece::Plain(Cow::Borrowed("/.qwen/settings.json"))])),
    Text::Pieces(Cow::Borrowed(&[
        Piece::Env(Cow::Borrowed("QWEN_HOME")),
        Piece::Plain(Cow::Borrowed("/settings.json")),
    ])),
    Text::Pieces(Cow::Borrowed(&[Piece::Env(Cow::Borrowed("QWEN_CODE_SYSTEM_SETTINGS_PATH"))])),
    Text::Plain(Cow::Borrowed("/etc/qwen-code/settings.json")),
    Text::Plain(Cow::Borrowed("/Library/Application Support/QwenCode/settings.json")),
];

/// Variables that a `.env` of the project may set: keys, which open nothing to the agent.
const KEEP: &[Cow<'static, str>] = &[
    Cow::Borrowed("OPENAI_API_KEY"),
    Cow::Borrowed("DASHSCOPE_API_KEY"),
    Cow::Borrowed("BAILIAN_CODING_PLAN_API_KEY"),
    Cow::Borrowed("ANTHROPIC_API_KEY"),
    Cow::Borrowed("GEMINI_API_KEY"),
    Cow::Borrowed("GOOGLE_API_KEY"),
];
const ENV_FILES: &[Cow<'static, str>] = &[Cow::Borrowed(".qwen/.env"), Cow::Borrowed(".env")];
const SETTINGS: &[Cow<'static, str>] = &[Cow::Borrowed(".qwen/settings.json")];

/// Adds the flags that hold the agent to the request, and the checks that they need.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if !request.restricts() {
        if request.permission == Some(Permission::Full) {
            draft.glued(Field::Permission, "--approval-mode", "yolo")?;
        }
        return Ok(());
    }
    let rights = draft.rights()?;
    let edits = rights.whole().any(|tool| FACTS.tools[tool].needs == Permission::Edit);
    let more = rights.whole().any(|tool| FACTS.tools[tool].needs == Permission::Full);
    if edits && request.permission == Some(Permission::Edit) {
        let why = "qwen cannot be held to the workspace: its tools that edit reach every file";
        draft.unenforced(Field::Permission, why)?;
    }
    let mode = match (edits, more) {
        (_, true) => "yolo",
        (true, false) => "auto-edit",
        (false, false) => "default",
    };
    draft.args(["--safe-mode"]);
    draft.arg(format!("--approval-mode={mode}"));
    let none: Vec<&str> = rights.none().collect();
    let mut held = format!("--safe-mode --approval-mode={mode}");
    if !none.is_empty() {
        draft.arg(format!("--exclude-tools={}", none.join(",")));
        held += " --exclude-tools with every tool that may not run";
    }
    if edits {
        held += "; its tools that edit reach every file, also outside of the working directory";
    }
    draft.rights_row(Carried::Flag, held);
    narrower(draft, &rights, more);
    checks(draft);
    Ok(())
}

/// Rows for what is allowed and does not run all the same.
fn narrower(draft: &mut Draft<'_>, rights: &Rights<'_>, shell: bool) {
    let field = draft.restricting_field();
    for (tool, covered) in COVERS.iter().filter(|(tool, _)| rights.may(tool) == May::No) {
        let lost: Vec<&str> = covered.iter().copied().filter(|tool| rights.may(tool) == May::Yes).collect();
        if !lost.is_empty() {
            let why = format!("qwen's deny of {tool} covers {} too", lost.join(", "));
            draft.row(field, Carried::Dropped, why);
        }
    }
    if shell && rights.may("run_shell_command") == May::Yes && rights.may("edit") == May::No {
        let why = "with edit denied, qwen refuses commands that it sees to write a file";
        draft.row(field, Carried::Dropped, why);
    }
}

/// What no flag closes has to be absent.
fn checks(draft: &mut Draft<'_>) {
    draft.checks.push(Check::NoneAbove {
        names: SETTINGS.into(),
        why: "qwen takes variables, the model server and files to write from it, in its safe mode too".into(),
    });
    draft.checks.push(Check::NoVariables {
        names: ENV_FILES.into(),
        keep: KEEP.into(),
        why: "qwen takes it from there, and an empty value would not keep it from that".into(),
    });
    draft.checks.push(Check::NoTextsIn {
        paths: Cow::Borrowed(&OWN_SETTINGS),
        texts: OWN_RULES.into(),
        why: "the safe mode of qwen sets such rules and hooks aside".into(),
    });
}
