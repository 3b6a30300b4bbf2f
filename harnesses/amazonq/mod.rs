//! Amazon Q Developer CLI (`q`), by excerpts of the source of 1.19.7, read on 2026-12-01; all of it is the family's.
//!
//! It is no longer maintained: Kiro CLI took its place. It signs in by a browser only, and resumes the last session of a
//! directory, none by its id.
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

/// The harness of Amazon Q Developer CLI.
#[derive(Debug, Clone, Copy)]
pub struct AmazonQ;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

impl AgentBuilder for AmazonQ {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        amazon_q::lower(&FACTS, request, profile, None, None)
    }

    fn reader(&self, _: Output) -> Box<dyn Reader> {
        Box::new(TextReader::new(|stdout: String, end: &_| amazon_q::text(&FACTS, &stdout, end)))
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&amazon_q::STAND_IN)
    }
}
