//! `teamster run`: a request in, its answer on stdout.

use super::args::RunArgs;
use super::dispatch::{Manner, Rehearsal, dispatch};
use super::job::{Background, start};
use super::print;
use super::progress::Shown;
use super::request::{prepare, settings};
use crate::config::Config;
use crate::error::Result;
use crate::harness::HarnessRegistry;
use crate::outcome::Outcome;
use crate::profile::{Limits, Profile};
use serde_json::json;
use std::process::ExitCode;

pub(super) fn run(args: &RunArgs) -> Result<ExitCode> {
    let settings = settings(args.request.config.as_deref(), args.request.cwd.as_deref(), args.quiet);
    let done = settings
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|(config, registry)| dispatched(args, config, registry));
    match done {
        Ok(status) => Ok(status),
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

fn dispatched(args: &RunArgs, config: &Config, registry: &HarnessRegistry) -> Result<ExitCode> {
    let mut prepared = prepare(&args.request, config, registry, &args.fallback.fallback, args.quiet)?;
    let over = |profile: &mut Profile| profile.limits = limits(args).or(&profile.limits);
    over(&mut prepared.profile);
    prepared.fallback.iter_mut().for_each(|next| over(&mut next.profile));
    let named = args.request.config.as_deref();
    let rehearse = args
        .rehearse
        .as_deref()
        .map(|script| Rehearsal::new(script, prepared.request.schema.as_ref(), named))
        .transpose()?;
    let manner = Manner {
        bin: args.request.bin.clone(),
        rehearse,
        strict: args.request.strict,
        keep_files: args.keep_files,
        stream: args.stream,
        after_effects: args.fallback.fallback_after_effects,
        shown: Shown::of(args.quiet, args.verbose),
    };
    if !args.background {
        return report(args, dispatch(prepared, manner)?);
    }
    let background = Background {
        id: args.id.as_deref(),
        jobs_dir: args.jobs_dir.as_deref(),
        harness_files: config.harness_files.clone(),
        title: None,
        json: args.json,
        quiet: args.quiet,
    };
    start(prepared, manner, background)
}

fn limits(args: &RunArgs) -> Limits {
    Limits {
        timeout_s: args.timeout,
        first_output_timeout_s: args.first_output_timeout,
        idle_timeout_s: args.idle_timeout,
        attempts: args.attempts,
        max_tokens: args.max_tokens,
        max_cost_usd: args.max_cost,
        ..Limits::default()
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
        print::answer(&outcome)?;
    }
    match &outcome.failure {
        Some(failure) => print::failure(failure),
        None if !args.quiet => print::summary(&outcome),
        None => {}
    }
    Ok(status)
}
