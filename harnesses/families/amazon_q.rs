//! Amazon Q Developer CLI and the Kiro CLI that came after it: `chat --no-interactive`.
//!
//! The source of Q 1.19.7 and the documentation of Kiro were read on 2026-12-01; neither was run.
//!
//! ```text
//! q chat --no-interactive <profile args> [--model=M] [--resume-id=ID] [--trust-all-tools] -- TEXT
//! ```
//!
//! - The text is trimmed, and then `/`, `!` (a shell!) and `@` at its start are commands, without a terminal too (read):
//!   such texts, and those with white space around them, are refused.
//! - `--trust-tools` adds to what the agent of the user may do, and takes nothing from it (read). So no flag holds a run
//!   to a list, and every restriction is refused.
//! - Characters that are not seen (zero width, line separators, tags) are taken out of the text (read): refused.
//! - The answer stands on standard output after `> `, with escape sequences in it; so do notes on tools. It is Markdown
//!   put into a terminal's form, without one too: marks of emphasis and code are lost, and `&amp;` is `&` (read). A
//!   value in JSON may come out as another one, so a schema is refused.
//! - A used-up quota is told on standard error, with status 0, also in the midst of an answer; a tool that nobody
//!   approved ends the run with 1 (read).

use super::simple;
use crate::error::{Failure, Kind, Result};
use crate::harness::{Draft, Facts, Flag, SessionIds, Sessions};
use crate::lowering::Role::{Free, Ours, Rights as Right};
use crate::lowering::Takes::{Nothing, Value};
use crate::lowering::{Carried, Dialect, Field, Grammar, Lowered, opt};
use crate::profile::Profile;
use crate::reply::{Reply, RunEnd};
use crate::request::{DispatchRequest, Output, Session};

/// The options of `chat` (read).
const GRAMMAR: Grammar = Grammar {
    dialect: Dialect { strict: false, ..Dialect::CLAP },
    options: &[
        opt("no-interactive", None, Nothing, Ours),
        opt("non-interactive", None, Nothing, Ours),
        opt("resume", Some('r'), Nothing, Ours),
        opt("resume-id", None, Value, Ours),
        opt("list-sessions", None, Nothing, Ours),
        opt("help", Some('h'), Nothing, Ours),
        opt("model", None, Value, Free),
        opt("wrap", Some('w'), Value, Free),
        opt("verbose", Some('v'), Nothing, Free),
        opt("require-mcp-startup", None, Nothing, Free),
        opt("agent", None, Value, Right),
        opt("v2", None, Nothing, Ours),
        opt("v3", None, Nothing, Ours),
        opt("trust-tools", None, Value, Right),
        opt("trust-all-tools", Some('a'), Nothing, Right),
    ],
};

const COMMANDS: &[char] = &['/', '!', '@'];
const WHY: &str = "--trust-tools adds to what the user's own agent may do, so no flag holds a run to a list";
/// What it takes out of a text (read).
const UNSEEN: [std::ops::RangeInclusive<char>; 6] = [
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202f}',
    '\u{205f}'..='\u{206f}',
    '\u{fff0}'..='\u{fffc}',
    '\u{fffe}'..='\u{ffff}',
    '\u{e0000}'..='\u{e007f}',
];
const FULL: &str = "--trust-all-tools: every tool runs unasked";

