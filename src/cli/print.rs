//! What the command says: results on stdout, everything else on stderr.

use crate::error::{Failure, Result};
use crate::lowering::Report;
use crate::outcome::Outcome;
use crate::reply::Usage;
pub(super) use crate::reply::one_line as plain;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();

/// A result line.
pub(super) fn line(text: &str) -> Result<ExitCode> {
    if text.ends_with('\n') { self::text(text) } else { self::text(&format!("{text}\n")) }
}

/// A part of a result, as it is. A reader that is gone is no error of ours.
pub(super) fn text(text: &str) -> Result<ExitCode> {
    let mut out = anstream::stdout();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(e) => {
            Err(Failure::new(crate::error::Kind::HarnessConfig, format!("stdout cannot be written: {e}")))
        }
    }
}

/// A result as JSON: indented on a terminal, else one line.
pub(super) fn json(value: &impl Serialize) -> Result<ExitCode> {
    let text = if std::io::stdout().is_terminal() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    line(&text.unwrap_or_default())
}

/// The answer of a dispatch that went well: its value, else its text.
pub(super) fn answer(outcome: &Outcome) -> Result<ExitCode> {
    match &outcome.value {
        Some(value) => json(value),
        None => line(outcome.text.as_deref().unwrap_or_default()),
    }
}

/// A notice.
pub(super) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{DIM}note: {text}{DIM:#}");
}

/// What a command came to. A failure is an object on stdout too, where a program reads JSON.
pub(super) fn told(as_json: bool, done: Result<ExitCode>) -> Result<ExitCode> {
    if let (true, Err(failure)) = (as_json, &done) {
        json(&serde_json::json!({"ok": false, "failure": failure}))?;
    }
    done
}

/// A failure, with what the CLI said and the next step.
pub(super) fn failure(failure: &Failure) {
    let mut err = anstream::stderr();
    let _ = writeln!(err, "{RED}error:{RED:#} {} ({})", failure.message, failure.kind);
    // A stack trace says less than the message does.
    let says = |line: &&str| {
        line.chars().filter(|c| c.is_alphabetic()).count() > 8 && !line.trim().starts_with("at ")
    };
    let said = failure.stderr_tail.as_deref().and_then(|tail| tail.lines().rfind(says));
    if let Some(said) = said.filter(|said| !failure.message.contains(said.trim())) {
        let _ = writeln!(err, "  it said: {}", crate::error::cut(said.trim(), 300));
    }
    if let Some(hint) = &failure.hint {
        let _ = writeln!(err, "  next: {hint}");
    }
}

/// The last line of a dispatch that went well.
pub(super) fn summary(outcome: &Outcome) {
    let mut parts = vec![format!("{:.1} s", outcome.duration_ms as f64 / 1000.0)];
    if outcome.attempts.len() > 1 {
        parts.push(format!("{} attempts", outcome.attempts.len()));
    }
    if let Some(usage) = &outcome.usage {
        parts.extend(tokens(usage));
        parts.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
    }
    if let Some(session) = &outcome.session_id {
        parts.push(format!("session {session}"));
    }
    let mut err = anstream::stderr();
    let _ = writeln!(err, "{GREEN}ok{GREEN:#}  {}", parts.join("  "));
    if !outcome.denied.is_empty() {
        let mut tools: Vec<&str> = outcome.denied.iter().map(|d| d.tool.as_str()).collect();
        tools.sort_unstable();
        tools.dedup();
        let _ = writeln!(err, "{DIM}denied: {}{DIM:#}", tools.join(", "));
    }
}

/// What is known of the tokens.
pub(super) fn tokens(usage: &Usage) -> Option<String> {
    let known: Vec<String> = [(usage.input_tokens, "in"), (usage.output_tokens, "out")]
        .iter()
        .filter_map(|(n, what)| Some(format!("{} {what}", grouped((*n)?))))
        .collect();
    (!known.is_empty()).then(|| format!("tokens {}", known.join(", ")))
}

/// What the harness could not carry of a request.
pub(super) fn dropped(report: &Report) {
    for row in report.dropped() {
        note(&format!("{} is not carried: {}", row.field.name(), row.detail));
    }
}

pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
