//! The one JSON value in a reply: the whole text, else fenced blocks, else values in the prose.

use super::scan::{Scan, scan, strict_value, whole};
use serde_json::Value;
use std::ops::Range;

/// What was found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Exactly one distinct value that the check accepts.
    One(Value),
    /// Values that differ, and the check accepts more than one of them.
    Ambiguous(usize),
    /// A value that the check refuses, with what the check said. The first of its place.
    Invalid(Value, String),
    /// No value, and why.
    Nothing(String),
}

/// Finds the value of a reply.
///
/// - In this order: the whole text; fenced blocks that are JSON; balanced objects and arrays in the
///   text. The first place with a value that `check` accepts decides, so an answer in a fence is not
///   disturbed by an example in the prose.
/// - What stands in a reasoning block (`<think>…</think>`, also with one of the tags missing) is no
///   answer. A tag inside a JSON string is text.
/// - Nothing is repaired: a part of a broken value is no value, a key that stands twice or an integer
///   that no 64 bits hold makes a value unusable.
/// - Takes time linear in the text.
pub fn find_value(text: &str, mut check: impl FnMut(&Value) -> Result<(), String>) -> Found {
    let text = text.trim_start_matches('\u{feff}').trim();
    if whole(text) {
        return settle(std::iter::once(text), &mut check).unwrap_or_else(|refused| refused.into_found(None));
    }
    let seen = look(text);
    let mut first = None;
    for place in [fences(text, &seen.hidden), seen.values.clone()] {
        match settle(place.iter().map(|range| &text[range.clone()]), &mut check) {
            Ok(found) => return found,
            Err(refused) => first = first.or(refused.some()),
        }
    }
    first.unwrap_or_default().into_found(seen.broken)
}

/// The first refusal of a place.
#[derive(Default)]
struct Refused {
    invalid: Option<(Value, String)>,
    unusable: Option<String>,
}

impl Refused {
    fn some(self) -> Option<Refused> {
        (self.invalid.is_some() || self.unusable.is_some()).then_some(self)
    }

    fn into_found(self, broken: Option<String>) -> Found {
        match (self.invalid, self.unusable) {
            (Some((value, why)), _) => Found::Invalid(value, why),
            (None, Some(why)) => Found::Nothing(why),
            (None, None) => {
                Found::Nothing(broken.unwrap_or_else(|| "no JSON was found in the reply".to_owned()))
            }
        }
    }
}

fn settle<'t>(
    texts: impl Iterator<Item = &'t str>,
    check: &mut impl FnMut(&Value) -> Result<(), String>,
) -> Result<Found, Refused> {
    let (mut valid, mut refused) = (Vec::new(), Refused::default());
    for text in texts {
        match strict_value(text) {
            Err(why) => {
                refused.unusable.get_or_insert(why);
            }
            Ok(value) if valid.contains(&value) => {}
            Ok(value) => match check(&value) {
                Ok(()) if valid.len() >= 8 => return Ok(Found::Ambiguous(valid.len() + 1)),
                Ok(()) => valid.push(value),
                Err(why) if refused.invalid.is_none() => refused.invalid = Some((value, why)),
                Err(_) => {}
            },
        }
    }
    match valid.len() {
        0 => Err(refused),
        1 => Ok(Found::One(valid.swap_remove(0))),
        n => Ok(Found::Ambiguous(n)),
    }
}

/// What one pass over a text sees.
#[derive(Default)]
struct Seen {
    /// Values at the top level of the text, outside reasoning blocks.
    values: Vec<Range<usize>>,
    /// Reasoning blocks.
    hidden: Vec<Range<usize>>,
    /// What the first broken value says.
    broken: Option<String>,
}

const TAGS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

fn look(text: &str) -> Seen {
    let (bytes, mut seen, mut at, mut open) = (text.as_bytes(), Seen::default(), 0, Vec::new());
    while let Some(found) = memchr::memchr3(b'{', b'[', b'<', &bytes[at..]) {
        let start = at + found;
        if bytes[start] == b'<' {
            at = match tag(&bytes[start..]) {
                Some((false, name, len)) => {
                    let end = closing(text, start + len, name).unwrap_or(bytes.len());
                    seen.hidden.push(start..end);
                    end
                }
                // A closing tag that nothing opened: all before it was reasoning.
                Some((true, _, len)) => {
                    seen.values.clear();
                    seen.hidden = std::iter::once(0..start + len).collect();
                    start + len
                }
                None => start + 1,
            };
            continue;
        }
        // Most braces of prose are told by the byte after them.
        if bytes[start] == b'{'
            && matches!(bytes.get(start + 1), Some(b'{' | b'a'..=b'z' | b'A'..=b'Z' | b'%'))
        {
            at = start + 1;
            continue;
        }
        at = match scan(bytes, start, &mut open) {
            Scan::Value(end) => {
                seen.values.push(start..end);
                end
            }
            Scan::Broken { at, began: false, innermost } => at.min(innermost + 1),
            Scan::Broken { at, began: true, .. } => {
                seen.broken.get_or_insert_with(|| broken(text, start, at));
                after_broken(bytes, start, at)
            }
        };
    }
    seen
}

/// Where the text goes on after a broken value: past its last bracket, since what stands inside is a
/// part of something that was never whole. Without that bracket nothing more is looked at.
fn after_broken(bytes: &[u8], start: usize, broken_at: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && at >= broken_at {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

fn broken(text: &str, start: usize, at: usize) -> String {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(c) => format!("the JSON that begins at byte {start} of the reply breaks at byte {at}, at {c:?}"),
        None => format!("the JSON that begins at byte {start} of the reply is cut off"),
    }
}

/// A reasoning tag at the start of the bytes: whether it closes, its name, its length.
fn tag(bytes: &[u8]) -> Option<(bool, &'static str, usize)> {
    let closes = bytes.get(1) == Some(&b'/');
    let name_at = 1 + usize::from(closes);
    TAGS.iter().find_map(|name| {
        let end = name_at + name.len();
        let same = bytes.get(name_at..end)?.eq_ignore_ascii_case(name.as_bytes());
        (same && bytes.get(end) == Some(&b'>')).then_some((closes, *name, end + 1))
    })
}

fn closing(text: &str, from: usize, name: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', &bytes[from..]).map(|found| from + found).find_map(|at| {
        match tag(&bytes[at..]) {
            Some((true, closes, len)) if closes == name => Some(at + len),
            _ => None,
        }
    })
}

/// The contents of fenced blocks that are one JSON value, outside reasoning blocks.
fn fences(text: &str, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(u8, usize, usize)> = None;
    let mut hidden = hidden.iter().peekable();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        while hidden.next_if(|range| range.end <= start).is_some() {}
        if hidden.peek().is_some_and(|range| range.contains(&start)) {
            continue;
        }
        match (open, fence(line)) {
            (None, Some((mark, length, info))) if mark == b'~' || !info.contains('`') => {
                open = Some((mark, length, end));
            }
            (Some((mark, length, from)), Some((m, l, info)))
                if m == mark && l >= length && info.is_empty() =>
            {
                found.push(from..start);
                open = None;
            }
            _ => {}
        }
    }
    if let Some((_, _, from)) = open {
        found.push(from..text.len());
    }
    found.retain(|range| whole(&text[range.clone()]));
    found
}

/// A line that opens or closes a fence: its mark, how many, and what follows.
fn fence(line: &str) -> Option<(u8, usize, &str)> {
    let line = line.trim();
    let mark = *line.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = line.bytes().take_while(|b| *b == mark).count();
    (length >= 3).then(|| (mark, length, line[length..].trim()))
}
