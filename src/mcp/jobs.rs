//! The tools of jobs. A client sees those below the ceiling's folder.

use super::arguments::{Arguments, Wrong};
use super::ceiling::Ceiling;
use super::dispatch::{LIMITS, Prepared};
use super::progress::Caller;
use super::server::{Answer, Server, told};
use crate::dispatch::{DispatchOptions, first_command};
use crate::error::{Failure, Kind, Result, cut, did_you_mean};
use crate::jobs::{JobId, JobSpec, JobState, JobView, Jobs, partial_text};
use crate::request::FIELDS;
use crate::run::allowed_depth;
use crate::schema::Schema;
use serde_json::json;
use std::time::{Duration, Instant};

/// How often a job that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a wait takes by default: less than the minute after which most clients give up.
const PATIENCE: f64 = 50.0;
/// How many events one call gives by default.
const EVENTS: usize = 200;

type Answered = std::result::Result<Answer, Wrong>;

impl Server {
    pub(super) async fn job_start(&self, arguments: &str) -> Answered {
        let mut arguments = Arguments::read(arguments, &[FIELDS, LIMITS, &["id", "title"]].concat())?;
        let id = arguments.take::<String>("id")?;
        let id = id.map(|id| JobId::chosen(&id)).transpose().map_err(Wrong::Arguments)?;
        let title = arguments.take("title")?;
        let Prepared { builder, request, profile } = self.prepared(arguments, &mut String::new())?;
        request.schema.as_ref().map(Schema::compile).transpose()?;
        first_command(builder, request.clone(), &profile, &DispatchOptions::default())?;
        allowed_depth()?;
        let harness = builder.facts().id.clone();
        let rehearse = self.stand_in(&harness, request.schema.as_ref())?;
        let spec = JobSpec {
            harness,
            request,
            models: profile.shared_models.clone(),
            profile,
            harness_files: self.host.config.harness_files.clone(),
            rehearse: rehearse.map(Into::into),
            title,
            ..JobSpec::default()
        };
        let (supervisor, most) = (self.host.supervisor.clone(), self.host.concurrency.max(1));
        let _starting = self.starting.lock().await;
        let view = self
            .with_jobs(move |jobs, ceiling| {
                let running = seen(jobs, ceiling)?.iter().filter(|job| !job.state.is_over()).count();
                if running >= most {
                    return Err(Failure::new(
                        Kind::Permission,
                        format!("{running} jobs run here already, which is the most"),
                    )
                    .hint(
                        "`job_wait` waits for one; the owner allows more with `teamster mcp --concurrency`",
                    ));
                }
                jobs.start(&spec, id, &supervisor)
            })
            .await?;
        Ok(Answer::of(json!({"ok": true, "jobs": [view]})))
    }

    pub(super) async fn job_status(&self, arguments: &str) -> Answered {
        let id = Arguments::read(arguments, &["id"])?.take::<String>("id")?;
        let views = self
            .with_jobs(move |jobs, ceiling| match id {
                Some(id) => Ok(vec![find(jobs, ceiling, &id)?]),
                None => seen(jobs, ceiling),
            })
            .await?;
        Ok(Answer::of(json!({"ok": true, "jobs": views})))
    }

    pub(super) async fn job_wait(&self, arguments: &str, caller: &Caller) -> Answered {
        let mut arguments = Arguments::read(arguments, &["ids", "any", "timeout_s"])?;
        let ids: Vec<String> = arguments.need("ids")?;
        let any = arguments.take("any")?.unwrap_or(false);
        let seconds: f64 = arguments.take("timeout_s")?.unwrap_or(PATIENCE);
        let most = Duration::try_from_secs_f64(seconds).map_err(|_| {
            Wrong::Arguments(Failure::invalid("timeout_s", format!("{seconds} is no time in seconds")))
        })?;
        let ids = some(ids)?;
        let found =
            self.with_jobs(move |jobs, ceiling| ids.iter().map(|id| find(jobs, ceiling, id)).collect()).await;
        let mut views: Vec<JobView> = found?;
        let began = Instant::now();
        let enough = |views: &[JobView]| match any {
            true => views.iter().any(|view| view.state.is_over()),
            false => views.iter().all(|view| view.state.is_over()),
        };
        let views = caller
            .follow(async |_, mut cancel| {
                while !enough(&views) && began.elapsed() < most && !cancel.is_cancelled() {
                    tokio::select! {
                        () = tokio::time::sleep(LOOK) => {}
                        () = cancel.cancelled() => {}
                    }
                    let ids: Vec<JobId> = views.iter().map(|view| view.id.clone()).collect();
                    let now = self.with_jobs(move |jobs, _| Ok(ids.iter().map(|id| jobs.view(id)).collect()));
                    views = now.await?;
                }
                Ok::<_, Failure>(views)
            })
            .await?;
        Ok(Answer::of(json!({"ok": true, "timed_out": !enough(&views), "jobs": views})))
    }

