//! GitHub Copilot CLI (`@github/copilot`), as verified by running 1.0.102 on 2026-12-01.
//!
//! ```text
//! copilot --output-format json --no-color --no-auto-update --no-ask-user --disable-client-telemetry
//!         --usage-output-file=F <profile args> [--model=M] [--reasoning-effort=E] [rights] [--add-dir=D]…
//!         [--session-id=U | --resume=U]                                                 (payload on stdin)
//! ```
//!
//! - Its text form has the agent's remarks between tools in the answer: it is always asked for events. They
//!   have no tokens in them, so those are taken from a file that it writes.
//! - Values are glued: `--allow-tool --help` prints the help and ends with 0.
//! - The prompt goes to stdin; `/x`, `@path` and `!x` are text there. White space at its end is cut in every
//!   channel, and a mark of byte order at its start.
//! - A resumed session goes back to its own directory, unless a variable forbids that.
//! - It ends with 0 when a signal ends it. It tries again up to 5 times by itself, which takes a minute.
//! - What it says has the values of secret variables masked.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Field, Lowered, payload};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of GitHub Copilot CLI.
#[derive(Debug, Clone, Copy)]
pub struct Copilot;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// A system prompt has a place only in files of the home or of the repository.
const STDIN: StdinPrompt = StdinPrompt { fold_system: true, guarded: &[], most: 10_000_000 };
/// The file with the tokens.
const USAGE: &str = "usage.json";

/// Both of the first would approve what nothing else does, whatever the flags are.
static ENV: [EnvEntry; 5] = [
    (Cow::Borrowed("COPILOT_ALLOW_ALL"), Text::Plain(Cow::Borrowed(""))),
    (Cow::Borrowed("COPILOT_ASSISTED_APPROVAL"), Text::Plain(Cow::Borrowed(""))),
    (Cow::Borrowed("COPILOT_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("COPILOT_DISABLE_RESUME_AUTO_CD"), Text::Plain(Cow::Borrowed("true"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

/// It says the id only in its last line. An id that it knows already is one that it resumes; other texts
/// than UUIDs are names.
const SESSIONS: Sessions = Sessions {
    ids: SessionIds::Uuid,
    begin: Some(Flag::Glued("--session-id")),
    resume: Flag::Glued("--resume"),
};

impl AgentBuilder for Copilot {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["--output-format", "json", "--no-color", "--no-auto-update", "--no-ask-user"]);
        draft.args(["--disable-client-telemetry"]);
        draft.arg(Text::file("--usage-output-file=", USAGE));
        draft.results.push(USAGE.into());
        draft.output_row("--output-format json", "the text form mixes remarks into the answer");
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        draft.effort_flag(Flag::Glued("--reasoning-effort"), EFFORT)?;
        rights::lower(&mut draft)?;
        draft.add_dirs(Flag::Glued("--add-dir"))?;
        draft.dropped(Field::MaxTurns, "copilot has a limit for its autopilot alone");
        draft.dropped(Field::FileReferences, "copilot reads no @path in a prompt from stdin");
        draft.session(&SESSIONS)?;
        exact(&draft)?;
        draft.payload_on_stdin(&STDIN)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::CopilotStandIn)
    }
}

/// Refuses what copilot would cut: white space at the end, in the sense of JavaScript, and a mark of byte
/// order at the start.
fn exact(draft: &Draft<'_>) -> Result<()> {
    let payload = payload(draft.request, true);
    let cut = |field: &str, what: &str| {
        Err(Failure::new(Kind::Unsupported, format!("{field}: {what}, which copilot would cut"))
            .hint("take it away"))
    };
    let is_space = |c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
    if payload.starts_with('\u{feff}') {
        let system = draft.request.system_prompt.as_deref().is_some_and(|text| text.starts_with('\u{feff}'));
        return cut(if system { "system_prompt" } else { "prompt" }, "begins with a byte order mark");
    }
    if payload.ends_with(is_space) && !payload.trim().is_empty() {
        return cut("prompt", "ends in white space");
    }
    Ok(())
}
