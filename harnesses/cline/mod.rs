//! Cline CLI (`cline`), as verified by running 3.0.65 on 2026-12-01.
//!
//! ```text
//! cline --json <profile args> [--model=M] [--thinking=E] [--system=S] [rights] -- PAYLOAD
//!       CLINE_SESSION_BACKEND_MODE=local, CLINE_LOG_PATH={file:cline.log} in its environment
//! ```
//!
//! - Success is the last line, `run_result` with `completed`. A run that a signal or three refused tools ended
//!   says `aborted`, and both end with 0.
//! - Without the local mode a daemon goes on after the run.
//! - The status of the model server is in its log alone, so that the log is written into the run's folder.
//! - The model that a run names is the user's default from then on, and so is the key of the environment. So one is
//!   asked for only where the environment that the request or the profile gives names a settings file of its own.
//! - See `prompt.rs` for the prompt.
//! - A session can be gone on with in its terminal only.
//! - It is made of Bun, which takes variables from the `.env` files of the working directory: they have no effect
//!   here. See `rights.rs` for what else a repository brings.
//! - It asks a busy or broken model server again for a minute; there is no setting for it.

mod prompt;
mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{EnvEntry, EnvFiles, Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag};
use crate::lowering::{Field, Lowered};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Cline CLI.
#[derive(Debug, Clone, Copy)]
pub struct Cline;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// Where the settings of the providers stand, the model among them.
const PROVIDERS: &str = "CLINE_PROVIDER_SETTINGS_PATH";
/// What it writes about errors, with the status of the model server.
const LOG: &str = "cline.log";

/// No daemon, no updates, and errors in a log that is read after the run.
static ENV: [EnvEntry; 4] = [
    (Cow::Borrowed("CLINE_SESSION_BACKEND_MODE"), Text::Plain(Cow::Borrowed("local"))),
    (Cow::Borrowed("CLINE_NO_AUTO_UPDATE"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("CLINE_LOG_LEVEL"), Text::Plain(Cow::Borrowed("error"))),
    (Cow::Borrowed("CLINE_LOG_PATH"), Text::Pieces(Cow::Borrowed(&[Piece::File(Cow::Borrowed(LOG))]))),
];

/// What Bun reads where it starts, by NODE_ENV.
const ENV_FILES: EnvFiles = EnvFiles {
    names: Cow::Borrowed(&[
        Cow::Borrowed(".env"),
        Cow::Borrowed(".env.local"),
        Cow::Borrowed(".env.development"),
        Cow::Borrowed(".env.development.local"),
        Cow::Borrowed(".env.production"),
        Cow::Borrowed(".env.production.local"),
        Cow::Borrowed(".env.test"),
        Cow::Borrowed(".env.test.local"),
    ]),
    keep: Cow::Borrowed(&[]),
};

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
        draft.results.push(LOG.into());
        draft.args(["--json"]);
        draft.output_row("--json", "the other form is for people");
        draft.profile_args(&rights::GRAMMAR)?;
        model(&mut draft)?;
        draft.effort_flag(Flag::Glued("--thinking"), EFFORT)?;
        rights::lower(&mut draft)?;
        // With `--json` an id of a session is an error, and no line of the output tells one (run).
        draft.no_sessions()?;
        draft.dropped(Field::AddDirs, "cline works in one directory; its tools reach others by their paths");
        draft.dropped(Field::MaxTurns, "cline has no flag for it");
        prompt::lower(&mut draft)?;
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
    let has_own = draft.request.env.contains_key(PROVIDERS) || draft.profile.env.contains_key(PROVIDERS);
    if draft.request.model.is_some() && !has_own {
        let why = "model: cline would make it your default for good";
        let hint = format!(
            "choose it with `cline auth`, or set {PROVIDERS} in env to a settings file that is teamster's alone"
        );
        return Err(Failure::new(Kind::Unsupported, why).hint(hint));
    }
    draft.model_flag(Flag::Glued("--model"))
}