    pub(super) async fn job_result(&self, arguments: &str) -> Answered {
        let id: String = Arguments::read(arguments, &["id"])?.need("id")?;
        let (job, outcome, text) = self
            .with_jobs(move |jobs, ceiling| {
                let view = find(jobs, ceiling, &id)?;
                let outcome = jobs.outcome(&view.id)?;
                let text = outcome.is_none().then(|| partial_text(&jobs.log(&view.id))).flatten();
                Ok((jobs.view(&view.id), outcome, text))
            })
            .await?;
        let Some(outcome) = outcome else {
            let said = text.as_deref().unwrap_or("it still runs, and said nothing so far").to_owned();
            let value = json!({"ok": true, "job": job, "partial": true, "text": text});
            return Ok(Answer { ok: true, text: said, value });
        };
        let text = match (&outcome.failure, &outcome.value) {
            (Some(failure), _) => told(failure),
            (None, Some(value)) => value.to_string(),
            (None, None) => outcome.text.clone().unwrap_or_default(),
        };
        let value = json!({"ok": outcome.ok, "job": job, "partial": false, "outcome": outcome});
        Ok(Answer { ok: outcome.ok, text, value })
    }

    pub(super) async fn job_logs(&self, arguments: &str) -> Answered {
        let mut arguments = Arguments::read(arguments, &["id", "after", "most"])?;
        let id: String = arguments.need("id")?;
        let after: usize = arguments.take("after")?.unwrap_or(0);
        let most: usize = arguments.take("most")?.unwrap_or(EVENTS);
        let (over, lines) = self
            .with_jobs(move |jobs, ceiling| {
                // Whether it is over is asked first: what it wrote before its end is read after it.
                let view = find(jobs, ceiling, &id)?;
                Ok((view.state.is_over(), jobs.log(&view.id)))
            })
            .await?;
        let all = lines.len();
        let events: Vec<_> = lines.into_iter().skip(after).take(most).map(|line| line.event).collect();
        let next = after.min(all) + events.len();
        let value = json!({"ok": true, "events": events, "next": next, "over": over && next == all});
        Ok(Answer::of(value))
    }

    pub(super) async fn job_cancel(&self, arguments: &str) -> Answered {
        let ids = some(Arguments::read(arguments, &["ids"])?.need("ids")?)?;
        let _busy = self.busy.read().await;
        let views = self
            .with_jobs(move |jobs, ceiling| {
                let found = ids.iter().map(|id| find(jobs, ceiling, id)).collect::<Result<Vec<_>>>()?;
                found.iter().map(|view| jobs.cancel(&view.id)).collect::<Result<Vec<_>>>()
            })
            .await?;
        Ok(Answer::of(json!({"ok": true, "jobs": views})))
    }

    /// Does something with the jobs on another thread: it may wait for files and processes.
    async fn with_jobs<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Jobs, &Ceiling) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (jobs, ceiling) = (self.host.jobs.clone(), self.host.ceiling.clone());
        let done = tokio::task::spawn_blocking(move || what(&jobs, &ceiling)).await;
        done.map_err(|e| Failure::new(Kind::HarnessConfig, format!("jobs: {e}")))?
    }
}

fn some(ids: Vec<String>) -> std::result::Result<Vec<String>, Wrong> {
    match ids.is_empty() {
        true => Err(Wrong::Arguments(Failure::invalid("ids", "is empty; name at least one job"))),
        false => Ok(ids),
    }
}

/// The jobs that a client may see, newest first: those that work below the ceiling's folder.
fn seen(jobs: &Jobs, ceiling: &Ceiling) -> Result<Vec<JobView>> {
    let mut all = jobs.list()?;
    all.retain(|job| {
        job.state != JobState::Broken && job.cwd.as_ref().is_some_and(|cwd| ceiling.covers(cwd))
    });
    Ok(all)
}

/// The one job that this is the id of, or the beginning of it. What a client may not see is not there.
fn find(jobs: &Jobs, ceiling: &Ceiling, text: &str) -> Result<JobView> {
    let all = seen(jobs, ceiling)?;
    if let Some(view) = all.iter().find(|view| view.id.as_str() == text) {
        return Ok(view.clone());
    }
    let begins = |view: &&JobView| !text.is_empty() && view.id.as_str().starts_with(text);
    match all.iter().filter(begins).collect::<Vec<_>>()[..] {
        [view] => Ok(view.clone()),
        [] => {
            let near = did_you_mean(text, all.iter().map(|view| view.id.as_str()));
            Err(Failure::invalid("id", format!("no job here is called `{}`{near}", cut(text, 80)))
                .hint("`job_status` without an id shows them"))
        }
        ref several => {
            Err(Failure::invalid("id", format!("`{text}` is the beginning of {} jobs", several.len()))
                .hint("give more of it; `job_status` without an id shows them"))
        }
    }
}
