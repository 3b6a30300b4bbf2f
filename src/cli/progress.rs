//! The live line on a terminal, and what stays of it; plain lines elsewhere.

use crate::reply::{By, Event};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Shows what a dispatch is doing.
pub(super) struct Progress {
    harness: String,
    attempts: u32,
    bar: Option<ProgressBar>,
    quiet: bool,
    attempt: u32,
}

impl Progress {
    /// A live line where stderr is a terminal; nothing at all with `quiet`.
    pub(super) fn new(harness: &str, attempts: u32, quiet: bool) -> Self {
        let live = !quiet && std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let bar = live.then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let progress = Progress { harness: harness.to_owned(), attempts, bar, quiet, attempt: 1 };
        progress.prefix();
        progress
    }

    /// Takes note of an event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::ToolUse { name, input, .. } => {
                let input = input.as_ref().map_or("", |json| json.text());
                self.step(&format!("{name} {}", crate::error::cut(input, 80)));
            }
            Event::Thinking { .. } => self.step("thinking"),
            Event::Text { .. } => self.step("writing"),
            Event::Denied { tool, .. } => self.step(&format!("{tool} was refused")),
            Event::Retry { by: By::Harness, message, .. } => self.step(message),
            Event::Retry { by: By::Teamster, attempt, message } => {
                self.stay(&format!("attempt {}: {message}", self.attempt));
                self.attempt = attempt.unwrap_or(self.attempt + 1);
                self.prefix();
            }
            _ => {}
        }
    }

    /// Takes the live line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn prefix(&self) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(format!("{}  attempt {} of {}", self.harness, self.attempt, self.attempts));
        }
    }

    fn step(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.replace(['\n', '\r', '\x1b'], " "));
        }
    }

    fn stay(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if !self.quiet => {
                let _ = writeln!(anstream::stderr(), "{text}");
            }
            None => {}
        }
    }
}
