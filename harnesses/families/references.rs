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
/// punctuation at the end are no part of it. `folds`: the system prompt stands ahead of the prompt.
pub(crate) fn exact(draft: &mut Draft<'_>, payload: &str, folds: bool) -> Result<()> {
    if draft.request.file_references {
        let how = format!("{} replaces @path by the file", draft.facts.id);
        draft.row(Field::FileReferences, Carried::Prompt, how);
        return Ok(());
    }
    let mut seen = HashSet::new();
    for (at, token) in tokens(payload) {
        let field = field_at(draft.request, folds, at);
        for path in candidates(token) {
            if seen.insert(path) {
                draft.checks.push(Check::NoSuchPath { field: field.into(), path: path.to_owned() });
            }
        }
    }
    Ok(())
}

/// The field of the request that stands at this place of a payload that has the system prompt in it, or not.
pub(crate) fn field_at(request: &DispatchRequest, folds: bool, at: usize) -> &'static str {
    let is_there = |system: &&str| folds && !system.is_empty() && !request.is_correction();
    let before = request.system_prompt.as_deref().filter(is_there);
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

/// Where a CLI that looks for `@` anywhere in a text ends the path after it.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// What stands in `"…"` belongs to it, blanks too.
    quotes: bool,
    /// Any white space ends it, not only blank, tab and line end.
    any_space: bool,
}

impl Cut {
    /// As gemini 0.61.0 (read in its source):
    /// `(?<!\\)@(?:"[^"]*"|\\.|[^ \t\n\r,;!?()\[\]{}.]|\.(?!$|[ \t\n\r]))+`.
    pub(crate) const QUOTED: Cut = Cut { quotes: true, any_space: false };
    /// As qwen 0.24.4 (read in its source): the same without quotes, and ended by any white space.
    pub(crate) const PLAIN: Cut = Cut { quotes: false, any_space: true };
}

/// The paths of `@path` tokens anywhere in a text, and where they stand.
pub(crate) fn at_paths(text: &str, cut: Cut) -> impl Iterator<Item = (usize, String)> + '_ {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr(b'@', rest)) {
            let at = from + found;
            from = at + 1;
            if at > 0 && bytes[at - 1] == b'\\' {
                continue;
            }
            let end = from + token_end(&text[from..], cut);
            if end > from {
                from = end;
                return Some((at, unescaped(&text[at + 1..end])));
            }
        }
        from = bytes.len();
        None
    })
}

fn token_end(text: &str, cut: Cut) -> usize {
    let is_space = |c: char| match cut.any_space {
        true => c.is_whitespace() || c == '\u{feff}',
        false => matches!(c, ' ' | '\t' | '\n' | '\r'),
    };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        match c {
            // Without a second quote it is a character as any other.
            '"' if cut.quotes => at = text[next..].find('"').map_or(next, |close| next + close + 1),
            '\\' => match text[next..].chars().next() {
                Some(escaped) if !(cut.quotes && matches!(escaped, '\n' | '\r')) => {
                    at = next + escaped.len_utf8();
                }
                _ => at = next,
            },
            ',' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => break,
            c if is_space(c) => break,
            '.' if text[next..].chars().next().is_none_or(is_space) => break,
            _ => at = next,
        }
    }
    at
}

/// The path that a token names: quotes are taken off on Windows, and backslashes elsewhere.
fn unescaped(token: &str) -> String {
    if cfg!(windows) {
        return token.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(token).to_owned();
    }
    let mut path = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        path.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    path
}
