//! Gemini CLI (`@google/gemini-cli`), as verified by running 0.61.0 on 2026-11-30.
//!
//! ```text
//! gemini <profile args> [--model M] [--approval-mode A] [--skip-trust] [--admin-policy=F]
//!        [--policy={home}/.gemini/policies --policy=F] [--allowed-tools T]… [--session-id S | --resume=S]
//!        [--include-directories=D]… [--output-format O] -p PAYLOAD
//! ```
//!
//! - No flag for a system prompt, an effort, a schema or a limit of turns: the first and the third go
//!   into the payload, the others are dropped with a row.
//! - The arguments are parsed by yargs: a separate value that begins with a dash is an error there, so
//!   such a payload is glued (`--prompt=…`).
//! - No mode of it is read-only by itself: in `default`, `auto_edit` and `plan` the model can call
//!   `enter_plan_mode` and `exit_plan_mode`, and is in full autonomy then. So every request that
//!   restricts carries denies in a policy file of the highest tier (`policy.rs`).
//! - A `.env` in the workspace sets what the environment does not: with GOOGLE_GEMINI_BASE_URL it
//!   takes the key elsewhere. Variables of that kind are pinned to the caller's own values.

mod failures;
mod grammar;
mod policy;
mod prompt;
mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, EnvFiles, Piece, Text};
use crate::error::{Failure, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag};
use crate::lowering::{Carried, Field, Lowered};
use crate::policy::Permission;
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Gemini CLI.
#[derive(Debug, Clone, Copy)]
pub struct Gemini;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// What gemini has to see in its environment.
///
/// - A `.env` of the workspace sets every variable that is not set, and some would send the key or
///   the prompts elsewhere, or change the model's role. Those are pinned: the caller's own value, or
///   empty, which the CLI takes for unset (run). What else such a file could do is [`ENV_FILES`].
/// - One process instead of a launcher that ignores signals; no colours; reports of errors, which hold
///   the conversation, in the run's own folder.
static ENV: [EnvEntry; 16] = [
    pinned(&[Piece::Env(Cow::Borrowed("GOOGLE_GEMINI_BASE_URL"))]),
    pinned(&[Piece::Env(Cow::Borrowed("GEMINI_MODEL"))]),
    pinned(&[Piece::Env(Cow::Borrowed("GEMINI_SYSTEM_MD"))]),
    pinned(&[Piece::Env(Cow::Borrowed("GOOGLE_VERTEX_BASE_URL"))]),
    pinned(&[Piece::Env(Cow::Borrowed("CODE_ASSIST_ENDPOINT"))]),
    pinned(&[Piece::Env(Cow::Borrowed("GEMINI_CLI_CUSTOM_HEADERS"))]),
    pinned(&[Piece::Env(Cow::Borrowed("GEMINI_WRITE_SYSTEM_MD"))]),
    pinned(&[Piece::Env(Cow::Borrowed("HTTPS_PROXY"))]),
    pinned(&[Piece::Env(Cow::Borrowed("HTTP_PROXY"))]),
    pinned(&[Piece::Env(Cow::Borrowed("https_proxy"))]),
    pinned(&[Piece::Env(Cow::Borrowed("http_proxy"))]),
    pinned(&[Piece::Env(Cow::Borrowed("NODE_TLS_REJECT_UNAUTHORIZED"))]),
    (Cow::Borrowed("GEMINI_CLI_NO_RELAUNCH"), Text::Plain(Cow::Borrowed("true"))),
    (Cow::Borrowed("NO_COLOR"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
    // For requests that restrict: with this variable the hooks and MCP servers of the workspace run.
    (Cow::Borrowed("GEMINI_CLI_TRUST_WORKSPACE"), Text::Plain(Cow::Borrowed(""))),
];

/// With `--skip-trust` gemini takes every variable from the first of these files that it finds, in the
/// working directory or above it, LD_PRELOAD and its own home among them (run). A request that restricts
/// leaves only those that it takes in a directory without trust too.
static ENV_FILES: EnvFiles = EnvFiles {
    names: Cow::Borrowed(&[Cow::Borrowed(".gemini/.env"), Cow::Borrowed(".env")]),
    keep: Cow::Borrowed(&[
        Cow::Borrowed("GEMINI_API_KEY"),
        Cow::Borrowed("GOOGLE_API_KEY"),
        Cow::Borrowed("GOOGLE_CLOUD_PROJECT"),
        Cow::Borrowed("GOOGLE_CLOUD_LOCATION"),
    ]),
};

const fn pinned(piece: &'static [Piece; 1]) -> EnvEntry {
    match &piece[0] {
        Piece::Env(Cow::Borrowed(name)) => (Cow::Borrowed(name), Text::Pieces(Cow::Borrowed(piece))),
        _ => unreachable!(),
    }
}

impl AgentBuilder for Gemini {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let own = if request.restricts() { &ENV[..] } else { &ENV[..ENV.len() - 1] };
        let mut draft = Draft::new(&FACTS, request, profile, own);
        policy::profile(&mut draft)?;
        draft.model_flag(Flag::Pair("--model"))?;
        if let Some(permission) = request.permission {
            draft.pair(Field::Permission, "--approval-mode", approval_mode(request, permission))?;
        }
        if request.restricts() || request.permission.is_some() {
            draft.arg("--skip-trust");
        }
        policy::lower(&mut draft)?;
        session(&mut draft)?;
        draft.add_dirs_uncut(Flag::Glued("--include-directories"))?;
        let output = request.output.settled(request.schema.is_some());
        if let Some(format) = output_format(request.output, output) {
            draft.args.extend(["--output-format".into(), format.into()]);
            if request.output != Output::Auto {
                draft.row(Field::Output, Carried::Flag, format!("--output-format {format}"));
            }
        }
        prompt::lower(&mut draft)?;
        draft.dropped(Field::Effort, "gemini has no flag for it, only its settings file");
        draft.dropped(Field::MaxTurns, "gemini has no flag for it, only its settings file");
        draft.env_files = request.restricts().then(|| ENV_FILES.clone());
        Ok(draft.finish(output))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::GeminiStandIn)
    }
}

