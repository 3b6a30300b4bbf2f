//! The conformance suite: what holds for every harness, the built-in ones and yours.
//!
//! ```
//! use teamster::{HarnessRegistry, testkit};
//!
//! for builder in HarnessRegistry::builtin().iter() {
//!     testkit::assert_conforms(builder);
//! }
//! ```
//!
//! - Needs no CLI, no account and no process: a harness is pure, and so is what is asked of it.
//! - A harness with a [`StandIn`](crate::harness::StandIn) is asked what its command would let the agent
//!   do and which text would arrive; one without is held to what the command itself shows.

mod commands;
mod delivery;
mod facts;
mod given;
mod requests;
mod rights;
mod transcripts;

pub use given::given;
pub use requests::{Case, hostile_texts, requests};
pub use transcripts::Transcript;

use crate::harness::AgentBuilder;
use crate::profile::Profile;

/// What a harness is checked with, over the requests that the suite has itself.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The profile that every request is lowered with.
    pub profile: Profile,
    /// Recorded runs of the CLI: the reader has to give the same reply however they are cut.
    pub transcripts: Vec<Transcript>,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What should hold, in a few words.
    pub rule: &'static str,
    /// The request, text or transcript that shows it.
    pub case: String,
    /// What was found instead.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.rule, self.case, self.what)
    }
}

impl Suite {
    /// Everything that does not hold for this harness; nothing when it conforms.
    pub fn check(&self, builder: &dyn AgentBuilder) -> Vec<Finding> {
        let mut found = Vec::new();
        facts::check(builder, self, &mut found);
        commands::check(builder, &self.profile, &mut found);
        delivery::check(builder, &self.profile, &mut found);
        rights::check(builder, &self.profile, &mut found);
        transcripts::check(builder, self, &mut found);
        found
    }

    /// Panics with everything that does not hold for this harness.
    pub fn assert_conforms(&self, builder: &dyn AgentBuilder) {
        let found = self.check(builder);
        let lines: Vec<String> = found.iter().map(|f| format!("\n- {f}")).collect();
        assert!(found.is_empty(), "{} does not conform:{}", builder.facts().id, lines.concat());
    }
}

/// [`Suite::check`] with the default profile and no transcripts.
pub fn check(builder: &dyn AgentBuilder) -> Vec<Finding> {
    Suite::default().check(builder)
}

/// [`Suite::assert_conforms`] with the default profile and no transcripts.
pub fn assert_conforms(builder: &dyn AgentBuilder) {
    Suite::default().assert_conforms(builder);
}

fn note(found: &mut Vec<Finding>, rule: &'static str, case: impl Into<String>, what: impl Into<String>) {
    found.push(Finding { rule, case: case.into(), what: what.into() });
}
