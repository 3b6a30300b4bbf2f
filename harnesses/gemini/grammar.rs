//! The options of gemini 0.61.0, as run and as read in its source: yargs in strict mode.

use crate::lowering::Role::{Free, Ours, Rights};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Dashes, Dialect, Grammar, opt};

/// What stands after `--` is ignored.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { dashes: Dashes::Ignored, ..Dialect::YARGS },
    options: &[
        opt("model", Some('m'), Value, Free),
        opt("prompt", Some('p'), Value, Ours),
        opt("prompt-interactive", Some('i'), Value, Ours),
        opt("skip-trust", None, Nothing, Free),
        opt("worktree", Some('w'), MaybeValue, Ours),
        opt("sandbox", Some('s'), Nothing, Free),
        opt("yolo", Some('y'), Nothing, Rights),
        opt("approval-mode", None, Value, Rights),
        opt("policy", None, Value, Rights),
        opt("admin-policy", None, Value, Rights),
        opt("acp", None, Nothing, Ours),
        opt("experimental-acp", None, Nothing, Ours),
        opt("allowed-mcp-server-names", None, Value, Rights),
        opt("allowed-tools", None, Value, Rights),
        opt("extensions", Some('e'), Value, Free),
        opt("list-extensions", Some('l'), Nothing, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("session-file", None, Value, Ours),
        opt("session-id", None, Value, Ours),
        opt("list-sessions", None, Nothing, Ours),
        opt("delete-session", None, Value, Ours),
        opt("include-directories", None, Value, Free),
        opt("screen-reader", None, Nothing, Free),
        opt("output-format", Some('o'), Value, Ours),
        opt("fake-responses", None, Value, Free),
        opt("fake-responses-non-strict", None, Value, Free),
        opt("record-responses", None, Value, Free),
        opt("raw-output", None, Nothing, Free),
        opt("accept-raw-output-risk", None, Nothing, Free),
        opt("debug", Some('d'), Nothing, Free),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
    ],
};
