//! From a CLI's bytes to a reply: lines, documents, events, usage, and JSON found in prose.

mod collect;
pub(crate) mod documents;
mod event;
mod find;
mod http;
mod lines;
mod members;
mod scan;
#[cfg(any(feature = "cli", feature = "mcp"))]
mod steps;
mod text;
mod usage;
mod wait;
mod whole;

pub use collect::{Collector, Out};
pub use documents::Documents;
pub use event::{By, Event};
pub use find::{Found, find_value};
pub use http::http_status;
pub use lines::{Decode, LineReader, Lines, TextReader};
pub use members::{Json, members, read_line};
pub use scan::strict_value;
#[cfg(any(feature = "cli", feature = "mcp"))]
pub(crate) use steps::{Step, Steps};
#[cfg(any(feature = "cli", feature = "mcp"))]
pub(crate) use text::one_line;
pub(crate) use text::plain;
pub use text::utf8;
pub use usage::Usage;
pub use wait::wait_told;
pub use whole::DocumentReader;

use crate::error::{Failure, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the events of a run amount to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The final text: what the agent said after its last tool.
    pub text: String,
    /// The session's id, as the CLI gave it.
    pub session_id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens, where the CLI told.
    pub usage: Option<Usage>,
    /// Tools that were refused.
    pub denied: Vec<Denied>,
    /// Why this is no answer, where it is none.
    pub error: Option<Failure>,
}

impl Reply {
    /// The same reply, with refusals named as the reason where there is no answer and some were refused.
    #[must_use]
    pub fn voided_by_refusals(mut self) -> Reply {
        let empty = self.error.as_ref().is_some_and(|error| error.kind == Kind::EmptyReply);
        if let (true, Some(first)) = (empty, self.denied.first()) {
            let what = format!(
                "the agent gave no answer after {} refusal(s), first of {}",
                self.denied.len(),
                first.tool
            );
            let failure = Failure::new(Kind::Permission, what);
            self.error = Some(failure.hint("allow the tool, or ask for what can be done without it"));
        }
        self
    }
}

/// A tool that the agent asked for and did not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Denied {
    /// The harness's own name for the tool.
    pub tool: String,
    /// What the CLI said.
    pub reason: String,
}

/// How a run ended, as far as a reader may know: no clock and no process in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The exit status, where the process ended by itself.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// We ended it: an exit status of 0 then means nothing.
    pub ended_by_us: bool,
    /// We ended it only after its output was complete, since it would not go by itself.
    pub lingered: bool,
    /// Standard error: its first and its last part when it is long.
    pub stderr: String,
    /// Files that the CLI wrote for us, by their names in the command; one that is not there was not
    /// written.
    pub files: BTreeMap<String, String>,
}

impl RunEnd {
    /// An end with this exit status and this standard error.
    pub fn exited(status: i32, stderr: impl Into<String>) -> Self {
        RunEnd { status: Some(status), stderr: stderr.into(), ..RunEnd::default() }
    }

    /// Whether the process ended well: by itself with status 0, or after its output was complete.
    pub fn is_fine(&self) -> bool {
        self.lingered || (self.status == Some(0) && !self.ended_by_us)
    }

    /// The last line of standard error that says something.
    pub fn last_line(&self) -> Option<&str> {
        self.stderr.lines().map(str::trim).rfind(|line| !line.is_empty())
    }
}

/// Reads one run of a harness: bytes in, events out as they come, a reply at the end.
///
/// - Takes the bytes in pieces of any size, cut anywhere: the reply is the same.
/// - Needs constant memory, but for the answer itself: a line over [`Lines::CAP`] bytes is dropped and
///   makes the run an `output_limit` failure.
/// - Never panics and never waits, whatever the bytes are.
pub trait Reader: Send {
    /// Takes bytes of standard output.
    fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Event<'_>));

    /// Takes bytes of standard error; most harnesses have nothing in them to read while they run.
    fn push_stderr(&mut self, _bytes: &[u8], _emit: &mut dyn FnMut(Event<'_>)) {}

    /// Whether the output is whole by the CLI's contract; the process may still be running.
    fn is_complete(&self) -> bool {
        false
    }

    /// Ends the reading.
    fn finish(self: Box<Self>, end: &RunEnd, emit: &mut dyn FnMut(Event<'_>)) -> Reply;
}

/// Whether the last line of what a CLI wrote asks a person something.
pub(crate) fn asks_a_person(line: &str) -> bool {
    asks_yes_or_no(line) || ends_with(line, &["password:", "press enter"])
}

/// Whether a line ends as a question with its two answers. Nothing else does, so it holds of an answer too.
pub(crate) fn asks_yes_or_no(line: &str) -> bool {
    ends_with(line, &["(y/n)", "[y/n]", "(yes/no)", "[yes/no]", "(y/n):", "[y/n]:", "(yes/no):", "[yes/no]:"])
}

fn ends_with(line: &str, endings: &[&str]) -> bool {
    let line = line.trim_end();
    let tail = &line[line.ceil_char_boundary(line.len().saturating_sub(24))..].to_lowercase();
    endings.iter().any(|ending| tail.trim_end_matches([' ', '?', '>']).ends_with(ending))
}
