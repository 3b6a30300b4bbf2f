//! `teamster job …`: what runs in the background, and what came of it.

mod args;
mod show;
mod start;

pub(super) use args::{CancelArgs, JobArgs, ResultArgs, StatusArgs};
pub(super) use start::{Background, start};

use super::print;
use crate::error::{Failure, Kind, Result};
use crate::jobs::{JobId, JobState, JobView, Jobs, LogLine, partial_text};
use args::{Common, JobSub, LogsArgs, PruneArgs, WaitArgs};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn job(args: &JobArgs) -> Result<ExitCode> {
    match &args.command {
        JobSub::Status(args) => status(args),
        JobSub::Result(args) => result(args),
        JobSub::Wait(args) => wait(args),
        JobSub::Logs(args) => logs(args),
        JobSub::Cancel(args) => cancel(args),
        JobSub::Prune(args) => prune(args),
        JobSub::Supervise { folder } => start::supervised(folder),
    }
}

/// The table of all jobs, newest first, or one of them.
pub(super) fn status(args: &StatusArgs) -> Result<ExitCode> {
    args.common.told(|jobs| match &args.id {
        Some(id) => {
            let view = jobs.view(&jobs.find(id)?);
            match args.common.json {
                true => print::json(&json!({"ok": true, "job": view})),
                false => print::line(&show::one(&view)),
            }
        }
        None => {
            let all = jobs.list()?;
            match args.common.json {
                true => print::json(&json!({"ok": true, "jobs": all})),
                false if all.is_empty() => {
                    print::note("no jobs; `teamster run --background` starts one");
                    Ok(ExitCode::SUCCESS)
                }
                false => print::line(&show::table_of(&all)),
            }
        }
    })
}

/// The answer of a job; what there is of it while it runs.
pub(super) fn result(args: &ResultArgs) -> Result<ExitCode> {
    args.common.told(|jobs| {
        let id = jobs.find(&args.id)?;
        // Asked first: whatever an ending job wrote is there when it is over.
        let view = jobs.view(&id);
        if let Some(outcome) = jobs.outcome(&id)? {
            let status = ExitCode::from(outcome.exit_status());
            if args.common.json {
                print::json(
                    &json!({"ok": outcome.ok, "job": jobs.view(&id), "partial": false, "outcome": outcome}),
                )?;
                return Ok(status);
            }
            match (&outcome.failure, &outcome.text) {
                (None, _) => print::answer(&outcome)?,
                (Some(_), Some(text)) => print::line(text)?,
                (Some(_), None) => ExitCode::SUCCESS,
            };
            outcome.failure.iter().for_each(print::failure);
            return Ok(status);
        }
        let text = partial_text(&jobs.log(&id));
        if args.common.json {
            return print::json(&json!({"ok": true, "job": view, "partial": true, "text": text}));
        }
        print::note(&format!("{id} is still running; `teamster job wait {id}` waits for its end"));
        text.map_or(Ok(ExitCode::SUCCESS), |text| print::line(&text))
    })
}

fn wait(args: &WaitArgs) -> Result<ExitCode> {
    args.common.told(|jobs| {
        let mut ids = args.ids.iter().map(|id| jobs.find(id)).collect::<Result<Vec<JobId>>>()?;
        ids.dedup();
        let most = args.timeout.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| Failure::invalid("timeout", format!("{seconds} is no time in seconds")))
        });
        let views = jobs.wait(&ids, args.any, most.transpose()?);
        let over: Vec<&JobView> = views.iter().filter(|view| view.state.is_over()).collect();
        let enough = if args.any { !over.is_empty() } else { over.len() == views.len() };
        let bad = over.iter().find(|view| view.state != JobState::Done);
        let status = match (enough, bad) {
            (false, _) => Kind::Timeout.exit_status(),
            (true, Some(view)) => view.failure.as_ref().map_or(1, |failure| failure.kind.exit_status()),
            (true, None) => 0,
        };
        if args.common.json {
            print::json(&json!({"ok": status == 0, "timed_out": !enough, "jobs": views}))?;
        } else {
            print::line(&show::table_of(&views))?;
            if !enough {
                print::note("the time is over; the jobs go on");
            }
        }
        Ok(ExitCode::from(status))
    })
}

fn logs(args: &LogsArgs) -> Result<ExitCode> {
    let as_json = args.common.json;
    let mut script = show::Script::default();
    let mut show = |line: LogLine| {
        let text = if as_json { format!("{}\n", line.event) } else { script.add(&line) };
        text.is_empty() || print::text(&text).is_ok()
    };
    let jobs = args.common.jobs()?;
    let id = jobs.find(&args.id)?;
    if args.follow {
        jobs.follow(&id, &mut show);
    } else {
        let _ = jobs.log(&id).into_iter().all(&mut show);
    }
    print::text(script.end())?;
    if let Some(gap) = jobs.view(&id).log_gap {
        print::note(&gap);
    }
    Ok(ExitCode::SUCCESS)
}

/// Ends jobs; those that are over stay as they are.
pub(super) fn cancel(args: &CancelArgs) -> Result<ExitCode> {
    args.common.told(|jobs| {
        let ids = args.ids.iter().map(|id| jobs.find(id)).collect::<Result<Vec<JobId>>>()?;
        let mut views = Vec::new();
        for id in &ids {
            let before = jobs.view(id).state;
            let view = jobs.cancel(id)?;
            if !args.common.json && before.is_over() {
                print::note(&format!("{id} was over already: {}", before.name()));
            }
            views.push(view);
        }
        match args.common.json {
            true => print::json(&json!({"ok": true, "jobs": views})),
            false => print::line(&show::table_of(&views)),
        }
    })
}

fn prune(args: &PruneArgs) -> Result<ExitCode> {
    args.common.told(|jobs| {
        let days = args.older_than.unwrap_or(7.0);
        let age = Duration::try_from_secs_f64(days * 86_400.0)
            .ok()
            .and_then(|age| jiff::SignedDuration::try_from(age).ok());
        let age =
            age.ok_or_else(|| Failure::invalid("older-than", format!("{days} is no number of days")))?;
        let now = jiff::Timestamp::now();
        let goes = |view: &JobView| match view.state {
            JobState::Broken => args.broken || args.all,
            _ if args.all => true,
            // One that ended in the future, by a clock that jumped, is kept.
            _ => view.ended.or(view.created).is_some_and(|ended| now.duration_since(ended) > age),
        };
        let pruned = jobs.prune(args.dry_run, goes)?;
        if args.common.json {
            return print::json(
                &json!({"ok": true, "dry_run": args.dry_run, "removed": pruned.removed, "kept": pruned.kept}),
            );
        }
        let what = if args.dry_run { "would be removed" } else { "removed" };
        pruned.removed.iter().try_for_each(|id| print::line(id.as_str()).map(|_| ()))?;
        print::note(&format!("{} {what}, {} kept", pruned.removed.len(), pruned.kept));
        Ok(ExitCode::SUCCESS)
    })
}

impl Common {
    fn jobs(&self) -> Result<Jobs> {
        self.jobs_dir.as_ref().map_or_else(Jobs::of_user, |dir| Ok(Jobs::at(dir)))
    }

    /// Does something with the jobs; a failure is an object too with `--json`.
    fn told(&self, what: impl FnOnce(&Jobs) -> Result<ExitCode>) -> Result<ExitCode> {
        print::told(self.json, self.jobs().and_then(|jobs| what(&jobs)))
    }
}
