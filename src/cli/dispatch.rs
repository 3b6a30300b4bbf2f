//! One way to dispatch from the command: progress, events, signals and the runner around the loop.

use super::print;
use super::progress::{Progress, Shown};
use super::request::{Prepared, Settled, config_file};
use crate::config::CONFIG_VAR;
use crate::dispatch::{Candidate, DispatchOptions, first_command, first_that_answers};
use crate::error::{Failure, Kind, Result, cut};
use crate::outcome::Outcome;
use crate::rehearse::Script;
use crate::reply::Event;
use crate::request::ReplySchema;
use crate::run::{Canceller, LocalRunner, Rehearse};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a request is dispatched and shown.
#[derive(Default)]
pub(super) struct Manner {
    /// The CLI's program, over everything else that names one.
    pub(super) bin: Option<OsString>,
    /// The stand-in instead of the CLI.
    pub(super) rehearse: Option<Rehearsal>,
    /// A field that cannot be carried is an error.
    pub(super) strict: bool,
    /// Keep the folder of every run.
    pub(super) keep_files: bool,
    /// Print every event as a line of JSON.
    pub(super) stream: bool,
    /// The next harness may be asked although the agent may have changed something.
    pub(super) after_effects: bool,
    /// What is shown on stderr.
    pub(super) shown: Shown,
}

/// Dispatches a request from this thread, with the live line on stderr. Ctrl-C, SIGTERM and SIGHUP cancel it.
pub(super) fn dispatch(prepared: Prepared<'_>, manner: Manner) -> Result<Outcome> {
    let Prepared { builder, request, profile, output_as_asked, fallback } = prepared;
    let harness = builder.facts().id.clone();
    let options = DispatchOptions { strict: manner.strict, output_as_asked, on_event: None };
    // A command that cannot be made is the dispatch's to tell.
    let first = first_command(builder, request.clone(), &profile, &options).ok();
    if let Some(lowered) = first.as_ref().filter(|_| manner.shown != Shown::Quiet) {
        print::dropped(&lowered.report);
    }
    let attempts = if request.schema.is_some() { profile.limits.settled()?.attempts } else { 1 };
    let mut progress = Progress::new(&harness, attempts, manner.shown);
    if let Some(lowered) = first.filter(|_| manner.shown == Shown::Verbose) {
        progress.stay(&format!("$ {}", cut(&print::plain(&lowered.command.shell_line()), 400)));
    }
    let mut listen = |event: Event<'_>| {
        tracing::trace!(event = event.name());
        progress.event(&event);
        if manner.stream {
            let _ = print::line(&serde_json::to_string(&event).unwrap_or_default());
        }
    };
    let is_real = manner.rehearse.is_none();
    let mut outcome: Result<Outcome> = runtime()?.block_on(async {
        // Before anything is spawned: an early signal must not leave a child behind.
        let signals = Signals::caught()?;
        let (canceller, cancel) = Canceller::new();
        // The program is the first one's.
        let mut bin = manner.bin;
        let runner = |candidate: &Candidate<'_>| LocalRunner {
            bin: bin.take(),
            rehearse: manner.rehearse.as_ref().map(|all| all.of(&candidate.builder.facts().id)),
            cancel: Some(cancel.clone()),
            keep_files: manner.keep_files,
            end_with_thread: true,
            ..LocalRunner::default()
        };
        let mut candidates = vec![Candidate { builder, profile_name: None, profile, request }];
        candidates.extend(fallback.into_iter().map(Settled::candidate));
        let options = DispatchOptions { strict: manner.strict, output_as_asked, on_event: Some(&mut listen) };
        let dispatch = first_that_answers(candidates, runner, manner.after_effects, options);
        tokio::select! {
            outcome = dispatch => Ok(outcome),
            () = signals.cancel(canceller) => {
                Ok(Outcome::refused(&harness, Failure::new(Kind::Cancelled, "cancelled, without waiting")))
            }
        }
    });
    progress.finish();
    let failure = outcome.as_mut().ok().and_then(|outcome| outcome.failure.as_mut());
    if let Some(failure) = failure.filter(|failure| failure.kind == Kind::Auth && is_real) {
        let hint = failure.hint.take().map_or_else(String::new, |hint| format!("{hint}; "));
        failure.hint = Some(format!("{hint}`teamster doctor {harness}` checks it").into());
    }
    outcome
}

/// A runtime on this thread, which the CLI's life hangs on.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(Kind::HarnessConfig, format!("no runtime: {e}")))
}

/// A rehearsal: the stand-in, for whichever harness.
pub(super) struct Rehearsal {
    script: Script,
    program: PathBuf,
    config: Option<String>,
}

impl Rehearsal {
    /// The one that `--rehearse[=SCRIPT]` asks for. `config` is that of the arguments.
    pub(super) fn new(
        script: &str,
        schema: Option<&ReplySchema>,
        config: Option<&Path>,
    ) -> Result<Rehearsal> {
        let config = config_file(config).and_then(|file| file.canonicalize().ok());
        Ok(Rehearsal {
            script: Script::from_text(script, schema)?,
            program: own_program()?,
            config: config.map(|file| file.display().to_string()),
        })
    }

    /// The stand-in of a harness. It reads the same configuration, for a harness that a file declares.
    pub(super) fn of(&self, harness: &str) -> Rehearse {
        let mut rehearse = self.script.rehearse(harness, self.program.clone());
        rehearse.env.extend(self.config.iter().map(|file| (CONFIG_VAR.to_owned(), file.clone())));
        rehearse
    }
}

/// The program that runs now.
pub(super) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| {
        Failure::new(Kind::HarnessConfig, format!("teamster's own program cannot be found: {e}"))
    })
}

/// Ctrl-C, SIGTERM and SIGHUP, caught from the moment that this is made.
pub(super) struct Signals([tokio::signal::unix::Signal; 3]);

impl Signals {
    pub(super) fn caught() -> Result<Signals> {
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
    pub(super) async fn cancel(mut self, canceller: Canceller) {
        for _ in 0..2 {
            self.first().await;
            canceller.cancel();
        }
    }

    /// Waits for the next of them.
    pub(super) async fn first(&mut self) {
        let [first, second, third] = &mut self.0;
        tokio::select! {
            _ = first.recv() => {}
            _ = second.recv() => {}
            _ = third.recv() => {}
        }
    }
}
