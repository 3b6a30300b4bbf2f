//! What a doctor says.

use crate::error::{Failure, Kind};
use crate::harness::Facts;
use serde::{Deserialize, Serialize};

/// All that a doctor says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// teamster's own needs are met, and every harness that was named is fine; where none was named, one
    /// at least is.
    pub ok: bool,
    /// The version of teamster.
    pub version: String,
    /// What teamster itself needs.
    pub teamster: Vec<Check>,
    /// The harnesses.
    pub harnesses: Vec<HarnessReport>,
    /// Why nothing could be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Report {
    /// The report of these. `named` says that the harnesses were asked for by name.
    pub fn new(teamster: Vec<Check>, harnesses: Vec<HarnessReport>, named: bool) -> Report {
        let mut fine = harnesses.iter().map(|harness| harness.ok);
        let ok = teamster.iter().all(|check| check.ok)
            && if named { fine.all(|ok| ok) } else { fine.any(|ok| ok) };
        Report { ok, version: env!("CARGO_PKG_VERSION").to_owned(), teamster, harnesses, failure: None }
    }

    /// The report where the question itself was wrong.
    pub fn failed(failure: Failure) -> Report {
        Report { failure: Some(failure), ok: false, ..Report::new(Vec::new(), Vec::new(), true) }
    }

    /// The kind that gives the exit status; `None` where all is well.
    ///
    /// Where no harness is fine, that of the first one that is installed, else of the first; then that of the
    /// first of teamster's own needs that is not met; then that of the first harness that is not fine.
    pub fn kind(&self) -> Option<Kind> {
        if self.ok {
            return None;
        }
        let asked = self.failure.as_ref().map(|failure| failure.kind);
        let own = || self.teamster.iter().filter(|check| !check.ok).find_map(|check| check.kind);
        let bad = || {
            let bad = || self.harnesses.iter().filter(|harness| !harness.ok);
            bad().find(|harness| harness.installed).or_else(|| bad().next()).and_then(|harness| harness.kind)
        };
        let is_fine = self.harnesses.iter().any(|harness| harness.ok);
        let kind = asked.or_else(|| if is_fine { own().or_else(bad) } else { bad().or_else(own) });
        kind.or(Some(Kind::NotFound))
    }
}

/// How one harness stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HarnessReport {
    /// The platform name.
    pub harness: String,
    /// Nothing is known to be wrong. Whether that was proven is `probed`.
    pub ok: bool,
    /// Whether its program is there.
    pub installed: bool,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What named it: `flag`, a variable, `profile` or `PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// The version that it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The newest version whose contract was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// How the one is to the other.
    pub version_verdict: Verdict,
    /// Names of the variables that sign it in and are set. Never their values.
    pub auth: Vec<String>,
    /// Whether it is signed in, and how that is known.
    pub signed_in: SignedIn,
    /// A small call was made and settled it, the one way or the other.
    pub probed: bool,
    /// What is wrong, or why nothing was proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The kind of failure, which gives the exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What happened, in one sentence; secrets are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Milliseconds that the look took.
    pub duration_ms: u64,
}

impl HarnessReport {
    /// A report of a harness that nobody looked at yet.
    pub(super) fn new(facts: &Facts) -> HarnessReport {
        HarnessReport {
            harness: facts.id.clone(),
            ok: true,
            installed: false,
            path: None,
            found_by: None,
            version: None,
            verified: facts.verified.first().map(|verified| verified.version.clone()),
            version_verdict: Verdict::Unknown,
            auth: Vec::new(),
            signed_in: SignedIn::Unknown,
            probed: false,
            reason: None,
            kind: None,
            message: None,
            hint: None,
            duration_ms: 0,
        }
    }
}

/// Why a harness does not work, or is not known to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The program is not there.
    NotFound,
    /// It is there and cannot be started, or what it runs on is not there.
    Broken,
    /// The version is older than the oldest that can be driven.
    Version,
    /// There is no credential.
    Unauthenticated,
    /// There is one, and the vendor refuses it.
    BadKey,
    /// The call failed otherwise; `kind` says how.
    ProbeFailed,
    /// Nothing is wrong as far as it was looked at, and no call was made.
    Unprobed,
    /// The look was ended from outside.
    Cancelled,
}

/// A version against those that were checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One of those.
    Verified,
    /// Newer than all of those: it is likely to work.
    Newer,
    /// Older than the newest of those, and none of them.
    Older,
    /// Older than the oldest that can be driven.
    TooOld,
    /// It says no version, or none was checked.
    #[default]
    Unknown,
}

/// Whether a CLI is signed in, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignedIn {
    /// It answered a call.
    Yes,
    /// It has no credential, or a call was refused.
    No,
    /// Its status command says that a credential is there; nobody tried it.
    Stored,
    /// A variable that signs it in is set; nobody tried it.
    Variable,
    /// Nothing says so, and nothing says otherwise.
    #[default]
    Unknown,
}

/// One thing that teamster itself needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name: `settings`, `state`, `temp`, `processes`, `git`, `depth`.
    pub name: String,
    /// Whether it is fine. One that only some commands need is fine with a hint.
    pub ok: bool,
    /// What was seen.
    pub message: String,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}
