//! What plays a harness: in rehearsals the process, in the testkit the model of the CLI's grammar.

use crate::request::{Output, Session};
use std::collections::BTreeMap;

/// A model of one CLI, as verified: which arguments it takes, what it makes of them, how it answers.
///
/// Pure, like a builder. The stand-in in the binary wraps it in a process; the testkit asks it what a
/// command would let the agent do.
pub trait StandIn: Send + Sync {
    /// What the CLI would make of this invocation, or how it would refuse it.
    fn receive(&self, given: &Given) -> Result<Received, Spoken>;

    /// How the CLI would give this answer to what it received.
    fn answer(&self, received: &Received, answer: &Answer) -> Spoken;
}

/// Everything that an invocation gives to a CLI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// The arguments, without the program's name.
    pub args: Vec<String>,
    /// Standard input.
    pub stdin: String,
    /// The files that the arguments and variables may name: path → content.
    pub files: BTreeMap<String, String>,
    /// The variables.
    pub env: BTreeMap<String, String>,
}

impl Given {
    /// The content of the file at this path.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// The value of a variable, where it has one that is not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// What a CLI makes of an invocation.
pub struct Received {
    /// The text that goes to the model.
    pub prompt: String,
    /// The form of output.
    pub output: Output,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The session that was asked for.
    pub session: Option<Session>,
    /// Whether the agent could run this tool with no one there to ask: the CLI's own name, with an
    /// argument in parentheses where that matters.
    pub may_run: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Received {
    /// The id of the session: the one that was asked for, else one of the CLI's own.
    pub fn session_id<'a>(&'a self, own: &'a str) -> &'a str {
        self.session.as_ref().and_then(Session::id).unwrap_or(own)
    }
}

/// An answer to play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The agent answers with this text.
    Text(String),
    /// The model server answers with this HTTP status.
    Status(u16),
    /// The agent gives no answer, by the CLI's own way to say so.
    Empty,
}

/// What a CLI writes, and its exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spoken {
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
    /// Files that it writes where the command wants them, by their names in the command.
    pub files: BTreeMap<String, String>,
    /// The exit status.
    pub status: i32,
}

impl Spoken {
    /// A refusal: nothing on standard output.
    pub fn refused(status: i32, stderr: impl Into<String>) -> Self {
        Spoken { stderr: stderr.into(), status, ..Spoken::default() }
    }

    /// An answer on standard output, and a good end.
    pub fn said(stdout: impl Into<String>) -> Self {
        Spoken { stdout: stdout.into(), ..Spoken::default() }
    }
}
