//! A strict JSON scanner that says where a value ends, or how far it was one.

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Containers inside containers that a value may have: the limit of serde_json.
const DEPTH: usize = 127;

/// What stands at a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// A value that ends before this position.
    Value(usize),
    /// No value.
    Broken {
        /// Where the text stops being JSON.
        at: usize,
        /// Whether a member or an element of it was whole before that: broken JSON, no prose.
        began: bool,
        /// The start of the innermost container that was open.
        innermost: usize,
    },
}

/// Scans the JSON value that starts at `start` (which is not white space).
///
/// Each byte is looked at once; `open` is room that a caller in a loop can use again. Strings may not
/// hold raw control characters; numbers have JSON's form.
pub(crate) fn scan(text: &[u8], start: usize, open: &mut Vec<(u8, usize)>) -> Scan {
    open.clear();
    let (mut at, mut began) = (start, false);
    let broken = |at: usize, began: bool, open: &[(u8, usize)]| Scan::Broken {
        at,
        began,
        innermost: open.last().map_or(start, |(_, s)| *s),
    };
    'value: loop {
        at = skip_space(text, at);
        // A value starts here.
        match text.get(at) {
            Some(b @ (b'{' | b'[')) => {
                // Too deep is broken JSON, not prose: what stands further in is a part of it.
                if open.len() >= DEPTH {
                    return broken(at, true, open);
                }
                open.push((*b, at));
                let next = skip_space(text, at + 1);
                if text.get(next) == Some(&(b + 2)) {
                    open.pop();
                    at = next + 1;
                } else if *b == b'[' {
                    at = next;
                    continue 'value;
                } else {
                    match key(text, next) {
                        Ok(value) => {
                            began = true;
                            at = value;
                            continue 'value;
                        }
                        Err(bad) => return broken(bad, began, open),
                    }
                }
            }
            Some(b'"') => match string(text, at) {
                Ok(end) => at = end,
                Err(bad) => return broken(bad, began, open),
            },
            Some(b'-' | b'0'..=b'9') => match number(text, at) {
                Ok(end) => at = end,
                Err(bad) => return broken(bad, began, open),
            },
            _ => match [&b"true"[..], b"false", b"null"]
                .iter()
                .find(|w| text[at.min(text.len())..].starts_with(w))
            {
                Some(word) => at += word.len(),
                None => return broken(at, began, open),
            },
        }
        // A value ended here.
        loop {
            let Some((kind, _)) = open.last() else { return Scan::Value(at) };
            at = skip_space(text, at);
            match (kind, text.get(at)) {
                (b'[', Some(b',')) => {
                    began = true;
                    at += 1;
                    continue 'value;
                }
                (b'{', Some(b',')) => match key(text, skip_space(text, at + 1)) {
                    Ok(value) => {
                        at = value;
                        continue 'value;
                    }
                    Err(bad) => return broken(bad, began, open),
                },
                (b'[', Some(b']')) | (b'{', Some(b'}')) => {
                    open.pop();
                    at += 1;
                }
                _ => return broken(at, began, open),
            }
        }
    }
}

/// Where the whole value ends when the text is nothing else.
pub(crate) fn whole(text: &str) -> bool {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, 0);
    matches!(scan(bytes, start, &mut Vec::new()), Scan::Value(end) if skip_space(bytes, end) == bytes.len())
}

pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// A key and its colon; gives where the value starts.
pub(super) fn key(text: &[u8], at: usize) -> Result<usize, usize> {
    if text.get(at) != Some(&b'"') {
        return Err(at);
    }
    let end = skip_space(text, string(text, at)?);
    if text.get(end) == Some(&b':') { Ok(end + 1) } else { Err(end) }
}

pub(super) fn string(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    loop {
        at = stop(text, at).ok_or(text.len())?;
        match text[at] {
            b'"' => return Ok(at + 1),
            b'\\' => match text.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u')
                    if text.get(at + 2..at + 6).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit)) =>
                {
                    at += 6;
                }
                _ => return Err(at),
            },
            _ => return Err(at),
        }
    }
}

/// The next byte that a string does not simply go on with: its end, an escape, a control character.
/// Eight bytes at a time, since most of what a CLI writes stands in strings.
fn stop(text: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of the lowest byte that is 0, or under 0x20, is right; those over it may not be.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = text.get(at..at + 8).and_then(|chunk| chunk.try_into().ok()) {
        let word = u64::from_le_bytes(chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = zero(word ^ (ONES * u64::from(b'"')));
        let escape = zero(word ^ (ONES * u64::from(b'\\')));
        let found = (control | quote | escape) & HIGH;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = text.get(at..)?;
    rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).map(|found| at + found)
}

fn number(text: &[u8], start: usize) -> Result<usize, usize> {
    let digits = |mut at: usize| {
        let from = at;
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at > from { Ok(at) } else { Err(at) }
    };
    let mut at = start + usize::from(text[start] == b'-');
    at = if text.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at = digits(at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-'))))?;
    }
    Ok(at)
}

/// The value of a JSON text, or what in it would be lost: a key that stands twice, an integer that
/// no 64 bits hold, half a surrogate pair, a number without end.
///
/// The error is one sentence for the agent that wrote the text.
pub fn strict_value(text: &str) -> Result<Value, String> {
    if let Some(integer) = wide_integer(text) {
        return Err(format!("the integer {} does not fit in 64 bits", crate::error::cut(integer, 60)));
    }
    let mut from = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut from).and_then(|value| from.end().map(|()| value));
    value.map_err(|e| e.to_string())
}

/// The first integer in JSON text that neither i64 nor u64 holds.
fn wide_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string(bytes, at).ok()?,
            b'-' | b'0'..=b'9' => {
                let end = number(bytes, at).ok()?;
                let token = &text[at..end];
                let integer = !token.contains(['.', 'e', 'E']);
                if integer
                    && token.len() > 18
                    && token.parse::<i64>().is_err()
                    && token.parse::<u64>().is_err()
                {
                    return Some(token);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element_seed(Strict)? {
            list.push(value);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Strict)?;
            if object.contains_key(&key) {
                return Err(de::Error::custom(format!(
                    "the key `{}` stands twice",
                    crate::error::cut(&key, 80)
                )));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
