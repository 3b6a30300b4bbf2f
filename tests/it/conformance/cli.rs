//! The descriptor: all that the tests have to know of one CLI.

use super::place::Place;
use crate::support::model_server::{Recorded, Step};

/// One CLI, as data. A file of `clis/` fills it in; every generic test runs on it.
pub(crate) struct Cli {
    /// The platform name.
    pub(crate) id: &'static str,
    /// The version that the tests were made for, and that `.ci/install-clis` installs.
    pub(crate) version: &'static str,
    /// Whether it is of the set that CI installs: there, a missing one is a failure.
    pub(crate) in_ci: bool,
    /// The model that requests name, one that this CLI takes and that can think; empty where its settings name it.
    pub(crate) model: &'static str,
    /// Writes the CLI's settings into a fresh home and gives the environment: the server's address, a key
    /// that is none, no updates, no telemetry, few tries of its own where there is a setting.
    pub(crate) home: fn(&Place) -> Vec<(&'static str, String)>,
    /// The least permission that the harness can hold the agent to: what tests of other things ask for.
    pub(crate) permission: &'static str,
    /// Makes the user trust the workspace, where a run without restrictions needs that.
    pub(crate) trust: fn(&Place),
    /// The arguments, prompt included, of a run with nothing in the agent's way.
    pub(crate) unbound: fn(prompt: &str) -> Vec<String>,
    /// The same, and whatever the workspace brings is trusted.
    pub(crate) careless: fn(prompt: &str) -> Vec<String>,
    /// What the model says to write a file, run a command, read a file: in this CLI's own tools, with
    /// absolute paths.
    pub(crate) write: fn(path: &str) -> Step,
    pub(crate) shell: fn(command: &str) -> Step,
    pub(crate) read: fn(path: &str) -> Step,
    /// Ways to more rights that this CLI knows, each a list of turns.
    pub(crate) escapes: fn(&Place) -> Vec<Vec<Step>>,
    /// What is on disk after the attack with nothing in its way, sorted: the proof that it can work.
    pub(crate) reach: &'static [&'static str],
    /// Fills a workspace with settings, hooks, agents, servers and a `.env` that would raise rights, or
    /// leave a file, or send the request elsewhere.
    pub(crate) hostile: fn(&Place),
    /// What a careless run leaves in such a workspace, sorted: the proof that it can bite. `evil/` is any
    /// file there, `evil request` one that went elsewhere or to another model.
    pub(crate) traps: &'static [&'static str],
    /// The user's prompt in what the model saw in a first turn; some CLIs add parts of their own.
    pub(crate) prompt: fn(&Recorded) -> Option<String>,
    /// What the CLI's own clocks and retries cost.
    pub(crate) seconds: Seconds,
    /// Where this CLI is known to differ, and why. Each is looked at by the test that names it.
    pub(crate) exceptions: &'static [(Except, &'static str)],
}

/// Time limits in seconds, for a machine with other work.
#[derive(Clone, Copy)]
pub(crate) struct Seconds {
    /// Within which any run that should end well has ended.
    pub(crate) run: u64,
    /// After which the agent has surely asked its first turn: the clock of a run that hangs.
    pub(crate) start: u64,
}

/// A way in which a CLI may differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Except {
    /// A refusal with this status is tried again for longer than a test waits: `timeout` is fine too.
    Retries(u16),
    /// With a schema it asks the model once more by itself, before it gives up.
    AsksAgain,
    /// Blanks around the prompt are lost.
    Trims,
    /// With `edit`, commands run in a sandbox that holds them to the workspace.
    EditRunsShell,
    /// It has no tool that reads a file when the model asks.
    NoReading,
    /// No command of the model's runs, in any mode.
    NoShell,
    /// It takes a prompt in one argument and in no other way: a larger one is refused.
    OneArgument,
    /// A session that is resumed goes on as a copy, with an id of its own.
    NewSession,
    /// A prompt that is larger than an argument goes in two parts, cut at a blank line: without one near its end
    /// it is refused.
    CutAtBlankLine,
    /// The system prompt is carried by a channel that the model sees as a message of the user.
    SystemFromUser,
}

impl Cli {
    /// The reason for an exception, where this CLI has it.
    pub(crate) fn excepted(&self, what: Except) -> Option<&'static str> {
        self.exceptions.iter().find(|(which, _)| *which == what).map(|(_, why)| *why)
    }
}
