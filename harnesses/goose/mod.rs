//! goose. By excerpts of its documentation and an older source, read on 2026-12-01; it was not run.
//!
//! ```text
//! goose run --quiet <profile args> [--system=S] [--max-turns=N] [--no-session | [--resume] --name=ID]
//!       --instructions=FILE                                                 (GOOSE_MODEL=M, GOOSE_MODE=chat)
//! ```
//!
//! - Only the text form is sure. A failure of the model server is a text of goose in the place of the answer, with
//!   status 0 (read): its words, at the end of the output, make it no answer.
//! - `GOOSE_MODE=chat` has no tools at all (read), so it holds a policy under which nothing may run. The other modes ask
//!   a person, or a model, and the list of extensions is the user's: every other restriction is refused.
//! - A leading `/` is a command in newer versions (read): refused.

use super::families::simple;
use crate::command::Text;
use crate::error::{Result, cut};
use crate::harness::{AgentBuilder, Draft, Facts};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::policy::ToolRule;
use crate::profile::Profile;
use crate::reply::{Reader, Reply, RunEnd, TextReader};
use crate::request::{DispatchRequest, Output, Session};
use std::sync::LazyLock;

/// The harness of goose.
#[derive(Debug, Clone, Copy)]
pub struct Goose;

static FACTS: LazyLock<Facts> = LazyLock::new(|| match Facts::from_json(include_str!("harness.json")) {
    Ok(facts) => facts,
    Err(bad) => unreachable!("{bad}"),
});

/// The options of `run` (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::CLAP },
    options: &[
        opt("instructions", Some('i'), Value, Ours),
        opt("text", Some('t'), Value, Ours),
        opt("interactive", Some('s'), Nothing, Ours),
        opt("no-session", None, Nothing, Ours),
        opt("name", Some('n'), Value, Ours),
        opt("path", None, Value, Ours),
        opt("resume", Some('r'), Nothing, Ours),
        opt("quiet", Some('q'), Nothing, Ours),
        opt("output-format", None, Value, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("system", None, Value, Free),
        opt("max-turns", None, Value, Free),
        opt("debug", None, Nothing, Free),
        opt("recipe", None, Value, Right),
        opt("with-builtin", None, Value, Right),
        opt("with-extension", None, Value, Right),
        opt("with-remote-extension", None, Value, Right),
        opt("with-streamable-http-extension", None, Value, Right),
    ],
};

const WHY: &str =
    "goose is held by its modes alone: chat has no tools at all, and the others ask someone or let all run";
const FULL: &str = "GOOSE_MODE=auto: every tool of the user's extensions runs unasked";
const CHAT: &str = "GOOSE_MODE=chat: no tools at all";

impl AgentBuilder for Goose {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &[]);
        draft.args(["run", "--quiet"]);
        match request.output {
            Output::Auto => {}
            Output::Text => draft.row(Field::Output, Carried::Runner, "the form that it has by itself"),
            _ => draft.row(Field::Output, Carried::Dropped, "only the text form of goose is known for sure"),
        }
        draft.profile_args(&GRAMMAR)?;
        if let Some(model) = draft.model()? {
            draft.set_env("GOOSE_MODEL", model.to_owned());
            draft.row(Field::Model, Carried::Env, format!("GOOSE_MODEL={model}"));
        }
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system", system)?;
        }
        rights(&mut draft)?;
        session(&mut draft)?;
        draft.dropped(Field::Effort, "goose has no flag for it");
        draft.dropped(Field::AddDirs, "goose has no flag for it");
        draft.dropped(Field::FileReferences, "goose run replaces no @path");
        if let Some(turns) = request.max_turns {
            draft.glued(Field::MaxTurns, "--max-turns", &turns.to_string())?;
        }
        let payload = draft.payload(false);
        draft.refuse_blank(&payload)?;
        simple::refuse_commands(&draft, &payload, &['/'])?;
        draft.row(Field::Prompt, Carried::File, format!("--instructions, {} bytes", payload.len()));
        draft.arg(Text::file("--instructions=", "prompt.md"));
        draft.file("prompt.md", payload.into_owned());
        Ok(draft.finish(Output::Text))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(TextReader::new(|stdout: String, end: &_| text(&stdout, end)))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&STAND_IN)
    }
}

fn rights(draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    draft.refuse_env(&["GOOSE_MODE"], "sets what goose may do")?;
    let everything = simple::allows_everything(draft)?;
    let (mode, how) = if everything && simple::is_full(request) {
        ("auto", FULL)
    } else if everything {
        return Ok(());
    } else if draft.rights()?.rules().iter().any(|r| r.tool == "*" && r.rule != ToolRule::Allow) {
        ("chat", CHAT)
    } else {
        for field in simple::restricting(request) {
            draft.unenforced(field, WHY)?;
        }
        return Ok(());
    };
    draft.set_env("GOOSE_MODE", mode);
    for field in simple::restricting(request) {
        draft.row(field, Carried::Env, how);
    }
    Ok(())
}

/// A session has a name, which is its id here.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => draft.args(["--no-session"]),
        Some(Session::New(None)) => {
            draft.args(["--no-session"]);
            draft.row(
                Field::Session,
                Carried::Dropped,
                "goose says no id in its text form; give the session one",
            );
        }
        Some(Session::New(Some(id))) => draft.glued(Field::Session, "--name", id)?,
        Some(Session::Resume(id)) => {
            draft.args(["--resume"]);
            draft.glued(Field::Session, "--name", id)?;
        }
    }
    Ok(())
}

/// The answer, or goose's own words on the failure of its model server.
fn text(stdout: &str, end: &RunEnd) -> Reply {
    let mut reply = simple::text(&FACTS, stdout, end);
    let said = reply.text.trim_end();
    if reply.error.is_none()
        && let Some(at) = said.rfind("Ran into this error: ")
        && said.ends_with("Please retry if you think this is a transient or recoverable error.")
    {
        reply.error = Some(FACTS.api_failure(&cut(&said[at..], 600)));
    }
    reply
}

/// By itself everything runs, in chat nothing.
#[cfg(feature = "stand-in")]
static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |words| (words.first()? == "run").then_some(1),
    prompt: simple::Prompt::File("instructions"),
    commands: &['/'],
    trims: false,
    model: "GOOSE_MODEL",
    lead: "",
    form: |_| Output::Text,
    may_run: |given, _| {
        let chat = given.var("GOOSE_MODE") == Some("chat");
        Box::new(move |_| !chat)
    },
};
