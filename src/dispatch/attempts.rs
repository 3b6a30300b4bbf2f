//! One attempt after the other, until one is the answer.

use super::budget::{remaining, spent};
use super::next::{Verdict, judge, next};
use crate::error::{Failure, Kind};
use crate::harness::{AgentBuilder, UsageCounts, lower};
use crate::lowering::Lowered;
use crate::outcome::{Attempt, Outcome};
use crate::profile::{Profile, SettledLimits};
use crate::reply::{By, Event};
use crate::request::{DispatchRequest, Session};
use crate::run::{Ran, RunContext, Runner};
use crate::schema::Schema;
use std::time::Instant;

/// What all attempts of a dispatch share.
pub(super) struct Attempts<'d> {
    pub(super) builder: &'d dyn AgentBuilder,
    pub(super) request: DispatchRequest,
    pub(super) profile: Profile,
    pub(super) schema: Option<Schema>,
    pub(super) limits: SettledLimits,
    pub(super) began: Instant,
}

impl Attempts<'_> {
    pub(super) async fn all<R: Runner>(
        mut self,
        first: Lowered,
        runner: &mut R,
        emit: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Outcome {
        let mut outcome =
            Outcome::refused(&self.builder.facts().id, Failure::new(Kind::HarnessError, "no attempt"));
        let deadline = self.began + self.limits.timeout;
        let (mut lowered, mut resumed, mut lost_a_session) = (first, false, false);
        let mut left = self.limits.attempts;
        let mut last_feedback = String::new();
        loop {
            let number = outcome.attempts.len() as u32 + 1;
            let context = RunContext {
                builder: self.builder,
                profile: &self.profile,
                limits: self.limits,
                deadline,
                attempt: number,
                emit: &mut *emit,
            };
            let ran = match runner.run(&lowered, context).await {
                Ok(ran) => ran,
                Err(failure) => {
                    outcome.failure = Some(failure);
                    break;
                }
            };
            left -= 1;
            let verdict = judge(&ran.reply, self.schema.as_ref());
            let lost = resumed
                && !lost_a_session
                && matches!(&verdict, Verdict::Failed(f) if f.kind == Kind::SessionNotFound);
            tracing::debug!(attempt = number, resumed, verdict = verdict.name(), "judged");
            record(&mut outcome, &ran, &verdict, resumed, self.tokens(resumed));
            let (kind, why, feedback) = match verdict {
                Verdict::Answer(value) => {
                    (outcome.ok, outcome.failure, outcome.value) = (true, None, value);
                    break;
                }
                Verdict::Failed(_) if lost => {
                    lost_a_session = true;
                    left += 1;
                    (Kind::SessionNotFound, "the session is gone".to_owned(), last_feedback.clone())
                }
                Verdict::Failed(failure) => {
                    outcome.failure = Some(failure);
                    break;
                }
                Verdict::Again { kind, why, feedback } => (kind, why, feedback),
            };
            let attempts = outcome.attempts.len();
            outcome.failure = Some(exhausted(kind, &why, attempts));
            if left == 0 {
                break;
            }
            if Instant::now() >= deadline {
                let spent = format!("no time is left after {attempts} attempt(s); the last one: {why}");
                outcome.failure =
                    Some(Failure::new(Kind::Timeout, spent).hint("--timeout SECONDS gives it more"));
                break;
            }
            if let Some(spent) = spent(&self.limits.budget, outcome.usage.as_ref()) {
                let message = format!("{spent}, after {attempts} attempt(s); the last one: {why}");
                outcome.failure = Some(
                    Failure::new(Kind::Budget, message)
                        .hint("--max-tokens N and --max-cost USD say how much may be spent"),
                );
                break;
            }
            self.profile.limits.max_cost_usd =
                remaining(&self.limits.budget, outcome.usage.as_ref()).max_cost_usd;
            let session = ran.reply.session_id.as_deref().filter(|_| !lost);
            (lowered, resumed) = match self.lower_next(session, &feedback) {
                Ok(next) => next,
                Err(failure) => {
                    outcome.failure = Some(failure);
                    break;
                }
            };
            let how =
                if resumed { "asking again in the same session" } else { "asking again from the start" };
            emit(Event::Retry {
                by: By::Teamster,
                attempt: Some(number + 1),
                message: format!("{why}; {how}").into(),
            });
            last_feedback = feedback;
        }
        outcome.duration_ms = millis(self.began.elapsed());
        outcome
    }

    /// What the tokens that an attempt tells count.
    fn tokens(&self, resumed: bool) -> Tokens {
        if self.builder.facts().usage_counts == UsageCounts::Run {
            return Tokens::OfAttempt;
        }
        match &self.request.session {
            Some(Session::Resume(_)) => Tokens::OfMore,
            _ if resumed => Tokens::SoFar,
            _ => Tokens::OfAttempt,
        }
    }

    /// The next command: a correction in the session, else the whole request with the feedback.
    fn lower_next(&self, session: Option<&str>, feedback: &str) -> Result<(Lowered, bool), Failure> {
        let resumes = self.builder.facts().capabilities.resume != "no";
        if let Some(id) = session.filter(|_| resumes) {
            let correction = self.request.correcting(id, feedback.to_owned());
            if let Ok(lowered) = lower(self.builder, &correction, &self.profile) {
                return Ok((lowered, true));
            }
        }
        Ok((lower(self.builder, &next(&self.request, feedback), &self.profile)?, false))
    }
}

/// What the tokens that an attempt tells count.
enum Tokens {
    /// That attempt.
    OfAttempt,
    /// The attempts so far.
    SoFar,
    /// Runs before this dispatch, too: what the dispatch took is not known.
    OfMore,
}

fn exhausted(kind: Kind, why: &str, attempts: usize) -> Failure {
    let what = match kind {
        Kind::Ambiguous => "the reply is ambiguous",
        _ => "the reply is not valid",
    };
    Failure::new(kind, format!("{what} after {attempts} attempt(s): {why}"))
        .hint("--attempts N allows more; the attempts in --json hold what the agent said")
}

fn record(outcome: &mut Outcome, ran: &Ran, verdict: &Verdict, resumed: bool, tokens: Tokens) {
    let reply = &ran.reply;
    let (ok, failure, why, feedback) = match verdict {
        Verdict::Answer(_) => (true, None, None, None),
        Verdict::Failed(f) => (false, Some(f.kind), Some(f.message.clone()), None),
        Verdict::Again { kind, why, feedback } => {
            (false, Some(*kind), Some(why.clone()), Some(feedback.clone()))
        }
    };
    let text = (!reply.text.is_empty()).then(|| reply.text.clone());
    let own_usage = if matches!(tokens, Tokens::OfAttempt) { reply.usage } else { None };
    outcome.attempts.push(Attempt {
        ok,
        resumed,
        failure,
        why,
        feedback,
        text: text.clone().filter(|_| !ok),
        session_id: reply.session_id.clone(),
        usage: own_usage,
        exit_status: ran.exit_status,
        signal: ran.signal,
        duration_ms: millis(ran.duration),
        files: ran.files.as_ref().map(|path| path.display().to_string()),
    });
    outcome.text = text;
    outcome.session_id = reply.session_id.clone().or(outcome.session_id.take());
    outcome.model = reply.model.clone().or(outcome.model.take());
    outcome.denied.extend(reply.denied.iter().cloned());
    match (tokens, reply.usage) {
        (Tokens::OfAttempt, Some(usage)) => *outcome.usage.get_or_insert_default() += usage,
        (Tokens::SoFar, Some(usage)) => outcome.usage = Some(usage),
        (Tokens::OfMore, _) | (_, None) => {}
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
