//! opencode and its forks: one permission map in a private agent, the prompt on standard input, one event a line.
//!
//! ```text
//! <cli> run --format json --title=teamster <profile args> [--model=P/M] [--variant=E] [--agent=teamster]
//!       [--session=ses_…] [--auto]                     (payload on stdin; the agent in a file that <CLI>_CONFIG names)
//! ```
//!
//! As run on opencode 1.18.33 and kilo 7.7.9, 2026-12-01, where nothing else is said:
//! - There is no flag for a system prompt or a list of tools: an agent of its own in a settings file
//!   carries them. The file comes after the user's settings and adds to them.
//! - `{env:NAME}` and `{file:PATH}` anywhere in such a file are replaced, in a prompt too; an escaped brace is not.
//! - An agent that is not there is a note on standard error, and the run goes on with every right: see `reader.rs`.
//! - A prompt in the arguments loses its quotes; what comes by standard input arrives as it is.
//! - Without `--title` a second request to the model makes one.
//! - A session goes on in the directory of its first run; in another one the CLI never ends.
//! - With no settings, no key and no model it takes a free model of its vendor: name a model, or set one there.
//! - It tries again for 80 seconds after 429 and 5xx, and no setting of opencode bounds that. After a stream that
//!   breaks off opencode asks again without end (1,239 times in 5 minutes), so that the clock ends it; kilo ends.

mod agent;
mod permissions;
mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;

pub(crate) use reader::reader;
#[cfg(feature = "stand-in")]
pub(crate) use stand_in::ForkStandIn;

use crate::command::EnvEntry;
use crate::error::{Failure, Kind, Result};
use crate::harness::{Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::Role::{Free, Ours, Rights};
use crate::lowering::Takes::{Nothing, Value, Values};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::policy::Permission;
use crate::profile::Profile;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;

/// What is a fork's own.
pub(crate) struct Fork {
    /// The facts of the harness.
    pub(crate) facts: fn() -> &'static Facts,
    /// Variables of every run.
    pub(crate) env: &'static [EnvEntry],
    /// The variable that names a settings file.
    pub(crate) config: &'static str,
    /// The variable that holds settings.
    pub(crate) content: &'static str,
    /// The variable that leaves out the settings, agents, tools and plugins of the project.
    pub(crate) no_project: &'static str,
    /// Variables that would lift a restriction.
    pub(crate) lifting: &'static [&'static str],
    /// Files of the user's own settings, below the folder of settings and below the home.
    pub(crate) settings: &'static [&'static str],
    /// Files of a project by which it starts programs or changes agents, whatever the variables say.
    pub(crate) unheld: &'static [Cow<'static, str>],
    /// Tools that the fork asks about by itself, so that a grant has to be said.
    pub(crate) asks: &'static [&'static str],
}

/// The name of the private agent.
const AGENT: &str = "teamster";

/// Nothing in it is a command: `/x` and `@x` arrive as they are. A byte order mark does not: see `lower`.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 10_000_000 };

/// The names of variants differ by the model's vendor; one that a model does not have is ignored in silence.
const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

/// The options of `run`; an unknown one ends it with 1.
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect::YARGS,
    options: &[
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("print-logs", None, Nothing, Free),
        opt("log-level", None, Value, Free),
        opt("pure", None, Nothing, Free),
        opt("command", None, Value, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("session", Some('s'), Value, Ours),
        opt("fork", None, Nothing, Ours),
        opt("cloud-fork", None, Nothing, Ours),
        opt("share", None, Nothing, Free),
        opt("model", Some('m'), Value, Free),
        opt("agent", None, Value, Rights),
        opt("format", None, Value, Ours),
        opt("file", Some('f'), Values, Ours),
        opt("title", None, Value, Ours),
        opt("attach", None, Value, Rights),
        opt("password", Some('p'), Value, Rights),
        opt("username", Some('u'), Value, Rights),
        opt("dir", None, Value, Ours),
        opt("port", None, Value, Free),
        opt("variant", None, Value, Free),
        opt("thinking", None, Nothing, Free),
        opt("interactive", Some('i'), Nothing, Ours),
        opt("auto", None, Nothing, Rights),
        opt("yolo", None, Nothing, Rights),
        opt("dangerously-skip-permissions", None, Nothing, Rights),
    ],
};

/// It names its sessions itself.
const SESSIONS: Sessions =
    Sessions { ids: SessionIds::WordAfter("ses_"), begin: None, resume: Flag::Glued("--session") };

/// Lowers a request for a fork.
pub(crate) fn lower(fork: &Fork, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
    let facts = (fork.facts)();
    let mut draft = Draft::new(facts, request, profile, fork.env);
    draft.args(["run", "--format", "json", "--title=teamster"]);
    draft.output_row("--format json", "the other form says neither usage nor error");
    draft.profile_args(&GRAMMAR)?;
    draft.model_flag(Flag::Glued("--model"))?;
    draft.effort_flag(Flag::Glued("--variant"), EFFORT)?;
    draft.dropped(
        Field::MaxTurns,
        "the steps of an agent only ask the model to end, and one that goes on is not held",
    );
    agent::lower(fork, &mut draft)?;
    draft.session(&SESSIONS)?;
    if request.permission == Some(Permission::Full) && !request.restricts() {
        draft.args(["--auto"]);
        draft.row(Field::Permission, Carried::Flag, "--auto; what your own settings deny stays denied");
    }
    if request.file_references {
        draft.row(
            Field::FileReferences,
            Carried::Dropped,
            format!("{} replaces no @path of its standard input", facts.id),
        );
    }
    if request.prompt.starts_with('\u{feff}') {
        let why = format!("prompt: {} takes the byte order mark at its start away", facts.id);
        return Err(Failure::new(Kind::Unsupported, why).hint("leave the mark out"));
    }
    draft.payload_on_stdin(&STDIN)?;
    Ok(draft.finish(Output::Stream))
}
