//! The folder of one job: its files, each read and written in one way.

use super::id::JobId;
use super::record::{JobRecord, JobState, JobView};
use super::spec::JobSpec;
use crate::error::{Failure, Kind, Result};
use crate::outcome::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The folder of a job.
#[derive(Debug, Clone)]
pub(super) struct JobFolder {
    pub(super) path: PathBuf,
}

/// The room that is kept for the outcome on a disk that fills up, in bytes.
const RESERVE: usize = 256 << 10;

pub(super) const LOCK: &str = "lock";
pub(super) const EVENTS: &str = "events.jsonl";
pub(super) const RUNS: &str = "runs";
const RECORD: &str = "job.json";
const SPEC: &str = "spec.json";
const OUTCOME: &str = "outcome.json";
const CANCEL: &str = "cancel";
const RESERVED: &str = "reserved";

/// What a file of a job holds.
pub(super) enum Held<T> {
    /// Nothing: it is not there.
    None,
    /// This.
    Some(T),
    /// What cannot be read, and why.
    Bad(String),
}

impl JobFolder {
    pub(super) fn id(&self) -> Option<JobId> {
        JobId::chosen(self.path.file_name()?.to_str()?).ok()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the lock, and takes it: `None` while somebody else holds it.
    pub(super) fn lock(&self) -> Result<Option<File>> {
        let path = self.file(LOCK);
        let file = File::open(&path).map_err(|e| fault("open", &path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(fault("lock", &path, &e)),
        }
    }

    pub(super) fn record(&self) -> Held<JobRecord> {
        self.read(RECORD)
    }

    pub(super) fn outcome(&self) -> Held<Outcome> {
        self.read(OUTCOME)
    }

    pub(super) fn spec(&self) -> Result<JobSpec> {
        let path = self.file(SPEC);
        JobSpec::read(&std::fs::read_to_string(&path).map_err(|e| fault("read", &path, &e))?)
    }

    pub(super) fn write_record(&self, record: &JobRecord) -> Result<()> {
        self.write(RECORD, record)
    }

    pub(super) fn write_spec(&self, spec: &JobSpec) -> Result<()> {
        self.write(SPEC, spec)
    }

    /// Writes the outcome, into the room that was kept for it where the disk is full.
    pub(super) fn write_outcome(&self, outcome: &Outcome) -> Result<()> {
        let _ = std::fs::remove_file(self.file(RESERVED));
        self.write(OUTCOME, outcome)
    }

    /// Keeps room for the outcome.
    pub(super) fn reserve(&self) -> Result<()> {
        let path = self.file(RESERVED);
        private(&path)
            .and_then(|mut file| file.write_all(&vec![0xA5; RESERVE]).and_then(|()| file.sync_all()))
            .map_err(|e| fault("write", &path, &e))
    }

    /// Asks the supervisor for the end.
    pub(super) fn ask_for_cancel(&self) -> Result<()> {
        let path = self.file(CANCEL);
        private(&path).map(|_| ()).map_err(|e| fault("write", &path, &e))
    }

    pub(super) fn is_cancel_asked(&self) -> bool {
        self.file(CANCEL).exists()
    }

    /// The record with a change.
    pub(super) fn update_record(&self, change: impl FnOnce(&mut JobRecord)) -> Result<()> {
        match self.record() {
            Held::Some(mut record) => {
                change(&mut record);
                self.write_record(&record)
            }
            Held::None | Held::Bad(_) => Ok(()),
        }
    }

    /// How the job stands, with what is known of it. Nothing is changed: a job whose supervisor is gone
    /// without an outcome is `Lost` here, and [`settle`](super::lost::settle) makes it so.
    pub(super) fn view(&self, id: JobId) -> JobView {
        let (state, outcome) = match self.outcome() {
            Held::Some(outcome) => (state_of(&outcome), Some(outcome)),
            // The outcome is renamed into its place whole, so nobody but an outsider cut it.
            Held::Bad(_) => (JobState::Broken, None),
            Held::None => match self.lock() {
                Ok(None) => (JobState::Running, None),
                // It may have ended between the two looks.
                Ok(Some(_)) => match self.outcome() {
                    Held::Some(outcome) => (state_of(&outcome), Some(outcome)),
                    _ => (JobState::Lost, None),
                },
                Err(_) => (JobState::Broken, None),
            },
        };
        match self.record() {
            Held::Some(record) => JobView::new(id, self.path.clone(), state, Some(record), outcome.as_ref()),
            Held::None | Held::Bad(_) if outcome.is_some() => {
                JobView::new(id, self.path.clone(), state, None, outcome.as_ref())
            }
            Held::None | Held::Bad(_) => JobView::new(id, self.path.clone(), JobState::Broken, None, None),
        }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Held<T> {
        match std::fs::read(self.file(name)) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Held::None,
            Err(e) => Held::Bad(e.to_string()),
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => Held::Some(value),
                Err(e) => Held::Bad(e.to_string()),
            },
        }
    }

    /// Writes a file beside its place, to the disk, then renames it there.
    fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let (path, beside) = (self.file(name), self.file(&format!(".{name}.{}", std::process::id())));
        let write = || {
            let mut file = private(&beside)?;
            file.write_all(&serde_json::to_vec(value)?)?;
            file.sync_all()?;
            drop(file);
            std::fs::rename(&beside, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|e| {
            let _ = std::fs::remove_file(&beside);
            fault("write", &path, &e)
        })
    }
}

fn state_of(outcome: &Outcome) -> JobState {
    match &outcome.failure {
        _ if outcome.ok => JobState::Done,
        Some(failure) if failure.kind == Kind::Cancelled => JobState::Cancelled,
        Some(failure) if failure.kind == Kind::Lost => JobState::Lost,
        _ => JobState::Failed,
    }
}

/// A file for its owner alone.
pub(super) fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)
}

pub(super) fn fault(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::HarnessConfig, format!("cannot {what} {}: {error}", path.display()))
        .hint("the folder of the jobs (--jobs-dir, TEAMSTER_JOBS_DIR) must be writable and have room")
}
