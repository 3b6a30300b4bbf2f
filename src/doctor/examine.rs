//! One harness, from its program to its answer.

use super::probe::probe;
use super::report::{HarnessReport, Reason, SignedIn, Verdict};
use super::version::{ask_version, verdict};
use crate::error::{Failure, Kind};
use crate::harness::{AgentBuilder, Facts, StatusCovers};
use crate::profile::Profile;
use crate::run::{Cancel, Question, ask, find};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a status command may take.
const PATIENCE: Duration = Duration::from_secs(20);

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
    let facts = builder.facts();
    let mut report = HarnessReport {
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
    };
    steps(builder, profile, how, &mut report).await;
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}

async fn steps(
    builder: &dyn AgentBuilder,
    profile: &Profile,
    how: &Examination,
    report: &mut HarnessReport,
) {
    let facts = builder.facts();
    report.auth = credentials(facts, profile);
    let var = |name: &str| std::env::var_os(name);
    let found = match find(facts, how.bin.as_deref(), profile.bin.as_deref(), &var) {
        Ok(found) => found,
        Err(failure) => return report.wrong(Reason::NotFound, failure),
    };
    report.installed = true;
    report.path = Some(found.path.display().to_string());
    report.found_by = Some(found.by);

    report.version = ask_version(facts, profile, &found.path, how.cancel.clone()).await;
    report.version_verdict = verdict(facts, report.version.as_deref());
    if report.version_verdict == Verdict::TooOld {
        let (own, least) = (report.version.as_deref().unwrap_or_default(), facts.min_version.as_deref());
        let what = format!("{} {own} is older than {}", facts.id, least.unwrap_or_default());
        let failure = Failure::new(Kind::HarnessConfig, format!("{what}, the oldest that teamster can drive"));
        return report.wrong(Reason::Version, failure.hint(format!("update it: `{}`", facts.install)));
    }

    let status = status(facts, profile, &found.path, how.cancel.clone()).await;
    let covers_all = facts.status.as_ref().is_some_and(|status| status.covers == StatusCovers::All);
    report.signed_in = match status {
        Some(true) => SignedIn::Stored,
        _ if !report.auth.is_empty() => SignedIn::Variable,
        _ => SignedIn::Unknown,
    };
    if status == Some(false) && covers_all {
        report.signed_in = SignedIn::No;
        return report.wrong(Reason::Unauthenticated, signed_out(facts));
    }
    if how.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
        return report.wrong(Reason::ProbeFailed, Failure::new(Kind::Cancelled, "cancelled"));
    }
    if !how.call {
        let next = format!("`teamster doctor {}` without --skip-probe proves it by one small call", facts.id);
        return report.unproven("no call was made".to_owned(), Some(next));
    }
    match probe(builder, profile, how).await {
        Err(failure) if is_about_rights(failure.kind) => {
            let why = format!("no call was made, since it cannot be one without rights: {}", failure.message);
            report.unproven(why, Some(facts.sign_in.clone()));
        }
        Err(failure) => report.wrong(Reason::ProbeFailed, failure),
        Ok(outcome) => match outcome.failure {
            None => (report.probed, report.signed_in) = (true, SignedIn::Yes),
            Some(failure) => {
                let nothing = status != Some(true) && report.auth.is_empty();
                report.refused(facts, failure, status, nothing);
            }
        },
    }
}

impl HarnessReport {
    fn wrong(&mut self, reason: Reason, failure: Failure) {
        self.ok = false;
        self.reason = Some(reason);
        self.kind = Some(failure.kind);
        self.message = Some(failure.message);
        self.hint = failure.hint.map(|hint| hint.into_owned());
    }

    fn unproven(&mut self, message: String, hint: Option<String>) {
        self.reason = Some(Reason::Unprobed);
        self.message = Some(message);
        self.hint = hint;
    }

    /// A call that failed. The CLI's own words for having no credential tell most, then what was found before.
    fn refused(&mut self, facts: &Facts, failure: Failure, status: Option<bool>, nothing: bool) {
        let says_so = says_signed_out(facts, &failure);
        if failure.kind != Kind::Auth && !says_so {
            return self.wrong(Reason::ProbeFailed, failure);
        }
        self.probed = true;
        self.signed_in = SignedIn::No;
        // With no status command a credential may be stored that nothing shows: a server's refusal says it is.
        let answered = crate::reply::http_status(&failure.message).is_some();
        let none = says_so || (nothing && (status == Some(false) || !answered));
        if none {
            return self.wrong(Reason::Unauthenticated, signed_out(facts));
        }
        let by = match (self.auth.as_slice(), status) {
            ([], _) => "the stored sign-in".to_owned(),
            (names, Some(true)) => format!("{} or the stored sign-in", names.join(", ")),
            (names, _) => names.join(", "),
        };
        let hint = format!("what it has ({by}) is refused; {}", facts.sign_in);
        self.wrong(Reason::BadKey, Failure { kind: Kind::Auth, ..failure }.hint(hint));
    }
}

fn is_about_rights(kind: Kind) -> bool {
    matches!(kind, Kind::Unenforceable | Kind::Unsupported)
}

fn signed_out(facts: &Facts) -> Failure {
    Failure::new(Kind::Auth, format!("{} is not signed in", facts.id)).hint(facts.sign_in.clone())
}

/// Whether the CLI says that it has no credential.
fn says_signed_out(facts: &Facts, failure: &Failure) -> bool {
    let texts = [Some(failure.message.as_str()), failure.stderr_tail.as_deref()];
    texts.into_iter().flatten().any(|text| facts.signed_out.iter().any(|words| text.contains(words)))
}

/// Names of the variables that sign it in and have a value, in this environment or by the profile.
fn credentials(facts: &Facts, profile: &Profile) -> Vec<String> {
    let set = |name: &&String| match profile.env.get(*name) {
        Some(value) => !value.is_empty(),
        None => std::env::var_os(name).is_some_and(|value| !value.is_empty()),
    };
    facts.auth_env.iter().filter(set).cloned().collect()
}

/// What the status command says; `None` where there is none, or it says neither.
async fn status(facts: &Facts, profile: &Profile, program: &Path, cancel: Option<Cancel>) -> Option<bool> {
    let status = facts.status.as_ref()?;
    let args: Vec<&str> = status.args.iter().map(String::as_str).collect();
    let question = Question {
        facts,
        profile,
        program,
        args: &args,
        with_keys: true,
        patience: PATIENCE,
        cancel,
        end_with_thread: true,
    };
    let said = ask(question).await.ok()?;
    let says = |words: &str| said.stdout.contains(words) || said.stderr.contains(words);
    match said.status {
        Some(0) if says(&status.says_in) => Some(true),
        Some(1..) if says(&status.says_out) => Some(false),
        _ => None,
    }
}
