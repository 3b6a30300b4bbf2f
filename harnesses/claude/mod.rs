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
use crate::harness::{AgentBuilder, Draft, Facts, StdinPrompt};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT, draft_07_object};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Claude Code.
#[derive(Debug, Clone, Copy)]
pub struct Claude;

static FACTS: LazyLock<Facts> = LazyLock::new(|| match Facts::from_json(include_str!("harness.json")) {
    Ok(facts) => facts,
    Err(bad) => unreachable!("{bad}"),
});

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

impl AgentBuilder for Claude {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        let output = match request.output {
            Output::Stream => Output::Stream,
            _ => Output::Json,
        };
        draft.args(["--print", "--output-format"]);
        draft.args(
            if output == Output::Stream { &["stream-json", "--verbose"][..] } else { &["json"] }
                .iter()
                .copied(),
        );
        match request.output {
            Output::Auto => {}
            Output::Text => draft.row(
                Field::Output,
                Carried::Flag,
                "--output-format json, and the text is taken from it: the text form prints errors as answers",
            ),
            Output::Json => draft.row(Field::Output, Carried::Flag, "--output-format json"),
            Output::Stream => {
                draft.row(Field::Output, Carried::Flag, "--output-format stream-json --verbose")
            }
        }
        draft.profile_args(&rights::GRAMMAR)?;
        if let Some(model) = draft.model()? {
            draft.glued(Field::Model, "--model", model)?;
        }
        if let Some(word) = draft.effort(EFFORT) {
            draft.glued(Field::Effort, "--effort", word)?;
        }
        system_prompt(&mut draft)?;
        rights::lower(&mut draft)?;
        schema(&mut draft)?;
        session(&mut draft)?;
        for dir in &request.add_dirs {
            draft.glued(Field::AddDirs, "--add-dir", &dir.to_string_lossy())?;
        }
        if let Some(turns) = request.max_turns {
            draft.glued(Field::MaxTurns, "--max-turns", &turns.to_string())?;
        }
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

/// Replaces the CLI's own. 2.1.332 keeps that of the first turn when a session is resumed.
fn system_prompt(draft: &mut Draft<'_>) -> Result<()> {
    let Some(system) = draft.system_prompt() else { return Ok(()) };
    if system.len() < MAX_ARGUMENT - 32 {
        return draft.glued(Field::SystemPrompt, "--system-prompt", system);
    }
    draft.file("system.md", system);
    draft.arg(Text::file("--system-prompt-file=", "system.md"));
    draft.row(
        Field::SystemPrompt,
        Carried::File,
        "--system-prompt-file, since it is larger than an argument",
    );
    Ok(())
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

/// Other texts than UUIDs are titles to `--resume`, and refused by `--session-id` (run).
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

/// `@path` at the start of a word is replaced by the file, also in `~` and above the working directory;
/// `@agent-NAME` adds an order to the text (run).
fn references(draft: &mut Draft<'_>) -> Result<()> {
    use super::families::references::{exact, field_at, tokens};
    let payload = crate::lowering::payload(draft.request, false);
    if let Some((at, token)) = tokens(&payload).find(|(_, token)| token.starts_with("agent-")) {
        let field = field_at(draft.request, at);
        let why = format!("{field}: claude takes `@{token}` for an order to its agent, and adds to the text");
        return Err(
            crate::error::Failure::new(crate::error::Kind::Unsupported, why).hint("write it without the @")
        );
    }
    exact(draft, &payload, "claude")
}
