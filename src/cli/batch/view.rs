//! A batch as it goes, and what came of it.

use super::args::BatchArgs;
use crate::batch::{BatchEvent, Summary, Task};
use crate::cli::argv::table;
use crate::cli::print::{grouped, line, plain, tokens};
use crate::error::cut;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The live line on a terminal; a line for each pause and each failure.
pub(super) struct View {
    bar: Option<ProgressBar>,
    quiet: bool,
    stream: bool,
    ordered: Option<Ordered>,
    began: Instant,
    changed: usize,
}

/// Holds lines back until those before them are there.
#[derive(Default)]
struct Ordered {
    next: usize,
    waiting: std::collections::BTreeMap<usize, String>,
}

impl View {
    pub(super) fn new(args: &BatchArgs, tasks: usize) -> View {
        let live = !args.quiet && std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let bar = live.then(|| {
            let bar = ProgressBar::new(tasks as u64);
            let style = ProgressStyle::with_template("{spinner} {pos}/{len}  {elapsed}  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let ordered = (args.stream && args.ordered).then(Ordered::default);
        View { bar, quiet: args.quiet, stream: args.stream, ordered, began: Instant::now(), changed: 0 }
    }

    pub(super) fn event(&mut self, event: &BatchEvent<'_>) {
        match event {
            BatchEvent::Started { .. } => {}
            BatchEvent::Changed { task } => {
                self.changed += 1;
                if self.changed <= 3 {
                    self.stay(&format!(
                        "{}: the request changed since its result, so it is run again",
                        task.id
                    ));
                }
            }
            BatchEvent::Paused { harness, pause, limit } => {
                let seconds = pause.as_secs_f64();
                self.stay(&format!("{harness}: rate limit; {seconds:.1} s of pause, then {limit} at once"));
            }
            BatchEvent::Done { line: result, from_before, summary } => {
                if self.stream {
                    let text = serde_json::to_string(result).unwrap_or_default();
                    match &mut self.ordered {
                        None => drop(line(&text)),
                        Some(ordered) => ordered.add(result.index, text),
                    }
                }
                if let Some(failure) = result.outcome.failure.as_ref().filter(|_| !from_before) {
                    let message = cut(&plain(&failure.message), 200).into_owned();
                    self.stay(&format!("{}: {message} ({})", result.id, failure.kind));
                }
                self.live(summary);
            }
        }
    }

    pub(super) fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Some(ordered) = &mut self.ordered {
            // Those behind one that was not run.
            std::mem::take(&mut ordered.waiting).into_values().for_each(|text| drop(line(&text)));
        }
    }

    fn live(&self, summary: &Summary) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(summary.done() as u64);
        let mut parts = Vec::new();
        if summary.failed > 0 {
            parts.push(format!("{} failed", summary.failed));
        }
        parts.extend(summary.usage.as_ref().and_then(tokens));
        parts.extend(summary.usage.and_then(|usage| usage.cost_usd).map(|cost| format!("${cost:.2}")));
        let now = summary.done() - summary.from_before;
        if now > 0 && summary.not_run > 0 {
            let rest = self.began.elapsed().mul_f64(summary.not_run as f64 / now as f64);
            parts.push(format!("about {} left", span(rest)));
        }
        bar.set_message(parts.join("  "));
    }

    fn stay(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if !self.quiet => drop(writeln!(anstream::stderr(), "{text}")),
            None => {}
        }
    }
}

impl Ordered {
    fn add(&mut self, index: usize, text: String) {
        self.waiting.insert(index, text);
        while let Some(text) = self.waiting.remove(&self.next) {
            let _ = line(&text);
            self.next += 1;
        }
    }
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..=99 => format!("{s} s"),
        s @ 100..=5999 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

/// The summary as a table, and the failures.
pub(super) fn table_of(summary: &Summary) -> String {
    let mut all = table(&["harness", "ok", "failed", "runs", "tokens in", "out", "cost", "time each"]);
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), grouped);
    for (harness, of) in &summary.harnesses {
        let usage = of.usage.unwrap_or_default();
        let done = (of.ok + of.failed).max(1) as f64;
        all.add_row([
            harness.clone(),
            of.ok.to_string(),
            of.failed.to_string(),
            of.attempts.to_string(),
            number(usage.input_tokens),
            number(usage.output_tokens),
            usage.cost_usd.map_or_else(|| "-".to_owned(), |cost| format!("${cost:.4}")),
            format!("{:.1} s", of.duration_ms as f64 / 1000.0 / done),
        ]);
    }
    let mut text = format!("{}\n\n", all.trim_fmt());
    if !summary.failures.is_empty() {
        let kinds: Vec<String> = summary.failures.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        text.push_str(&format!("failed: {}\n", kinds.join(", ")));
    }
    let before = match summary.from_before {
        0 => String::new(),
        n => format!(", {n} of them from before"),
    };
    text.push_str(&format!(
        "{} of {} ok{before}, {} failed, {} not run, in {:.1} s\n",
        summary.ok,
        summary.tasks,
        summary.failed,
        summary.not_run,
        summary.duration_ms as f64 / 1000.0
    ));
    text
}

/// The tasks, for `--dry-run`.
pub(super) fn listed(tasks: &[Task]) -> String {
    let mut all = table(&["id", "harness", "prompt"]);
    for task in tasks {
        let harnesses: Vec<&str> = task.choices.iter().map(|choice| choice.harness.as_str()).collect();
        let prompt = task.choices.first().map_or("", |choice| choice.request.prompt.as_str());
        all.add_row([task.id.as_str(), &harnesses.join(", then "), &cut(&plain(prompt), 80)]);
    }
    all.trim_fmt()
}
