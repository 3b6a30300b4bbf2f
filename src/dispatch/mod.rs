//! The dispatch: a request is run, its reply checked, and asked again with feedback until it is valid.

mod attempts;
mod budget;
mod fallback;
mod next;
#[cfg(feature = "typed")]
mod typed;

pub use budget::{remaining, spent};
pub use fallback::{Candidate, first_that_answers};
#[cfg(feature = "typed")]
pub use typed::{Completed, complete};

use crate::error::Result;
use crate::harness::{AgentBuilder, lower};
use crate::lowering::Lowered;
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::reply::Event;
use crate::request::{DispatchRequest, Output};
use crate::run::{LocalRunner, Runner};
use crate::schema::Schema;
use std::time::Instant;

/// Who listens to a dispatch, and how strict it is.
#[derive(Default)]
pub struct DispatchOptions<'o> {
    /// A field that the harness cannot carry is an error.
    pub strict: bool,
    /// `auto` output stays what the request says it is, instead of the stream.
    pub output_as_asked: bool,
    /// Gets every event as it happens.
    pub on_event: Option<&'o mut (dyn FnMut(Event<'_>) + Send)>,
}

impl DispatchOptions<'_> {
    /// The request as a dispatch runs it: `auto` output is the stream, since usage, session and errors
    /// are in it.
    fn dispatched(&self, mut request: DispatchRequest) -> DispatchRequest {
        if request.output == Output::Auto && !self.output_as_asked {
            request.output = Output::Stream;
        }
        request
    }
}

/// The command that the first attempt of a dispatch runs.
///
/// Errors: those of [`lower`], and with `strict` the first dropped field.
pub fn first_command(
    builder: &dyn AgentBuilder,
    request: DispatchRequest,
    profile: &Profile,
    options: &DispatchOptions<'_>,
) -> Result<Lowered> {
    first(builder, &options.dispatched(request), profile, options.strict)
}

fn first(
    builder: &dyn AgentBuilder,
    request: &DispatchRequest,
    profile: &Profile,
    strict: bool,
) -> Result<Lowered> {
    let lowered = lower(builder, request, profile)?;
    if strict {
        lowered.report.strict()?;
    }
    Ok(lowered)
}

/// Dispatches a request to a CLI of this machine, with default options.
///
/// ```no_run
/// # async fn example() -> Result<(), teamster::Failure> {
/// use teamster::{DispatchRequest, HarnessRegistry, Profile, dispatch};
///
/// let registry = HarnessRegistry::builtin();
/// let request = DispatchRequest::new("Summarise README.md");
/// let outcome = dispatch::dispatch(registry.get("gemini")?, request, &Profile::default()).await;
/// println!("{:?}", outcome.text);
/// # Ok(())
/// # }
/// ```
pub async fn dispatch(builder: &dyn AgentBuilder, request: DispatchRequest, profile: &Profile) -> Outcome {
    until_valid(builder, request, profile, &mut LocalRunner::default(), DispatchOptions::default()).await
}

/// Runs a request until its reply is valid, with any runner.
///
/// - Without a schema a reply that is no failure is the answer, after one run.
/// - With one, an answer that cannot be read, is not valid, or is ambiguous is asked for again, with
///   what is wrong: in the same session where the CLI can resume and said its id, else with the whole
///   request again. At most `attempts` runs; one time budget for all of them.
/// - A budget of tokens or dollars is looked at before each further attempt; what is left of the dollars goes
///   to a CLI that takes it.
/// - Every other failure ends the dispatch at once: no retry would help it.
/// - A session that is gone when it should be resumed costs one run, once: then the whole request is
///   sent again.
pub async fn until_valid<R: Runner>(
    builder: &dyn AgentBuilder,
    request: DispatchRequest,
    profile: &Profile,
    runner: &mut R,
    options: DispatchOptions<'_>,
) -> Outcome {
    let began = Instant::now();
    let harness = builder.facts().id.clone();
    let request = options.dispatched(request);
    let prepared = || {
        let schema = request.schema.as_ref().map(Schema::compile).transpose()?;
        let limits = profile.limits.settled()?;
        let first = first(builder, &request, profile, options.strict)?;
        Ok((schema, limits, first))
    };
    match prepared() {
        Err(failure) => Outcome::refused(&harness, failure),
        Ok((schema, limits, first)) => {
            let mut ignore = |_: Event<'_>| {};
            let emit = options.on_event.unwrap_or(&mut ignore);
            let profile = profile.clone();
            let run = attempts::Attempts { builder, request, profile, schema, limits, began };
            let outcome = run.all(first, runner, emit).await;
            let failure = outcome.failure.as_ref().map(|failure| failure.kind.name());
            let attempts = outcome.attempts.len();
            tracing::info!(
                harness,
                ok = outcome.ok,
                failure,
                attempts,
                ms = outcome.duration_ms,
                "dispatched"
            );
            outcome
        }
    }
}
