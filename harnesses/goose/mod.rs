//! goose. By excerpts of its documentation and its source (`goose-cli` of 2026), read on 2026-12-01; it was not run.
//!
//! ```text
//! goose run --quiet --output-format stream-json <profile args> [--system=S] [--max-turns=N]
//!       [--no-session | [--resume] --name=ID] --instructions=-     (GOOSE_MODEL=M, GOOSE_MODE=auto; payload on stdin)
//! ```
//!
//! - Events, one a line: messages, whose texts come in pieces with one id; an error, and the end after it, with status 0.
//!   A failure of the model server is mostly a text of goose in the place of the answer, and so is its limit of turns
//!   (read): its words at the end make it no answer. See `reader.rs`.
//! - A file of instructions drops `--system` in silence, stdin does not (read).
//! - `GOOSE_MODE=chat` is said to have no tools (read), and providers that are agents themselves have some all the same;
//!   the other modes ask a person, or a model. Nobody has seen it hold, so every restriction is refused.
//! - A leading `/` is a command in newer versions (read): refused.

mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;

use super::families::simple;
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, StdinPrompt};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{LineReader, Reader};
use crate::request::{DispatchRequest, Output, Session};
use std::sync::LazyLock;

/// The harness of goose.
#[derive(Debug, Clone, Copy)]
pub struct Goose;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// The options of `run` (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::CLAP },
    options: &[
        opt("instructions", Some('i'), Value, Ours),
        opt("text", Some('t'), Value, Ours),
        opt("interactive", Some('s'), Nothing, Ours),
        opt("no-session", None, Nothing, Ours),
        opt("name", Some('n'), Value, Ours),
        opt("path", None, Value, Ours),
        opt("resume", Some('r'), Nothing, Ours),
        opt("quiet", Some('q'), Nothing, Ours),
        opt("output-format", None, Value, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("system", None, Value, Free),
        opt("max-turns", None, Value, Free),
        opt("debug", None, Nothing, Free),
        opt("recipe", None, Value, Right),
        opt("with-builtin", None, Value, Right),
        opt("with-extension", None, Value, Right),
        opt("with-remote-extension", None, Value, Right),
        opt("with-streamable-http-extension", None, Value, Right),
        opt("no-profile", None, Nothing, Right),
        opt("container", None, Value, Right),
        opt("provider", None, Value, Right),
    ],
};

const COMMANDS: &[char] = &['/'];
/// No limit is written; this one keeps it to what was read of others.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 10_000_000 };

const WHY: &str = "goose is held by its modes and by the user's list of extensions, and nobody has seen what a mode holds back";
const FULL: &str = "GOOSE_MODE=auto: every tool of the user's extensions runs unasked";

impl AgentBuilder for Goose {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        draft.args(["run", "--quiet", "--output-format", "stream-json"]);
        draft.output_row("--output-format stream-json", "it tells errors, which end with status 0");
        draft.profile_args(&GRAMMAR)?;
        draft.model_env("GOOSE_MODEL")?;
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system", system)?;
        }
        rights(&mut draft)?;
        session(&mut draft)?;
        draft.dropped(Field::Effort, "goose has no flag for it");
        draft.dropped(Field::AddDirs, "goose has no flag for it");
        draft.dropped(Field::FileReferences, "goose run replaces no @path");
        draft.max_turns(Flag::Glued("--max-turns"))?;
        let payload = crate::lowering::payload(request, false);
        simple::refuse_commands(&draft, &payload, COMMANDS)?;
        draft.args(["--instructions=-"]);
        draft.payload_on_stdin(&STDIN)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(LineReader::new(reader::GooseLines::default()))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::GooseStandIn)
    }
}

/// Full autonomy is a mode, which a variable sets; every other restriction is refused.
fn rights(draft: &mut Draft<'_>) -> Result<()> {
    draft.refuse_env(&["GOOSE_MODE"], "sets what goose may do")?;
    if simple::unheld(draft, (Carried::Env, &[]), FULL, WHY)? {
        draft.set_env("GOOSE_MODE", "auto");
    }
    Ok(())
}

/// A session has a name, which is its id here.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => draft.args(["--no-session"]),
        Some(Session::New(None)) => {
            draft.args(["--no-session"]);
            draft.row(Field::Session, Carried::Dropped, "goose says no id of a session; give it one");
        }
        Some(Session::New(Some(id))) => draft.glued(Field::Session, "--name", id)?,
        Some(Session::Resume(id)) => {
            draft.args(["--resume"]);
            draft.glued(Field::Session, "--name", id)?;
        }
    }
    Ok(())
}
