//! The members of one JSON object, each value as it is written: what a reader needs of a line.

use super::scan::{Scan, key, scan, skip_space, string, whole};
use super::text::mend_surrogates;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// JSON as a CLI wrote it, checked and not decoded: most of a run's bytes are tool output that nobody
/// looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// JSON from a text that is one value and nothing else; else `None`.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Option<Json<'a>> {
        let text = text.into();
        whole(&text).then_some(Json(text))
    }

    /// A string as JSON.
    pub fn from_text(text: &str) -> Json<'static> {
        Json(Cow::Owned(serde_json::Value::from(text).to_string()))
    }

    /// The JSON as it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The string that it is, where it is one. It borrows where the string has no escapes. Halves of
    /// surrogate pairs, which JavaScript writes for a cut text, become U+FFFD.
    pub fn string(self) -> Option<Cow<'a, str>> {
        let inside = |text: &str| text.len() >= 2 && text.starts_with('"') && !text.contains('\\');
        match self.0 {
            Cow::Borrowed(text) if inside(text) => Some(Cow::Borrowed(&text[1..text.len() - 1])),
            text => {
                let read = serde_json::from_str::<String>(&text).ok();
                let mend = || serde_json::from_slice(&mend_surrogates(text.as_bytes())?).ok();
                read.or_else(mend).map(Cow::Owned)
            }
        }
    }

    /// The value of a type, where it is one.
    pub fn value<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.0).ok()
    }

    /// The same JSON, owning its text.
    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Json<'static> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        Ok(Json(Cow::Owned(raw.get().to_owned())))
    }
}

/// A line of JSON as a type, where it is one. Halves of surrogate pairs, which JavaScript writes for a cut
/// text, become U+FFFD.
pub fn read_line<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let mended = || serde_json::from_slice(&mend_surrogates(line)?).ok();
    serde_json::from_slice(line).ok().or_else(mended)
}

/// Hands on key and value of each member of an object; gives whether the text is one object and nothing
/// else. What was handed on before a fault is of no worth, so collect first and use it after.
///
/// Keys come as they are written between their quotes. Each byte is looked at once.
pub fn members<'t>(text: &'t str, mut each: impl FnMut(&'t str, Json<'t>)) -> bool {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return false;
    }
    at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return skip_space(bytes, at + 1) == bytes.len();
    }
    loop {
        let Ok(value) = key(bytes, at) else { return false };
        let name = text[at + 1..value].trim_end_matches([':', ' ', '\t', '\r', '\n']);
        let start = skip_space(bytes, value);
        let end = match bytes.get(start) {
            Some(b'"') => string(bytes, start).ok(),
            Some(_) => match scan(bytes, start, &mut open) {
                Scan::Value(end) => Some(end),
                Scan::Broken { .. } => None,
            },
            None => None,
        };
        let Some(end) = end else { return false };
        each(name.strip_suffix('"').unwrap_or(name), Json(Cow::Borrowed(&text[start..end])));
        at = skip_space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = skip_space(bytes, at + 1),
            Some(b'}') => return skip_space(bytes, at + 1) == bytes.len(),
            _ => return false,
        }
    }
}
