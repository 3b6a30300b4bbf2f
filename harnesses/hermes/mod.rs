//! Hermes Agent (`hermes-agent`), as verified by running 0.19.0 on 2026-12-01.
//!
//! ```text
//! hermes [--toolsets=T,…] <profile args> --usage-file={file:usage.json} [--model=M] --oneshot=PAYLOAD
//! ```
//!
//! - One-shot prints the answer and nothing else, and prints an error of the model's server where the answer would
//!   stand, with status 0: what it writes to the usage file tells the two apart (`reader.rs`).
//! - It approves everything by itself, dangerous commands as well. What it cannot be asked to approve is a tool that
//!   is not there: `--toolsets` is the limit, and a call of another tool is an error to the model. Three such calls end
//!   the run, with a notice for an answer.
//! - No set of tools reads and does not write. What writes runs the compilers and language servers of the workspace on
//!   it, so that writing without a shell is not to be had either.
//! - The payload stands in one argument, glued: everything is text there, and white space at its ends is lost. No
//!   file, no standard input; an empty one starts a session for people.
//! - One-shot goes on with no session, whatever `--resume` says.
//! - It tries a failing server again for some ten seconds.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::Text;
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag};
use crate::lowering::{Carried, Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use std::sync::LazyLock;

/// The harness of Hermes Agent.
#[derive(Debug, Clone, Copy)]
pub struct Hermes;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// What it writes about a run, also where that failed.
const USAGE: &str = "usage.json";

impl AgentBuilder for Hermes {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        rights::lower(&mut draft)?;
        draft.profile_args(&rights::GRAMMAR)?;
        draft.arg(Text::file("--usage-file=", USAGE));
        draft.results.push(USAGE.into());
        draft.model_flag(Flag::Glued("--model"))?;
        draft.no_sessions()?;
        if matches!(request.output, Output::Json | Output::Stream) {
            draft.row(Field::Output, Carried::Dropped, "one-shot writes text alone, and all at its end");
        } else if request.output == Output::Text {
            draft.row(Field::Output, Carried::Runner, "the only form that one-shot has");
        }
        draft.dropped(Field::Effort, "hermes takes it from its own settings alone");
        draft.dropped(Field::AddDirs, "hermes works in one directory; its tools reach others by their paths");
        draft.dropped(Field::MaxTurns, "hermes takes it from its own settings alone");
        draft.dropped(Field::FileReferences, "one-shot replaces no @path");
        let payload = draft.payload(true);
        draft.refuse_blank(&payload)?;
        if trimmed(&payload) != payload {
            let why = "prompt: hermes takes the white space at the ends of a text away, and the model would see another one";
            return Err(Failure::new(Kind::Unsupported, why)
                .hint("take it away, or take another harness: `teamster list`"));
        }
        draft.glued(Field::Prompt, "--oneshot", &payload)?;
        Ok(draft.finish(Output::Text))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        reader::reader()
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::HermesStandIn)
    }
}

/// What Python's `strip` leaves, which every message goes through.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}
