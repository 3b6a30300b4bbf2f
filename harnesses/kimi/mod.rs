//! Kimi Code (`@moonshot-ai/kimi-code`), as verified by running 2.1.0 on 2026-12-01.
//!
//! ```text
//! kimi --output-format=stream-json <profile args> [--model=ALIAS] [--agent-file={file:agent.md}] [--session=ID]
//!      [--add-dir=D] --prompt=PAYLOAD
//! ```
//!
//! - The prompt is an argument and nothing else: stdin is not read, and there is no file for it. It arrives as it is.
//! - The text form puts a bullet and two blanks before its lines, so it is always asked for events. They have no
//!   tokens, and errors stand on standard error only.
//! - In this mode every tool that is there runs unasked. A file with an agent is the one limit, and it cannot be
//!   given to a session that is resumed, which keeps the agent that it began with. See `rights.rs`.
//! - The Python package of the same program prints that it is deprecated, and ends with 0.
//! - It tries again 10 times by itself; that is a setting of the user's. A stream of the model server that breaks off
//!   in the midst of an answer is a good end to it: status 0, and nothing tells of it (run). Only a schema does.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::{Carried, Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Kimi Code.
#[derive(Debug, Clone, Copy)]
pub struct Kimi;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No updates, and nothing told of the run.
static ENV: [EnvEntry; 2] = [
    (Cow::Borrowed("KIMI_CODE_NO_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("KIMI_DISABLE_TELEMETRY"), Text::Plain(Cow::Borrowed("1"))),
];

/// It gives every session an id of its own, `session_UUID`; another text is an error (run).
const SESSIONS: Sessions =
    Sessions { ids: SessionIds::UuidAfter("session_"), begin: None, resume: Flag::Glued("--session") };

impl AgentBuilder for Kimi {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["--output-format=stream-json"]);
        draft.output_row("--output-format=stream-json", "the text form indents it");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        draft.dropped(Field::Effort, "kimi takes it from the model in its configuration, and has no flag");
        draft.dropped(Field::MaxTurns, "kimi takes its limit of steps from its configuration");
        let folded = rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.add_dirs(Flag::Glued("--add-dir"))?;
        if request.file_references {
            draft.dropped(Field::FileReferences, "kimi replaces no @path of a prompt");
        }
        let payload = draft.payload(folded);
        draft.refuse_blank(&payload)?;
        let arg = format!("--prompt={payload}");
        draft.fits(Field::Prompt, &arg)?;
        draft.row(Field::Prompt, Carried::Flag, format!("--prompt, {} bytes", payload.len()));
        draft.arg(arg);
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::KimiStandIn)
    }
}
