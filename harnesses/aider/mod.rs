//! aider (`aider-chat`), as verified by running 0.86.2 on 2026-12-01.
//!
//! ```text
//! aider [--chat-mode=ask] [--no-git] --yes-always --no-pretty --no-stream … <profile args>
//!       --llm-history-file={file:llm.log} [--model=M] [--reasoning-effort=E --no-check-model-accepts-settings]
//!       --message-file={file:prompt.md} | --message=PAYLOAD
//! ```
//!
//! - Text only, on standard output with everything else, and status 0 for every failure: the answer is taken
//!   from the log of what went to the model and came back, and an answer is one by its line of tokens (`reader.rs`).
//! - The payload is a command where it begins with `/` or `!`: `/run` and `!` run shell commands, before
//!   any model is asked. A line feed before it keeps it text. A file loses its carriage returns, so a text with
//!   one goes by argument.
//! - It has no tools. It takes blocks of edits out of the answer and applies them, by absolute path and `..` as
//!   well; a new file is made outside even in a repository, where the rest of such an edit fails. So an
//!   edit is allowed or not, and never confined. No shell command of an answer runs by itself.
//! - With git, it reads: a map of the repository, and each file that is named. It runs git then, and git what
//!   `.git/config` says, where an edit may write. Makes a repository where there is none, and a cache beside it.
//! - `.env` and `.aider.conf.yml` of the directory and of the root of its repository cannot be left out, and win over
//!   the environment: commands to run (`load`, `lint-cmd`), and the address that the key is sent to. An
//!   argument wins over both, so what is dangerous is set by one; the rest is looked for where a request restricts.
//! - Without a model and a key it opens a page to sign in, and waits for five minutes.
//! - It asks a busy server again for a minute and a half; nothing sets that.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of aider.
#[derive(Debug, Clone, Copy)]
pub struct Aider;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// Its log of what went to the model and came back.
const LOG: &str = "llm.log";

/// Lines are cut at the width of the terminal, within strings too; addresses in errors are opened in a browser.
static ENV: [EnvEntry; 4] = [
    (Cow::Borrowed("COLUMNS"), Text::Plain(Cow::Borrowed("1000000"))),
    (Cow::Borrowed("BROWSER"), Text::Plain(Cow::Borrowed("true"))),
    (Cow::Borrowed("PYTHONUTF8"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("LITELLM_LOCAL_MODEL_COST_MAP"), Text::Plain(Cow::Borrowed("True"))),
];

/// No questions, no colours, no network but the model's, nothing left in the workspace by itself; and what a
/// file of the repository could set to run commands.
const PINNED: &[&str] = &[
    "--yes-always",
    "--no-pretty",
    "--no-stream",
    "--no-fancy-input",
    "--encoding=utf-8",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-analytics",
    "--no-detect-urls",
    "--no-suggest-shell-commands",
    "--no-auto-lint",
    "--no-auto-test",
    "--no-auto-commits",
    "--no-dirty-commits",
    "--no-gitignore",
    "--no-notifications",
    "--load=",
];

/// The provider knows the rest, and aider checks nothing.
const EFFORT: &[(Effort, &str)] = &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

impl AgentBuilder for Aider {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        rights::lower(&mut draft)?;
        draft.args(PINNED.iter().copied());
        draft.profile_args(&rights::GRAMMAR)?;
        draft.arg(Text::file("--llm-history-file=", LOG));
        draft.results.push(LOG.into());
        for flag in ["--chat-history-file=", "--input-history-file="] {
            let path = vec![Piece::Plain(flag.into()), Piece::Tmp, Piece::Plain("/history".into())];
            draft.arg(Text::Pieces(path.into()));
        }
        draft.model_flag(Flag::Glued("--model"))?;
        if let Some(word) = draft.effort(EFFORT) {
            draft.glued(Field::Effort, "--reasoning-effort", word)?;
            // Else it is dropped for every model that aider does not know.
            draft.args(["--no-check-model-accepts-settings"]);
        }
        draft.no_sessions()?;
        if matches!(request.output, Output::Json | Output::Stream) {
            draft.row(Field::Output, Carried::Dropped, "aider writes text alone, and all at its end");
        } else if request.output == Output::Text {
            draft.row(Field::Output, Carried::Runner, "the only form that it has");
        }
        draft.dropped(Field::AddDirs, "aider is given files, not directories");
        draft.dropped(Field::MaxTurns, "one turn, and at most three corrections of its own edits");
        draft.dropped(
            Field::FileReferences,
            "aider replaces no @path; it adds files that are named to the chat",
        );
        payload(&mut draft)?;
        Ok(draft.finish(Output::Text))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(reader::AiderReader::new())
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::AiderStandIn)
    }
}

/// In a file, as aider reads it: line ends become line feeds there, so that a text with a carriage return goes
/// by argument.
fn payload(draft: &mut Draft<'_>) -> Result<()> {
    let payload = draft.payload(true);
    draft.refuse_blank(&payload)?;
    let (text, note) = draft.guarded(payload, &['/', '!']);
    if !text.contains('\r') {
        draft.row(Field::Prompt, Carried::File, format!("--message-file, {} bytes{note}", text.len()));
        draft.arg(Text::file("--message-file=", "prompt.md"));
        draft.file("prompt.md", text.into_owned());
        return Ok(());
    }
    let flag = format!("--message={text}");
    if flag.len() > MAX_ARGUMENT {
        let why = format!(
            "prompt: {} bytes with carriage returns, which aider loses when it reads a file; an argument takes {MAX_ARGUMENT}",
            text.len()
        );
        return Err(Failure::new(Kind::ArgTooLong, why).hint("end its lines with line feeds alone"));
    }
    draft.row(
        Field::Prompt,
        Carried::Flag,
        format!("--message, {} bytes, since a file loses carriage returns{note}", text.len()),
    );
    draft.arg(flag);
    Ok(())
}
