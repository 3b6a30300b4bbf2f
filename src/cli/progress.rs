//! The live line on a terminal, and what stays of it; plain lines elsewhere.

use super::print::{DIM, plain, tokens};
use crate::reply::{By, Event, Step, Steps, Usage};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How much is shown on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing but errors.
    Quiet,
    /// The live line on a terminal, and each attempt that is asked again.
    #[default]
    Usual,
    /// Every step as a line that stays, too.
    Verbose,
}

impl Shown {
    pub(super) fn of(quiet: bool, verbose: bool) -> Shown {
        match (quiet, verbose) {
            (true, _) => Shown::Quiet,
            (_, true) => Shown::Verbose,
            _ => Shown::Usual,
        }
    }
}

/// Shows what a dispatch is doing.
pub(super) struct Progress {
    harness: String,
    attempts: u32,
    attempt: u32,
    bar: Option<ProgressBar>,
    shown: Shown,
    steps: Steps,
    usage: Option<Usage>,
    began: Instant,
}

impl Progress {
    /// A live line where stderr is a terminal. `attempts` is 1 where no reply can be asked for again.
    pub(super) fn new(harness: &str, attempts: u32, shown: Shown) -> Self {
        let live = shown != Shown::Quiet
            && std::io::stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none();
        let bar = live.then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let progress = Progress {
            harness: harness.to_owned(),
            attempts,
            attempt: 1,
            bar,
            shown,
            steps: Steps::default(),
            usage: None,
            began: Instant::now(),
        };
        progress.prefix();
        progress
    }

    /// Takes note of an event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Usage { usage } => {
                self.usage = Some(*usage);
                self.prefix();
            }
            Event::Retry { by: By::Teamster, attempt, message } => {
                self.stay(&format!("attempt {}: {}", self.attempt, plain(message)));
                self.attempt = attempt.unwrap_or(self.attempt + 1);
                self.usage = None;
                self.prefix();
            }
            other => match self.steps.of(other) {
                Some(Step::Brief(text)) => self.step(&text),
                Some(Step::Worth(text)) => {
                    self.step(&text);
                    if self.shown == Shown::Verbose {
                        let at = self.began.elapsed().as_secs_f64();
                        self.stay(&format!("{DIM}{at:>6.1} s  {text}{DIM:#}"));
                    }
                }
                None => {}
            },
        }
    }

    /// A line that stays, above the live one.
    pub(super) fn stay(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if self.shown != Shown::Quiet => {
                let _ = writeln!(anstream::stderr(), "{text}");
            }
            None => {}
        }
    }

    /// Takes the live line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn prefix(&self) {
        let Some(bar) = &self.bar else { return };
        let mut parts = vec![self.harness.clone()];
        if self.attempts > 1 {
            parts.push(format!("attempt {} of {}", self.attempt, self.attempts));
        }
        parts.extend(self.usage.as_ref().and_then(tokens));
        bar.set_prefix(parts.join("  "));
    }

    fn step(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }
}
