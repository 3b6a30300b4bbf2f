//! LLM (`llm`), a prompt and an answer with no tools. Run by hand, 0.36 on 2026-12-01, against a model server; the
//! conformance tests do not drive it.
//!
//! ```text
//! llm prompt --json --no-stream <profile args> [--model=M] [--system=S] [--conversation=ID]    (payload on stdin)
//! ```
//!
//! - It offers the model no tool but those of `--tool`, `--functions` and `--template`, which a profile may name: nothing
//!   runs, so that every restriction of a new conversation is held. See `rights.rs` for an earlier one.
//! - Standard input arrives byte for byte, 300 KB of it; `@`, `/` and `!` are text there. An argument would stand behind
//!   it.
//! - `--json` is one array with one response: answer, tokens, the id of the conversation. Errors are `Error: …` on
//!   standard error, with status 1.
//! - A system prompt loses the white space at its ends. A conversation keeps the one that it began with, and ignores
//!   another.
//! - An unknown conversation is an error.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output, Session};
use std::sync::LazyLock;

/// The harness of LLM.
#[derive(Debug, Clone, Copy)]
pub struct Llm;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No limit is known.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 8 << 20 };

/// It names its conversations by itself, in letters and digits.
const SESSIONS: Sessions =
    Sessions { ids: SessionIds::WordAfter(""), begin: None, resume: Flag::Glued("--conversation") };

impl AgentBuilder for Llm {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        draft.args(["prompt", "--json", "--no-stream"]);
        draft.output_row("--json", "the text form says no conversation and no tokens");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        let fold_system = system_prompt(&mut draft)?;
        rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.dropped(Field::Effort, "llm has an option for it with some of its models alone");
        draft.dropped(Field::AddDirs, "llm works in no directory");
        draft.dropped(Field::MaxTurns, "llm has no turns");
        draft.dropped(Field::FileReferences, "llm replaces no @path");
        draft.payload_on_stdin(&StdinPrompt { fold_system, ..STDIN })?;
        Ok(draft.finish(Output::Json))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::LlmStandIn)
    }
}

/// Gives whether it goes ahead of the prompt: in a conversation that has its own, and where an end would be cut.
fn system_prompt(draft: &mut Draft<'_>) -> Result<bool> {
    let resumes = matches!(draft.request.session, Some(Session::Resume(_)));
    if draft.request.is_correction() || (resumes && draft.request.system_prompt.is_some()) {
        return Ok(true);
    }
    match draft.system_prompt() {
        Some(system) if system.trim() != system => Ok(true),
        Some(system) => draft.glued(Field::SystemPrompt, "--system", system).map(|()| false),
        None => Ok(false),
    }
}
