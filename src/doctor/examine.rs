//! One harness, from its program to its answer.

use super::probe::probe;
use super::report::{HarnessReport, Reason, SignedIn, Verdict};
use super::signed::{Found, look, says_signed_out, variables};
use super::version::{ask_version, verdict};
use crate::error::{Failure, Kind};
use crate::harness::{AgentBuilder, Facts};
use crate::profile::Profile;
use crate::run::{Cancel, find};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How far a harness is looked at.
#[derive(Debug, Clone)]
pub struct Examination {
    /// Make the small call.
    pub call: bool,
    /// How long the call may take.
    pub timeout: Duration,
    /// The program, over everything else that could name one.
    pub bin: Option<OsString>,
    /// The model of the call; absent is the CLI's own.
    pub model: Option<String>,
    /// Ends the look from outside.
    pub cancel: Option<Cancel>,
}

impl Default for Examination {
    fn default() -> Self {
        Examination { call: true, timeout: Duration::from_secs(60), bin: None, model: None, cancel: None }
    }
}

/// Looks at one harness. The processes that it starts end with this thread, also when it is killed.
pub async fn examine(builder: &dyn AgentBuilder, profile: &Profile, how: &Examination) -> HarnessReport {
    let began = Instant::now();
    let mut report = HarnessReport::new(builder.facts());
    steps(builder, profile, how, &mut report).await;
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}

async fn steps(builder: &dyn AgentBuilder, profile: &Profile, how: &Examination, report: &mut HarnessReport) {
    let facts = builder.facts();
    report.auth = variables(facts, profile);
    let var = |name: &str| std::env::var_os(name);
    let found = match find(facts, how.bin.as_deref(), profile.bin.as_deref(), &var) {
        Ok(found) => found,
        Err(failure) => return report.wrong(Reason::NotFound, failure),
    };
    report.installed = true;
    report.path = Some(found.path.display().to_string());
    report.found_by = Some(found.by);

    report.version = match ask_version(facts, profile, &found.path, how.cancel.clone()).await {
        Ok(version) => version,
        Err(failure) if failure.kind == Kind::Cancelled => return report.wrong(Reason::Cancelled, failure),
        Err(failure) => return report.wrong(Reason::Broken, failure),
    };
    report.version_verdict = verdict(facts, report.version.as_deref());
    if let (Verdict::TooOld, Some(least), Some(own)) =
        (report.version_verdict, &facts.min_version, &report.version)
    {
        let what =
            format!("{} {own} is older than {}, the oldest that can be driven", facts.id, least.version);
        let failure = Failure::new(Kind::HarnessConfig, what);
        return report.wrong(Reason::Version, failure.hint(format!("update it: {}", facts.install)));
    }

    let found = look(facts, profile, &found.path, how.cancel.clone()).await;
    report.signed_in = match found.status {
        _ if found.is_signed_out() => SignedIn::No,
        _ if !found.variables.is_empty() => SignedIn::Variable,
        Some(true) => SignedIn::Stored,
        _ => SignedIn::Unknown,
    };
    if how.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
        return report.wrong(Reason::Cancelled, Failure::new(Kind::Cancelled, "cancelled"));
    }
    if found.is_signed_out() {
        return report.wrong(Reason::Unauthenticated, signed_out(facts));
    }
    if !how.call {
        let next = format!("`teamster doctor {}` without --skip-probe tries it by one small call", facts.id);
        return report.unproven(format!("no call was made; {}", found.said()), Some(next));
    }
    match probe(builder, profile, how).await {
        Err(failure) if is_about_rights(failure.kind) => {
            let why = match failure.kind {
                Kind::Unenforceable => "no call was made, since it would not be one without rights",
                _ => "no call was made",
            };
            let why = format!("{why}: {}", failure.message);
            report.unproven(why, None);
        }
        Err(failure) => report.wrong(Reason::ProbeFailed, failure),
        Ok(outcome) => match outcome.failure {
            None => (report.probed, report.signed_in) = (true, SignedIn::Yes),
            Some(failure) => report.refused(facts, failure, &found),
        },
    }
}

impl HarnessReport {
    fn wrong(&mut self, reason: Reason, failure: Failure) {
        self.ok = false;
        self.reason = Some(reason);
        self.kind = Some(failure.kind);
        self.message = Some(failure.message);
        self.hint = failure.hint.map(std::borrow::Cow::into_owned);
    }

    fn unproven(&mut self, message: String, hint: Option<String>) {
        self.reason = Some(Reason::Unprobed);
        self.message = Some(message);
        self.hint = hint;
    }

    /// A call that failed. The CLI's own words for having no credential tell most, then what was found before.
    fn refused(&mut self, facts: &Facts, failure: Failure, found: &Found) {
        let says_so = says_signed_out(facts, &failure);
        let answered = crate::reply::http_status(&failure.message);
        // A CLI that goes on by itself, with a key that is refused, until the clock ends it.
        let is_auth = match failure.kind {
            Kind::Auth => true,
            Kind::Timeout => answered.and_then(Kind::of_http_status) == Some(Kind::Auth),
            _ => says_so,
        };
        if !is_auth {
            if failure.kind == Kind::Cancelled {
                return self.wrong(Reason::Cancelled, failure);
            }
            self.wrong(Reason::ProbeFailed, failure);
            if found.is_nothing() && found.status == Some(false) {
                self.hint = Some(format!("its status command knows no sign-in: {}", facts.sign_in));
            }
            return;
        }
        self.probed = true;
        self.signed_in = SignedIn::No;
        let said = facts.said(&failure.message);
        if says_so {
            let mut none = signed_out(facts);
            none.message.extend(said.map(|said| format!(": {said}")));
            return self.wrong(Reason::Unauthenticated, none);
        }
        // Where the CLI's own words for it are not known, what was found tells, and whether a server refused it.
        let is_nothing = found.is_nothing() && (found.status == Some(false) || answered.is_none());
        if facts.signed_out.is_empty() && is_nothing {
            return self.wrong(Reason::Unauthenticated, failure.hint(facts.sign_in.clone()));
        }
        let hint = format!("what signs it in ({}) is refused: {}", found.shown(), facts.sign_in);
        let said = said.unwrap_or(&failure.message);
        let what = format!("{}'s credential is refused: {said}", facts.id);
        self.wrong(Reason::BadKey, Failure::new(Kind::Auth, what).hint(hint));
    }
}

/// The call is refused by teamster, before a spawn, for the rights that it would have.
fn is_about_rights(kind: Kind) -> bool {
    matches!(kind, Kind::Unenforceable | Kind::Unsupported | Kind::InvalidConfig)
}

fn signed_out(facts: &Facts) -> Failure {
    Failure::new(Kind::Auth, format!("{} is not signed in", facts.id)).hint(facts.sign_in.clone())
}
