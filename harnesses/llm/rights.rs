//! What llm may do: nothing, unless a profile names tools.
//!
//! As read in the source of 0.36, 2026-12-01: a conversation that is gone on with has the tools of its first response
//! again, so that a request which goes on with one and restricts is refused.

use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Grammar, opt};
use crate::request::Session;

/// The options of `prompt` of 0.36 (its help). `--option`, `--param` and `--attachment-type` take two values, and are
/// unknown here, so that a restriction refuses them.
pub(super) const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::ARGPARSE },
    options: &[
        opt("json", None, Nothing, Ours),
        opt("no-stream", None, Nothing, Ours),
        opt("no-log", Some('n'), Nothing, Ours),
        opt("log", None, Nothing, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("conversation", None, Value, Ours),
        opt("cid", None, Value, Ours),
        opt("extract", Some('x'), Nothing, Ours),
        opt("extract-last", None, Nothing, Ours),
        opt("xl", None, Nothing, Ours),
        opt("schema-multi", None, Value, Ours),
        opt("save", None, Value, Ours),
        opt("options", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("query", Some('q'), Value, Free),
        opt("system", Some('s'), Value, Free),
        opt("database", Some('d'), Value, Free),
        opt("schema", None, Value, Free),
        opt("key", None, Value, Free),
        opt("async", None, Nothing, Free),
        opt("usage", Some('u'), Nothing, Free),
        opt("hide-reasoning", Some('R'), Nothing, Free),
        opt("tool", Some('T'), Value, Right),
        opt("functions", None, Value, Right),
        opt("tools-debug", None, Nothing, Right),
        opt("tools-approve", None, Nothing, Right),
        opt("chain-limit", None, Value, Right),
        opt("template", Some('t'), Value, Right),
        opt("attachment", Some('a'), Value, Right),
        opt("fragment", Some('f'), Value, Right),
        opt("system-fragment", None, Value, Right),
    ],
};

/// Adds the rows: no flag is needed, since there is no tool.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    if request.restricts() {
        // Names that it does not have are refused.
        draft.rights()?;
        if matches!(request.session, Some(Session::Resume(_))) && !request.is_correction() {
            let why = "llm gives a conversation the tools that it began with";
            return draft.rights_fields().try_for_each(|field| draft.unenforced(field, why));
        }
    }
    draft.rights_row(Carried::Runner, "llm has no tools, so nothing runs");
    Ok(())
}
