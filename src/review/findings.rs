//! What a review found, and our own checks of it.

use super::diff::Changes;
use crate::error::{Failure, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Component, Path};

/// The JSON Schema of [`Findings`], which the reply has to be valid against.
pub const SCHEMA: &str = include_str!("../../schemas/review.schema.json");

/// The reply of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// Every problem, once; empty where there is none.
    pub findings: Vec<Finding>,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file, from the root of the repository.
    #[cfg_attr(feature = "typed", schemars(length(min = 1)))]
    pub file: String,
    /// The line in the new version of the file, from 1.
    #[cfg_attr(feature = "typed", schemars(range(min = 1)))]
    pub line: u32,
    /// The last line, where it is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typed", schemars(range(min = 1)))]
    pub end_line: Option<u32>,
    /// What is wrong, in one line.
    #[cfg_attr(feature = "typed", schemars(length(min = 1)))]
    pub title: String,
    /// What happens, when and why.
    pub detail: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// How sure the reviewer is, from 0 to 1.
    #[cfg_attr(feature = "typed", schemars(range(min = 0, max = 1)))]
    pub confidence: f64,
}

/// How bad a finding is, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing
    Info,
    /// A small fault
    Low,
    /// A fault that some will meet
    Medium,
    /// A fault that many will meet, or a hole
    High,
    /// Data, money or safety at risk
    Critical,
}

impl Severity {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

/// A finding with what our checks say of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The finding, its file spelt as the change spells it.
    #[serde(flatten)]
    pub finding: Finding,
    /// Its file is none of the changed files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside_diff: bool,
    /// Its file has no such line, or cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub line_unknown: bool,
}

/// The findings of a valid reply, checked against the change; by file, the worst first, then by line.
///
/// - A file named as `a/x`, `b/x`, `./x` or by its whole path becomes `x`.
/// - What does not fit the change is kept and marked.
pub fn checked(value: &Value, changes: &Changes) -> Result<Vec<Checked>> {
    let found: Findings = serde_json::from_value(value.clone())
        .map_err(|e| Failure::new(Kind::SchemaMismatch, format!("the findings cannot be read: {e}")))?;
    let mut all: Vec<Checked> = found.findings.into_iter().map(|finding| check(finding, changes)).collect();
    all.sort_by(|a, b| {
        let (a, b) = (&a.finding, &b.finding);
        (&a.file, b.severity, a.line).cmp(&(&b.file, a.severity, b.line))
    });
    Ok(all)
}

fn check(mut finding: Finding, changes: &Changes) -> Checked {
    finding.file = spelt(&finding.file, changes);
    let changed = changes.files.iter().find(|file| file.path == finding.file);
    let place = match changed {
        Some(file) => changes.root.join(&file.names[0]),
        None => changes.root.join(&finding.file),
    };
    if finding.end_line.is_some_and(|end| end <= finding.line) {
        finding.end_line = None;
    }
    let below = Path::new(&finding.file).components().all(|part| matches!(part, Component::Normal(_)));
    let lines = if below { lines(&place) } else { None };
    let line_unknown = lines.is_none_or(|lines| u64::from(finding.end_line.unwrap_or(finding.line)) > lines);
    Checked { finding, outside_diff: changed.is_none(), line_unknown }
}

fn spelt(file: &str, changes: &Changes) -> String {
    let is = |name: &str| changes.files.iter().any(|file| file.path == name);
    let root = changes.root.to_string_lossy();
    let below = file.strip_prefix(&*root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(file);
    let below = below.trim_start_matches("./");
    let short = below.strip_prefix("a/").or_else(|| below.strip_prefix("b/"));
    match short {
        Some(short) if !is(below) && is(short) => short.to_owned(),
        _ => below.to_owned(),
    }
}

/// The lines of a regular file; a link is not followed.
fn lines(path: &Path) -> Option<u64> {
    if !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        return None;
    }
    let content = std::fs::read(path).ok()?;
    let ends = memchr::memchr_iter(b'\n', &content).count() as u64;
    Some(ends + u64::from(!content.is_empty() && !content.ends_with(b"\n")))
}
