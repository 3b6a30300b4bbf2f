//! Factory Droid (`@factory/cli`), as verified by running 0.225.2 on 2026-12-01.
//!
//! ```text
//! droid exec --output-format=stream-json <profile args> [--model=M] [--reasoning-effort=E]
//!            [--append-system-prompt=S | --append-system-prompt-file=F] [rights] [--fork=U]     (payload on stdin)
//! ```
//!
//! - The json form says `Exec failed` of every failure, and the text form nothing: it is always asked for events.
//! - Stdin is read as it is, white space at both ends too, but for commands and `@path`: see `prompt.rs`.
//! - SIGTERM and SIGINT end it with status 0; one that comes while a tool runs ends the tool alone.
//! - `--session-id` asks Factory's server for the session, also for one that is kept here. `--fork` goes on with
//!   a copy, under a new id.
//! - It tries again by itself, 90 s where the model server says 429 and 4 minutes where it is broken, and has no
//!   setting for that.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, StdinPrompt};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Factory Droid.
#[derive(Debug, Clone, Copy)]
pub struct Droid;

static FACTS: LazyLock<Facts> = LazyLock::new(|| match Facts::from_json(include_str!("harness.json")) {
    Ok(facts) => facts,
    Err(bad) => unreachable!("{bad}"),
});

/// No updates, and nothing told of the run (read).
static ENV: [EnvEntry; 2] = [
    (Cow::Borrowed("FACTORY_DROID_AUTO_UPDATE_ENABLED"), Text::Plain(Cow::Borrowed("false"))),
    (Cow::Borrowed("FACTORY_OTEL_ENABLED"), Text::Plain(Cow::Borrowed("false"))),
];

/// Tried with 200 KiB; no limit is known.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 8 << 20 };

/// Its levels; another word is an error. A model that has no such level is asked with its own default, in silence
/// (run).
const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
    (Effort::Max, "max"),
];

impl AgentBuilder for Droid {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["exec", "--output-format=stream-json"]);
        match request.output {
            Output::Auto => {}
            Output::Text => draft.row(
                Field::Output,
                Carried::Flag,
                "--output-format=stream-json, and the text is taken from it: the text form names no failure",
            ),
            Output::Json => {
                draft.row(Field::Output, Carried::Flag, "--output-format=stream-json, one event a line");
            }
            Output::Stream => draft.row(Field::Output, Carried::Flag, "--output-format=stream-json"),
        }
        draft.profile_args(&rights::GRAMMAR)?;
        if let Some(model) = draft.model()? {
            draft.glued(Field::Model, "--model", model)?;
        }
        if let Some(word) = draft.effort(EFFORT) {
            draft.glued(Field::Effort, "--reasoning-effort", word)?;
        }
        system_prompt(&mut draft)?;
        rights::lower(&mut draft)?;
        session(&mut draft)?;
        draft.dropped(Field::AddDirs, "droid has no option for them: its tools reach every directory");
        draft.dropped(Field::MaxTurns, "droid has no limit of turns");
        prompt::lower(&mut draft)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::DroidStandIn)
    }
}

/// Stands behind the CLI's own. It is no part of a session, so every run has it (run).
fn system_prompt(draft: &mut Draft<'_>) -> Result<()> {
    let Some(system) = draft.system_prompt() else { return Ok(()) };
    if system.len() < MAX_ARGUMENT - 32 {
        return draft.glued(Field::SystemPrompt, "--append-system-prompt", system);
    }
    draft.file("system.md", system);
    draft.arg(Text::file("--append-system-prompt-file=", "system.md"));
    draft.row(
        Field::SystemPrompt,
        Carried::File,
        "--append-system-prompt-file, since it is larger than an argument",
    );
    Ok(())
}

/// It gives every session an id of its own.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => Ok(()),
        Some(Session::New(None)) => {
            draft.session_of_its_own();
            Ok(())
        }
        Some(Session::New(Some(_))) => Err(Failure::new(
            Kind::Unsupported,
            "session.id: droid gives every session an id of its own, and takes none",
        )
        .hint("leave the id out: the outcome has the one that droid gave")),
        Some(Session::Resume(id)) => {
            draft.uuid("session.resume", id)?;
            let how = format!("--fork={id}: it goes on with a copy, and the outcome has the id of that");
            draft.row(Field::Session, Carried::Flag, how);
            draft.arg(format!("--fork={id}"));
            Ok(())
        }
    }
}
