//! How the payload reaches vibe as it is.
//!
//! As run on 3.0.2, 2026-12-01: stdin is trimmed and an argument is not; the content of a file that is named with an
//! `@` goes to the model.

use super::STDIN;
use crate::command::Check;
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, payload};
use std::borrow::Cow;
use std::collections::HashSet;

/// Gives the payload to stdin, or to an argument where stdin would lose the white space around it.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let text = payload(draft.request, true);
    references(draft, &text)?;
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{feff}');
    if !text.starts_with(is_space) && !text.ends_with(is_space) {
        draft.args(["-p"]);
        return draft.payload_on_stdin(&STDIN);
    }
    let text = draft.payload(true);
    draft.refuse_blank(text.trim_matches(is_space))?;
    let arg = format!("--prompt={text}");
    draft.fits(Field::Prompt, &arg)?;
    draft.row(Field::Prompt, Carried::Flag, "--prompt, since stdin loses the white space around it");
    draft.arg(arg);
    Ok(())
}

/// Makes sure that no `@path` names a file. It reads one behind anything but a letter, a digit or `_` (read).
fn references(draft: &mut Draft<'_>, text: &str) -> Result<()> {
    super::super::families::references::exact(draft, text, true)?;
    if draft.request.file_references {
        return Ok(());
    }
    let mut seen = HashSet::new();
    for (at, _) in text.match_indices('@') {
        if text[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let path = candidate(&text[at + 1..]);
        if path.is_empty() || !seen.insert(path.clone()) {
            continue;
        }
        let field = super::super::families::references::field_at(draft.request, true, at);
        if path.starts_with('~') && path != "~" && !path.starts_with("~/") {
            let why = format!("{field}: vibe takes `@{}` for the home of a user", cut(&path, 80));
            return Err(Failure::new(Kind::Unsupported, why).hint("write it without the @"));
        }
        let known = |check: &Check| matches!(check, Check::NoSuchPath { path: own, .. } if *own == *path);
        if !draft.checks.iter().any(known) {
            draft.checks.push(Check::NoSuchPath { field: field.into(), path: path.into_owned() });
        }
    }
    Ok(())
}

/// The path behind an `@`: in quotes of either kind, which a backslash keeps open, or as far as its characters go.
fn candidate(rest: &str) -> Cow<'_, str> {
    let mut chars = rest.chars();
    let Some(quote) = chars.next().filter(|c| matches!(c, '"' | '\'')) else {
        let ends = |c: char| !(c.is_alphanumeric() || "._/\\-()[]{}~".contains(c));
        return rest[..rest.find(ends).unwrap_or(rest.len())].into();
    };
    let (mut path, mut chars) = (String::new(), chars.peekable());
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&quote).is_some() {
            path.push(quote);
        } else if c == quote {
            return path.into();
        } else {
            path.push(c);
        }
    }
    "".into()
}
