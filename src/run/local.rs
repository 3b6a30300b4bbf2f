//! The runner that starts processes on this machine.

use super::Vars;
use super::cancel::Cancel;
use super::clocks::{Clocks, Stop, stopped_failure};
use super::depth::own_depth;
use super::detach::own_session;
use super::environment::{self, Places};
use super::folder::RunFolder;
use super::follow::Follower;
use super::guard::Guard;
use super::redact::Redact;
use super::watch::{Excerpt, Watch};
use super::{Ran, RunContext, Runner, preflight, resolve, shim};
use crate::error::{Failure, Kind, Result, cut};
use crate::lowering::Lowered;
use crate::reply::RunEnd;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// Runs commands as processes of this machine.
///
/// The defaults: the program as [`resolve::find`] finds it, the environment of this process, no way to
/// cancel but dropping the future (which kills the run at once), no files kept.
#[derive(Debug, Clone, Default)]
pub struct LocalRunner {
    /// The program, over everything else that could name one.
    pub bin: Option<OsString>,
    /// Run the stand-in instead of the CLI.
    pub rehearse: Option<Rehearse>,
    /// The caller's environment; absent is that of this process.
    pub env: Option<Vec<(OsString, OsString)>>,
    /// Ends the run from outside.
    pub cancel: Option<Cancel>,
    /// Keep the folder of every run.
    pub keep_files: bool,
    /// Where the folders of the runs are made; absent is the system's place for temporary files.
    pub folder: Option<PathBuf>,
    /// What the marker of every run begins with, so that [`end_marked`](super::end_marked) finds its
    /// processes also when this one is gone.
    pub mark: Option<String>,
    /// Kill the child (itself, not what it started) when the thread that starts it ends, also by
    /// SIGKILL; Linux only. For a program that dispatches from its main thread: elsewhere a runtime may
    /// end the thread while the run goes on.
    pub end_with_thread: bool,
}

/// A rehearsal: the program that plays the CLI, and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearse {
    /// The `teamster` program.
    pub program: PathBuf,
    /// Variables for it.
    pub env: Vec<(String, String)>,
    /// The variable that says which attempt it is, counted from 1.
    pub attempt_var: String,
}

