//! `@path` in a prompt: what CLIs replace by a file's content, and the checks that keep a text from it.

use crate::command::Check;
use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::{Carried, Field};
use crate::request::DispatchRequest;
use std::collections::HashSet;

/// Makes sure that no `@path` of the payload names a file, for a CLI that reads such tokens where they stand
/// at the start of the text or after white space, up to the next white space, or quoted (`@"a b"`).
///
/// The path is relative to the working directory; `~/` is the home. What stands after a `#` and
/// punctuation at the end are no part of it.
pub(crate) fn exact(draft: &mut Draft<'_>, payload: &str, name: &'static str) -> Result<()> {
    if draft.request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, format!("{name} replaces @path by the file"));
        return Ok(());
    }
    let mut seen = HashSet::new();
    for (at, token) in tokens(payload) {
        let field = field_at(draft.request, at);
        for path in candidates(token) {
            if seen.insert(path) {
                draft.checks.push(Check::NoSuchPath { field: field.into(), path: path.to_owned() });
            }
        }
    }
    Ok(())
}

/// The field of the request that stands at this place of the payload.
pub(crate) fn field_at(request: &DispatchRequest, at: usize) -> &'static str {
    let before = request.system_prompt.as_deref().filter(|s| !s.is_empty() && !request.is_correction());
    let begin = before.map_or(0, |system| system.len() + 2);
    if at < begin {
        "system_prompt"
    } else if at <= begin + request.prompt.len() {
        "prompt"
    } else {
        "schema"
    }
}

/// The tokens after an `@` at the start or after white space, and where they stand.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('@').filter_map(move |(at, _)| {
        if text[..at].chars().next_back().is_some_and(|before| !before.is_whitespace()) {
            return None;
        }
        let rest = &text[at + 1..];
        let token = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => rest.split(char::is_whitespace).next(),
        };
        token.filter(|token| !token.is_empty()).map(|token| (at, token))
    })
}

/// The paths that a token may stand for: as it is, without what follows a `#`, and without punctuation at its
/// end.
fn candidates(token: &str) -> impl Iterator<Item = &str> {
    const PUNCTUATION: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`', '>', '*'];
    let plain = token.split('#').next().unwrap_or(token);
    [token, token.trim_end_matches(PUNCTUATION), plain, plain.trim_end_matches(PUNCTUATION)]
        .into_iter()
        .filter(|path| !path.is_empty())
}
