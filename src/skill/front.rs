//! Front matter: YAML with a small budget, and the one way in which it may be unclean.

use super::value::Value;
use indexmap::IndexMap;

/// Keys and values of a front matter.
pub(super) type Fields = IndexMap<String, Value>;

/// The most bytes of a front matter.
const BYTES: usize = 64 << 10;
/// The most levels of one.
const DEPTH: usize = 16;
/// The most keys and values of one.
const NODES: usize = 4096;

/// Keys whose value is text to the end of the line, where YAML cannot read it.
const TEXT_KEYS: &[&str] = &[
    "name",
    "description",
    "title",
    "argument-hint",
    "license",
    "compatibility",
    "when_to_use",
    "when-to-use",
    "model",
    "tools",
    "allowed-tools",
    "allowed_tools",
    "disallowedTools",
    "disallowed-tools",
];

/// Front matter, where there is one, and the text after it.
///
/// The first line is `---` and a later one `---` or `...`, each with nothing but white space behind it.
pub(super) fn split(text: &str) -> Result<(Option<&str>, &str), String> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != "---" {
        return Ok((None, text));
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Ok((Some(&rest[..at]), &rest[at + line.len()..]));
        }
        at += line.len();
    }
    Err("line 1: the front matter begins with `---` and no later line ends it".to_owned())
}

/// The fields of a front matter, and a notice where lines were taken as text.
///
/// Where YAML refuses it, every value of a known text key that YAML refuses by itself, and that is neither
/// quoted nor a block, is taken as plain text to its end, and the whole is read as YAML again.
pub(super) fn fields(front: &str) -> Result<(Fields, Option<String>), String> {
    if front.len() > BYTES {
        return Err(format!("the front matter has {} bytes, and may have {BYTES}", front.len()));
    }
    let clean = front.replace("\r\n", "\n");
    let first = match yaml(&clean) {
        Ok(fields) => return Ok((fields, None)),
        Err(why) => why,
    };
    let (quoted, keys) = quoted(&clean);
    match yaml(&quoted) {
        Ok(fields) if !keys.is_empty() => {
            let keys = keys.join(", ");
            Ok((fields, Some(format!("the front matter is no YAML ({first}); taken as plain text: {keys}"))))
        }
        // What the second reading trips over is what the author has to mend.
        Err(why) if !keys.is_empty() => Err(why),
        _ => Err(first),
    }
}

fn yaml(text: &str) -> Result<Fields, String> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Fields::new());
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 16,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_nodes: NODES,
            max_events: NODES * 4,
            max_documents: 1,
            max_merge_keys: 0,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Fields>(text, options).map_err(|e| {
        // The front matter begins on the file's second line.
        let place = e.location().map_or_else(String::new, |at| format!("line {}: ", at.line() + 1));
        format!("{place}{}", crate::error::cut(&said(&e), 200))
    })
}

/// What is wrong, in words for who wrote the file.
fn said(e: &serde_saphyr::Error) -> String {
    use serde_saphyr::budget::BudgetBreach;
    match e.without_snippet() {
        serde_saphyr::Error::Budget {
            breach: BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. },
            ..
        } => "anchors and aliases (`&x`, `*x`) are not taken; a text that begins so is put in quotes"
            .to_owned(),
        serde_saphyr::Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("more than {DEPTH} levels deep")
        }
        serde_saphyr::Error::Budget { .. } => format!("more than {NODES} keys and values"),
        _ => {
            let said = without_place(e.to_string().lines().next().unwrap_or_default());
            match said.as_str() {
                "expected mapping start" => "`key: value` is expected".to_owned(),
                _ => said.split(", set DuplicateKeyPolicy").next().unwrap_or_default().to_owned(),
            }
        }
    }
}

/// A message without its own line numbers, which count from the begin of the front matter.
fn without_place(said: &str) -> String {
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let said = match said.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest,
        _ => said,
    };
    said.split(" at line ").next().unwrap_or(said).trim_end_matches('.').to_owned()
}

/// The front matter with the values of text keys quoted that are no YAML by themselves, and the keys.
///
/// A value goes on over the lines that are indented, as a plain one of YAML does.
fn quoted(front: &str) -> (String, Vec<&str>) {
    let (mut out, mut keys) = (String::new(), Vec::new());
    let mut lines = front.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = text_line(line) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let (mut whole, mut text) = (format!("{line}\n"), value.to_owned());
        while let Some(more) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
            whole.push_str(more);
            whole.push('\n');
            if !more.trim().is_empty() {
                text.push(' ');
                text.push_str(more.trim());
            }
        }
        if yaml(&whole).is_ok() {
            out.push_str(&whole);
            continue;
        }
        keys.push(key);
        // One line stays one: places in later messages count.
        out.push_str(&format!("{key}: '{}'\n", text.replace('\'', "''")));
        out.push_str(&"#\n".repeat(whole.lines().count() - 1));
    }
    (out, keys)
}

/// Key and value of a line with a text key whose value may be taken as text.
fn text_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let value = value.strip_prefix([' ', '\t'])?.trim();
    // A list or a map is meant where the key may have one; `[file] [more]` says what arguments a command takes.
    let strict = key.contains("ools") || matches!(key, "name" | "model");
    let other: &[char] = &['"', '\'', '|', '>', '#', '[', '{', '&', '!'][..if strict { 9 } else { 5 }];
    (TEXT_KEYS.contains(&key) && !value.is_empty() && !value.starts_with(other)).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_ends_where_its_line_does() {
        assert_eq!(split("---\na: 1\n---\nbody"), Ok((Some("a: 1\n"), "body")));
        assert_eq!(split("--- \r\na: 1\r\n---\r\nbody"), Ok((Some("a: 1\r\n"), "body")));
        assert_eq!(split("---\n---\n"), Ok((Some(""), "")));
        assert_eq!(split("---\na: 1\n..."), Ok((Some("a: 1\n"), "")));
        assert_eq!(split("# no\n---\n"), Ok((None, "# no\n---\n")));
        assert_eq!(split("--- a\n---\n"), Ok((None, "--- a\n---\n")));
        assert!(split("---").is_err() && split("---\na: 1\n ---\n").is_err());
    }
}
