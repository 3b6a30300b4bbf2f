//! An argument with places for a request's fields: `--model={model}`, or `["--resume", "{session.resume}"]`.

use serde::{Deserialize, Deserializer};
use std::fmt::Write;

/// A field that may stand in an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Prompt,
    PromptFile,
    SystemPrompt,
    SystemPromptFile,
    Model,
    Effort,
    SessionId,
    SessionResume,
    Schema,
    SchemaFile,
    AddDir,
    MaxTurns,
    Tools,
    Tmp,
    Home,
}

impl Place {
    pub(super) const ALL: [(&'static str, Place); 15] = [
        ("prompt", Place::Prompt),
        ("prompt_file", Place::PromptFile),
        ("system_prompt", Place::SystemPrompt),
        ("system_prompt_file", Place::SystemPromptFile),
        ("model", Place::Model),
        ("effort", Place::Effort),
        ("session.id", Place::SessionId),
        ("session.resume", Place::SessionResume),
        ("schema", Place::Schema),
        ("schema_file", Place::SchemaFile),
        ("add_dir", Place::AddDir),
        ("max_turns", Place::MaxTurns),
        ("tools", Place::Tools),
        ("tmp", Place::Tmp),
        ("home", Place::Home),
    ];
}

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Place(Place),
}

/// One entry of `args`: an argument, or several that stand and fall together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    /// The arguments, each in its parts.
    pub(super) words: Vec<Vec<Part>>,
}

impl Template {
    /// The places in it.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.words.iter().flatten().filter_map(|part| match part {
            Part::Place(place) => Some(*place),
            Part::Text(_) => None,
        })
    }

    /// Whether this place stands in it.
    pub(super) fn has(&self, place: Place) -> bool {
        self.places().any(|own| own == place)
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an argument, or a list of arguments that stand and fall together")]
enum Written {
    One(String),
    Group(Vec<String>),
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let words = match Written::deserialize(from)? {
            Written::One(word) => vec![word],
            Written::Group(words) => words,
        };
        let words: Result<Vec<_>, String> = words.iter().map(|word| parts(word)).collect();
        words.map(|words| Template { words }).map_err(serde::de::Error::custom)
    }
}

/// Cuts an argument at its places; `{{` is a brace.
fn parts(word: &str) -> Result<Vec<Part>, String> {
    let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), word);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            text.push_str(&rest[..1]);
            rest = after;
            continue;
        }
        let inside = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, after)) = inside else {
            return Err(format!("`{word}` has a brace of its own: write it twice"));
        };
        let Some((_, place)) = Place::ALL.iter().find(|(own, _)| *own == name) else {
            return Err(unknown(name));
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(Part::Place(*place));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

fn unknown(name: &str) -> String {
    let mut known = String::new();
    for (own, _) in Place::ALL {
        let _ = write!(known, "{}{{{own}}}", if known.is_empty() { "" } else { ", " });
    }
    let near = crate::error::did_you_mean(name, Place::ALL.iter().map(|(own, _)| *own));
    format!("`{{{name}}}` is no place{near}; the places are {known}")
}
