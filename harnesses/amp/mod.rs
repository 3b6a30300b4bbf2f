//! Amp (`@ampcode/cli`). By excerpts of its manual, read on 2026-12-01; without an account no run with a model was made.
//!
//! ```text
//! amp [threads continue ID] --execute --stream-json <profile args> [--mode=L] [--dangerously-allow-all]
//!                                                                                        (payload on stdin)
//! ```
//!
//! - `--stream-json` writes messages, one a line (read). Without a key it prints the address of its sign-in on standard
//!   output and waits: what the runner ends then is told as a failure to sign in.
//! - What may run stands in its settings, `amp.permissions`; a file of ours would take the place of the user's, with what
//!   they forbid in it. So every restriction is refused.
//! - `--mode` picks the model and how long it thinks: low, medium, high, ultra (read).

use super::families::messages::{Flavour, Messages};
use super::families::{references, simple};
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::{AgentBuilder, Draft, Facts, StdinPrompt};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{LineReader, Reader, RunEnd};
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::sync::LazyLock;

/// The harness of Amp.
#[derive(Debug, Clone, Copy)]
pub struct Amp;

static FACTS: LazyLock<Facts> = LazyLock::new(|| match Facts::from_json(include_str!("harness.json")) {
    Ok(facts) => facts,
    Err(bad) => unreachable!("{bad}"),
});

/// The options of the manual (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("execute", Some('x'), MaybeValue, Ours),
        opt("stream-json", None, Nothing, Ours),
        opt("stream-json-input", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('V'), Nothing, Ours),
        opt("mode", Some('m'), Value, Free),
        opt("settings-file", None, Value, Right),
        opt("mcp-config", None, Value, Right),
        opt("toolbox", None, Value, Right),
        opt("executor", None, Value, Right),
        opt("dangerously-allow-all", None, Nothing, Right),
    ],
};

/// No limit is documented; this one keeps it to what was read of others.
const STDIN: StdinPrompt = StdinPrompt { fold_system: true, guarded: &[], most: 10_000_000 };

const MODES: &[(Effort, &str)] =
    &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "ultra")];

const WHY: &str =
    "amp takes what may run from its settings alone, and a file of ours would replace what the user forbids";

impl AgentBuilder for Amp {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        session(&mut draft)?;
        draft.args(["--execute", "--stream-json"]);
        if request.output != Output::Auto {
            draft.row(Field::Output, Carried::Flag, "--stream-json, its one form that says how a run ended");
        }
        draft.profile_args(&GRAMMAR)?;
        draft.model()?;
        draft.dropped(Field::Model, "amp picks the model by its mode, which the effort names");
        if let Some(mode) = draft.effort(MODES) {
            draft.glued(Field::Effort, "--mode", mode)?;
        }
        let all = "--dangerously-allow-all: nothing is asked";
        simple::unheld(&mut draft, &["--dangerously-allow-all"], all, WHY)?;
        draft.dropped(Field::AddDirs, "amp has no flag for it");
        draft.dropped(Field::MaxTurns, "amp has no limit of turns");
        let payload = crate::lowering::payload(request, true);
        references::exact(&mut draft, &payload, "amp")?;
        draft.payload_on_stdin(&STDIN)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(LineReader::new(Messages::new(Flavour {
            facts: || &FACTS,
            kind: simple::kind,
            no_result,
            input_is_all: false,
        })))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

/// Threads are named by amp: `T-` and a UUID.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => Ok(()),
        Some(Session::New(None)) => {
            draft.session_of_its_own();
            Ok(())
        }
        Some(Session::New(Some(_))) => Err(simple::own_ids(&FACTS)),
        Some(Session::Resume(id)) => {
            let Some(uuid) = id.strip_prefix("T-") else {
                let why = format!("`{}` is no id of a thread: those of amp begin with T-", cut(id, 80));
                return Err(Failure::invalid("session.resume", why));
            };
            draft.uuid("session.resume", uuid)?;
            draft.args(["threads", "continue"]);
            draft.arg(id.clone());
            draft.row(Field::Session, Carried::Flag, format!("threads continue {id}"));
            Ok(())
        }
    }
}

fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let signs_in = last_output.contains("https://") && last_output.contains("auth");
    if signs_in || end.last_line().is_some_and(|line| !end.is_fine() && line.contains("amp login")) {
        return FACTS.failure(Kind::Auth, "it asks to sign in in a browser");
    }
    simple::failed(&FACTS, end, last_output)
}

/// Its settings by default let every tool run.
#[cfg(feature = "stand-in")]
static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |words| match words {
        [threads, go_on, _] if threads == "threads" && go_on == "continue" => Some(3),
        _ => Some(0),
    },
    prompt: simple::Prompt::Stdin,
    commands: &[],
    trims: false,
    model: "mode",
    lead: "",
    form: |parsed| if parsed.has("stream-json") { Output::Stream } else { Output::Text },
    may_run: |_, _| Box::new(|_| true),
};