impl Runner for LocalRunner {
    async fn run(&mut self, lowered: &Lowered, context: RunContext<'_>) -> Result<Ran> {
        let began = Instant::now();
        let RunContext { builder, profile, limits, deadline, attempt, emit } = context;
        let (command, facts) = (&lowered.command, builder.facts());
        let vars: Vars = match &self.env {
            Some(env) => env.iter().cloned().collect(),
            None => std::env::vars_os().collect(),
        };
        let depth = environment::depth(&vars, if self.env.is_none() { own_depth() } else { 0 })?;
        let base = environment::base(command, facts, profile, &vars);
        let home = environment::home(facts, &base);
        preflight::check(command, home.as_deref(), &base, self.rehearse.is_some())?;
        let (program, prefix) = self.program(lowered, facts, &vars)?;
        let folder = RunFolder::new(command, self.folder.as_deref())?;
        let tmp = folder.tmp();
        let cwd = command.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let places = Places {
            folder: folder.path(),
            tmp: &tmp,
            home: home.as_deref(),
            cwd: &cwd,
            separator: facts.path_separator,
        };
        let run_id = run_id(self.mark.as_deref());
        let mut env = environment::environment(&base, command, &vars, &places, depth, &run_id)?;
        let mut args: Vec<OsString> = prefix.into_iter().map(OsString::from).collect();
        args.extend(environment::arguments(command, &env, &places)?);
        if let Some(rehearse) = &self.rehearse {
            env.extend(rehearse.env.iter().map(|(name, value)| (name.into(), value.into())));
            env.insert((&rehearse.attempt_var).into(), attempt.to_string().into());
        }
        preflight::sizes(&args, &env)?;
        let redact = Redact::new(&env, facts);
        let child = self.spawn(&program, &args, env, command, &folder)?;
        tracing::debug!(
            harness = &*facts.id,
            program = %program.display(),
            args = args.len(),
            stdin_bytes = command.stdin.as_ref().map_or(0, String::len),
            folder = %folder.path().display(),
            run = run_id,
            pid = child.id(),
            attempt,
            "started"
        );
        let mut guard = Guard::new(child, run_id);

        let mut watch = Watch {
            reader: builder.reader(command.output),
            stdout: Follower::new(folder.read("stdout")?),
            stderr: Follower::new(folder.read("stderr")?),
            tail: Excerpt::default(),
            buffer: vec![0; 256 << 10],
            cap: limits.max_output_bytes,
            events: 0,
            last_retry: None,
            emit,
        };
        let mut clocks = Clocks { began, grew: None, complete: None, deadline, limits };
        let mut cancel = self.cancel.clone();
        let mut stop = None;
        let mut pause = Duration::from_millis(2);
        let status = loop {
            tokio::select! {
                biased;
                status = guard.wait() => {
                    break status.ok();
                }
                () = cancelled(&mut cancel) => {
                    stop = Some(Stop::Cancelled);
                    break guard.end().await;
                }
                () = tokio::time::sleep(pause) => {}
            }
            let grew = watch.follow()?;
            stop = clocks.tick(grew, watch.reader.is_complete()).or_else(|| watch.over(limits.max_events));
            if stop.is_some() {
                break guard.end().await;
            }
            guard.note();
            pause = if grew { Duration::from_millis(5) } else { (pause * 2).min(Duration::from_millis(40)) };
        };
        // Whoever still writes is ended first, so that there is an end to read to.
        guard.sweep().await;
        while watch.follow()? && watch.over(limits.max_events).is_none() {
            tokio::task::yield_now().await;
        }
        stop = stop.or_else(|| watch.over(limits.max_events));
        let results = folder.results(command);
        tracing::debug!(
            status = status.and_then(|s| s.code()),
            signal = status.and_then(|s| s.signal()),
            ended_by_us = stop.map(tracing::field::debug),
            events = watch.events,
            ms = began.elapsed().as_millis(),
            "ended"
        );
        Ok(finish(watch, stop, status, results, &redact, began, folder, self.keep_files))
    }
}

#[expect(clippy::too_many_arguments, reason = "they are what is left of one run, used once")]
fn finish(
    watch: Watch<'_>,
    stop: Option<Stop>,
    status: Option<ExitStatus>,
    results: BTreeMap<String, String>,
    redact: &Redact,
    began: Instant,
    folder: RunFolder,
    keep: bool,
) -> Ran {
    let Watch { reader, tail, emit, last_retry, cap, .. } = watch;
    let lingered = stop == Some(Stop::Lingered)
        || (stop.is_some() && stop != Some(Stop::Cancelled) && reader.is_complete());
    let stopped = stop.filter(|_| !lingered);
    let end = RunEnd {
        status: status.and_then(|s| s.code()).filter(|_| stop.is_none()),
        signal: status.and_then(|s| s.signal()),
        ended_by_us: stopped.is_some(),
        lingered,
        stderr: redact.text(&crate::reply::plain(&tail.text())),
        files: results,
    };
    let mut reply = reader.finish(&end, emit).voided_by_refusals();
    if let Some(stop) = stopped {
        reply.error = Some(stopped_failure(stop, &end, last_retry, began.elapsed(), cap));
    } else if let Some(missing) = missing_runtime(&end) {
        reply.error = Some(missing);
    }
    if let Some(error) = &mut reply.error {
        error.message = redact.text(&error.message);
        let from = end.stderr.ceil_char_boundary(end.stderr.len().saturating_sub(2000));
        let tail = end.stderr[from..].trim();
        error.stderr_tail = (!tail.is_empty()).then(|| tail.to_owned());
    }
    let worth_a_look = |kind: Kind| matches!(kind, Kind::HarnessError | Kind::OutputLimit | Kind::EmptyReply);
    let files = match &mut reply.error {
        Some(error) if keep || worth_a_look(error.kind) => {
            let path = folder.keep();
            error.message.push_str(&format!(" (its files: {})", path.display()));
            Some(path)
        }
        _ if keep => Some(folder.keep()),
        _ => None,
    };
    Ran { reply, exit_status: end.status, signal: end.signal, duration: began.elapsed(), files }
}

