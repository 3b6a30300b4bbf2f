//! Fallback: the next harness of a list, where it can help and may.

use super::budget::{remaining, spent};
use super::{DispatchOptions, first_command, until_valid};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Facts};
use crate::lowering::{Field, Lowered};
use crate::outcome::{FallbackStep, Outcome};
use crate::policy::Permission;
use crate::profile::{Profile, SettledLimits};
use crate::reply::{By, Event, Usage};
use crate::request::{DispatchRequest, Output, Session};
use crate::run::Runner;
use std::time::Instant;

/// A harness that may be asked, with what it is asked.
pub struct Candidate<'c> {
    /// The harness.
    pub builder: &'c dyn AgentBuilder,
    /// The profile's name, for the outcome.
    pub profile_name: Option<String>,
    /// How it is run.
    pub profile: Profile,
    /// The request, in words that this harness knows.
    pub request: DispatchRequest,
}

/// Asks the first candidate, and the next one where that can help:
///
/// - only after [`Kind::NotFound`], [`Kind::Auth`], [`Kind::Quota`], [`Kind::RateLimit`] and
///   [`Kind::HarnessError`];
/// - not where the agent may have changed something, unless `after_effects`: it had rights for more than
///   reading, and a tool that needs them was used, or tools cannot be seen in this form of output;
/// - never to a candidate that cannot be held to the same restrictions, or cannot carry the request: it is a
///   step of the outcome, and the one after it is asked.
///
/// The first candidate's clock and budgets span all of them. A request that resumes a session has one
/// candidate, since a session is one harness's. `runner` makes what runs a candidate's commands.
pub async fn first_that_answers<R: Runner>(
    candidates: Vec<Candidate<'_>>,
    mut runner: impl FnMut(&Candidate<'_>) -> R,
    after_effects: bool,
    options: DispatchOptions<'_>,
) -> Outcome {
    let began = Instant::now();
    let DispatchOptions { strict, output_as_asked, on_event } = options;
    let mut ignore = |_: Event<'_>| {};
    let emit = on_event.unwrap_or(&mut ignore);
    let several = candidates.len() > 1;
    let mut left: Vec<(FallbackStep, Option<Outcome>)> = Vec::new();
    let mut used: Option<Usage> = None;
    let mut bounds: Option<SettledLimits> = None;
    for mut candidate in candidates {
        if let Some(bounds) = &bounds
            && !candidate.bound(bounds, began, used.as_ref())
        {
            break;
        }
        let plain = DispatchOptions { strict, output_as_asked, on_event: None };
        let lowered = one_session(&candidate.request, several).and_then(|()| {
            bounds.get_or_insert(candidate.profile.limits.settled()?);
            first_command(candidate.builder, candidate.request.clone(), &candidate.profile, &plain)
        });
        let lowered = match lowered {
            Ok(lowered) => lowered,
            Err(failure) => {
                let refused = Outcome::refused(&candidate.builder.facts().id, failure);
                if left.is_empty() {
                    return refused;
                }
                left.push((candidate.left(&refused), None));
                continue;
            }
        };
        let (facts, mut changed) = (candidate.builder.facts(), false);
        let mut listen = |event: Event<'_>| {
            changed |= matches!(&event, Event::ToolUse { name, .. } if may_change(facts, name));
            emit(event);
        };
        let mut runner = runner(&candidate);
        let options = DispatchOptions { strict, output_as_asked, on_event: Some(&mut listen) };
        let request = candidate.request.clone();
        let mut outcome =
            Box::pin(until_valid(candidate.builder, request, &candidate.profile, &mut runner, options)).await;
        let unseen = lowered.command.output != Output::Stream && !outcome.attempts.is_empty();
        let effects = (changed || unseen) && !candidate.only_reads(&lowered);
        if let Some(usage) = outcome.usage {
            *used.get_or_insert_default() += usage;
        }
        let Some(failure) =
            outcome.failure.as_ref().filter(|failure| several && another_may_help(failure.kind))
        else {
            return finished(outcome, left, began);
        };
        if effects && !after_effects {
            outcome.failure = Some(
                failure
                    .clone()
                    .hint("no other harness was asked, since the agent may have changed something already"),
            );
            return finished(outcome, left, began);
        }
        let message = format!("{}: {}; the next harness is asked", outcome.harness, failure.message).into();
        emit(Event::Retry { by: By::Teamster, attempt: None, message });
        left.push((candidate.left(&outcome), Some(outcome)));
    }
    // Nobody is left: the failure of the last one that ran.
    let last = left.iter().rposition(|(_, outcome)| outcome.is_some());
    let outcome = last.and_then(|at| left.remove(at).1);
    let outcome = outcome.unwrap_or_else(|| {
        Outcome::refused("", Failure::new(Kind::UnknownHarness, "there is no harness to ask"))
    });
    finished(outcome, left, began)
}

impl Candidate<'_> {
    /// Holds it to what is left of the clock and the budgets; whether anything is.
    fn bound(&mut self, bounds: &SettledLimits, began: Instant, used: Option<&Usage>) -> bool {
        let time = bounds.timeout.saturating_sub(began.elapsed());
        let budget = remaining(&bounds.budget, used);
        let limits = &mut self.profile.limits;
        limits.timeout_s = Some(time.as_secs_f64());
        (limits.max_tokens, limits.max_cost_usd) = (budget.max_tokens, budget.max_cost_usd);
        !time.is_zero() && (used.is_none() || spent(&bounds.budget, used).is_none())
    }

    /// Whether the agent was held to reading.
    fn only_reads(&self, lowered: &Lowered) -> bool {
        let ceiling = self.profile.ceiling(self.request.permission, self.request.tools.is_some());
        let dropped =
            lowered.report.dropped().any(|row| matches!(row.field, Field::Permission | Field::Tools));
        ceiling == Some(Permission::ReadOnly) && !self.request.allow_unenforced && !dropped
    }

    fn left(&self, outcome: &Outcome) -> FallbackStep {
        let unknown = || Failure::new(Kind::HarnessError, "no answer");
        FallbackStep {
            harness: self.builder.facts().id.clone(),
            profile: self.profile_name.clone(),
            failure: outcome.failure.clone().unwrap_or_else(unknown),
            attempts: u32::try_from(outcome.attempts.len()).unwrap_or(u32::MAX),
            usage: outcome.usage,
            duration_ms: outcome.duration_ms,
        }
    }
}

fn finished(mut outcome: Outcome, left: Vec<(FallbackStep, Option<Outcome>)>, began: Instant) -> Outcome {
    if !left.is_empty() {
        outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    }
    outcome.fallback = left.into_iter().map(|(step, _)| step).collect();
    outcome
}

/// Kinds of failure that are one harness's own.
fn another_may_help(kind: Kind) -> bool {
    matches!(kind, Kind::NotFound | Kind::Auth | Kind::Quota | Kind::RateLimit | Kind::HarnessError)
}

fn one_session(request: &DispatchRequest, several: bool) -> Result<()> {
    match request.session {
        Some(Session::Resume(_)) if several => Err(Failure::invalid(
            "session",
            "a session belongs to one harness, so there is none to fall back to",
        )
        .hint("leave the fallback out, or begin a new session")),
        _ => Ok(()),
    }
}

/// Whether a tool may change something: one that needs more than reading, or that nobody knows.
fn may_change(facts: &Facts, name: &str) -> bool {
    let known = facts
        .tools
        .get(name)
        .or_else(|| facts.tools.values().find(|tool| tool.aliases.iter().any(|alias| alias == name)));
    known.is_none_or(|tool| tool.escalates || tool.needs > Permission::ReadOnly)
}
