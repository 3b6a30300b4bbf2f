//! `teamster review`: a git diff in, findings out; nothing is written.

use super::dispatch::{Manner, Rehearsal, dispatch};
use super::findings::grouped;
use super::print;
use super::progress::Shown;
use super::request::{Prepared, profile, settings};
use crate::config::Config;
use crate::error::{Failure, Kind, Result};
use crate::harness::HarnessRegistry;
use crate::outcome::Outcome;
use crate::profile::Limits;
use crate::request::{DispatchRequest, Effort};
use crate::review::{
    Asked, Changes, Checked, INLINE_BYTES, Scope, Severity, checked, collect, instruction, names_files,
    wants_file,
};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The status where a finding reaches `--fail-on`.
const FOUND: u8 = 3;

#[derive(Args)]
pub(super) struct ReviewArgs {
    /// The harness, by name or alias [default: TEAMSTER_HARNESS, then the configuration's]
    #[arg(value_name = "PLATFORM")]
    platform: Option<String>,
    /// Review only these files and folders; relative to --cwd, no patterns
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Which change
    #[arg(long, value_enum, default_value_t, help_heading = "Change")]
    scope: Scope,
    /// The branch or commit to compare the branch with [default: upstream, origin's HEAD, main, master]
    #[arg(long, value_name = "REF", allow_hyphen_values = true, help_heading = "Change")]
    base: Option<String>,
    /// The repository, or a directory in it
    #[arg(long, short = 'C', value_name = "DIR", help_heading = "Change")]
    cwd: Option<PathBuf>,
    /// The largest diff that is put into the prompt; a larger one is a file that the agent reads
    #[arg(long, value_name = "BYTES", default_value_t = INLINE_BYTES, help_heading = "Change")]
    inline_limit: usize,
    /// The instruction text [default: .teamster/review.md in the repository, then the one that ships]
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    instructions: Option<PathBuf>,
    /// A model name or alias
    #[arg(long, short, value_name = "MODEL", help_heading = "Request")]
    model: Option<String>,
    /// How much the model should think
    #[arg(long, value_enum, help_heading = "Request")]
    effort: Option<Effort>,
    /// Run even where the harness cannot hold the agent to reading only
    #[arg(long, help_heading = "Request")]
    allow_unenforced: bool,

    /// Print one JSON object: the change, the findings and the outcome; also for a failure
    #[arg(long, help_heading = "Result")]
    json: bool,
    /// Write SARIF 2.1.0 to this file, or to stdout
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", help_heading = "Result")]
    sarif: Option<PathBuf>,
    /// End with status 3 where a finding is at least this bad
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Result")]
    fail_on: Option<Severity>,
    /// Say nothing on stderr but errors
    #[arg(long, short, help_heading = "Result")]
    quiet: bool,
    /// Say every step on stderr: tools, refusals, what the CLI tries again
    #[arg(long, short, help_heading = "Result", conflicts_with = "quiet")]
    verbose: bool,
    /// Seconds for the whole review, all attempts together [default: 600]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    timeout: Option<f64>,
    /// Attempts for one valid reply, the first included [default: 3]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    attempts: Option<u32>,
    /// The CLI's program
    #[arg(long, value_name = "PROGRAM", help_heading = "Where it runs")]
    bin: Option<std::ffi::OsString>,
    /// A profile of the configuration
    #[arg(long, value_name = "NAME", help_heading = "Where it runs")]
    profile: Option<String>,
    /// The configuration file
    #[arg(long, value_name = "FILE", help_heading = "Where it runs")]
    config: Option<PathBuf>,
    /// Let the built-in stand-in play the CLI; SCRIPT as with `run`
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Where it runs")]
    rehearse: Option<String>,
}

/// What came of a review.
struct Reviewed {
    changes: Changes,
    inlined: bool,
    outcome: Outcome,
    findings: Vec<Checked>,
}

pub(super) fn review(args: &ReviewArgs) -> Result<ExitCode> {
    if args.json && args.sarif.as_deref() == Some(Path::new("-")) {
        return Err(
            Failure::invalid("sarif", "stdout has room for one result").hint("--sarif=FILE beside --json")
        );
    }
    let done = settings(args.config.as_deref(), args.cwd.as_deref(), args.quiet)
        .and_then(|(config, registry)| reviewed(args, &config, &registry))
        .and_then(|done| report(args, &done));
    match done {
        Err(failure) if args.json => {
            let status = failure.kind.exit_status();
            print::json(&json!({"ok": false, "findings": [], "failure": failure}))?;
            print::failure(&failure);
            Ok(ExitCode::from(status))
        }
        done => done,
    }
}

