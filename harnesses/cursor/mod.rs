//! Cursor CLI (`cursor-agent`, also installed as `agent`). By excerpts of its documentation, read on 2026-12-01; it was not run.
//!
//! ```text
//! cursor-agent --print --output-format json|stream-json <profile args> [--model=M] [--resume=ID] [--force] TEXT
//! ```
//!
//! - A failure has no JSON: a status that is not 0, and a text on standard error; a stream may end without a result
//!   (read). The default form was another one in older versions, so it is always named.
//! - `--print` edits files of the workspace, and runs what the user's own lists or its sandbox let run; `--force` runs
//!   everything but what the user denies (read). Lists stand in files of the user and the project alone, so no
//!   invocation is held to one, and a mode is chosen by the agent's own means: restrictions are refused.
//! - The prompt is a word. Nothing says that `--` keeps one with a dash from being an option, `/` begins commands in its
//!   terminal, `&` hands the task to an agent in the cloud, and one word alone may be a sub-command (`login`, `update`):
//!   all are refused.
//! - A result holds every text of the agent, one behind the other (read).

use super::families::messages::{Flavour, Messages};
use super::families::{references, simple};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{MaybeValue, Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{DocumentReader, LineReader, Reader, RunEnd};
use crate::request::{DispatchRequest, Output};
use std::sync::LazyLock;

/// The harness of Cursor CLI.
#[derive(Debug, Clone, Copy)]
pub struct Cursor;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// The options of the documentation (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::COMMANDER },
    options: &[
        opt("print", Some('p'), Nothing, Ours),
        opt("output-format", None, Value, Ours),
        opt("stream-partial-output", None, Nothing, Ours),
        opt("resume", None, MaybeValue, Ours),
        opt("continue", None, Nothing, Ours),
        opt("list-models", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("version", Some('v'), Nothing, Ours),
        opt("model", Some('m'), Value, Free),
        opt("api-key", None, Value, Free),
        opt("header", Some('H'), Value, Free),
        opt("force", Some('f'), Nothing, Right),
        opt("yolo", None, Nothing, Right),
        opt("mode", None, Value, Right),
        opt("plan", None, Nothing, Right),
        opt("sandbox", None, Value, Right),
        opt("trust", None, Nothing, Right),
        opt("approve-mcps", None, Nothing, Right),
        opt("workspace", None, Value, Right),
        opt("worktree", Some('w'), MaybeValue, Right),
        opt("cloud", Some('c'), Nothing, Right),
    ],
};

const WHY: &str = "cursor takes its lists of tools from files of the user and the project, and no flag holds a run without \
                   a terminal to less";

const SESSIONS: Sessions = Sessions { ids: SessionIds::Any, begin: None, resume: Flag::Glued("--resume") };

impl AgentBuilder for Cursor {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        let (output, form) = match request.output {
            Output::Stream => (Output::Stream, "stream-json"),
            _ => (Output::Json, "json"),
        };
        draft.args(["--print", "--output-format", form]);
        draft.output_row(&format!("--output-format {form}"), "it says whether the run ended well");
        draft.profile_args(&GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        simple::unheld(
            &mut draft,
            (Carried::Flag, &["--force"]),
            "--force: everything runs but what the user denies",
            WHY,
        )?;
        draft.session(&SESSIONS)?;
        draft.dropped(Field::Effort, "cursor has no flag for it; some of its models have it in their names");
        draft.dropped(Field::AddDirs, "cursor has no flag for it");
        draft.dropped(Field::MaxTurns, "cursor has no limit of turns");
        prompt(&mut draft)?;
        Ok(draft.finish(output))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        match output {
            Output::Stream => Box::new(LineReader::new(Messages::new(FLAVOUR))),
            _ => Box::new(DocumentReader::new(Messages::new(FLAVOUR))),
        }
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

const COMMANDS: &[char] = &['/', '&'];

/// One word as names of sub-commands are: there are some forty, and more may come.
fn is_sub_command(text: &str) -> bool {
    (2..32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

const FLAVOUR: Flavour = Flavour { facts: || &FACTS, kind: simple::kind, no_result, input_is_all: false };

fn no_result(end: &RunEnd, last_output: &str) -> Failure {
    simple::failed(&FACTS, end, last_output)
}

fn prompt(draft: &mut Draft<'_>) -> Result<()> {
    let payload = draft.payload(true);
    draft.refuse_blank(&payload)?;
    simple::refuse_commands(draft, &payload, COMMANDS)?;
    if is_sub_command(&payload) {
        let why = format!("prompt: cursor may take `{payload}` for a command of its own");
        return Err(Failure::new(Kind::Unsupported, why).hint("say it in a sentence"));
    }
    if crate::lowering::looks_like_flag(&payload) {
        let why = "prompt: cursor takes it as a word, and one that begins with a dash may be an option to it";
        return Err(Failure::new(Kind::Unsupported, why).hint("put a word before the dash"));
    }
    references::exact(draft, &payload, true)?;
    draft.fits(Field::Prompt, &payload)?;
    draft.row(Field::Prompt, Carried::Flag, "the last argument");
    draft.arg(payload.into_owned());
    Ok(())
}

/// Without `--force` reading and edits run, and of commands what the user's own list has: none here.
#[cfg(feature = "stand-in")]
static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |words| (!words.first().is_some_and(|word| is_sub_command(word))).then_some(0),
    prompt: simple::Prompt::Word,
    commands: COMMANDS,
    trims: false,
    model: "model",
    lead: "",
    form: |parsed| match parsed.last("output-format") {
        Some("json") => Output::Json,
        Some("stream-json") => Output::Stream,
        _ => Output::Text,
    },
    may_run: |_, parsed| {
        let all = parsed.has("force") || parsed.has("yolo");
        Box::new(move |used| {
            let known = FACTS.tools.get(crate::policy::tool_argument(used).0);
            all || known.is_some_and(|tool| tool.needs < crate::policy::Permission::Full)
        })
    },
};
