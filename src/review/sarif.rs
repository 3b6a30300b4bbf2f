//! Findings as SARIF 2.1.0.

use super::findings::{Checked, Severity};
use serde_json::{Value, json};

/// A SARIF 2.1.0 log with one run; each severity is a rule.
pub fn sarif(findings: &[Checked]) -> Value {
    let results: Vec<Value> = findings.iter().map(result).collect();
    let rules: Vec<Value> =
        [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info]
            .iter()
            .map(|severity| json!({"id": id(*severity), "defaultConfiguration": {"level": level(*severity)}}))
            .collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "teamster", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

fn result(checked: &Checked) -> Value {
    let finding = &checked.finding;
    let mut text = format!("{}\n\n{}", finding.title, finding.detail);
    if let Some(suggestion) = &finding.suggestion {
        text.push_str(&format!("\n\nSuggestion: {suggestion}"));
    }
    let mut region = json!({"startLine": finding.line});
    if let Some(end) = finding.end_line {
        region["endLine"] = end.into();
    }
    json!({
        "ruleId": id(finding.severity),
        "level": level(finding.severity),
        "message": {"text": text},
        "rank": (finding.confidence * 100.0).clamp(0.0, 100.0),
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&finding.file)},
            "region": region,
        }}],
        "properties": {
            "severity": finding.severity.name(),
            "confidence": finding.confidence,
            "outsideDiff": checked.outside_diff,
            "lineUnknown": checked.line_unknown,
        },
    })
}

fn id(severity: Severity) -> String {
    format!("review/{}", severity.name())
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// A path as a relative reference: what a URI cannot hold is escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte.into())
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
