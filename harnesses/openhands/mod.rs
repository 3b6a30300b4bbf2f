//! OpenHands CLI (`openhands`), as verified by running 1.16.0 on 2026-12-01.
//!
//! ```text
//! openhands --headless --json --override-with-envs <profile args> [--resume=U] --task=PAYLOAD
//!           LLM_MODEL=M in its environment
//! ```
//!
//! - Headless, it asks nobody and runs everything, `--llm-approve` or not: it has no rights to set, so that each
//!   request that restricts is refused.
//! - Without `--override-with-envs` it takes no notice of LLM_MODEL, LLM_API_KEY and LLM_BASE_URL. With it, those
//!   that are set win over what is stored, and a run with neither ends with 1 and says so; without it, with 0.
//! - A `.env` of the working directory sets what the environment does not: LLM_BASE_URL in it would send the key
//!   elsewhere. It has no effect here.
//! - `.openhands/hooks.json` of the working directory runs commands, tools or not.
//! - The payload stands in one argument, glued: everything is text there. A file (`-f`) is wrapped in words of
//!   the CLI, and standard input is not read.
//! - `--resume` of an id that is not there begins a conversation of that id, without a word: good for a new one
//!   with an id, and looked for before one is gone on with.
//! - Its terminal is in a tmux server of its own session, that outlives it, and that the next run would join: it
//!   has its socket in the run's folder.
//! - It buffers its output when it is no terminal, and loses it when it is ended.
//! - It fetches skills from the network at each start, and asks a failing model again for two minutes; there is no
//!   setting for either. The model is always asked for a high effort.

mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;

use super::families::simple;
use crate::command::{Check, EnvEntry, EnvFiles, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of OpenHands CLI.
#[derive(Debug, Clone, Copy)]
pub struct OpenHands;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// The caller's own model and address, or none: not those of a `.env`. Lines as they are written, a terminal
/// that ends with the run, no banner, no list of prices from the network.
static ENV: [EnvEntry; 6] = [
    (Cow::Borrowed("LLM_MODEL"), Text::Pieces(Cow::Borrowed(&[Piece::Env(Cow::Borrowed("LLM_MODEL"))]))),
    (
        Cow::Borrowed("LLM_BASE_URL"),
        Text::Pieces(Cow::Borrowed(&[Piece::Env(Cow::Borrowed("LLM_BASE_URL"))])),
    ),
    (Cow::Borrowed("PYTHONUNBUFFERED"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("OPENHANDS_SUPPRESS_BANNER"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("LITELLM_LOCAL_MODEL_COST_MAP"), Text::Plain(Cow::Borrowed("True"))),
    (Cow::Borrowed("TMUX_TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

const ENV_FILES: EnvFiles =
    EnvFiles { names: Cow::Borrowed(&[Cow::Borrowed(".env")]), keep: Cow::Borrowed(&[]) };

/// All options of 1.16.0.
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::ARGPARSE },
    options: &[
        opt("task", Some('t'), Value, Ours),
        opt("file", Some('f'), Value, Ours),
        opt("headless", None, Nothing, Ours),
        opt("json", None, Nothing, Ours),
        opt("resume", None, MaybeValue, Ours),
        opt("last", None, Nothing, Ours),
        opt("override-with-envs", None, Nothing, Ours),
        opt("exit-without-confirmation", None, Nothing, Free),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("always-approve", None, Nothing, Right),
        opt("yolo", None, Nothing, Right),
        opt("llm-approve", None, Nothing, Right),
    ],
};

const SESSIONS: Sessions =
    Sessions { ids: SessionIds::Uuid, begin: Some(Flag::Glued("--resume")), resume: Flag::Glued("--resume") };

const WHY: &str = "headless, it runs every tool unasked";

impl AgentBuilder for OpenHands {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.env_files = Some(ENV_FILES);
        draft.args(["--headless", "--json", "--override-with-envs"]);
        draft.output_row("--json", "the other form is a screen");
        draft.profile_args(&GRAMMAR)?;
        simple::unheld(&mut draft, (Carried::Runner, &[]), WHY, WHY)?;
        draft.model_env("LLM_MODEL")?;
        session(&mut draft)?;
        draft.dropped(Field::Effort, "OpenHands always asks for a high effort");
        draft.dropped(
            Field::AddDirs,
            "OpenHands works in one directory; its tools reach others by their paths",
        );
        draft.dropped(Field::MaxTurns, "OpenHands has no flag for it");
        draft.dropped(Field::FileReferences, "OpenHands replaces no @path");
        let payload = draft.payload(true);
        draft.refuse_blank(&payload)?;
        draft.glued(Field::Prompt, "--task", &payload)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::OpenHandsStandIn)
    }
}

/// A folder for each conversation, named by its id without dashes.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    draft.session(&SESSIONS)?;
    let Some(Session::Resume(id)) = &draft.request.session else { return Ok(()) };
    let folder = id.replace('-', "").to_ascii_lowercase();
    let below = |name: &'static str, path: String| {
        Text::Pieces(vec![Piece::Env(name.into()), Piece::Plain(path.into())].into())
    };
    draft.checks.push(Check::SessionIn {
        id: id.clone(),
        places: vec![
            below("OPENHANDS_CONVERSATIONS_DIR", format!("/{folder}")),
            below("OPENHANDS_PERSISTENCE_DIR", format!("/conversations/{folder}")),
            Text::Pieces(
                vec![Piece::Home, Piece::Plain(format!("/.openhands/conversations/{folder}").into())].into(),
            ),
        ],
    });
    Ok(())
}
