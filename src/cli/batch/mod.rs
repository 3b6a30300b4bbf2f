//! `teamster batch`: many requests in, a file of results out.

mod args;
mod page;
mod tasks;
mod view;

pub(super) use args::BatchArgs;

use super::dispatch::{Rehearsal, Signals, runtime};
use super::print;
use super::request::settings;
use crate::batch::{BatchEvent, BatchOptions, Journal, Summary, Worktrees, run};
use crate::error::{Failure, Kind, Result};
use crate::profile::Budget;
use crate::run::Canceller;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use view::View;

pub(super) fn batch(args: &BatchArgs) -> Result<ExitCode> {
    let done = ran(args);
    match done {
        // Whoever reads JSON gets an object also for this.
        Err(failure) if args.json => print::told(true, Err(failure)),
        other => other,
    }
}

fn ran(args: &BatchArgs) -> Result<ExitCode> {
    let request = &args.request;
    let (config, registry) = settings(request.config.as_deref(), request.cwd.as_deref(), args.quiet)?;
    let tasks = tasks::tasks(args, &config, &registry)?;
    if args.dry_run {
        return print::line(&view::listed(&tasks));
    }
    let out = match &args.out {
        Some(path) => path.clone(),
        None => beside(args)?,
    };
    let mut journal = Journal::open(&out)?;
    let strangers = journal.strangers(&tasks);
    if strangers > 0 && !args.quiet {
        print::note(&format!("{} has {strangers} result(s) of no task of this batch", out.display()));
    }
    let mut view = View::new(args, tasks.len());
    let registry = Arc::new(registry);
    let summary = runtime()?.block_on(async {
        let mut signals = Signals::caught()?;
        let (canceller, cancel) = Canceller::new();
        let options = BatchOptions { cancel: Some(cancel), ..options(args, &out)? };
        let mut on = |event: BatchEvent<'_>| view.event(&event);
        let batch = run(&tasks, &registry, &journal, &options, &mut on);
        let ended = async {
            signals.first().await;
            canceller.cancel();
            signals.first().await;
        };
        tokio::select! {
            summary = batch => summary,
            () = ended => Err(Failure::new(Kind::Cancelled, "ended, without waiting")),
        }
    });
    view.finish();
    let summary = summary?;
    if args.ordered {
        journal.order()?;
    }
    if let Some(path) = &args.report {
        page::write(path, &journal, &tasks, &summary)?;
    }
    report(args, &summary, &out)
}

fn report(args: &BatchArgs, summary: &Summary, out: &std::path::Path) -> Result<ExitCode> {
    let status = if summary.failed > 0 {
        1
    } else if summary.not_run == 0 {
        0
    } else if args.budget() != Budget::default() && summary.stopped.as_deref() != Some("it was ended") {
        Kind::Budget.exit_status()
    } else {
        Kind::Cancelled.exit_status()
    };
    if args.json {
        print::json(&json!({"ok": status == 0, "out": out, "report": args.report, "summary": summary}))?;
    } else if !args.stream {
        print::line(&view::table_of(summary))?;
    }
    if !args.quiet {
        if let Some(why) = &summary.stopped {
            print::note(&format!(
                "{} of {} were not run: {why}; the same command goes on",
                summary.not_run, summary.tasks
            ));
        }
        print::note(&format!("the results are in {}", out.display()));
    }
    Ok(ExitCode::from(status))
}

/// The file of results beside that of the requests.
fn beside(args: &BatchArgs) -> Result<PathBuf> {
    let source = args.each.as_deref().or(args.request.first.as_deref().map(std::path::Path::new));
    let source = source.filter(|path| path.as_os_str() != "-").ok_or_else(|| {
        Failure::invalid("out", "is missing")
            .hint("requests from stdin have no file: --out RESULTS.jsonl names one")
    })?;
    let stem = source.file_stem().unwrap_or(source.as_os_str()).to_string_lossy().into_owned();
    Ok(source.with_file_name(format!("{stem}.results.jsonl")))
}

fn options(args: &BatchArgs, out: &std::path::Path) -> Result<BatchOptions> {
    let request = &args.request;
    let (per_harness, of_harness) = args.per_harness()?;
    let rehearse = args.rehearse.as_deref().map(|script| {
        // A schema is each request's own, so that the script is made from none.
        Rehearsal::new(script, None, request.config.as_deref()).map(Arc::new)
    });
    let rehearse = rehearse.transpose()?;
    let stagger = Duration::try_from_secs_f64(args.stagger.unwrap_or(0.0))
        .map_err(|_| Failure::invalid("stagger", "is no time in seconds"))?;
    let folder = match &args.worktrees {
        Some(folder) if folder.as_os_str().is_empty() => Some(out.with_extension("worktrees")),
        other => other.clone(),
    };
    Ok(BatchOptions {
        concurrency: args.concurrency.max(1),
        per_harness,
        of_harness,
        stagger,
        retries: args.retries,
        retry_failed: args.retry_failed,
        budget: args.budget(),
        after_effects: args.fallback.fallback_after_effects,
        strict: request.strict,
        output_as_asked: request.output.is_some(),
        keep_files: args.keep_files,
        worktrees: folder.map(|folder| Worktrees::in_folder(&folder)).transpose()?,
        bin: request.bin.clone(),
        rehearse: rehearse
            .map(|all| -> crate::batch::Rehearsal { Arc::new(move |harness: &str| all.of(harness)) }),
        cancel: None,
    })
}