/// With a tool policy the mode is never one that approves by itself: what may run is in the policy.
fn approval_mode(request: &DispatchRequest, permission: Permission) -> &'static str {
    match permission {
        _ if request.tools.is_some() => "default",
        Permission::ReadOnly => "default",
        Permission::Edit => "auto_edit",
        Permission::Full => "yolo",
    }
}

fn output_format(asked: Output, settled: Output) -> Option<&'static str> {
    match (asked, settled) {
        (Output::Auto, Output::Text) => None,
        (_, Output::Json) => Some("json"),
        (_, Output::Stream) => Some("stream-json"),
        (_, Output::Text | Output::Auto) => Some("text"),
    }
}

/// Session ids are of letters, digits, `-` and `_`; `--resume` also takes `latest` and an index, which
/// name another session tomorrow, so they are refused.
fn session(draft: &mut Draft<'_>) -> Result<()> {
    let checked = |field: &str, id: &str| {
        if id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            return Ok(());
        }
        Err(Failure::invalid(
            field,
            format!("`{id}` is no session id: gemini takes letters, digits, - and _"),
        ))
    };
    let index = |field: &str, id: &str| {
        if id != "latest" && !id.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(());
        }
        Err(Failure::invalid(field, format!("`{id}` is an index, not an id"))
            .hint("an index names another session after the next run; give the session's id"))
    };
    match &draft.request.session {
        None => {}
        Some(Session::New(None)) => {
            draft.row(Field::Session, Carried::Flag, "gemini keeps every session and says its id");
        }
        Some(Session::New(Some(id))) => {
            checked("session.id", id)?;
            // Such a session could never be resumed by its id.
            index("session.id", id)?;
            draft.pair(Field::Session, "--session-id", id)?;
        }
        Some(Session::Resume(id)) => {
            checked("session.resume", id)?;
            index("session.resume", id)?;
            draft.arg(format!("--resume={id}"));
            draft.row(Field::Session, Carried::Flag, format!("--resume={id}, in the same cwd and home"));
        }
    }
    Ok(())
}
