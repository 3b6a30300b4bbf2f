//! How the payload reaches droid as it is: by stdin, and only where droid makes nothing else of it.
//!
//! As run on 0.225.2, 2026-12-01:
//! - A text whose first character, white space and more of the same left out, is a `/` is a command: a file of the
//!   repository's `.factory/commands` runs as a program, whatever tools there are; another takes the text's place.
//! - The content of a file of the workspace, or the list of a directory, goes along where `@path` names it.

use super::super::families::references::field_at;
use super::{FACTS, STDIN};
use crate::command::Check;
use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, payload};
use std::collections::HashSet;

/// Gives the payload to stdin.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let text = payload(draft.request, false);
    let begins = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if begins.starts_with('/') {
        let why = format!(
            "prompt: {} takes one that begins with / for a command, which may run a program of the repository",
            FACTS.id
        );
        return Err(Failure::new(Kind::Unsupported, why).hint("put a word ahead of it"));
    }
    if draft.request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, "droid adds the file, or the directory, of @path");
    } else {
        no_references(draft, &text);
    }
    draft.payload_on_stdin(&STDIN)
}

/// Makes sure that no `@path` names anything.
fn no_references(draft: &mut Draft<'_>, text: &str) {
    let mut seen = HashSet::new();
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|before| before.is_ascii_alphanumeric() || "_-.".contains(before)) {
            continue;
        }
        let field = field_at(draft.request, false, at);
        let path = candidate(&text[at + 1..]);
        if !path.is_empty() && seen.insert(path) {
            draft.checks.push(Check::NoSuchPath { field: field.into(), path: path.to_owned() });
        }
    }
}

/// The path behind an `@`: in quotes of either kind, or up to white space or one of a few marks.
fn candidate(rest: &str) -> &str {
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        return rest[1..].split(quote).next().unwrap_or_default();
    }
    let ends = |c: char| c.is_whitespace() || ",:;)]}>".contains(c);
    rest.split(ends).next().unwrap_or_default()
}