/// Lowers a request; `resume` is the flag that takes the id of a session, and `engine` the one that names what runs,
/// where there are such.
pub(crate) fn lower(
    facts: &'static Facts,
    request: &DispatchRequest,
    profile: &Profile,
    resume: Option<&'static str>,
    engine: Option<&'static str>,
) -> Result<Lowered> {
    let mut draft = Draft::new(facts, request, profile, &[]);
    draft.args(["chat", "--no-interactive"]);
    draft.args(engine);
    if request.schema.is_some() {
        let why = format!(
            "schema: {} writes its answer as Markdown for a terminal, which changes values",
            facts.name
        );
        return Err(Failure::new(Kind::Unsupported, why).hint("take another harness: `teamster list`"));
    }
    match request.output {
        Output::Auto => {}
        Output::Text => draft.row(Field::Output, Carried::Runner, "the only form that it has"),
        _ => draft.row(Field::Output, Carried::Dropped, "its chat writes text alone"),
    }
    draft.profile_args(&GRAMMAR)?;
    draft.model_flag(Flag::Glued("--model"))?;
    simple::unheld(&mut draft, (Carried::Flag, &["--trust-all-tools"]), FULL, WHY)?;
    match (&request.session, resume) {
        (Some(Session::New(None)), _) => {
            draft.row(Field::Session, Carried::Dropped, "its output says no id of a session");
        }
        (Some(Session::Resume(_)), None) => {
            let why =
                "session.resume: it goes on with the last session of the directory, and with none by id";
            return Err(Failure::new(Kind::Unsupported, why).hint("put what was said before into the prompt"));
        }
        (_, flag) => {
            let resume = Flag::Glued(flag.unwrap_or_default());
            draft.session(&Sessions { ids: SessionIds::Any, begin: None, resume })?;
        }
    }
    draft.dropped(Field::Effort, "it has no flag for it");
    draft.dropped(Field::AddDirs, "it has no flag for it");
    draft.dropped(Field::MaxTurns, "it has no limit of turns");
    draft.dropped(Field::FileReferences, "it replaces no @path within a text");
    let payload = draft.payload(true);
    draft.refuse_blank(&payload)?;
    simple::refuse_commands(&draft, &payload, COMMANDS)?;
    simple::refuse_trimmed(&draft, &payload)?;
    if let Some(c) = payload.chars().find(|c| UNSEEN.iter().any(|range| range.contains(c))) {
        let why = format!("prompt: {} takes `{}` out of a text", facts.name, c.escape_unicode());
        return Err(Failure::new(Kind::Unsupported, why).hint("take it out yourself"));
    }
    draft.fits(Field::Prompt, &payload)?;
    draft.row(Field::Prompt, Carried::Flag, "an argument after --");
    draft.args(["--"]);
    draft.arg(payload.into_owned());
    Ok(draft.finish(Output::Text))
}

/// The answer without its marks.
pub(crate) fn text(facts: &Facts, stdout: &str, end: &RunEnd) -> Reply {
    let plain = crate::reply::plain(stdout);
    let plain = plain.trim_start_matches(['\r', '\n']);
    let mut reply = simple::text(facts, plain.strip_prefix("> ").unwrap_or(plain), end);
    if let Some(line) = simple::told(end, &["Monthly request limit reached"]) {
        reply.error = Some(facts.failure(Kind::Quota, &line));
    } else if reply.error.is_some() {
        let told = |words: &str| simple::told(end, &[words]);
        if let Some(line) = told("Tool approval required") {
            let failure = facts.failure(Kind::Permission, &line);
            reply.error = Some(failure.hint("allow the tool, or ask for what can be done without it"));
        } else if let Some(line) = told("not logged in") {
            reply.error = Some(facts.failure(Kind::Auth, &line));
        } else if let Some(line) = told("rate limit reached") {
            reply.error = Some(facts.failure(Kind::RateLimit, &line));
        }
    }
    reply
}

/// Plays `chat`: without trust only reading runs, and what the user's own agent allows, which is nothing here.
#[cfg(feature = "stand-in")]
pub(crate) static STAND_IN: simple::Simple = simple::Simple {
    grammar: &GRAMMAR,
    head: |words| (words.first()? == "chat").then_some(1),
    prompt: simple::Prompt::Word,
    commands: COMMANDS,
    trims: true,
    model: "model",
    lead: "> ",
    form: |_| Output::Text,
    may_run: |_, parsed| {
        let all = parsed.has("trust-all-tools");
        let trusted: Vec<String> =
            parsed.all("trust-tools").flat_map(|list| list.split(',')).map(str::to_owned).collect();
        Box::new(move |used| {
            let tool = crate::policy::tool_argument(used).0;
            all || ["fs_read", "thinking"].contains(&tool) || trusted.iter().any(|own| own == tool)
        })
    },
};
