//! How the payload reaches qwen byte for byte, and what it reads in it.
//!
//! As run on 0.24.4, 2026-12-01: the prompt is stdin, two line feeds and the argument; with no argument the two
//! line feeds are there all the same. Neither part is trimmed.

use super::super::families::references::{Cut, at_paths, field_at};
use crate::command::Check;
use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, MAX_ARGUMENT};
use std::collections::HashSet;

/// As gemini, which it comes from: 8 MiB, with a warning (read).
const MOST: usize = 8 << 20;
const FLAG: &str = "--prompt=";
/// What qwen puts between stdin and the argument.
const BETWEEN: &str = "\n\n";

/// Gives the payload as one argument; where it is too large, cut at a blank line, whose line feeds qwen
/// puts there again.
///
/// A leading `/` is a command there; a line feed before it keeps it text, and is the one byte that is added.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let payload = draft.payload(false);
    draft.refuse_blank(&payload)?;
    references(draft, &payload);
    let (text, note) = draft.guarded(payload, &['/']);
    let most = MAX_ARGUMENT - FLAG.len();
    if text.len() <= most {
        draft.row(Field::Prompt, Carried::Flag, format!("{FLAG}{note}"));
        draft.arg(format!("{FLAG}{text}"));
        return Ok(());
    }
    let cut = text.rfind(BETWEEN).filter(|at| text.len() - at - BETWEEN.len() <= most && *at <= MOST);
    let Some(at) = cut else {
        return Err(Failure::new(
            Kind::ArgTooLong,
            format!(
                "{}, and no blank line near its end to cut it at: qwen takes {most} in one piece, and adds to what \
                 comes on stdin",
                draft.size(Field::Prompt, text.len())
            ),
        )
        .hint("put the text into a file of the workspace and name it in the prompt"));
    };
    let end = &text[at + BETWEEN.len()..];
    let how = if end.is_empty() { "on stdin" } else { "on stdin up to its last blank line, then --prompt=" };
    draft.row(
        Field::Prompt,
        Carried::Stdin,
        format!("{} bytes {how}; qwen joins them by that blank line{note}", text.len()),
    );
    if !end.is_empty() {
        draft.arg(format!("{FLAG}{end}"));
    }
    draft.stdin = Some(text[..at].to_owned());
    Ok(())
}

/// Tokens that qwen replaces by the content of the file or folder of just that path (run). There is no way to
/// escape them that keeps the text.
fn references(draft: &mut Draft<'_>, payload: &str) {
    let request = draft.request;
    if request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, "qwen replaces @path by the file");
        return;
    }
    let mut seen = HashSet::new();
    for (at, path) in at_paths(payload, Cut::PLAIN) {
        if seen.insert(path.clone()) {
            draft.checks.push(Check::NoSuchPath { field: field_at(request, false, at).into(), path });
        }
    }
}
