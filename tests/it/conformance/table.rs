//! The table of what was held, in docs/security.md: each test of rights compares its cell with it.
//!
//! `UPDATE_DOCS=1` writes the cells instead. Rows of CLIs that are not installed stay as they are.

#![expect(clippy::expect_used, reason = "a helper of tests")]

use super::cli::Cli;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const BEGIN: &str = "<!-- conformance: never wider -->";
const END: &str = "<!-- end -->";

/// The columns, in the order of the table.
const COLUMNS: &[&str] = &[
    "no word",
    "list: read",
    "list: shell",
    "allow edit, deny shell",
    "`\"\"`",
    "`[]`",
    "`{}`",
    "read-only",
    "edit",
    "full",
    "read-only, resumed",
    "read-only, hostile repository",
];

/// Compares a cell with the table, or writes it.
pub(crate) fn hold(cli: &Cli, column: &str, cell: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(path()).expect("docs/security.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table's first marker");
    let (table, after) = rest.split_once(END).expect("the table's last marker");
    let at = COLUMNS.iter().position(|name| *name == column).expect("a column of the table");
    let mut rows = rows(table);
    let known = rows.iter().position(|row| row[0] == cli.id);
    if std::env::var_os("UPDATE_DOCS").is_none() {
        let told = known.map_or("", |row| rows[row][at + 1].as_str());
        let hint = "UPDATE_DOCS=1 writes what a run shows";
        assert_eq!(told, cell, "docs/security.md, {} × {column}; {hint}", cli.id);
        return;
    }
    let row = known.unwrap_or_else(|| {
        let mut row = vec![String::new(); COLUMNS.len() + 1];
        row[0] = cli.id.to_owned();
        rows.push(row);
        rows.len() - 1
    });
    rows[row][at + 1] = cell.to_owned();
    fs::write(path(), format!("{before}{BEGIN}\n{}{END}{after}", drawn(&rows))).expect("docs/security.md");
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md")
}

/// The cells of each row, the CLI's name first; head and rule left out.
fn rows(table: &str) -> Vec<Vec<String>> {
    let lines = table.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let cells = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
            let mut cells: Vec<String> = cells.collect();
            cells.resize(COLUMNS.len() + 1, String::new());
            cells
        })
        .collect()
}

fn drawn(rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let head: Vec<&str> = ["CLI"].iter().chain(COLUMNS).copied().collect();
    let rule = vec!["---"; head.len()];
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    [line(head), line(rule)].into_iter().chain(body).collect()
}
