//! Crush (`@charmland/crush`). By excerpts of its source (`internal/cmd`), read on 2026-12-01; it was not run.
//!
//! ```text
//! crush run --quiet <profile args> [--model=P/M] [--session=ID] -- TEXT
//! ```
//!
//! - `run` approves every tool by itself, whatever is asked for: each restriction is refused.
//! - What comes on stdin gets two line feeds and the words behind it, so the prompt is a word after `--` and stdin is
//!   empty (read).
//! - It writes text alone: every text of the agent, one behind the other, with what it said before a tool among them. It
//!   says no id of the session; `--session` takes the beginning of an id too, and so another session (read): only a
//!   whole one is passed.

use super::families::simple;
use crate::command::{EnvEntry, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{Reader, TextReader};
use crate::request::{DispatchRequest, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Crush.
#[derive(Debug, Clone, Copy)]
pub struct Crush;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// Nothing is told of the run, and no list of models is looked for (read).
static ENV: [EnvEntry; 2] = [
    (Cow::Borrowed("CRUSH_DISABLE_METRICS"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("CRUSH_DISABLE_PROVIDER_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("1"))),
];

/// The options of `run` (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("quiet", Some('q'), Nothing, Ours),
        opt("session", Some('s'), Value, Ours),
        opt("continue", Some('C'), Nothing, Ours),
        opt("cwd", Some('c'), Value, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("small-model", None, Value, Free),
        opt("debug", Some('d'), Nothing, Free),
        opt("data-dir", Some('D'), Value, Right),
        opt("yolo", Some('y'), Nothing, Right),
    ],
};

const WHY: &str = "crush run approves every tool by itself, and no flag holds it to less";

const SESSIONS: Sessions = Sessions { ids: SessionIds::Uuid, begin: None, resume: Flag::Glued("--session") };

impl AgentBuilder for Crush {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["run", "--quiet"]);
        match request.output {
            Output::Auto => {}
            Output::Text => draft.row(Field::Output, Carried::Runner, "the only form that it has"),
            _ => draft.row(Field::Output, Carried::Dropped, "crush run writes text alone"),
        }
        draft.profile_args(&GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        simple::unheld(
            &mut draft,
            (Carried::Runner, &[]),
            "no flag: crush run approves every tool by itself",
            WHY,
        )?;
        if request.session == Some(Session::New(None)) {
            let none = "crush keeps every session, and run says no id of it";
            draft.row(Field::Session, Carried::Dropped, none);
        } else {
            draft.session(&SESSIONS)?;
        }
        draft.dropped(Field::Effort, "crush has no flag for it");
        draft.dropped(Field::AddDirs, "crush has no flag for it");
        draft.dropped(Field::MaxTurns, "crush has no limit of turns");
        draft.dropped(Field::FileReferences, "crush run replaces no @path");
        let payload = draft.payload(true);
        draft.refuse_blank(&payload)?;
        draft.fits(Field::Prompt, &payload)?;
        draft.row(Field::Prompt, Carried::Flag, "an argument after --: it changes what comes on stdin");
        draft.args(["--"]);
        draft.arg(payload.into_owned());
        Ok(draft.finish(Output::Text))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(TextReader::new(|stdout: String, end: &_| simple::text(&FACTS, &stdout, end)))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

/// Everything runs.
#[cfg(feature = "stand-in")]
static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |words| (words.first()? == "run").then_some(1),
    prompt: simple::Prompt::Word,
    commands: &[],
    trims: false,
    model: "model",
    lead: "",
    form: |_| Output::Text,
    may_run: |_, _| Box::new(|_| true),
};
