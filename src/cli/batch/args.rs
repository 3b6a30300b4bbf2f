//! The arguments of `teamster batch`.

use crate::cli::args::{FallbackArgs, RequestArgs};
use crate::error::{Failure, Result};
use crate::profile::{Budget, Limits};
use clap::Args;
use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Args)]
pub(in crate::cli) struct BatchArgs {
    #[command(flatten)]
    pub(super) request: RequestArgs,
    /// One request for each row of a CSV file, or of a file of JSON lines (.jsonl)
    #[arg(long, value_name = "DATA", help_heading = "Batch")]
    pub(super) each: Option<PathBuf>,
    /// The harness of requests that name none
    #[arg(long, value_name = "HARNESS", help_heading = "Batch", conflicts_with = "each")]
    pub(super) harness: Option<String>,
    /// The file of results; what is in it is not run again [default: beside the requests, .results.jsonl]
    #[arg(long, value_name = "FILE", help_heading = "Batch")]
    pub(super) out: Option<PathBuf>,
    /// Dispatches at once
    #[arg(long, short = 'j', value_name = "N", default_value_t = 4, help_heading = "Batch")]
    pub(super) concurrency: usize,
    /// Dispatches of one harness at once: `2`, or `gemini=2,claude=1`
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Batch")]
    per_harness: Vec<String>,
    /// Seconds between the starts of two dispatches
    #[arg(long, value_name = "SECONDS", help_heading = "Batch")]
    pub(super) stagger: Option<f64>,
    /// Dispatches again after a rate limit, each after the pause that the vendor asks for, or ever longer ones
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Batch")]
    pub(super) retries: u32,
    /// Run those that failed before again, too
    #[arg(long, help_heading = "Batch")]
    pub(super) retry_failed: bool,
    /// A git worktree for each task, in DIR [default: beside the results]; kept where something changed
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Batch")]
    pub(super) worktrees: Option<PathBuf>,
    /// Only list the tasks: id, harness, command
    #[arg(long, help_heading = "Batch")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) fallback: FallbackArgs,

    /// At the end, put the file of results into the order of the requests
    #[arg(long, help_heading = "Result")]
    pub(super) ordered: bool,
    /// Print every result as a line of JSON when it is on disk
    #[arg(long, help_heading = "Result", conflicts_with = "json")]
    pub(super) stream: bool,
    /// Print the summary as one JSON object, also for a failure
    #[arg(long, help_heading = "Result")]
    pub(super) json: bool,
    /// Write a page with every task: one file, no network
    #[arg(long, value_name = "FILE.html", help_heading = "Result")]
    pub(super) report: Option<PathBuf>,
    /// Say nothing on stderr but errors
    #[arg(long, short, help_heading = "Result")]
    pub(super) quiet: bool,

    /// Seconds for each dispatch, all attempts together [default: 600]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    timeout: Option<f64>,
    /// Attempts for one valid reply, the first included [default: 3]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    attempts: Option<u32>,
    /// Start nothing more when so many tokens are spent by all tasks together
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_tokens: Option<u64>,
    /// Start nothing more when so many US dollars are spent by all tasks together
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    max_cost: Option<f64>,
    /// Keep the folder of every run
    #[arg(long, help_heading = "Where it runs")]
    pub(super) keep_files: bool,
    /// Let the built-in stand-in play the CLIs; SCRIPT as with `run`, the same for each task
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Where it runs")]
    pub(super) rehearse: Option<String>,
}

impl BatchArgs {
    /// What all tasks together may spend.
    pub(super) fn budget(&self) -> Budget {
        Budget { max_tokens: self.max_tokens, max_cost_usd: self.max_cost }
    }

    /// What each dispatch may take.
    pub(super) fn limits(&self) -> Limits {
        Limits { timeout_s: self.timeout, attempts: self.attempts, ..Limits::default() }
    }

    /// The number for every harness, and those for some.
    pub(super) fn per_harness(&self) -> Result<(usize, HashMap<String, usize>)> {
        let (mut usual, mut own) = (usize::MAX, HashMap::new());
        for word in &self.per_harness {
            let (name, number) =
                word.split_once('=').map_or((None, word.as_str()), |(name, n)| (Some(name), n));
            let number: usize = number.trim().parse().ok().filter(|n| *n > 0).ok_or_else(|| {
                Failure::invalid("per_harness", format!("`{word}` is not of the form 2 or gemini=2"))
            })?;
            match name {
                Some(name) => drop(own.insert(name.trim().to_owned(), number)),
                None => usual = number,
            }
        }
        Ok((usual, own))
    }
}
