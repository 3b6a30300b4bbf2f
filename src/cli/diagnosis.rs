//! The report of a doctor, for people.

use crate::doctor::{Check, HarnessReport, Reason, Report, SignedIn, Verdict};
use crate::error::cut;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

const GOOD: (&str, Style) = ("✓", AnsiColor::Green.on_default());
const SO_SO: (&str, Style) = ("!", AnsiColor::Yellow.on_default());
const BAD: (&str, Style) = ("✗", AnsiColor::Red.on_default().bold());
const DIM: Style = Style::new().dimmed();

/// One thing: a mark, its columns, and lines below the last of them.
struct Item {
    mark: (&'static str, Style),
    columns: [String; 2],
    lines: Vec<String>,
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
        let _ = writeln!(out, "{DIM}not installed: {}{DIM:#}", names.join(", "));
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

fn write_all(out: &mut String, items: &[Item]) {
    let width = |at: usize| items.iter().map(|item| item.columns[at].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let indent = " ".repeat(2 + first + 2 + if second > 0 { second + 2 } else { 0 });
    for Item { mark: (mark, style), columns: [name, version], lines } in items {
        let _ = write!(out, "{style}{mark}{style:#} {name:first$}  ");
        if second > 0 {
            let _ = write!(out, "{version:second$}  ");
        }
        let _ = writeln!(out, "{}", lines.join(&format!("\n{indent}")));
    }
}

fn own(check: &Check) -> Item {
    let mark = match (check.ok, &check.hint) {
        (false, _) => BAD,
        (true, Some(_)) => SO_SO,
        (true, None) => GOOD,
    };
    let mut lines = vec![line(&check.message)];
    lines.extend(check.hint.as_deref().map(next));
    Item { mark, columns: [check.name.clone(), String::new()], lines }
}

fn harness(report: &HarnessReport) -> Item {
    let mark = match (report.ok, report.probed) {
        (false, _) => BAD,
        (true, false) => SO_SO,
        (true, true) => GOOD,
    };
    let mut lines = vec![finding(report)];
    lines.extend(note(report));
    lines.extend(report.path.as_ref().map(|path| format!("{DIM}{}{DIM:#}", line(path))));
    // One line at the end says it for all of them.
    let hint = report.hint.as_deref().filter(|_| report.reason != Some(Reason::Unprobed));
    lines.extend(hint.map(next));
    let version = report.version.as_deref().map_or_else(|| "-".to_owned(), line);
    Item { mark, columns: [report.harness.clone(), version], lines }
}

fn finding(report: &HarnessReport) -> String {
    let message = report.message.as_deref().map(line).unwrap_or_default();
    match (report.reason, report.signed_in) {
        (None, _) => format!("answers ({:.1} s)", report.duration_ms as f64 / 1000.0),
        (Some(Reason::Unprobed), SignedIn::Variable) => format!("{message}; set: {}", report.auth.join(", ")),
        (Some(Reason::Unprobed), SignedIn::Stored) => format!("{message}; it says that it is signed in"),
        (Some(Reason::Unprobed), _) => format!("{message}; nothing says whether it is signed in"),
        (Some(_), _) => message,
    }
}

/// A word about the version, where it is none of those that were checked.
fn note(report: &HarnessReport) -> Option<String> {
    let verified = report.verified.as_deref();
    match (report.version_verdict, verified) {
        (Verdict::Newer, Some(newest)) => Some(format!("newer than {newest}, the newest that was verified")),
        (Verdict::Older, Some(newest)) => Some(format!("older than {newest}, and was not verified itself")),
        (Verdict::Unknown, None) if report.version.is_some() => {
            Some("no version of it was verified".to_owned())
        }
        (Verdict::Unknown, _) if report.installed && report.version.is_none() => {
            Some("it says no version".to_owned())
        }
        _ => None,
    }
}

fn next(hint: &str) -> String {
    format!("next: {}", line(hint))
}

/// One line, not too long, and without what a terminal would obey.
fn line(text: &str) -> String {
    let plain = text.replace(['\n', '\t'], " ");
    cut(plain.trim(), 400).chars().filter(|c| !c.is_control()).collect()
}
