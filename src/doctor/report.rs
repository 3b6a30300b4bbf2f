//! What a doctor says.

use crate::error::Kind;
use serde::{Deserialize, Serialize};

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
    pub path: Option<String>,
    /// What named it: `flag`, a variable, `profile` or `PATH`.
    pub found_by: Option<String>,
    /// The version that it says.
    pub version: Option<String>,
    /// The newest version whose contract was checked.
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
    pub reason: Option<Reason>,
    /// The kind of failure, which gives the exit status.
    pub kind: Option<Kind>,
    /// What happened, in one sentence; secrets are replaced.
    pub message: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// Milliseconds that the look took.
    pub duration_ms: u64,
}

/// Why a harness does not work, or is not known to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The program is not there.
    NotFound,
    /// The version lacks what teamster uses of the CLI.
    Version,
    /// There is no credential.
    Unauthenticated,
    /// There is one, and the vendor refuses it.
    BadKey,
    /// The call failed otherwise; `kind` says how.
    ProbeFailed,
    /// Nothing is wrong as far as it was looked at, and no call was made.
    Unprobed,
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
    Between,
    /// Older than the oldest that is known to have what teamster uses.
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
    pub hint: Option<String>,
    /// The kind of failure.
    pub kind: Option<Kind>,
}
