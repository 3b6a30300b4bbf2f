//! Claude Code (`@anthropic-ai/claude-code`), as verified by running 2.1.332 on 2026-12-01, and 2.1.197 and 2.1.50.
//!
//! ```text
//! claude --print --output-format json|stream-json [--verbose] <profile args> [--model=M] [--effort=E]
//!        [--system-prompt=S | --system-prompt-file=F] [rights] [--json-schema=S] [--session-id=U | --resume=U]
//!        [--add-dir=D]… [--max-turns=N]                                                  (payload on stdin)
//! ```
//!
//! - Its text form prints errors where answers stand, with status 0 among them: it is always asked for
//!   messages, and the text is taken out of the last one.
//! - The payload goes to stdin: it is read as it is up to 10 MB, but for a leading `/`, which is a command,
//!   and `@path`, which is replaced by the file, outside of the working directory too.
//! - `--allowedTools` approves and never restricts, `--tools` does; `plan` is not read-only; malformed
//!   rules fail open in silence. See `rights.rs`.
//! - It tries again up to 11 times (187 s) by itself; here twice.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Carried, Field, Lowered, draft_07_object};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Claude Code.
#[derive(Debug, Clone, Copy)]
pub struct Claude;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// It reads 10 MB and ends with 1 over it (run).
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &['/'], most: 10_000_000 };
/// With the flag in one argument.
const MAX_SCHEMA: usize = 100_000;

/// No look for updates and no telemetry; two tries more after an error of the model server, and two more
/// after a value that its own checker refuses; what it leaves behind goes with the run's folder.
static ENV: [EnvEntry; 5] = [
    (Cow::Borrowed("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("CLAUDE_CODE_MAX_RETRIES"), Text::Plain(Cow::Borrowed("2"))),
    (Cow::Borrowed("MAX_STRUCTURED_OUTPUT_RETRIES"), Text::Plain(Cow::Borrowed("3"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
    (Cow::Borrowed("CLAUDE_CODE_TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

/// Its levels; others are ignored with a warning (run).
const EFFORT: &[(Effort, &str)] = &[
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

/// Other texts than UUIDs are titles to `--resume`, and refused by `--session-id` (run).
const SESSIONS: Sessions = Sessions {
    ids: SessionIds::Uuid,
    begin: Some(Flag::Glued("--session-id")),
    resume: Flag::Glued("--resume"),
};

impl AgentBuilder for Claude {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        let (output, form) = match request.output {
            Output::Stream => (Output::Stream, &["--output-format=stream-json", "--verbose"][..]),
            _ => (Output::Json, &["--output-format=json"][..]),
        };
        draft.args(["--print"]);
        draft.args(form.iter().copied());
        draft.output_row(&form.join(" "), "the text form prints errors as answers");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        draft.effort_flag(Flag::Glued("--effort"), EFFORT)?;
        // Replaces the CLI's own. 2.1.332 keeps that of the first turn when a session is resumed.
        draft.system_prompt_flag("--system-prompt", "--system-prompt-file=");
        rights::lower(&mut draft)?;
        schema(&mut draft)?;
        draft.session(&SESSIONS)?;
        draft.add_dirs(Flag::Glued("--add-dir"))?;
        draft.max_turns(Flag::Glued("--max-turns"))?;
        draft.max_cost("--max-budget-usd");
        references(&mut draft)?;
        draft.payload_on_stdin(&STDIN)?;
        Ok(draft.finish(output))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::ClaudeStandIn)
    }
}

/// The CLI's own check gives the model its faults at once; where it would refuse the schema itself, the
/// instruction in the prompt is all.
fn schema(draft: &mut Draft<'_>) -> Result<()> {
    let Some(schema) = &draft.request.schema else { return Ok(()) };
    match draft_07_object(schema.text(), MAX_SCHEMA) {
        Some(own) => draft.glued(Field::Schema, "--json-schema", &own),
        None => {
            draft.row(
                Field::Schema,
                Carried::Prompt,
                "no --json-schema: its checker would refuse this schema",
            );
            Ok(())
        }
    }
}

/// `@path` at the start of a word is replaced by the file, also in `~` and above the working directory;
/// `@agent-NAME` adds an order to the text (run).
fn references(draft: &mut Draft<'_>) -> Result<()> {
    use super::families::references::{exact, field_at, tokens};
    let payload = crate::lowering::payload(draft.request, false);
    if let Some((at, token)) = tokens(&payload).find(|(_, token)| token.starts_with("agent-")) {
        let field = field_at(draft.request, false, at);
        let why = format!("{field}: claude takes `@{token}` for an order to its agent, and adds to the text");
        return Err(
            crate::error::Failure::new(crate::error::Kind::Unsupported, why).hint("write it without the @")
        );
    }
    exact(draft, &payload, false)
}
