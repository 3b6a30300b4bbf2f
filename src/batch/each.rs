//! A template over rows: one request for each line of a CSV file, or of a file of JSON lines.

use super::source::{Item, checked};
use crate::error::{Failure, Result, cut, did_you_mean};
use crate::request::DispatchRequest;
use indexmap::IndexMap;
use serde_json::Value;
use std::path::Path;

/// A row: column → value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Where it was found, for messages.
    pub place: String,
    /// Its values, in the order of the file.
    pub values: IndexMap<String, String>,
}

/// The rows of a file. A name that ends in `.jsonl`, `.ndjson` or `.json` is JSON lines: a text is taken as it
/// is, anything else as its JSON. Every other file is CSV with a line of names.
///
/// Errors: the first row that cannot be read, with its line.
pub fn rows(path: &Path) -> Result<Vec<Row>> {
    let shown = path.display().to_string();
    let bad = |why: &dyn std::fmt::Display| Failure::invalid("each", format!("{shown}: {why}"));
    let bytes = std::fs::read(path).map_err(|e| bad(&e))?;
    let text = String::from_utf8(bytes)
        .map_err(|e| bad(&format!("is not UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let json =
        path.extension().is_some_and(|ending| ending == "jsonl" || ending == "ndjson" || ending == "json");
    let rows = if json { json_rows(&shown, text)? } else { csv_rows(&shown, text)? };
    if rows.is_empty() {
        return Err(bad(&"has no rows"));
    }
    Ok(rows)
}

fn json_rows(name: &str, text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(at, line): (usize, &str)| {
        let place = format!("{name}:{}", at + 1);
        let value: IndexMap<String, Value> =
            serde_json::from_str(line).map_err(|e| Failure::invalid("each", format!("{place}: {e}")))?;
        let text = |value: Value| match value {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Ok(Row { place, values: value.into_iter().map(|(name, value)| (name, text(value))).collect() })
    };
    lines.map(row).collect()
}

fn csv_rows(name: &str, text: &str) -> Result<Vec<Row>> {
    let bad = |e: &dyn std::fmt::Display| Failure::invalid("each", format!("{name}: {e}"));
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let names = reader.headers().map_err(|e| bad(&e))?.clone();
    if let Some(twice) =
        names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
    {
        return Err(bad(&format!("the column `{}` is there twice", twice.1)));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| bad(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let values =
            names.iter().zip(&record).map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
        rows.push(Row { place: format!("{name}:{line}"), values: values.collect() });
    }
    Ok(rows)
}

/// The template with a row's values in the places of `{{column}}`: in prompt, system prompt, model, working
/// directory and directories. A value is put in as it is, once: what looks like a place in it is text. The
/// row's `id` is the item's.
///
/// Errors: a place that names no column.
pub fn filled(template: &DispatchRequest, row: &Row) -> Result<Item> {
    let mut request = template.clone();
    let put = |text: &str| put(text, row);
    request.prompt = put(&template.prompt)?;
    request.system_prompt = template.system_prompt.as_deref().map(put).transpose()?;
    request.model = template.model.as_deref().map(put).transpose()?;
    let path = |path: &std::path::PathBuf| match path.to_str() {
        Some(text) => put(text).map(Into::into),
        None => Ok(path.clone()),
    };
    request.cwd = template.cwd.as_ref().map(path).transpose()?;
    request.add_dirs = template.add_dirs.iter().map(path).collect::<Result<_>>()?;
    let id = row.values.get("id").filter(|id| !id.is_empty());
    let id =
        id.map(|id| checked(id).map_err(|why| Failure::invalid("each", format!("{}: {why}", row.place))));
    Ok(Item { id: id.transpose()?, place: row.place.clone(), request, notices: Vec::new() })
}

fn put(text: &str, row: &Row) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        out.push_str(before);
        let value = row.values.get(name.trim()).ok_or_else(|| {
            let near = did_you_mean(name.trim(), row.values.keys().map(String::as_str));
            let why = format!("{}: there is no column `{}`{near}", row.place, cut(name.trim(), 60));
            let names: Vec<&str> = row.values.keys().map(String::as_str).collect();
            Failure::invalid("each", why).hint(format!("the columns are {}", cut(&names.join(", "), 300)))
        })?;
        out.push_str(value);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pairs: &[(&str, &str)]) -> Row {
        let values = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Row { place: "d.csv:2".into(), values }
    }

    #[test]
    fn a_value_is_put_in_once_and_as_it_is() {
        let row = row(&[("a", "{{b}} }} \"x\"\n"), ("b", "B")]);
        assert_eq!(put("1 {{a}} 2 {{ b }} {{ open", &row), Ok("1 {{b}} }} \"x\"\n 2 B {{ open".to_owned()));
        let failure = put("{{c}}", &row).map_err(|e| e.message);
        assert_eq!(failure, Err("each: d.csv:2: there is no column `c`".to_owned()));
    }

    #[test]
    fn csv_with_quotes_line_ends_and_names() {
        let rows = csv_rows("d.csv", "id,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,ü\r\n");
        let values: Vec<Vec<String>> =
            rows.unwrap_or_default().into_iter().map(|row| row.values.into_values().collect()).collect();
        assert_eq!(values, [["1", "a, \"b\"\nc"], ["2", "ü"]]);
        assert!(csv_rows("d", "a,b\n1\n").is_err() && csv_rows("d", "a,a\n1,2\n").is_err());
    }
}
