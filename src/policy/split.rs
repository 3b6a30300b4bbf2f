//! A flat list in one text, cut into its entries.

use crate::error::{Failure, Result};

/// Splits a flat list at commas and white space that stand outside parentheses, brackets, braces and
/// quotes. Unbalanced ones are an error: a cut rule is another rule.
pub fn split_tools(text: &str) -> Result<Vec<String>> {
    let (mut entries, mut open, mut quote, mut start) = (Vec::new(), Vec::new(), None, 0);
    let unbalanced = |what: char, at: usize| {
        Failure::invalid(
            "tools",
            format!("unbalanced `{what}` at byte {at} of `{}`", crate::error::cut(text, 80)),
        )
        .hint("close it, or give the tools as a JSON list")
    };
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some((q, _)), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some((c, at)),
            (None, '(' | '[' | '{') => open.push((c, at)),
            (None, ')' | ']' | '}') => match open.pop() {
                Some(('(', _)) if c == ')' => {}
                Some(('[', _)) if c == ']' => {}
                Some(('{', _)) if c == '}' => {}
                _ => return Err(unbalanced(c, at)),
            },
            (None, c) if open.is_empty() && (c == ',' || c.is_whitespace()) => {
                entries.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if let Some((c, at)) = quote.or(open.pop()) {
        return Err(unbalanced(c, at));
    }
    entries.push(&text[start..]);
    Ok(entries.into_iter().filter(|e| !e.is_empty()).map(str::to_owned).collect())
}
