//! opencode (`opencode-ai`), as verified by running 1.18.33 on 2026-12-01; all of it is the family's.
//!
//! See `families/opencode`. By itself opencode runs every tool unasked in the working directory, and refuses paths
//! outside of it; its agent `plan` runs commands too.

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

/// The harness of opencode.
#[derive(Debug, Clone, Copy)]
pub struct Opencode;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// No look for updates, and no programs that are fetched for the languages of the workspace. Libraries that it unpacks at
/// each start go with the run's folder.
static ENV: [EnvEntry; 3] = [
    (Cow::Borrowed("OPENCODE_DISABLE_AUTOUPDATE"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("OPENCODE_DISABLE_LSP_DOWNLOAD"), Text::Plain(Cow::Borrowed("1"))),
    (Cow::Borrowed("BUN_TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp]))),
];

static FORK: Fork = Fork {
    facts: || &FACTS,
    env: &ENV,
    config: "OPENCODE_CONFIG",
    content: "OPENCODE_CONFIG_CONTENT",
    no_project: "OPENCODE_DISABLE_PROJECT_CONFIG",
    lifting: &["OPENCODE_PERMISSION", "OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_EXPERIMENTAL_CODE_MODE"],
    settings: &["opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"],
    unheld: &[
        Cow::Borrowed("opencode.json"),
        Cow::Borrowed("opencode.jsonc"),
        Cow::Borrowed(".opencode/opencode.json"),
        Cow::Borrowed(".opencode/opencode.jsonc"),
        Cow::Borrowed(".opencode/plugin"),
        Cow::Borrowed(".opencode/plugins"),
    ],
    asks: &[],
};

impl AgentBuilder for Opencode {
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
