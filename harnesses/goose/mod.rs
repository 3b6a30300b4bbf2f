//! goose. By excerpts of its documentation and its source (`goose-cli` of 2026), read on 2026-12-01; it was not run.
//!
//! ```text
//! goose run --quiet --output-format stream-json <profile args> [--system=S] [--max-turns=N]
//!       [--no-session | [--resume] --name=ID] --instructions=-     (GOOSE_MODEL=M, GOOSE_MODE=chat; payload on stdin)
//! ```
//!
//! - Events, one a line: messages, whose texts come in pieces with one id; an error, and the end after it, with status 0.
//!   A failure of the model server is mostly a text of goose in the place of the answer, and so is its limit of turns
//!   (read): its words at the end make it no answer. See `reader.rs`.
//! - A file of instructions drops `--system` in silence, stdin does not (read).
//! - `GOOSE_MODE=chat` has no tools at all (read), so it holds a policy under which nothing may run. The other modes ask
//!   a person, or a model, and the list of extensions is the user's: every other restriction is refused. A session that
//!   is resumed may keep the mode that it was made with; a provider that is an agent itself (`claude-code`, `codex`) has
//!   tools of its own: both are refused with a restriction.
//! - A leading `/` is a command in newer versions (read): refused.

mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;

use super::families::simple;
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Draft, Facts, Flag, StdinPrompt};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::policy::ToolRule;
use crate::profile::Profile;
use crate::reply::{LineReader, Reader};
use crate::request::{DispatchRequest, Output, Session};
use std::sync::LazyLock;

/// The harness of goose.
#[derive(Debug, Clone, Copy)]
pub struct Goose;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

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
        opt("no-profile", None, Nothing, Right),
        opt("container", None, Value, Right),
        opt("provider", None, Value, Right),
    ],
};

const COMMANDS: &[char] = &['/'];
/// No limit is written; this one keeps it to what was read of others.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 10_000_000 };
/// Providers that are agents, by what their names hold (read).
const AGENTS: &[&str] = &["claude-code", "codex", "gemini-cli", "cursor-agent", "-acp"];

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
        draft.args(["run", "--quiet", "--output-format", "stream-json"]);
        draft.output_row("--output-format stream-json", "it tells errors, which end with status 0");
        draft.profile_args(&GRAMMAR)?;
        draft.model_env("GOOSE_MODEL")?;
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system", system)?;
        }
        rights(&mut draft)?;
        session(&mut draft)?;
        draft.dropped(Field::Effort, "goose has no flag for it");
        draft.dropped(Field::AddDirs, "goose has no flag for it");
        draft.dropped(Field::FileReferences, "goose run replaces no @path");
        draft.max_turns(Flag::Glued("--max-turns"))?;
        let payload = crate::lowering::payload(request, false);
        simple::refuse_commands(&draft, &payload, COMMANDS)?;
        draft.args(["--instructions=-"]);
        draft.payload_on_stdin(&STDIN)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(LineReader::new(reader::GooseLines::default()))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::GooseStandIn)
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
        return draft.rights_fields().try_for_each(|field| draft.unenforced(field, WHY));
    };
    if mode == "chat" {
        hold_chat(draft)?;
    }
    draft.set_env("GOOSE_MODE", mode);
    draft.rights_row(Carried::Env, how);
    Ok(())
}

/// Makes sure that the mode is all that counts: a new session, and a provider that has no tools of its own.
fn hold_chat(draft: &mut Draft<'_>) -> Result<()> {
    let field = draft.restricting_field();
    if matches!(draft.request.session, Some(Session::Resume(_))) {
        draft
            .unenforced(field, "a session that goose goes on with may keep the mode that it was made with")?;
    }
    let is_agent = |provider: &str| AGENTS.iter().any(|agent| provider.contains(agent));
    let (own, profile) = (&draft.request.env, &draft.profile.env);
    match own.get("GOOSE_PROVIDER").or_else(|| profile.get("GOOSE_PROVIDER")) {
        Some(provider) if is_agent(provider) => {
            let why = format!("GOOSE_PROVIDER `{provider}` is an agent with tools of its own");
            return draft.unenforced(field, why);
        }
        Some(_) => {}
        None => draft.checks.push(Check::NoVariable {
            name: "GOOSE_PROVIDER".into(),
            why: "it may name an agent with tools of its own: put the provider into the profile's env".into(),
        }),
    }
    let config = |folder: Vec<Piece>| Text::Pieces(folder.into());
    for path in [
        config(vec![Piece::Env("XDG_CONFIG_HOME".into()), Piece::Plain("/goose/config.yaml".into())]),
        Text::home("", "/.config/goose/config.yaml"),
    ] {
        for agent in AGENTS {
            let why = "goose could hand the task to an agent with tools of its own".into();
            draft.checks.push(Check::NoTextIn { path: path.clone(), text: (*agent).into(), why });
        }
    }
    Ok(())
}

/// A session has a name, which is its id here.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    match &draft.request.session {
        None => draft.args(["--no-session"]),
        Some(Session::New(None)) => {
            draft.args(["--no-session"]);
            draft.row(Field::Session, Carried::Dropped, "goose says no id of a session; give it one");
        }
        Some(Session::New(Some(id))) => draft.glued(Field::Session, "--name", id)?,
        Some(Session::Resume(id)) => {
            draft.args(["--resume"]);
            draft.glued(Field::Session, "--name", id)?;
        }
    }
    Ok(())
}
