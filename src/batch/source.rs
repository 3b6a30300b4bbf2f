//! Requests from a file of JSON lines, a folder, or a text.

use crate::error::{Failure, Kind, Result, cut};
use crate::request::DispatchRequest;
use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// A request of a batch, before anything is settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its name, where the caller gave one.
    pub id: Option<String>,
    /// Where it was found, for messages: `requests.jsonl:3`.
    pub place: String,
    /// The request.
    pub request: DispatchRequest,
    /// What was read in another way than it was written.
    pub notices: Vec<&'static str>,
}

impl Item {
    /// An item from a JSON object: a request, and `id` beside it.
    ///
    /// Errors: those of the request, with the place.
    pub fn from_json(place: &str, text: &str) -> Result<Item> {
        let bad = |why: &str| Failure::new(Kind::InvalidRequest, format!("{place}: {why}"));
        // As they were written: a number of a schema may be larger than a value holds.
        let mut members: IndexMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|e| bad(&e.to_string()))?;
        let id = match members.shift_remove("id").map(|raw| serde_json::from_str(raw.get())) {
            None | Some(Ok(Value::Null)) => None,
            Some(Ok(Value::String(id))) => Some(checked(&id).map_err(|why| bad(&why))?),
            Some(Ok(Value::Number(id))) => Some(id.to_string()),
            Some(_) => return Err(bad("id: a text or a number")),
        };
        let rest = if id.is_some() { serde_json::to_string(&members) } else { Ok(text.to_owned()) };
        let read = rest.map_err(|e| bad(&e.to_string())).and_then(|rest| DispatchRequest::from_json(&rest));
        let (request, notices) =
            read.map_err(|e| Failure { message: format!("{place}: {}", e.message), ..e })?;
        Ok(Item { id, place: place.to_owned(), request, notices })
    }
}

/// A name that is one line and no path.
pub(super) fn checked(id: &str) -> std::result::Result<String, String> {
    if id.is_empty() || id.len() > 200 || id.chars().any(char::is_control) {
        return Err(format!("id: `{}` is not a line of 1 to 200 bytes", cut(id, 60)));
    }
    Ok(id.to_owned())
}

/// The items of a file of JSON lines, or of a folder: every `*.json` in it by name, which is the item's id
/// where it has none of its own.
///
/// Errors: the first that cannot be read, with file and line.
pub fn read_items(path: &Path) -> Result<Vec<Item>> {
    let shown = path.display().to_string();
    let io = |place: &str, e: std::io::Error| Failure::invalid("batch", format!("{place}: {e}"));
    if !path.is_dir() {
        let text = std::fs::read_to_string(path).map_err(|e| io(&shown, e))?;
        return read_lines(&shown, &text);
    }
    let entries = std::fs::read_dir(path).map_err(|e| io(&shown, e))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json") && file.is_file());
    files.sort();
    let mut items = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        let text = std::fs::read_to_string(&file).map_err(|e| io(&shown, e))?;
        let mut item = Item::from_json(&shown, &text)?;
        if item.id.is_none() {
            item.id = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        }
        items.push(item);
    }
    some(&shown, items)
}

/// The items of a text of JSON lines; empty lines are none.
///
/// Errors: as [`read_items`].
pub fn read_lines(name: &str, text: &str) -> Result<Vec<Item>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let items = lines.map(|(at, line)| Item::from_json(&format!("{name}:{}", at + 1), line));
    some(name, items.collect::<Result<_>>()?)
}

fn some(name: &str, items: Vec<Item>) -> Result<Vec<Item>> {
    if items.is_empty() {
        return Err(Failure::invalid("batch", format!("{name} has no requests"))
            .hint("one request a line: {\"harness\": \"…\", \"prompt\": \"…\"}"));
    }
    Ok(items)
}
