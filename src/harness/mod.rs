//! What a harness is: the trait that a new one implements, its facts, and the registry.

mod draft;
mod facts;
mod fields;
mod lower;
mod registry;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;
mod verdict;

pub use draft::{Draft, StdinPrompt};
pub use facts::{
    ArgumentStyle, Capabilities, Evidence, Facts, HarnessTool, MinVersion, SkillFormat, SkillPlace,
    StatusCommand, StatusCovers, UsageCounts, Verified,
};
pub use fields::{Flag, SessionIds, Sessions};
pub use lower::lower;
pub use registry::HarnessRegistry;
pub use rights::{Limit, May, OwnRule, Rights};
#[cfg(feature = "stand-in")]
pub use stand_in::{Answer, Given, Received, Spoken, StandIn};

use crate::error::Result;
use crate::lowering::Lowered;
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};

/// One coding-agent CLI: the plug-in point of teamster.
///
/// Two things make a harness: how a request is lowered for it, and how its output is read. Both are
/// pure: no clock, no file, no process, no environment. Register it with
/// [`HarnessRegistry::register`]; call it through [`crate::lower`], which checks what holds for all.
pub trait AgentBuilder: Send + Sync {
    /// What is known of the CLI: data, from its `harness.json`.
    fn facts(&self) -> &Facts;

    /// Lowers a request to the command of this CLI.
    ///
    /// Adds a row to the report for every field that is set, and refuses (never drops) what would let
    /// the agent do more than the request and the profile allow.
    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered>;

    /// A reader for a run that was asked for this form of output (never `auto`).
    fn reader(&self, output: Output) -> Box<dyn Reader>;

    /// What plays this CLI in rehearsals and in the testkit.
    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn StandIn> {
        None
    }
}
