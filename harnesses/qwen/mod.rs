//! Qwen Code (`@qwen-code/qwen-code`), as verified by running 0.24.4 on 2026-12-01.
//!
//! ```text
//! qwen --output-format=json|stream-json --max-wall-time=N <profile args> [--model=M] [--system-prompt=S]
//!      [--safe-mode --approval-mode=A --exclude-tools=T,…] [--session-id=U | --resume=U]
//!      [--include-directories=D]… [--max-session-turns=N] --prompt=PAYLOAD
//! ```
//!
//! - Its prompt is an argument: what comes on stdin gets two line feeds after it. See `prompt.rs`.
//! - It asks a model server that is busy again for ever, so a clock of its own always runs.
//! - `--json-schema` makes a tool of the schema, and an answer in text, a valid one too, a failure at once:
//!   the instruction in the prompt and the check of the reply do better.
//! - No mode is a limit by itself, and the project's settings count in every one. See `rights.rs`.
//! - No flag for an effort.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Text};
use crate::error::{Failure, Result};
use crate::harness::{AgentBuilder, Draft, Facts};
use crate::lowering::{Carried, Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Qwen Code.
#[derive(Debug, Clone, Copy)]
pub struct Qwen;

static FACTS: LazyLock<Facts> = LazyLock::new(|| match Facts::from_json(include_str!("harness.json")) {
    Ok(facts) => facts,
    Err(bad) => unreachable!("{bad}"),
});

/// No colours, and no notice of what its mode means.
static ENV: [EnvEntry; 2] = [
    (Cow::Borrowed("NO_COLOR"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("QWEN_CODE_SUPPRESS_YOLO_WARNING"), Text::Plain(Cow::Borrowed("1"))),
];

/// The longest time that it takes for its own clock, in seconds: 24 days.
const LONGEST: f64 = 2_000_000.0;

impl AgentBuilder for Qwen {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        let (output, form) = match request.output {
            Output::Stream => (Output::Stream, "--output-format=stream-json"),
            _ => (Output::Json, "--output-format=json"),
        };
        draft.args([form]);
        match request.output {
            Output::Auto => {}
            Output::Text => draft.row(
                Field::Output,
                Carried::Flag,
                "--output-format=json, and the text is taken from it: the text form has no session and no usage",
            ),
            _ => draft.row(Field::Output, Carried::Flag, form),
        }
        draft.arg(format!("--max-wall-time={}", wall_time(profile)));
        draft.profile_args(&rights::GRAMMAR)?;
        if let Some(model) = draft.model()? {
            draft.glued(Field::Model, "--model", model)?;
        }
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system-prompt", system)?;
        }
        rights::lower(&mut draft)?;
        session(&mut draft)?;
        for dir in &request.add_dirs {
            let dir = dir.to_string_lossy();
            if dir.contains(',') {
                return Err(Failure::invalid("add_dirs", format!("qwen cuts `{dir}` at its comma")));
            }
            draft.glued(Field::AddDirs, "--include-directories", &dir)?;
        }
        if let Some(turns) = request.max_turns {
            draft.glued(Field::MaxTurns, "--max-session-turns", &turns.to_string())?;
        }
        draft.dropped(Field::Effort, "qwen has no flag for it, only its settings file");
        prompt::lower(&mut draft)?;
        Ok(draft.finish(output))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::QwenStandIn)
    }
}

/// A little less than teamster waits, so that it can say what it waited for; whole seconds, at least one.
fn wall_time(profile: &Profile) -> u64 {
    let all = profile.limits.timeout_s.filter(|seconds| seconds.is_finite()).unwrap_or(600.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let seconds = (all * 0.95).clamp(1.0, LONGEST) as u64;
    seconds
}

/// Ids are UUIDs; `--resume` also takes titles.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => Ok(()),
        Some(Session::New(None)) => {
            draft.session_of_its_own();
            Ok(())
        }
        Some(Session::New(Some(id))) => {
            draft.uuid("session.id", id)?;
            draft.glued(Field::Session, "--session-id", id)
        }
        Some(Session::Resume(id)) => {
            draft.uuid("session.resume", id)?;
            draft.glued(Field::Session, "--resume", id)
        }
    }
}
