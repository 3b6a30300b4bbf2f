//! Auggie (`@augmentcode/auggie`). By excerpts of its documentation, its help and its program (0.36.0), read on 2026-12-01;
//! without an account no run with a model was made.
//!
//! ```text
//! auggie --print --output-format json <profile args> [--model=M] [--reasoning-effort=L] [--max-turns=N] [--resume=ID]
//!        [--add-workspace=D]… --instruction-file=FILE
//! ```
//!
//! - With no server behind it, it ended with status 0 and without a word: that is an empty reply.
//! - `--ask` is a sentence before the prompt and takes no tool away (read). A tool in no rule of `--permission` runs, and
//!   what servers, integrations of the account and sub-agents bring is in no list here; nobody has seen that denied tools
//!   stay away. So every restriction is refused.
//! - The instruction is trimmed, and a leading `/` is a command of the user or the project (read): both are refused.

use super::families::messages::{Flavour, Messages, ResultMessage};
use super::families::simple;
use crate::command::Text;
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{DocumentReader, Reader, RunEnd};
use crate::request::{DispatchRequest, Effort, Output};
use std::sync::LazyLock;

/// The harness of Auggie.
#[derive(Debug, Clone, Copy)]
pub struct Auggie;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// The options of the documentation (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("print", Some('p'), Nothing, Ours),
        opt("quiet", Some('q'), Nothing, Ours),
        opt("output-format", None, Value, Ours),
        opt("instruction", Some('i'), Value, Ours),
        opt("instruction-file", None, Value, Ours),
        opt("resume", Some('r'), MaybeValue, Ours),
        opt("continue", Some('c'), Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("reasoning-effort", None, Value, Free),
        opt("max-turns", None, Value, Free),
        opt("retry-timeout", None, Value, Free),
        opt("rules", None, Value, Free),
        opt("wait-for-indexing", None, Nothing, Free),
        opt("allow-indexing", None, Nothing, Free),
        opt("show-cost", None, Nothing, Free),
        opt("queue", None, Value, Ours),
        opt("enhance-prompt", None, Nothing, Ours),
        opt("mcp", None, Nothing, Ours),
        opt("acp", None, Nothing, Ours),
        opt("ask", Some('a'), Nothing, Ours),
        opt("remove-tool", None, Value, Right),
        opt("permission", None, Value, Right),
        opt("mcp-config", None, Value, Right),
        opt("workspace-root", Some('w'), Value, Right),
        opt("add-workspace", None, Value, Right),
        opt("persona", None, Value, Right),
        opt("plugin-dir", None, Value, Right),
        opt("shell", None, Value, Right),
        opt("startup-script", None, Value, Right),
        opt("startup-script-file", None, Value, Right),
    ],
};

const EFFORT: &[(Effort, &str)] = &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];
const WHY: &str = "auggie runs every tool that no rule names, and its --ask is but a sentence in the prompt";

const SESSIONS: Sessions = Sessions { ids: SessionIds::Any, begin: None, resume: Flag::Glued("--resume") };

impl AgentBuilder for Auggie {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        draft.args(["--print", "--output-format", "json"]);
        draft.output_row("--output-format json", "it says whether the run ended well");
        draft.profile_args(&GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        draft.effort_flag(Flag::Glued("--reasoning-effort"), EFFORT)?;
        simple::unheld(
            &mut draft,
            (Carried::Runner, &[]),
            "no flag: what the user's settings do not forbid runs",
            WHY,
        )?;
        draft.session(&SESSIONS)?;
        draft.max_turns(Flag::Glued("--max-turns"))?;
        draft.add_dirs(Flag::Glued("--add-workspace"))?;
        draft.dropped(Field::FileReferences, "auggie replaces no @path of an instruction file");
        let payload = draft.payload(true);
        draft.refuse_blank(&payload)?;
        simple::refuse_commands(&draft, &payload, &['/'])?;
        simple::refuse_trimmed(&draft, &payload)?;
        draft.row(Field::Prompt, Carried::File, format!("--instruction-file, {} bytes", payload.len()));
        draft.arg(Text::file("--instruction-file=", "prompt.md"));
        draft.file("prompt.md", payload.into_owned());
        Ok(draft.finish(Output::Json))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(DocumentReader::new(Messages::new(Flavour {
            facts: || &FACTS,
            kind,
            no_result,
            input_is_all: false,
        })))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

/// Its own words for how it ended, then the HTTP status.
fn kind(result: &ResultMessage) -> Kind {
    match result.subtype.as_deref() {
        Some("error_max_turns") => Kind::MaxTurns,
        _ => simple::kind(result),
    }
}

fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    let signs_in = ["No auth provided", "Authentication failed"];
    match simple::told(end, &signs_in).filter(|_| !end.is_fine()) {
        Some(line) => FACTS.failure(Kind::Auth, line.trim_start_matches(['\u{274c}', ' '])),
        None => simple::failed(&FACTS, end, last_output),
    }
}

/// Everything may run, whatever `--ask` says: nothing has shown otherwise.
#[cfg(feature = "stand-in")]
static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |_| Some(0),
    prompt: simple::Prompt::File("instruction-file"),
    commands: &['/'],
    trims: true,
    model: "model",
    lead: "",
    form: |parsed| if parsed.last("output-format") == Some("json") { Output::Json } else { Output::Text },
    may_run: |_, _| Box::new(|_| true),
};
