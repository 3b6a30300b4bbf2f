//! Running the tasks: so many at once, paced by harness, each result on disk before it counts.

use super::journal::{Journal, ResultLine};
use super::pace::Paces;
use super::summary::Summary;
use super::task::{Choice, Task};
use super::worktree::{Worktree, Worktrees};
use crate::dispatch::{Candidate, DispatchOptions, first_that_answers, remaining, spent};
use crate::error::{Failure, Kind, Result};
use crate::harness::HarnessRegistry;
use crate::outcome::Outcome;
use crate::profile::Budget;
use crate::reply::wait_told;
use crate::run::{Cancel, LocalRunner, Rehearse};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;

/// Makes the stand-in of a harness.
pub type Rehearsal = Arc<dyn Fn(&str) -> Rehearse + Send + Sync>;

/// How a batch is run.
#[derive(Clone)]
pub struct BatchOptions {
    /// Dispatches at once.
    pub concurrency: usize,
    /// Dispatches of one harness at once.
    pub per_harness: usize,
    /// The same, for harnesses that have a number of their own.
    pub of_harness: HashMap<String, usize>,
    /// Between the starts of two dispatches.
    pub stagger: Duration,
    /// How often a task that ended by `rate_limit` is dispatched again.
    pub retries: u32,
    /// Tasks that failed in an earlier run are run again.
    pub retry_failed: bool,
    /// What all tasks together may spend; what earlier runs of the batch spent counts.
    pub budget: Budget,
    /// The next harness may be asked although the agent may have changed something.
    pub after_effects: bool,
    /// A field that cannot be carried is an error.
    pub strict: bool,
    /// `auto` output stays what the request says.
    pub output_as_asked: bool,
    /// Keep the folder of every run.
    pub keep_files: bool,
    /// A git worktree for each task.
    pub worktrees: Option<Worktrees>,
    /// The program of the first choice, over everything else that names one.
    pub bin: Option<OsString>,
    /// The stand-in instead of the CLI of a harness.
    pub rehearse: Option<Rehearsal>,
    /// Ends the batch: what runs is ended and has no result.
    pub cancel: Option<Cancel>,
}

impl Default for BatchOptions {
    /// Four at once, five tries after a rate limit, no budget.
    fn default() -> Self {
        BatchOptions {
            concurrency: 4,
            per_harness: usize::MAX,
            of_harness: HashMap::new(),
            stagger: Duration::ZERO,
            retries: 5,
            retry_failed: false,
            budget: Budget::default(),
            after_effects: false,
            strict: false,
            output_as_asked: false,
            keep_files: false,
            worktrees: None,
            bin: None,
            rehearse: None,
            cancel: None,
        }
    }
}

