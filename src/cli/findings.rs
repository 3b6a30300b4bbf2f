//! Findings as text, on a terminal in colours.

use crate::review::{Checked, Severity};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// The findings for a person, by file.
pub(super) fn grouped(findings: &[Checked]) -> String {
    const BOLD: Style = Style::new().bold();
    if findings.is_empty() {
        return "no findings".into();
    }
    let mut out = String::new();
    let mut file = "";
    for checked in findings {
        let finding = &checked.finding;
        if finding.file != file {
            let gap = if out.is_empty() { "" } else { "\n" };
            let outside = if checked.outside_diff { "  (not in the change)" } else { "" };
            let _ = writeln!(out, "{gap}{BOLD}{}{BOLD:#}{outside}", plain(&finding.file));
            file = &finding.file;
        }
        let colour = match finding.severity {
            Severity::Critical | Severity::High => AnsiColor::Red.on_default(),
            Severity::Medium => AnsiColor::Yellow.on_default(),
            Severity::Low | Severity::Info => AnsiColor::Cyan.on_default(),
        };
        let unknown = if checked.line_unknown { "  (no such line)" } else { "" };
        let end = finding.end_line.map_or(String::new(), |end| format!("-{end}"));
        let name = finding.severity.name();
        let title = plain(&finding.title);
        let _ = writeln!(out, "  {}{end}  {colour}{name}{colour:#}  {title}{unknown}", finding.line);
        for line in plain(&finding.detail).lines() {
            let _ = writeln!(out, "      {line}");
        }
        for line in finding.suggestion.iter().flat_map(|text| text.lines()) {
            let _ = writeln!(out, "      > {}", plain(line));
        }
    }
    out
}

/// Without what a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
