//! pi (`@earendil-works/pi-coding-agent`), as verified by running 1.6.0 on 2026-12-01.
//!
//! ```text
//! pi --mode json --offline <profile args> [--model P/M] [--thinking L] [--system-prompt F] [rights]
//!    [--session-id U | --session U] [-- TEXT]                                              (payload on stdin)
//! ```
//!
//! - Its JSON form ends with status 0 whatever happens to the model's answer, and its text form does after
//!   some failures too: the last message says what became of it, so it is always asked for events.
//! - There is no permission system: a tool is there and runs, or it is not there. See `rights.rs`.
//! - There is no `--flag=value`; a value is the next argument, whatever it looks like.
//! - A system prompt that names a file is that file's content, so it goes into a file of the command.
//! - Stdin is the prompt as it is, but for white space around it. See `prompt.rs`.
//! - It tries again 3 times (15 s) by itself; that is a setting of the user's.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::{Carried, Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of pi.
#[derive(Debug, Clone, Copy)]
pub struct Pi;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// `--offline` keeps it from looking for updates; without it, this does, and nothing is told of the run. What it
/// leaves behind, compiled code of its own among it, goes with the run's folder.
static ENV: [EnvEntry; 3] = [
    (Cow::Borrowed("PI_SKIP_VERSION_CHECK"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("PI_TELEMETRY"), Text::Plain(Cow::Borrowed("0"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

/// Its levels; one that the model does not have becomes the nearest one that it has (run).
const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "off"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

/// `--session` also takes the beginning of an id, and a path: a whole UUID names one session only.
const SESSIONS: Sessions = Sessions {
    ids: SessionIds::Uuid,
    begin: Some(Flag::Pair("--session-id")),
    resume: Flag::Pair("--session"),
};

impl AgentBuilder for Pi {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["--mode", "json", "--offline"]);
        draft.output_row("--mode json", "the text form is empty after some failures");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Pair("--model"))?;
        draft.effort_flag(Flag::Pair("--thinking"), EFFORT)?;
        system_prompt(&mut draft);
        rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        if request.file_references {
            draft.dropped(Field::FileReferences, "pi replaces no @path of a prompt that comes on stdin");
        }
        draft.dropped(Field::AddDirs, "pi has no flag for it, and its tools work in every directory");
        draft.dropped(Field::MaxTurns, "pi has no limit of turns");
        prompt::lower(&mut draft)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::PiStandIn)
    }
}

/// Replaces the CLI's own. A session that is resumed without it gets the CLI's own again (run), so
/// corrections carry it too.
fn system_prompt(draft: &mut Draft<'_>) {
    let Some(system) = draft.system_prompt() else { return };
    // One byte order mark is taken off what it reads (run).
    let mark = if system.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    draft.file("system.md", format!("{mark}{system}"));
    draft.arg("--system-prompt");
    draft.arg(Text::file("", "system.md"));
    draft.row(Field::SystemPrompt, Carried::File, "--system-prompt with a file, in place of pi's own");
}
