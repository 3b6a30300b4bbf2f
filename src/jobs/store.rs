//! The folder of all jobs: finding, listing, waiting, pruning.

use super::folder::{Held, JobFolder, fault};
use super::id::JobId;
use super::log::{LogLine, LogReader};
use super::lost::settle;
use super::record::{JobState, JobView};
use crate::error::{Failure, Kind, Result, cut, did_you_mean};
use crate::outcome::Outcome;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the folder of the jobs.
pub const JOBS_DIR_VAR: &str = "TEAMSTER_JOBS_DIR";

/// How often a job that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The jobs of a folder.
#[derive(Debug, Clone)]
pub struct Jobs {
    path: PathBuf,
}

/// What pruning removed and left.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Pruned {
    /// The jobs that are gone, or would be.
    pub removed: Vec<JobId>,
    /// How many are left.
    pub kept: usize,
}

impl Jobs {
    /// The jobs of a folder, which need not be there yet.
    pub fn at(path: impl Into<PathBuf>) -> Jobs {
        Jobs { path: path.into() }
    }

    /// The jobs of this user: in `TEAMSTER_JOBS_DIR`, else `teamster/jobs` in the user's state folder.
    ///
    /// Errors: no home directory is known.
    pub fn of_user() -> Result<Jobs> {
        use etcetera::BaseStrategy;
        if let Some(path) = std::env::var_os(JOBS_DIR_VAR).filter(|value| !value.is_empty()) {
            return Ok(Jobs::at(path));
        }
        let strategy = etcetera::choose_base_strategy().map_err(|e| {
            Failure::new(Kind::HarnessConfig, format!("no folder for jobs: {e}"))
                .hint("name one with --jobs-dir or TEAMSTER_JOBS_DIR")
        })?;
        let state = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(Jobs::at(state.join("teamster").join("jobs")))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn folder(&self, id: &JobId) -> JobFolder {
        JobFolder { path: self.path.join(id.as_str()) }
    }

    pub(super) fn make(&self) -> Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.path).map_err(|e| fault("make", &self.path, &e))
    }

    /// Every job, newest first. One whose supervisor is gone gets its outcome now.
    ///
    /// Errors: the folder cannot be read. No folder at all is no jobs.
    pub fn list(&self) -> Result<Vec<JobView>> {
        let mut all: Vec<JobView> = self.ids()?.into_iter().map(|id| self.view(&id)).collect();
        // The clock may have jumped: of two that say the same moment, the id tells.
        all.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
        Ok(all)
    }

    fn ids(&self) -> Result<Vec<JobId>> {
        let entries = match std::fs::read_dir(&self.path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|e| fault("read", &self.path, &e))?,
        };
        let folders = entries.flatten().map(|entry| JobFolder { path: entry.path() });
        Ok(folders.filter(|folder| folder.path.is_dir()).filter_map(|folder| folder.id()).collect())
    }

    /// The id that a whole id or a beginning of it names.
    ///
    /// Errors: none has it, or several.
    pub fn find(&self, text: &str) -> Result<JobId> {
        let ids = self.ids()?;
        if let Some(id) = ids.iter().find(|id| id.as_str() == text) {
            return Ok(id.clone());
        }
        let mut found: Vec<&JobId> =
            ids.iter().filter(|id| !text.is_empty() && id.as_str().starts_with(text)).collect();
        found.sort();
        match found[..] {
            [id] => Ok(id.clone()),
            [] => {
                let near = did_you_mean(text, ids.iter().map(JobId::as_str));
                Err(Failure::invalid("id", format!("no job is called `{}`{near}", cut(text, 80)))
                    .hint("`teamster job status` shows them; they are looked for in --jobs-dir"))
            }
            _ => {
                let shown: Vec<&str> = found.iter().take(5).map(|id| id.as_str()).collect();
                Err(Failure::invalid("id", format!("`{text}` is the beginning of {} jobs", found.len()))
                    .hint(format!("give more of it: {}", shown.join(", "))))
            }
        }
    }

    /// How a job stands. One whose supervisor is gone gets its outcome now.
    pub fn view(&self, id: &JobId) -> JobView {
        let folder = self.folder(id);
        let view = folder.view(id.clone());
        if view.state != JobState::Lost || matches!(folder.outcome(), Held::Some(_)) {
            return view;
        }
        // What cannot be written now is written by the next command.
        let _ = settle(&folder);
        folder.view(id.clone())
    }

    /// The outcome of a job that is over; `None` while it runs.
    ///
    /// Errors: a folder that cannot be read as a job's, with what is wrong in it.
    pub fn outcome(&self, id: &JobId) -> Result<Option<Outcome>> {
        let view = self.view(id);
        match (view.state, self.folder(id).outcome()) {
            (_, Held::Some(outcome)) => Ok(Some(outcome)),
            (JobState::Running, _) => Ok(None),
            (_, Held::Bad(why)) => Err(self.broken(id, &format!("outcome.json: {why}"))),
            (_, Held::None) => Err(self.broken(id, "there is no outcome, and none can be written")),
        }
    }

    fn broken(&self, id: &JobId, why: &str) -> Failure {
        let folder = self.folder(id);
        let record = match folder.record() {
            Held::Bad(why) => format!("; job.json: {why}"),
            Held::None => "; job.json is not there".to_owned(),
            Held::Some(_) => String::new(),
        };
        Failure::new(Kind::HarnessConfig, format!("job {id} is damaged: {why}{record}")).hint(format!(
            "what is left is in {}; `teamster job prune --broken` removes it",
            folder.path.display()
        ))
    }

    /// The events of a job so far.
    pub fn log(&self, id: &JobId) -> Vec<LogLine> {
        let mut lines = Vec::new();
        LogReader::new(&self.folder(id).path).read(&mut |line| lines.push(line));
        lines
    }

    /// Gives every event of a job to `take`, also those to come, until the job is over or `take` says to stop.
    pub fn follow(&self, id: &JobId, take: &mut dyn FnMut(LogLine) -> bool) {
        let mut reader = LogReader::new(&self.folder(id).path);
        let mut goes_on = true;
        while goes_on {
            // Whether it is over is asked first: what it wrote before its end is read after it.
            let over = self.view(id).state.is_over();
            reader.read(&mut |line| goes_on = goes_on && take(line));
            if over {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until all of these jobs are over, or any of them; at most so long. Gives how they stand then.
    pub fn wait(&self, ids: &[JobId], any: bool, most: Option<Duration>) -> Vec<JobView> {
        let began = std::time::Instant::now();
        loop {
            let views: Vec<JobView> = ids.iter().map(|id| self.view(id)).collect();
            let mut over = views.iter().map(|view| view.state.is_over());
            let enough = if any { over.any(|over| over) } else { over.all(|over| over) };
            if enough || most.is_some_and(|most| began.elapsed() >= most) {
                return views;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Removes jobs that are over and of which `goes` says so, with everything in their folders; and what a
    /// client that was killed left half made.
    pub fn prune(&self, only_look: bool, goes: impl Fn(&JobView) -> bool) -> Result<Pruned> {
        let mut pruned = Pruned::default();
        for view in self.list()? {
            if !view.state.is_over() || !goes(&view) {
                pruned.kept += 1;
                continue;
            }
            if !only_look {
                self.remove(&view.folder)?;
            }
            pruned.removed.push(view.id);
        }
        if !only_look {
            self.remove_half_made();
        }
        Ok(pruned)
    }

    /// Renamed first, so that nobody sees half a job.
    fn remove(&self, folder: &Path) -> Result<()> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let gone = self.path.join(format!(".gone-{name}-{}", std::process::id()));
        std::fs::rename(folder, &gone)
            .and_then(|()| std::fs::remove_dir_all(&gone))
            .map_err(|e| fault("remove", folder, &e))
    }

    /// A client holds the lock of what it makes, so what has none free is left alone.
    fn remove_half_made(&self) {
        for entry in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let folder = JobFolder { path: entry.path() };
            let is_free = || matches!(folder.lock(), Ok(Some(_)));
            if name.starts_with(".gone-") || (name.starts_with(".new-") && is_free()) {
                let _ = std::fs::remove_dir_all(&folder.path);
            }
        }
    }
}
