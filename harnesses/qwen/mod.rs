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

use crate::command::{EnvEntry, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::{Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Qwen Code.
#[derive(Debug, Clone, Copy)]
pub struct Qwen;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No colours, no notice of what its mode means; what it leaves behind goes with the run's folder.
static ENV: [EnvEntry; 3] = [
    (Cow::Borrowed("NO_COLOR"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("QWEN_CODE_SUPPRESS_YOLO_WARNING"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

/// The longest time that it takes for its own clock, in seconds: 24 days.
const LONGEST: f64 = 2_000_000.0;

/// Ids are UUIDs; `--resume` also takes titles.
const SESSIONS: Sessions = Sessions {
    ids: SessionIds::Uuid,
    begin: Some(Flag::Glued("--session-id")),
    resume: Flag::Glued("--resume"),
};

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
        draft.output_row(form, "the text form has no session and no usage");
        draft.arg(format!("--max-wall-time={}", wall_time(profile)));
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system-prompt", system)?;
        }
        rights::lower(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.add_dirs_uncut(Flag::Glued("--include-directories"))?;
        draft.max_turns(Flag::Glued("--max-session-turns"))?;
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
