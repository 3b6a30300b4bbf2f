//! `--report`: one page with every task. It is whole in itself; a browser that reads it asks no network.

use crate::batch::{Journal, ResultLine, Summary, Task};
use crate::cli::print::grouped;
use crate::error::{Failure, Result, cut};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = include_str!("page.html");
/// Bytes of an answer that are shown; the file of results has all of it.
const SHOWN: usize = 4000;
/// Bytes that are shown before a click.
const FIRST: usize = 160;

/// Writes the page: beside its place, then there.
pub(super) fn write(path: &Path, journal: &Journal, tasks: &[Task], summary: &Summary) -> Result<()> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let (mut states, mut harnesses) = (BTreeSet::new(), BTreeSet::new());
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    journal.each(|line, _| {
        if known.contains(line.id.as_str()) {
            states.insert(state(&line).to_owned());
            harnesses.insert(line.outcome.harness.clone());
            lines.push((line.index, row(&line)));
        }
        Ok(())
    })?;
    lines.sort_by_key(|(index, _)| *index);
    let rows: String = lines.into_iter().map(|(_, row)| row).collect();
    let options = |words: &BTreeSet<String>| -> String {
        words.iter().map(|word| format!("<option>{}</option>", escaped(word))).collect()
    };
    let page = filled(&[
        ("title", escaped(&title(journal.path()))),
        ("subtitle", subtitle(summary)),
        ("cards", cards(summary)),
        ("bar", bar(summary)),
        ("harnesses", by_harness(summary)),
        ("kinds", by_kind(summary)),
        ("states", options(&states)),
        ("options", options(&harnesses)),
        ("rows", rows),
    ]);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let done = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        std::io::Write::write_all(&mut file, page.as_bytes())?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    });
    done.map_err(|e| Failure::invalid("report", format!("{}: {e}", path.display())))
}

/// The page with its parts in place: once, so that a part is never taken for a place.
fn filled(parts: &[(&str, String)]) -> String {
    let (mut page, mut rest) = (String::with_capacity(PAGE.len() * 2), PAGE);
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        page.extend(parts.iter().filter(|(part, _)| *part == name).map(|(_, text)| text.as_str()));
        rest = behind;
    }
    page.push_str(rest);
    page
}

fn title(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    format!("Batch {}", name.trim_end_matches(".jsonl").trim_end_matches(".results"))
}

fn subtitle(summary: &Summary) -> String {
    let mut text = format!("{} of {} tasks have a result", summary.done(), summary.tasks);
    if let Some(why) = &summary.stopped {
        let _ = write!(text, "; {} were not run: {}", summary.not_run, escaped(why));
    }
    text
}

fn cards(summary: &Summary) -> String {
    let seconds = |ms: u64| format!("{:.1} s", ms as f64 / 1000.0);
    let usage = summary.usage.unwrap_or_default();
    let cards = [
        ("ok", Some(summary.ok.to_string())),
        ("failed", Some(summary.failed.to_string())),
        ("not run", Some(summary.not_run.to_string())),
        ("runs", Some(summary.attempts.to_string())),
        ("tokens in", usage.input_tokens.map(grouped)),
        ("tokens out", usage.output_tokens.map(grouped)),
        ("cost", usage.cost_usd.map(|cost| format!("${cost:.4}"))),
        ("this run", Some(seconds(summary.duration_ms))),
    ];
    let card = |(name, value): (&str, Option<String>)| {
        value.map(|value| format!("<div class=\"card\"><b>{value}</b><span>{name}</span></div>"))
    };
    cards.into_iter().filter_map(card).collect()
}

fn bar(summary: &Summary) -> String {
    let part = |n: usize| 100.0 * n as f64 / summary.tasks.max(1) as f64;
    format!(
        "<i style=\"width:{:.2}%\"></i><i style=\"width:{:.2}%\"></i>",
        part(summary.ok),
        part(summary.failed)
    )
}