/// What happens in a batch.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BatchEvent<'e> {
    /// A task is dispatched, for the first time or again.
    Started { task: &'e Task, running: usize },
    /// A harness asked for fewer requests: nothing of it starts for so long, and fewer at once after it.
    Paused { harness: &'e str, pause: Duration, limit: usize },
    /// A result is on disk, from this run or an earlier one.
    Done { line: &'e ResultLine, from_before: bool, summary: &'e Summary },
    /// A result of an earlier run is for another request, so the task is run again.
    Changed { task: &'e Task },
}

/// What came back of one dispatch.
struct Back {
    task: usize,
    tries: u32,
    outcome: Outcome,
    worktree: Option<String>,
}

/// Runs what has no result in the journal yet.
///
/// The processes that it starts end with this thread. Errors: a result cannot be written; what runs is ended.
pub async fn run(
    tasks: &[Task],
    registry: &Arc<HarnessRegistry>,
    journal: &Journal,
    options: &BatchOptions,
    on: &mut dyn FnMut(BatchEvent<'_>),
) -> Result<Summary> {
    let mut batch = Batch {
        tasks,
        registry,
        journal,
        options,
        summary: Summary { tasks: tasks.len(), not_run: tasks.len(), ..Summary::default() },
        waiting: VecDeque::new(),
        paces: Paces::new(options.per_harness.min(options.concurrency.max(1)), options.of_harness.clone()),
        running: JoinSet::new(),
        last_start: None,
    };
    let began = Instant::now();
    batch.read_before(on)?;
    let done = batch.all(on).await;
    // Dropped runs kill their processes.
    batch.running.shutdown().await;
    batch.summary.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    done.map(|()| batch.summary)
}

struct Batch<'b> {
    tasks: &'b [Task],
    registry: &'b Arc<HarnessRegistry>,
    journal: &'b Journal,
    options: &'b BatchOptions,
    summary: Summary,
    /// Tasks to start, with the dispatches that they had.
    waiting: VecDeque<(usize, u32)>,
    paces: Paces,
    running: JoinSet<Back>,
    last_start: Option<Instant>,
}

impl Batch<'_> {
    fn read_before(&mut self, on: &mut dyn FnMut(BatchEvent<'_>)) -> Result<()> {
        for (at, task) in self.tasks.iter().enumerate() {
            match self.journal.before(task) {
                Some(before) if !before.same_request => {
                    on(BatchEvent::Changed { task });
                    self.waiting.push_back((at, 0));
                }
                Some(before) if before.ok || !self.options.retry_failed => {
                    let line = self.journal.line_at(before.at)?;
                    self.summary.add(&line, true);
                    on(BatchEvent::Done { line: &line, from_before: true, summary: &self.summary });
                }
                _ => self.waiting.push_back((at, 0)),
            }
        }
        Ok(())
    }

    async fn all(&mut self, on: &mut dyn FnMut(BatchEvent<'_>)) -> Result<()> {
        let mut cancel = self.options.cancel.clone();
        let cancelled = async {
            match &mut cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(cancelled);
        let mut ended = false;
        while !self.waiting.is_empty() || !self.running.is_empty() {
            if !ended
                && !self.waiting.is_empty()
                && let Some(why) = self.over_budget()
            {
                self.summary.stopped = Some(why);
                self.waiting.clear();
                continue;
            }
            let next = if ended { None } else { self.start(on) };
            tokio::select! {
                biased;
                () = &mut cancelled, if !ended => {
                    // The runs hear it themselves, end their processes, and come back.
                    ended = true;
                    self.waiting.clear();
                    self.summary.stopped = Some("it was ended".to_owned());
                }
                Some(back) = self.running.join_next() => {
                    let back = back.map_err(|e| Failure::new(Kind::HarnessError, format!("a task broke: {e}")))?;
                    self.ended(back, on).await?;
                }
                () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now).into()), if next.is_some() => {}
            }
        }
        Ok(())
    }

    /// Why nothing more may be started.
    fn over_budget(&self) -> Option<String> {
        let budget = &self.options.budget;
        if *budget == Budget::default() || self.summary.done() == 0 {
            return None;
        }
        let nothing_told = self.summary.usage.is_none() && self.summary.untold == 0;
        let untold = self.summary.untold > 0;
        let used = if untold { None } else { self.summary.usage.as_ref() };
        if nothing_told { None } else { spent(budget, used) }
    }

    /// Starts what may be started; gives when more may be, where time alone keeps it.
    fn start(&mut self, on: &mut dyn FnMut(BatchEvent<'_>)) -> Option<Instant> {
        let mut opens: Option<Instant> = None;
        let mut at = 0;
        while at < self.waiting.len() && self.running.len() < self.options.concurrency.max(1) {
            let now = Instant::now();
            if let Some(after) =
                self.last_start.map(|last| last + self.options.stagger).filter(|at| *at > now)
            {
                return Some(opens.map_or(after, |opens| opens.max(after)));
            }
            let (index, tries) = self.waiting[at];
            let task = &self.tasks[index];
            let pace = self.paces.of(task.harness());
            if !pace.is_open(now) {
                opens = [opens, pace.opens_at()].into_iter().flatten().min();
                at += 1;
                continue;
            }
            pace.start();
            self.waiting.remove(at);
            self.last_start = Some(now);
            let dispatch = Dispatch {
                registry: Arc::clone(self.registry),
                options: self.options.clone(),
                left: remaining(&self.options.budget, self.summary.usage.as_ref()),
                choices: task.choices.clone(),
                id: task.id.clone(),
            };
            self.running.spawn(async move {
                let (outcome, worktree) = dispatch.run().await;
                Back { task: index, tries: tries + 1, outcome, worktree }
            });
            on(BatchEvent::Started { task, running: self.running.len() });
        }
        opens
    }

    async fn ended(&mut self, back: Back, on: &mut dyn FnMut(BatchEvent<'_>)) -> Result<()> {
        let task = &self.tasks[back.task];
        let kind = back.outcome.failure.as_ref().map(|failure| failure.kind);
        let limited = kind == Some(Kind::RateLimit) && back.outcome.harness == task.harness();
        let pace = self.paces.of(task.harness());
        if limited {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let pause = pace.refuse(Instant::now(), told(&back.outcome, now), spread(&task.id, back.tries));
            let limit = pace.limit();
            tracing::info!(
                harness = task.harness(),
                ms = pause.as_millis(),
                limit,
                task = task.id,
                "backed off"
            );
            on(BatchEvent::Paused { harness: task.harness(), pause, limit });
        } else {
            pace.end();
        }
        if kind == Some(Kind::Cancelled) && self.summary.stopped.is_some() {
            return Ok(());
        }
        if limited && back.tries <= self.options.retries && self.summary.stopped.is_none() {
            self.waiting.push_front((back.task, back.tries));
            return Ok(());
        }
        let line = ResultLine {
            id: task.id.clone(),
            key: task.key.clone(),
            index: task.index,
            tries: back.tries,
            worktree: back.worktree,
            outcome: back.outcome,
        };
        self.journal.add(&line).await?;
        self.summary.add(&line, false);
        on(BatchEvent::Done { line: &line, from_before: false, summary: &self.summary });
        Ok(())
    }
}

/// How long the vendor asks to wait.
fn told(outcome: &Outcome, now: u64) -> Option<Duration> {
    let failure = outcome.failure.as_ref()?;
    let texts = [Some(failure.message.as_str()), failure.stderr_tail.as_deref()];
    texts.into_iter().flatten().find_map(|text| wait_told(text, now))
}

/// A number from 0 to 1 that is another one for each task and try.
fn spread(id: &str, tries: u32) -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let hash = RandomState::new().hash_one((id, tries));
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// One dispatch of a task, with everything that it needs.
struct Dispatch {
    registry: Arc<HarnessRegistry>,
    options: BatchOptions,
    left: Budget,
    choices: Vec<Choice>,
    id: String,
}

impl Dispatch {
    async fn run(self) -> (Outcome, Option<String>) {
        let Dispatch { registry, options, left, mut choices, id } = self;
        let harness = choices.first().map_or_else(String::new, |choice| choice.harness.clone());
        let worktree =
            match options.worktrees.as_ref().map(|all| in_worktree(all, &id, &mut choices)).transpose() {
                Ok(worktree) => worktree,
                Err(failure) => return (Outcome::refused(&harness, failure), None),
            };
        let mut candidates = Vec::new();
        for Choice { harness, profile_name, mut profile, request } in choices {
            let limits = &mut profile.limits;
            limits.max_tokens = [limits.max_tokens, left.max_tokens].into_iter().flatten().min();
            limits.max_cost_usd = match (limits.max_cost_usd, left.max_cost_usd) {
                (Some(own), Some(left)) => Some(own.min(left)),
                (own, left) => own.or(left),
            };
            match registry.get(&harness) {
                Ok(builder) => candidates.push(Candidate { builder, profile_name, profile, request }),
                Err(failure) => return (Outcome::refused(&harness, failure), None),
            }
        }
        let mut first = true;
        let runner = |candidate: &Candidate<'_>| LocalRunner {
            bin: options.bin.clone().filter(|_| std::mem::take(&mut first)),
            rehearse: options.rehearse.as_ref().map(|rehearse| rehearse(&candidate.builder.facts().id)),
            cancel: options.cancel.clone(),
            keep_files: options.keep_files,
            end_with_thread: true,
            ..LocalRunner::default()
        };
        let how = DispatchOptions {
            strict: options.strict,
            output_as_asked: options.output_as_asked,
            on_event: None,
        };
        let outcome = first_that_answers(candidates, runner, options.after_effects, how).await;
        let worktree = worktree.and_then(Worktree::finish).map(|path| path.display().to_string());
        (outcome, worktree)
    }
}

/// Makes the worktree of a task, and moves its requests into it.
fn in_worktree(all: &Worktrees, id: &str, choices: &mut [Choice]) -> Result<Worktree> {
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let cwd = choices.first().and_then(|choice| choice.request.cwd.clone()).unwrap_or_else(here);
    let (repository, below) = Worktrees::repository(&cwd)?;
    let worktree = all.make(&repository, id)?;
    for choice in choices {
        choice.request.cwd = Some(worktree.path().join(&below));
    }
    Ok(worktree)
}
