//! The report of a doctor, for people.

use crate::doctor::{Check, HarnessReport, Reason, Report, Verdict};
use crate::error::cut;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

const GOOD: (&str, Style) = ("✓", AnsiColor::Green.on_default());
const SO_SO: (&str, Style) = ("!", AnsiColor::Yellow.on_default());
const BAD: (&str, Style) = ("✗", AnsiColor::Red.on_default().bold());
const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();

/// One thing: a mark, its columns, and lines below the last of them.
struct Item {
    mark: (&'static str, Style),
    columns: [String; 2],
    lines: Vec<(Style, String)>,
}

/// The report as text. With `short`, harnesses that are not installed share a line.
pub(super) fn shown(report: &Report, short: bool) -> String {
    let mut out = format!("teamster {}\n", report.version);
    write_all(&mut out, &report.teamster.iter().map(own).collect::<Vec<_>>());
    let (there, absent): (Vec<_>, Vec<_>) = report.harnesses.iter().partition(|h| h.installed || !short);
    if !report.harnesses.is_empty() {
        out.push('\n');
    }
    let is_any_there = !there.is_empty();
    write_all(&mut out, &there.into_iter().map(harness).collect::<Vec<_>>());
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|harness| harness.harness.as_str()).collect();
        let line = format!("not installed: {}", names.join(", "));
        let _ = writeln!(out, "{}", wrapped(DIM, &line, room(0)).join("\n"));
        if !is_any_there {
            out.push_str("next: `teamster list PLATFORM` says how to install one\n");
        }
    }
    if report
        .harnesses
        .iter()
        .any(|harness| harness.reason == Some(Reason::Unprobed) && harness.hint.is_some())
    {
        out.push_str("next: without --skip-probe each is tried by one small call\n");
    }
    out
}

/// Writes them below each other. On a terminal a line that is too long goes on below its own beginning.
fn write_all(out: &mut String, items: &[Item]) {
    let width = |at: usize| items.iter().map(|item| item.columns[at].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let before = 2 + first + 2 + if second > 0 { second + 2 } else { 0 };
    let indent = " ".repeat(before);
    for Item { mark: (mark, style), columns: [name, version], lines } in items {
        let _ = write!(out, "{style}{mark}{style:#} {name:first$}  ");
        if second > 0 {
            let _ = write!(out, "{version:second$}  ");
        }
        let lines: Vec<String> =
            lines.iter().flat_map(|(style, line)| wrapped(*style, line, room(before))).collect();
        let _ = writeln!(out, "{}", lines.join(&format!("\n{indent}")));
    }
}

/// What a line has left of a terminal's width; no end where stdout is none.
fn room(before: usize) -> usize {
    comfy_table::Table::new().width().map_or(usize::MAX, |all| usize::from(all).saturating_sub(before))
}

/// A line in pieces of at most `room` characters, cut at blanks; a word stays whole.
fn wrapped(style: Style, line: &str, room: usize) -> Vec<String> {
    let (mut pieces, mut piece, mut length) = (Vec::new(), String::new(), 0);
    for word in line.split(' ') {
        let more = word.chars().count();
        if length > 0 && length + 1 + more > room.max(24) {
            pieces.push(std::mem::take(&mut piece));
            length = 0;
        } else if !piece.is_empty() {
            piece.push(' ');
            length += 1;
        }
        piece.push_str(word);
        length += more;
    }
    pieces.push(piece);
    pieces.into_iter().map(|piece| format!("{style}{piece}{style:#}")).collect()
}

fn own(check: &Check) -> Item {
    let mark = match (check.ok, &check.hint) {
        (false, _) => BAD,
        (true, Some(_)) => SO_SO,
        (true, None) => GOOD,
    };
    let mut lines = vec![(PLAIN, line(&check.message))];
    lines.extend(check.hint.as_deref().map(next));
    Item { mark, columns: [check.name.clone(), String::new()], lines }
}

fn harness(report: &HarnessReport) -> Item {
    let mark = match (report.ok, report.probed) {
        (false, _) => BAD,
        (true, false) => SO_SO,
        (true, true) => GOOD,
    };
    let mut lines = vec![(PLAIN, finding(report))];
    lines.extend(note(report).map(|note| (PLAIN, note)));
    lines.extend(report.path.as_ref().map(|path| (DIM, line(path))));
    // One line at the end says it for all of them.
    let hint = report.hint.as_deref().filter(|_| report.reason != Some(Reason::Unprobed));
    lines.extend(hint.map(next));
    let version = report.version.as_deref().map_or_else(|| "-".to_owned(), line);
    Item { mark, columns: [report.harness.clone(), version], lines }
}

fn finding(report: &HarnessReport) -> String {
    match report.reason {
        None => format!("answers ({:.1} s)", report.duration_ms as f64 / 1000.0),
        Some(_) => report.message.as_deref().map(line).unwrap_or_default(),
    }
}

/// A word about the version, where it is none of those that were checked.
fn note(report: &HarnessReport) -> Option<String> {
    let verified = report.verified.as_deref();
    let is_asked = report.installed && !matches!(report.reason, Some(Reason::Broken | Reason::Cancelled));
    match (report.version_verdict, verified) {
        (Verdict::Newer, Some(newest)) => Some(format!("newer than {newest}, the newest that was verified")),
        (Verdict::Older, Some(newest)) => Some(format!("older than {newest}, and was not verified itself")),
        (Verdict::Unknown, None) if report.version.is_some() => {
            Some("no version of it was verified".to_owned())
        }
        (Verdict::Unknown, _) if report.version.is_none() && is_asked => {
            Some("it says no version".to_owned())
        }
        _ => None,
    }
}

fn next(hint: &str) -> (Style, String) {
    (PLAIN, format!("next: {}", line(hint)))
}

/// One line, not too long, and without what a terminal would obey.
fn line(text: &str) -> String {
    let plain = text.replace(['\n', '\t'], " ");
    cut(plain.trim(), 400).chars().filter(|c| !c.is_control()).collect()
}
