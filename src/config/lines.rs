//! Which line of a TOML text sets a key.

use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

/// Line of every key that a text sets, by dotted key; a list is one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(IndexMap<String, usize>);

impl Lines {
    /// The lines of a text; none for one that is no TOML.
    pub fn of(text: &str) -> Lines {
        let mut lines = Lines::default();
        if let Ok(table) = DeTable::parse(text) {
            lines.add(text, "", table.get_ref());
        }
        lines
    }

    /// The line of a key, from 1.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.0.get(key).copied()
    }

    /// The line of a key, or of the first one below it.
    pub fn under(&self, key: &str) -> Option<usize> {
        let below = format!("{key}.");
        let first = || self.iter().filter(|(name, _)| name.starts_with(&below)).map(|(_, line)| line).min();
        self.line(key).or_else(first)
    }

    /// The key whose value a line is a part of: the last one that begins there or above.
    pub fn at(&self, line: usize) -> Option<&str> {
        let before = self.iter().filter(|(_, begin)| *begin <= line);
        before.max_by_key(|(_, begin)| *begin).map(|(key, _)| key)
    }

    /// Key and line, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(key, line)| (key.as_str(), *line))
    }

    fn add(&mut self, text: &str, above: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = dotted(above, name.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) => self.add(text, &key, inner),
                _ => {
                    self.0.insert(key, line_at(text, name.span().start));
                }
            }
        }
    }
}

/// The line of a place in a text, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// A key under another one, quoted where TOML asks for it.
pub(super) fn dotted(above: &str, name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name = if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { format!("{name:?}") };
    if above.is_empty() { name } else { format!("{above}.{name}") }
}