fn by_harness(summary: &Summary) -> String {
    let row = |(harness, of): (&String, &crate::batch::OfHarness)| {
        let each = of.duration_ms as f64 / 1000.0 / (of.ok + of.failed).max(1) as f64;
        format!(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{each:.1} s</td></tr>",
            escaped(harness),
            of.ok,
            of.failed,
            of.attempts
        )
    };
    summary.harnesses.iter().map(row).collect()
}

fn by_kind(summary: &Summary) -> String {
    if summary.failures.is_empty() {
        return "<tr><td class=\"soft\" colspan=\"2\">none</td></tr>".to_owned();
    }
    let row = |(kind, n): (&String, &usize)| {
        format!("<tr><td class=\"no\">{}</td><td class=\"n\">{n}</td></tr>", escaped(kind))
    };
    summary.failures.iter().map(row).collect()
}

fn state(line: &ResultLine) -> &str {
    line.outcome.failure.as_ref().map_or("ok", |failure| failure.kind.name())
}

fn row(line: &ResultLine) -> String {
    let (outcome, state) = (&line.outcome, state(line));
    let usage = outcome.usage.unwrap_or_default();
    let number = |n: Option<u64>| {
        n.map_or_else(
            || "<td class=\"n\" data-key=\"\">-</td>".to_owned(),
            |n| format!("<td class=\"n\" data-key=\"{n}\">{}</td>", grouped(n)),
        )
    };
    let cost = usage.cost_usd.map_or_else(
        || "<td class=\"n\" data-key=\"\">-</td>".to_owned(),
        |cost| format!("<td class=\"n\" data-key=\"{cost}\">${cost:.4}</td>"),
    );
    format!(
        "<tr data-state=\"{state}\" data-harness=\"{harness}\"><td class=\"n\">{index}</td><td class=\"id\">{id}</td><td>{harness}</td>\
         <td class=\"s {class}\">{state}</td><td class=\"n\">{attempts}</td><td class=\"n\" data-key=\"{ms}\">{seconds:.1}</td>{input}{output}{cost}\
         <td class=\"said\">{said}</td></tr>\n",
        harness = escaped(&outcome.harness),
        index = line.index + 1,
        id = escaped(&line.id),
        class = if outcome.ok { "ok" } else { "no" },
        attempts = outcome.attempts.len(),
        ms = outcome.duration_ms,
        seconds = outcome.duration_ms as f64 / 1000.0,
        input = number(usage.input_tokens),
        output = number(usage.output_tokens),
        said = said(line),
    )
}

/// The value, the text, or why there is none; with the harnesses that were left, and the worktree.
fn said(line: &ResultLine) -> String {
    let outcome = &line.outcome;
    let mut text = match (&outcome.failure, &outcome.value, &outcome.text) {
        (Some(failure), ..) => failure.message.clone(),
        (None, Some(value), _) => value.to_string(),
        (None, None, text) => text.clone().unwrap_or_default(),
    };
    if let Some(hint) = outcome.failure.as_ref().and_then(|failure| failure.hint.as_ref()) {
        let _ = write!(text, "\nnext: {hint}");
    }
    for step in &outcome.fallback {
        let _ = write!(text, "\nbefore it {}: {}", step.harness, step.failure.message);
    }
    if let Some(worktree) = &line.worktree {
        let _ = write!(text, "\nchanged: {worktree}");
    }
    let whole = text.len();
    let text = cut(text.trim(), SHOWN);
    let first = cut(text.lines().next().unwrap_or_default(), FIRST);
    if first.len() == text.len() {
        return escaped(&text);
    }
    let more = if whole > SHOWN { " (cut; the file of results has all of it)" } else { "" };
    format!("<details><summary>{}</summary><pre>{}</pre>{more}</details>", escaped(&first), escaped(&text))
}

/// A text in HTML. Nothing of an agent's answer is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
