//! Amp (`@ampcode/cli`). By excerpts of its manual, its help and its program, read on 2026-12-01; without an account no
//! run with a model was made.
//!
//! ```text
//! amp [threads continue ID] --execute[=TEXT] --stream-json --no-ide <profile args> [--mode=L]  (payload on stdin)
//! ```
//!
//! - `--stream-json` writes messages, one a line (read). Without a key it prints the address of its sign-in on standard
//!   output and waits for ever: the line that says so ends the run, as a failure to sign in.
//! - The prompt stands on stdin, which loses the white space at its end; beside a text of `--execute` it would be put
//!   into a fence before it (read). So a text with white space at its end is the value of `--execute`, and stdin empty.
//! - By itself it adds the file and the selection of an open editor to every message (read): `--no-ide`.
//! - Every tool runs unasked but what the settings refuse: `amp.permissions`. A file of ours would take the place of the
//!   user's, with what they forbid in it; settings of the project and of an administrator would win over it (read). So
//!   every restriction is refused. `--dangerously-allow-all` would lift what the user forbids, and is not used.
//! - `--mode` picks the model and how long it thinks: low, medium, high, ultra (read).

use super::families::messages::{Flavour, Messages};
use super::families::{references, simple};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{Collector, Decode, Event, LineReader, Out, Reader, Reply, RunEnd};
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::sync::LazyLock;

/// The harness of Amp.
#[derive(Debug, Clone, Copy)]
pub struct Amp;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// The options of the manual (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("execute", Some('x'), MaybeValue, Ours),
        opt("stream-json", None, Nothing, Ours),
        opt("stream-json-input", None, Nothing, Ours),
        opt("stream-json-thinking", None, Nothing, Ours),
        opt("no-ide", None, Nothing, Ours),
        opt("ide", None, Nothing, Ours),
        opt("no-tui", None, Nothing, Ours),
        opt("orb-execute", None, Nothing, Ours),
        opt("attach", None, Value, Ours),
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

/// Threads are named by amp. One is gone on with by a command, see [`session`].
const THREADS: Sessions =
    Sessions { ids: SessionIds::UuidAfter("T-"), begin: None, resume: Flag::Pair("threads continue") };

impl AgentBuilder for Amp {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        session(&mut draft)?;
        let payload = crate::lowering::payload(request, true);
        let as_option = payload.trim_end().len() != payload.len();
        if !as_option {
            draft.args(["--execute"]);
        }
        draft.args(["--stream-json", "--no-ide"]);
        draft.output_row("--stream-json", "it says how a run ended");
        draft.profile_args(&GRAMMAR)?;
        draft.model()?;
        draft.dropped(Field::Model, "amp picks the model by its mode, which the effort names");
        draft.effort_flag(Flag::Glued("--mode"), MODES)?;
        let all = "no flag: every tool runs unasked but what the settings refuse";
        simple::unheld(&mut draft, (Carried::Runner, &[]), all, WHY)?;
        draft.dropped(Field::AddDirs, "amp has no flag for it");
        draft.dropped(Field::MaxTurns, "amp has no limit of turns");
        references::exact(&mut draft, &payload, true)?;
        simple::refuse_commands(&draft, &payload, COMMANDS)?;
        if as_option {
            let payload = draft.payload(true);
            draft.refuse_blank(&payload)?;
            draft.fits(Field::Prompt, &format!("--execute={payload}"))?;
            let how = "--execute=, since white space at the end is cut off on stdin";
            draft.row(Field::Prompt, Carried::Flag, how);
            draft.arg(format!("--execute={payload}"));
        } else {
            draft.payload_on_stdin(&STDIN)?;
        }
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        let messages =
            Messages::new(Flavour { facts: || &FACTS, kind: simple::kind, no_result, input_is_all: false });
        Box::new(LineReader::new(AmpLines { messages, signs_in: None }))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

/// Threads are named by amp: `T-` and a UUID.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    let Some(Session::Resume(id)) = &draft.request.session else { return draft.session(&THREADS) };
    draft.session_id("session.resume", id, THREADS.ids)?;
    draft.args(["threads", "continue"]);
    draft.arg(id.clone());
    draft.row(Field::Session, Carried::Flag, format!("threads continue {id}"));
    Ok(())
}

/// What it may take for its own at the start of a text: nothing is written about runs without a terminal, and in one
/// these are.
const COMMANDS: &[char] = &['/', '$'];

/// Messages, and the line of one that will never get an answer.
struct AmpLines {
    messages: Messages,
    signs_in: Option<String>,
}

impl Decode for AmpLines {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        // What an agent says stands in JSON: a line like this is of amp itself.
        if line.starts_with(b"No API key found") {
            self.signs_in = Some(crate::reply::utf8(line).into_owned());
            return out.event(Event::End { ok: false });
        }
        self.messages.line(line, out);
    }

    fn judge(self, collected: Collector, end: &RunEnd) -> Reply {
        match self.signs_in {
            None => self.messages.judge(collected, end),
            Some(said) => Reply { error: Some(FACTS.failure(Kind::Auth, &said)), ..Reply::default() },
        }
    }
}

fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    if let Some(line) = simple::told(end, &["amp login", "AMP_API_KEY"]).filter(|_| !end.is_fine()) {
        return FACTS.failure(Kind::Auth, &line);
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
    prompt: simple::Prompt::OptionOrStdin("execute"),
    commands: COMMANDS,
    trims: false,
    model: "mode",
    lead: "",
    form: |parsed| if parsed.has("stream-json") { Output::Stream } else { Output::Text },
    may_run: |_, _| Box::new(|_| true),
};
