//! Kiro CLI (`kiro-cli`), by excerpts of its documentation, read on 2026-12-01; all of it is the family's.
//!
//! It goes on with a session by `--resume-id`, and ends with 4 where the agent that a profile names is not there (read).
//! Which of its engines runs without a terminal is named, `--v2`, so that it does not depend on a default (read).
//!
//! See `families/amazon_q.rs`.

use super::families::amazon_q;
use crate::error::Result;
use crate::harness::{AgentBuilder, Facts};
use crate::lowering::Lowered;
use crate::profile::Profile;
use crate::reply::{Reader, TextReader};
use crate::request::{DispatchRequest, Output};
use std::sync::LazyLock;

/// The harness of Kiro CLI.
#[derive(Debug, Clone, Copy)]
pub struct Kiro;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

impl AgentBuilder for Kiro {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        amazon_q::lower(&FACTS, request, profile, Some("--resume-id"), Some("--v2"))
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(TextReader::new(|stdout: String, end: &_| amazon_q::text(&FACTS, &stdout, end)))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&amazon_q::STAND_IN)
    }
}