impl LocalRunner {
    /// The program to start, and arguments before the command's own.
    fn program(
        &self,
        lowered: &Lowered,
        facts: &crate::harness::Facts,
        vars: &Vars,
    ) -> Result<(PathBuf, Vec<String>)> {
        if let Some(rehearse) = &self.rehearse {
            return Ok((rehearse.program.clone(), Vec::new()));
        }
        let named = &*lowered.command.program;
        let profile = Some(named).filter(|p| !facts.bins.iter().any(|bin| bin == p));
        let var = |name: &str| vars.get(&OsString::from(name)).cloned();
        let found = resolve::find(facts, self.bin.as_deref(), profile, &var)?.path;
        if !found.extension().is_some_and(|e| e.eq_ignore_ascii_case("cmd") || e.eq_ignore_ascii_case("bat"))
        {
            return Ok((found, Vec::new()));
        }
        let text = std::fs::read_to_string(&found).unwrap_or_default();
        let folder = found.parent().map_or_else(String::new, |f| f.to_string_lossy().into_owned());
        let shown: Vec<_> = lowered.command.args.iter().map(crate::command::Text::shown).collect();
        let args: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
        Ok(match shim::plan_shim(&text, &folder, &args)? {
            Some(plan) => (PathBuf::from(plan.program), plan.args_prefix),
            None => (found, Vec::new()),
        })
    }

    fn spawn(
        &self,
        program: &PathBuf,
        args: &[OsString],
        env: Vars,
        command: &crate::command::Command,
        folder: &RunFolder,
    ) -> Result<tokio::process::Child> {
        let files = folder.standard(command)?;
        let mut child = tokio::process::Command::new(program);
        child.args(args).env_clear().envs(env).stdin(files.stdin).stdout(files.stdout).stderr(files.stderr);
        if let Some(cwd) = &command.cwd {
            child.current_dir(cwd);
        }
        session_and_spawn(child, program, self.end_with_thread)
    }
}

/// Starts a child that has no terminal to ask at, in a group of its own.
pub(super) fn session_and_spawn(
    mut child: tokio::process::Command,
    program: &Path,
    end_with_thread: bool,
) -> Result<tokio::process::Child> {
    // A session of its own has no terminal to ask at. Where there is none anyway a group is enough, and
    // needs no fork of this process.
    if end_with_thread || std::fs::File::open("/dev/tty").is_ok() {
        own_session(child.as_std_mut(), end_with_thread);
    } else {
        child.process_group(0);
    }
    child.spawn().map_err(|e| {
        let what = format!("{} cannot be started: {e}", program.display());
        match e.kind() {
            // The file is there, so what is missing is the program that it runs on.
            std::io::ErrorKind::NotFound => Failure::new(Kind::NotFound, what)
                .hint("the first line of the file names a program that is not installed"),
            std::io::ErrorKind::ArgumentListTooLong => Failure::new(Kind::ArgTooLong, what),
            _ => Failure::new(Kind::HarnessConfig, what),
        }
    })
}

pub(super) async fn cancelled(cancel: &mut Option<Cancel>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

/// A script whose interpreter is missing: `env` says so and gives 127.
fn missing_runtime(end: &RunEnd) -> Option<Failure> {
    let line = end.last_line().filter(|_| end.status == Some(127))?;
    Some(
        Failure::new(Kind::NotFound, format!("the CLI's own program is missing: {}", cut(line, 300)))
            .hint("install what the line names, or put its folder into PATH"),
    )
}

/// A name for a run that no other run on this machine has.
pub(super) fn run_id(mark: Option<&str>) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let own = format!("{}-{}-{now:x}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    mark.map_or(own.clone(), |mark| format!("{mark}.{own}"))
}
