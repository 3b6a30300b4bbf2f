//! How the payload reaches pi byte for byte.
//!
//! As run on 1.6.0, 2026-12-01: what stands on stdin is trimmed, and what follows `--` is appended to it with
//! nothing between; there, a word that begins with `@` is a file.

use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, MAX_ARGUMENT};

/// Tried with 9 MB; there is no limit of its own.
const MOST: usize = 64 << 20;

/// Gives the payload to stdin, and what pi would trim there to an argument.
///
/// - White space at the end is an argument of its own.
/// - With white space at the beginning, or a leading `/`, which is a command of an extension, a skill or a
///   template, all of it is the argument; the `/` behind a line feed, the one byte that is added.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let payload = draft.payload(false);
    if trim(&payload).is_empty() {
        return Err(Failure::invalid("prompt", "is blank").hint("say what the agent should do"));
    }
    let size = draft.size(Field::Prompt, payload.len());
    let too_long = |most: usize, why: &str| {
        Failure::new(Kind::ArgTooLong, format!("{size}; {why} pi takes {most}"))
            .hint("put the text into a file of the workspace and name it in the prompt")
    };
    let begins = payload.len() - payload.trim_start_matches(is_space).len();
    if begins == 0 && !payload.starts_with('/') {
        let body = payload.trim_end_matches(is_space);
        let end = &payload[body.len()..];
        if payload.len() > MOST || end.len() > MAX_ARGUMENT {
            return Err(too_long(MOST, "on stdin"));
        }
        let mut how = format!("{} bytes, read as they are", body.len());
        if !end.is_empty() {
            how += ", and the white space after them as an argument, since stdin is trimmed";
            draft.arg("--");
            draft.arg(end.to_owned());
        }
        draft.stdin = Some(body.to_owned());
        draft.row(Field::Prompt, Carried::Stdin, how);
        return Ok(());
    }
    let whole_len = payload.len() + usize::from(begins == 0);
    if whole_len > MAX_ARGUMENT {
        let why = if begins == 0 {
            "with a leading / it is an argument, where"
        } else {
            "with leading white space it is an argument, where"
        };
        return Err(too_long(MAX_ARGUMENT - usize::from(begins == 0), why));
    }
    let (text, note) = draft.guarded(payload.clone(), &['/']);
    let why = if begins == 0 {
        note
    } else {
        ", since white space at its beginning is trimmed on stdin".to_owned()
    };
    draft.row(Field::Prompt, Carried::Flag, format!("an argument after --{why}"));
    draft.arg("--");
    draft.arg(text.into_owned());
    Ok(())
}

/// What JavaScript's `trim` leaves of a text.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// White space to JavaScript: not quite that of Unicode.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}