fn reviewed(args: &ReviewArgs, config: &Config, registry: &HarnessRegistry) -> Result<Reviewed> {
    let here = std::env::current_dir()
        .map_err(|e| Failure::new(Kind::BadCwd, format!("the working directory cannot be read: {e}")))?;
    let dir = args.cwd.as_ref().map_or(here.clone(), |cwd| here.join(cwd));
    let var = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let mut paths = args.paths.clone();
    // A first word that no harness has for its name is a path, where there is such a file.
    let platform = match &args.platform {
        Some(word) if registry.get(word).is_err() && std::fs::symlink_metadata(dir.join(word)).is_ok() => {
            paths.insert(0, word.into());
            None
        }
        named => named.clone(),
    };
    let named = platform.or_else(|| var("TEAMSTER_HARNESS")).or_else(|| config.default_harness.clone());
    let named = named.ok_or_else(|| {
        Failure::new(Kind::UnknownHarness, "no harness is named")
            .hint("teamster review PLATFORM; `teamster list` shows them")
    })?;
    let builder = registry.get(&named)?;
    let changes = collect(&dir, &Asked { scope: args.scope, base: args.base.clone(), paths })?;
    let instruction = instruction(args.instructions.as_deref().map(|file| here.join(file)), &changes.root)?;
    let own = DispatchRequest {
        model: args.model.clone().or_else(|| var(&builder.facts().variable("MODEL"))),
        effort: args.effort,
        allow_unenforced: args.allow_unenforced,
        ..DispatchRequest::default()
    };
    let once = |inline: bool| -> Result<(Outcome, bool)> {
        let asked = crate::review::request(&changes, &instruction, inline, own.clone())?;
        let mut profile = profile(config, args.profile.as_deref(), &builder.facts().id)?;
        let limits = Limits { timeout_s: args.timeout, attempts: args.attempts, ..Limits::default() };
        profile.limits = limits.or(&profile.limits);
        let refers = inline && names_files(builder, &asked.request, &profile);
        let prepared = Prepared {
            builder,
            request: asked.request.clone(),
            profile,
            output_as_asked: false,
            fallback: Vec::new(),
        };
        let rehearse = args.rehearse.as_deref();
        let rehearse = rehearse
            .map(|script| Rehearsal::new(script, prepared.request.schema.as_ref(), args.config.as_deref()))
            .transpose()?;
        let manner = Manner {
            bin: args.bin.clone(),
            rehearse,
            shown: Shown::of(args.quiet, args.verbose),
            ..Manner::default()
        };
        Ok((dispatch(prepared, manner)?, refers))
    };
    let mut inlined = changes.diff.len() <= args.inline_limit;
    let (mut outcome, refers) = once(inlined)?;
    if wants_file(&outcome, inlined, refers) {
        inlined = false;
        outcome = once(false)?.0;
        if !args.quiet && outcome.ok {
            print::note("the diff cannot go in the prompt of this CLI; it went as a file");
        }
    }
    let findings = outcome.value.as_ref().map_or(Ok(Vec::new()), |value| checked(value, &changes))?;
    Ok(Reviewed { changes, inlined, outcome, findings })
}

fn report(args: &ReviewArgs, done: &Reviewed) -> Result<ExitCode> {
    let Reviewed { changes, inlined, outcome, findings } = done;
    if outcome.ok
        && let Some(file) = &args.sarif
    {
        let log = crate::review::sarif(findings);
        match file.to_str() {
            Some("-") => drop(print::json(&log)?),
            _ => write_beside(file, &log)?,
        }
    }
    if args.json {
        print::json(&json!({
            "ok": outcome.ok, "scope": changes.scope, "base": changes.base, "inlined": inlined,
            "files": changes.files, "findings": findings, "outcome": outcome,
        }))?;
    } else if outcome.ok && args.sarif.as_deref() != Some(Path::new("-")) {
        print::line(&grouped(findings))?;
    }
    match &outcome.failure {
        Some(failure) => print::failure(failure),
        None if !args.quiet => print::summary(outcome),
        None => {}
    }
    let found = args.fail_on.is_some_and(|least| findings.iter().any(|f| f.finding.severity >= least));
    Ok(ExitCode::from(if outcome.ok && found { FOUND } else { outcome.exit_status() }))
}

fn write_beside(file: &Path, log: &Value) -> Result<()> {
    let bad =
        |e: std::io::Error| Failure::invalid("sarif", format!("{} cannot be written: {e}", file.display()));
    let folder = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(bad)?;
    let text = serde_json::to_string_pretty(log).unwrap_or_default() + "\n";
    std::io::Write::write_all(&mut beside, text.as_bytes()).map_err(bad)?;
    beside.persist(file).map_err(|e| bad(e.error))?;
    Ok(())
}
