//! Factory Droid (`@factory/cli`), as verified by running 0.225.2 on 2026-12-01.
//!
//! ```text
//! droid exec --output-format=stream-json <profile args> [--model=M] [--reasoning-effort=E]
//!            [--append-system-prompt=S | --append-system-prompt-file=F] [rights] [--fork=U]     (payload on stdin)
//! ```
//!
//! - The json form says `Exec failed` of every failure, and the text form nothing: it is always asked for events.
//! - Stdin is read as it is, white space at both ends too, but for commands and `@path`: see `prompt.rs`.
//! - SIGTERM and SIGINT end it with status 0; one that comes while a tool runs ends the tool alone.
//! - `--session-id` asks Factory's server for the session, also for one that is kept here. `--fork` goes on with
//!   a copy, under a new id.
//! - It tries again by itself, 90 s where the model server says 429 and 4 minutes where it is broken, and has no
//!   setting for that.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Factory Droid.
#[derive(Debug, Clone, Copy)]
pub struct Droid;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No updates, and nothing told of the run (read).
static ENV: [EnvEntry; 2] = [
    (Cow::Borrowed("FACTORY_DROID_AUTO_UPDATE_ENABLED"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("FACTORY_OTEL_ENABLED"), Text::Plain(Cow::Borrowed("false"))),
];

/// Tried with 200 KiB; no limit is known.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 8 << 20 };

/// Its levels; another word is an error. A model that has no such level is asked with its own default, in silence
/// (run).
const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

/// It gives every session an id of its own, and goes on with a copy, which has another.
const SESSIONS: Sessions = Sessions { ids: SessionIds::Uuid, begin: None, resume: Flag::Glued("--fork") };

impl AgentBuilder for Droid {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["exec", "--output-format=stream-json"]);
        draft.output_row("--output-format=stream-json", "the text form names no failure");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        draft.effort_flag(Flag::Glued("--reasoning-effort"), EFFORT)?;
        // Stands behind the CLI's own. It is no part of a session, so every run has it (run).
        draft.system_prompt_flag("--append-system-prompt", "--append-system-prompt-file=");
        rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.dropped(Field::AddDirs, "droid has no option for them: its tools reach every directory");
        draft.dropped(Field::MaxTurns, "droid has no limit of turns");
        prompt::lower(&mut draft)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::DroidStandIn)
    }
}
