//! `teamster run`: a request in, its answer on stdout.

use super::args::RunArgs;
use super::print;
use super::progress::Progress;
use super::request::{Prepared, config_file, prepare, settings};
use crate::config::{CONFIG_VAR, Config};
use crate::dispatch::{DispatchOptions, until_valid};
use crate::error::{Failure, Kind, Result};
use crate::harness::HarnessRegistry;
use crate::outcome::Outcome;
use crate::profile::Limits;
use crate::rehearse::Script;
use crate::reply::Event;
use crate::run::{Canceller, LocalRunner};
use serde_json::json;
use std::process::ExitCode;

pub(super) fn run(args: &RunArgs) -> Result<ExitCode> {
    let settings = settings(args.request.config.as_deref());
    let outcome = settings
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|(config, registry)| outcome(args, config, registry));
    match outcome {
        Ok(outcome) => report(args, outcome),
        // With --json and --stream a program reads the result, also this one.
        Err(failure) if args.json || args.stream => {
            let registry = settings.ok().map(|(_, registry)| registry);
            let named = args.request.first.as_deref().and_then(|name| registry.as_ref()?.get(name).ok());
            let harness = named.map_or(String::new(), |builder| builder.facts().id.clone());
            report(args, Outcome::refused(&harness, failure))
        }
        Err(failure) => Err(failure),
    }
}

fn outcome(args: &RunArgs, config: &Config, registry: &HarnessRegistry) -> Result<Outcome> {
    let Prepared { builder, request, mut profile, output_as_asked } =
        prepare(&args.request, config, registry, args.quiet)?;
    let own = Limits {
        timeout_s: args.timeout,
        first_output_timeout_s: args.first_output_timeout,
        idle_timeout_s: args.idle_timeout,
        attempts: args.attempts,
        ..Limits::default()
    };
    profile.limits = own.or(&profile.limits);
    let rehearse = match &args.rehearse {
        None => None,
        Some(text) => {
            let program = std::env::current_exe().map_err(|e| {
                Failure::new(Kind::HarnessConfig, format!("teamster's own program cannot be found: {e}"))
            })?;
            let script = Script::from_text(text, request.schema.as_ref())?;
            let mut rehearse = script.rehearse(&builder.facts().id, program);
            // The stand-in reads the same configuration, for a harness that a file declares.
            let config =
                config_file(args.request.config.as_deref()).and_then(|file| file.canonicalize().ok());
            rehearse.env.extend(config.map(|file| (CONFIG_VAR.to_owned(), file.display().to_string())));
            Some(rehearse)
        }
    };
    let mut progress = Progress::new(&builder.facts().id, profile.limits.settled()?.attempts, args.quiet);
    let stream = args.stream;
    let mut listen = |event: Event<'_>| {
        progress.event(&event);
        if stream {
            let _ = print::line(&serde_json::to_string(&event).unwrap_or_default());
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(Kind::HarnessConfig, format!("no runtime: {e}")))?;
    let outcome: Result<Outcome> = runtime.block_on(async {
        // Before anything is spawned: an early signal must not leave a child behind.
        let signals = Signals::caught()?;
        let (canceller, cancel) = Canceller::new();
        let mut runner = LocalRunner {
            bin: args.request.bin.clone(),
            rehearse,
            env: None,
            cancel: Some(cancel),
            keep_files: args.keep_files,
            end_with_thread: true,
        };
        let options = DispatchOptions { strict: args.request.strict, output_as_asked, on_event: Some(&mut listen) };
        let dispatch = until_valid(builder, request, &profile, &mut runner, options);
        tokio::select! {
            outcome = dispatch => Ok(outcome),
            () = signals.cancel(canceller) => {
                Ok(Outcome::refused(&builder.facts().id, Failure::new(Kind::Cancelled, "cancelled, without waiting")))
            }
        }
    });
    progress.finish();
    outcome
}

/// Ctrl-C, SIGTERM and SIGHUP, caught from the moment that this is made.
struct Signals([tokio::signal::unix::Signal; 3]);

impl Signals {
    fn caught() -> Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let no = |e| Failure::new(Kind::HarnessConfig, format!("signals cannot be caught: {e}"));
        let catch = |kind| signal(kind).map_err(no);
        Ok(Signals([
            catch(SignalKind::interrupt())?,
            catch(SignalKind::terminate())?,
            catch(SignalKind::hangup())?,
        ]))
    }

    /// The first one cancels the dispatch, which then ends its processes and returns. Returns itself at
    /// the second one: the dispatch is dropped then, and its processes are killed at once.
    async fn cancel(mut self, canceller: Canceller) {
        let [first, second, third] = &mut self.0;
        for _ in 0..2 {
            tokio::select! {
                _ = first.recv() => {}
                _ = second.recv() => {}
                _ = third.recv() => {}
            }
            canceller.cancel();
        }
    }
}

fn report(args: &RunArgs, outcome: Outcome) -> Result<ExitCode> {
    let outcome = match args.max_reply {
        Some(max) => outcome.shortened(max),
        None => outcome,
    };
    let status = ExitCode::from(outcome.exit_status());
    if outcome.truncated && !args.quiet {
        print::note("the text is shortened to --max-reply");
    }
    if args.stream {
        print::line(&json!({"type": "outcome", "outcome": outcome}).to_string())?;
    } else if args.json {
        print::json(&outcome)?;
    } else if outcome.ok {
        match (&outcome.value, &outcome.text) {
            (Some(value), _) => print::json(value)?,
            (None, text) => print::line(text.as_deref().unwrap_or_default())?,
        };
    }
    match &outcome.failure {
        Some(failure) => print::failure(failure),
        None if !args.quiet => print::summary(&outcome),
        None => {}
    }
    Ok(status)
}
