//! Mistral Vibe (`mistral-vibe`), as verified by running 3.0.2 on 2026-12-01.
//!
//! ```text
//! vibe --output=streaming --output-dir={tmp}/.. <profile args> [rights] [--resume=U] [--add-dir=D] [--max-turns=N] -p
//!                                                                           (payload on stdin, or --prompt=PAYLOAD)
//! ```
//!
//! - An entry a line when it is whole; how a run ended, its tokens and its errors are in `export.json`, which it
//!   leaves on every exit.
//! - `-p` with no value reads stdin, and trims it; `--prompt=` takes a text as it is; `-p --help` prints the help and ends with 0.
//! - See `prompt.rs` for `@path`.
//! - The model is an alias of the user's configuration and has no flag: `VIBE_ACTIVE_MODEL`. An unknown one is
//!   in silence another provider's.
//! - A system prompt is a file of the CLI's home that an agent there names: it is folded into the prompt.
//! - A busy server is asked again for 300 s; `VIBE_API_RETRY_MAX_ELAPSED_TIME` bounds that.
//! - See `rights.rs` for what it may do.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Mistral Vibe.
#[derive(Debug, Clone, Copy)]
pub struct Vibe;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No updates, nothing told of the run, and a bound on what it tries again by itself.
static ENV: [EnvEntry; 4] = [
    (Cow::Borrowed("VIBE_ENABLE_UPDATE_CHECKS"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("VIBE_ENABLE_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("VIBE_ENABLE_TELEMETRY"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("VIBE_API_RETRY_MAX_ELAPSED_TIME"), Text::Plain(Cow::Borrowed("30"))),
];

/// What it says of a run, in the folder of `--output-dir`.
const EXPORT: &str = "export.json";

/// `/` and `!` are text there (run). Tried with 200 KiB; no limit is known.
const STDIN: StdinPrompt = StdinPrompt { fold_system: true, guarded: &[], most: 8 << 20 };

/// It gives every session an id of its own; a text that names none is an error (run).
const SESSIONS: Sessions = Sessions { ids: SessionIds::Uuid, begin: None, resume: Flag::Glued("--resume") };

impl AgentBuilder for Vibe {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["--output=streaming"]);
        let here = vec![Piece::Plain("--output-dir=".into()), Piece::Tmp, Piece::Plain("/..".into())];
        draft.arg(Text::Pieces(here.into()));
        draft.results.push(EXPORT.into());
        draft.output_row("--output=streaming", "the text form names no session");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_env("VIBE_ACTIVE_MODEL")?;
        draft.dropped(Field::Effort, "vibe takes it from the model in its configuration, and has no flag");
        rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.add_dirs(Flag::Glued("--add-dir"))?;
        draft.max_turns(Flag::Glued("--max-turns"))?;
        prompt::lower(&mut draft)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::VibeStandIn)
    }
}
