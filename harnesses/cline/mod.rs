//! Cline CLI (`cline`), as verified by running 3.0.65 on 2026-12-01.
//!
//! ```text
//! cline --json <profile args> [--auto-approve=B] [--model=M] [--thinking=L] [--system=S] -- TEXT
//! ```
//!
//! - The last line is a `run_result`; its `finishReason` tells how the run ended, the exit status does not: a run that
//!   is ended by a signal says `aborted`, with 0. A failure of the model server has the server's words, and no status.
//! - `--model` and `--provider` become the user's own defaults for good. So a model is asked for only where the
//!   environment that the request or the profile gives has a settings file of its own.
//! - The prompt is a word after `--`, and one without white space in it is a sub-command even there: a line feed
//!   behind it, which is trimmed away, keeps it a prompt. What comes on stdin is put behind it, after a blank line, both
//!   trimmed. A leading `/` may be a workflow of the repository.
//! - An `@name` is looked for among the files, and a run in which one stands at the start of a word may end with
//!   status 0 and without a word.
//! - Sessions are kept, and their ids are said nowhere; `--id` with a prompt is refused.
//! - It is made with Bun, which reads `.env` and `bunfig.toml` of the working directory: a `preload` there is a program
//!   that runs before the CLI does. See `rights.rs`.
//! - Without `CLINE_SESSION_BACKEND_MODE=local` a process of its own stays behind.
//! - A busy server is asked again for 62 seconds; there is no setting for it.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use super::families::{references, simple};
use crate::command::{EnvEntry, EnvFiles, Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Cline.
#[derive(Debug, Clone, Copy)]
pub struct Cline;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No look for updates, no process that stays; libraries that it unpacks go with the run's folder.
static ENV: [EnvEntry; 3] = [
    (Cow::Borrowed("CLINE_NO_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("CLINE_SESSION_BACKEND_MODE"), Text::Plain(Cow::Borrowed("local"))),
    (Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

/// What Bun reads by itself (run: `.env`; read: the others). An empty value is none to cline.
const ENV_FILES: EnvFiles = EnvFiles {
    names: Cow::Borrowed(&[
        Cow::Borrowed(".env"),
        Cow::Borrowed(".env.local"),
        Cow::Borrowed(".env.development"),
        Cow::Borrowed(".env.development.local"),
        Cow::Borrowed(".env.production"),
        Cow::Borrowed(".env.production.local"),
    ]),
    keep: Cow::Borrowed(&[]),
};

/// Where the settings of the providers stand, the model among them.
const SETTINGS: &str = "CLINE_PROVIDER_SETTINGS_PATH";
/// What it puts between the word and what comes on stdin.
const BETWEEN: &str = "\n\n";
/// A line feed, which is trimmed away.
const KEEPS_A_WORD: &str = "\n";
/// No limit is known.
const MOST: usize = 8 << 20;

const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
];

impl AgentBuilder for Cline {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.env_files = Some(ENV_FILES);
        draft.args(["--json"]);
        draft.output_row("--json", "the other form is for people");
        draft.profile_args(&rights::GRAMMAR)?;
        rights::lower(&mut draft)?;
        model(&mut draft)?;
        draft.effort_flag(Flag::Glued("--thinking"), EFFORT)?;
        if let Some(system) = draft.system_prompt() {
            draft.glued(Field::SystemPrompt, "--system", system)?;
        }
        draft.no_sessions()?;
        draft.dropped(Field::AddDirs, "cline has no flag for it; its tools reach every directory");
        draft.dropped(Field::MaxTurns, "cline has no limit of turns");
        prompt(&mut draft)?;
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::ClineStandIn)
    }
}

/// Asks for a model where that cannot change what the user has.
fn model(draft: &mut Draft<'_>) -> Result<()> {
    let has_own = draft.request.env.contains_key(SETTINGS) || draft.profile.env.contains_key(SETTINGS);
    if draft.request.model.is_some() && !has_own {
        let why = "model: cline would make it your default for good";
        let hint = format!(
            "choose it with `cline auth`, or set {SETTINGS} in env to a settings file that is teamster's alone"
        );
        return Err(Failure::new(Kind::Unsupported, why).hint(hint));
    }
    draft.model_flag(Flag::Glued("--model"))
}

/// Gives the payload as one word. Where it is too large, it is cut at a blank line, which cline puts there again.
fn prompt(draft: &mut Draft<'_>) -> Result<()> {
    let payload = draft.payload(false);
    draft.refuse_blank(&payload)?;
    simple::refuse_trimmed(draft, &payload)?;
    simple::refuse_commands(draft, &payload, &['/'])?;
    mentions(draft, &payload)?;
    draft.args(["--"]);
    let most = MAX_ARGUMENT - KEEPS_A_WORD.len();
    if payload.len() <= most {
        draft.row(Field::Prompt, Carried::Flag, "a word, white space behind it that cline trims away");
        draft.arg(format!("{payload}{KEEPS_A_WORD}"));
        return Ok(());
    }
    let fits = |at: &usize| {
        let (word, rest) = (&payload[..*at], &payload[at + BETWEEN.len()..]);
        word.trim_end() == word && rest.trim_start() == rest && word.contains(char::is_whitespace)
    };
    let cuts = payload.match_indices(BETWEEN).map(|(at, _)| at).take_while(|at| *at <= most);
    let Some(at) = cuts.filter(fits).last().filter(|_| payload.len() <= MOST) else {
        let why = format!(
            "prompt: {} bytes with the schema, and no blank line to cut it at: cline takes {most} in one piece",
            payload.len()
        );
        return Err(Failure::new(Kind::ArgTooLong, why)
            .hint("put the text into a file of the workspace and name it in the prompt"));
    };
    let how = format!("{} bytes, cut at a blank line: a word, and the rest on stdin", payload.len());
    draft.row(Field::Prompt, Carried::Stdin, how);
    draft.arg(payload[..at].to_owned());
    draft.stdin = Some(payload[at + BETWEEN.len()..].to_owned());
    Ok(())
}

/// A file that such a name stands for is added to the text; and where cline looks for one, it may end with status 0
/// and no answer (run).
fn mentions(draft: &mut Draft<'_>, payload: &str) -> Result<()> {
    if draft.request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, "cline adds the file that @path names");
        return Ok(());
    }
    match references::tokens(payload).next() {
        None => Ok(()),
        Some((at, token)) => {
            let field = references::field_at(draft.request, false, at);
            let why =
                format!("{field}: cline looks for a file at `@{token}`, and may end without an answer then");
            Err(Failure::new(Kind::Unsupported, why)
                .hint("write it without the @, or allow it with --file-references"))
        }
    }
}
