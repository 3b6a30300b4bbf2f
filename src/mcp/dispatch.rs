//! The tools `lower` and `dispatch`.

use super::arguments::{Arguments, Wrong};
use super::progress::{Caller, Teller};
use super::server::{Answer, Server, told, var};
use crate::dispatch::{DispatchOptions, first_command, until_valid};
use crate::error::{Failure, Kind, Result};
use crate::harness::AgentBuilder;
use crate::lowering::Lowered;
use crate::outcome::Outcome;
use crate::profile::{Limits, Profile};
use crate::request::{DispatchRequest, FIELDS, ReplySchema};
use crate::run::{Cancel, LocalRunner, Rehearse};
use serde_json::{Value, json};

/// What a dispatch takes beside the request.
pub(super) const LIMITS: &[&str] = &["timeout_s", "attempts"];

/// A call's request under the ceiling, with what runs it.
pub(super) struct Prepared<'s> {
    pub(super) builder: &'s dyn AgentBuilder,
    pub(super) request: DispatchRequest,
    pub(super) profile: Profile,
}

impl Server {
    /// The harness of this name, or the one of a call that names none.
    pub(super) fn builder(&self, named: Option<String>) -> Result<&dyn AgentBuilder> {
        let named = named.or_else(|| self.default_harness()).ok_or_else(|| {
            Failure::new(Kind::UnknownHarness, "no harness is named")
                .hint("set `harness`; `list_harnesses` names them")
        })?;
        self.host.registry.get(&named)
    }

    /// The profile of a harness, under the ceiling.
    pub(super) fn profile(&self, harness: &str, limits: Limits) -> Result<Profile> {
        let named = var("TEAMSTER_PROFILE");
        self.host.ceiling.profile(self.host.config.profile(named.as_deref(), harness)?, limits)
    }

    /// The request of these arguments, under the ceiling. `harness` becomes the one it is for.
    pub(super) fn prepared(
        &self,
        mut arguments: Arguments,
        harness: &mut String,
    ) -> std::result::Result<Prepared<'_>, Wrong> {
        let limits = limits(&mut arguments)?;
        let mut request = arguments.request()?;
        let builder = self.builder(request.harness.take())?;
        harness.clone_from(&builder.facts().id);
        let mut request = self.host.ceiling.held(builder.facts(), request)?;
        request.model = request.model.or_else(|| var(&builder.facts().variable("MODEL")));
        let profile = self.profile(harness, limits)?;
        Ok(Prepared { builder, request, profile })
    }

    /// The stand-in for a reply with this schema, where there is one.
    pub(super) fn stand_in(&self, harness: &str, schema: Option<&ReplySchema>) -> Result<Option<Rehearse>> {
        self.host.stand_in.as_ref().map(|make| make(harness, schema)).transpose()
    }

    pub(super) fn lower(&self, arguments: &str) -> std::result::Result<Answer, Wrong> {
        let Prepared { builder, request, profile } =
            self.prepared(Arguments::read(arguments, FIELDS)?, &mut String::new())?;
        let lowered = first_command(builder, request, &profile, &DispatchOptions::default())?;
        let mut value = json!(lowered);
        value["ok"] = Value::Bool(true);
        value["shell_line"] = lowered.command.shell_line().into();
        Ok(Answer { ok: true, text: shown(&lowered), value })
    }

    pub(super) async fn dispatch(
        &self,
        arguments: &str,
        caller: &Caller,
    ) -> std::result::Result<Answer, Wrong> {
        let arguments = Arguments::read(arguments, &[FIELDS, LIMITS].concat())?;
        let mut harness = String::new();
        let outcome = match self.prepared(arguments, &mut harness) {
            Ok(prepared) => caller.follow(|teller, cancel| self.run(prepared, teller, cancel)).await,
            Err(Wrong::Refused(failure)) => Outcome::refused(&harness, failure),
            Err(malformed) => return Err(malformed),
        };
        Ok(answer(&outcome))
    }

    /// Dispatches when there is a free place, and returns when nothing of it runs any more.
    pub(super) async fn run(
        &self,
        prepared: Prepared<'_>,
        mut teller: Teller,
        mut cancel: Cancel,
    ) -> Outcome {
        let Prepared { builder, request, profile } = prepared;
        let harness = &builder.facts().id;
        let _busy = self.busy.read().await;
        if self.slots.available_permits() == 0 {
            teller.say("waiting for another dispatch to end".to_owned());
        }
        let slot = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            slot = self.slots.acquire() => slot.ok(),
        };
        let Some(_slot) = slot else {
            return Outcome::refused(harness, Failure::new(Kind::Cancelled, "cancelled before it began"));
        };
        let rehearse = match self.stand_in(harness, request.schema.as_ref()) {
            Ok(rehearse) => rehearse,
            Err(failure) => return Outcome::refused(harness, failure),
        };
        let mut runner =
            LocalRunner { rehearse, cancel: Some(cancel), end_with_thread: true, ..LocalRunner::default() };
        let mut listen = |event: crate::reply::Event<'_>| teller.event(&event);
        let options = DispatchOptions { on_event: Some(&mut listen), ..DispatchOptions::default() };
        until_valid(builder, request, &profile, &mut runner, options).await
    }
}

/// The limits that a call sets.
pub(super) fn limits(arguments: &mut Arguments) -> std::result::Result<Limits, Wrong> {
    Ok(Limits {
        timeout_s: arguments.take("timeout_s")?,
        attempts: arguments.take("attempts")?,
        ..Limits::default()
    })
}

/// An outcome: the answer itself as text, everything as data.
fn answer(outcome: &Outcome) -> Answer {
    let text = match (&outcome.failure, &outcome.value, &outcome.text) {
        (Some(failure), _, _) => told(failure),
        (None, Some(value), _) => value.to_string(),
        (None, None, text) => text.clone().unwrap_or_default(),
    };
    Answer { ok: outcome.ok, text, value: json!(outcome) }
}

/// The command line, and how each field is carried.
fn shown(lowered: &Lowered) -> String {
    let mut text = lowered.command.shell_line();
    for row in &lowered.report.rows {
        text.push_str(&format!("\n{}: {}, {}", row.field.name(), row.carried.name(), row.detail));
    }
    text
}
