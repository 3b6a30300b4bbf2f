//! Kilo Code (`@kilocode/cli`), a fork of opencode, as verified by running 7.7.9 on 2026-12-01.
//!
//! See `families/opencode`. What is its own:
//! - By itself it edits unasked, and asks about commands but for a list of its own (`ls`, `cat`, `touch`, `cp`, `mv`
//!   among them); so a grant of the shell has to be said, over what the user's settings say.
//! - A refusal of what it asked about ends the run with 1 and an error that is a plain string.
//! - Its plugins of a project stay out with its settings. The files of its older versions do not: modes, which are
//!   agents, and servers.
//! - Its tries after 429 and 5xx have a limit.

use super::families::opencode::{Fork, lower, reader};
use crate::command::{EnvEntry, Piece, Text};
use crate::error::Result;
use crate::harness::{AgentBuilder, Facts};
use crate::lowering::Lowered;
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Kilo Code.
#[derive(Debug, Clone, Copy)]
pub struct Kilo;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No look for updates, no telemetry, no process that stays, and two tries more after an error of the model server.
/// Libraries that it unpacks at each start go with the run's folder.
static ENV: [EnvEntry; 6] = [
    (Cow::Borrowed("KILO_DISABLE_AUTOUPDATE"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("KILO_DISABLE_LSP_DOWNLOAD"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("KILO_TELEMETRY_LEVEL"), Text::Plain(Cow::Borrowed("off"))),
    (Cow::Borrowed("KILO_NO_DAEMON"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("KILO_SESSION_RETRY_LIMIT"), Text::Plain(Cow::Borrowed("2"))),
    (Cow::Borrowed("BUN_TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

static FORK: Fork = Fork {
    facts: || &FACTS,
    env: &ENV,
    config: "KILO_CONFIG",
    content: "KILO_CONFIG_CONTENT",
    no_project: "KILO_DISABLE_PROJECT_CONFIG",
    lifting: &["KILO_PERMISSION", "KILO_DISABLE_PROJECT_CONFIG"],
    settings: &[
        "kilo/kilo.json",
        "kilo/kilo.jsonc",
        "kilo/opencode.json",
        "kilo/opencode.jsonc",
        "kilo/config.json",
    ],
    unheld: &[
        Cow::Borrowed(".kilocodemodes"),
        Cow::Borrowed(".kilocode/mcp.json"),
        Cow::Borrowed(".kilo/mcp.json"),
    ],
    asks: &["bash"],
};

impl AgentBuilder for Kilo {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        lower(&FORK, request, profile)
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader(&FORK, output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        static STAND_IN: super::families::opencode::ForkStandIn =
            super::families::opencode::ForkStandIn(&FORK);
        Some(&STAND_IN)
    }
}
