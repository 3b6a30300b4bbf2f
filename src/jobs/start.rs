//! Starts a job: its folder, its lock, its supervisor.

use super::folder::{JobFolder, LOCK, RUNS, fault, private};
use super::id::JobId;
use super::record::{JobRecord, JobView};
use super::spec::JobSpec;
use super::store::Jobs;
use crate::error::{Failure, Kind, Result};
use crate::run::{DEPTH_VAR, own_depth, own_session};
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names the job in the environment of its processes.
pub(super) const JOB_VAR: &str = "TEAMSTER_JOB";

/// The program that supervises jobs: `teamster`, with what makes it one. The folder of the job comes last.
#[derive(Debug, Clone)]
pub struct Supervisor {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the folder.
    pub args: Vec<OsString>,
}

impl Supervisor {
    /// A `teamster` program, as a supervisor.
    pub fn of(program: PathBuf) -> Supervisor {
        Supervisor { program, args: vec!["job".into(), "supervise".into()] }
    }
}

impl Jobs {
    /// Starts a job and returns at once. `id` is the caller's choice where there is one.
    ///
    /// Errors: an id that is taken, a folder that cannot be written, a supervisor that cannot be started.
    /// Nothing of the job is left then.
    pub fn start(&self, spec: &JobSpec, id: Option<JobId>, supervisor: &Supervisor) -> Result<JobView> {
        self.make()?;
        let here = std::env::current_dir()
            .map_err(|e| Failure::new(Kind::BadCwd, format!("the working directory cannot be read: {e}")))?;
        let cwd = spec.request.cwd.clone().unwrap_or(here);
        if !cwd.is_dir() {
            return Err(Failure::new(Kind::BadCwd, format!("cwd: {} is no directory", cwd.display())));
        }
        loop {
            let own = id.clone().unwrap_or_default();
            match self.begin(spec, &own, cwd.clone(), supervisor) {
                // Another job of the same moment has it.
                Ok(None) if id.is_none() => {}
                Ok(None) => {
                    let taken = Failure::invalid("id", format!("there is a job `{own}` already"));
                    return Err(taken.hint("choose another, or leave --id out"));
                }
                Ok(Some(view)) => return Ok(view),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn begin(
        &self,
        spec: &JobSpec,
        id: &JobId,
        cwd: PathBuf,
        supervisor: &Supervisor,
    ) -> Result<Option<JobView>> {
        let new = JobFolder { path: self.path().join(format!(".new-{id}-{}", std::process::id())) };
        DirBuilder::new().mode(0o700).create(&new.path).map_err(|e| fault("make", &new.path, &e))?;
        let made = self.fill(&new, spec, id, cwd);
        let lock = match made {
            Ok(lock) => lock,
            Err(failure) => {
                let _ = std::fs::remove_dir_all(&new.path);
                return Err(failure);
            }
        };
        let folder = self.folder(id);
        // A folder that is there and not empty is never replaced.
        if folder.path.exists() || std::fs::rename(&new.path, &folder.path).is_err() {
            let taken = folder.path.exists();
            let _ = std::fs::remove_dir_all(&new.path);
            let failed =
                || fault("make", &folder.path, &std::io::Error::other("it cannot be renamed into its place"));
            return if taken { Ok(None) } else { Err(failed()) };
        }
        if let Err(failure) = spawn(supervisor, &folder, lock) {
            let _ = std::fs::remove_dir_all(&folder.path);
            return Err(failure);
        }
        Ok(Some(folder.view(id.clone())))
    }

    /// Writes what the supervisor reads; gives the lock, held.
    fn fill(&self, folder: &JobFolder, spec: &JobSpec, id: &JobId, cwd: PathBuf) -> Result<File> {
        let path = folder.file(LOCK);
        let lock = private(&path).map_err(|e| fault("make", &path, &e))?;
        lock.lock().map_err(|e| fault("lock", &path, &e))?;
        let runs = folder.file(RUNS);
        DirBuilder::new().mode(0o700).create(&runs).map_err(|e| fault("make", &runs, &e))?;
        folder.reserve()?;
        folder.write_spec(spec)?;
        folder.write_record(&JobRecord {
            id: id.clone(),
            harness: spec.harness.clone(),
            title: spec.title(),
            cwd,
            created: jiff::Timestamp::now(),
            ended: None,
            // A mark that no other job on this machine ever had, also in another folder of jobs.
            mark: format!("{id}-{}{}", JobId::new(), JobId::new()),
            log_gap: None,
        })?;
        Ok(lock)
    }
}

/// Starts the supervisor in a session of its own, with the lock as its stdin.
fn spawn(supervisor: &Supervisor, folder: &JobFolder, lock: File) -> Result<()> {
    let path = folder.file("supervisor.log");
    let log = private(&path).map_err(|e| fault("make", &path, &e))?;
    let again = log.try_clone().map_err(|e| fault("open", &path, &e))?;
    let super::folder::Held::Some(record) = folder.record() else {
        return Err(fault("read", &folder.path, &std::io::Error::other("job.json is not there")));
    };
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).arg(&folder.path).env(JOB_VAR, record.mark);
    // What the environment of this process may have lost is not lost to the job, which has no one above it.
    command.env(DEPTH_VAR, own_depth().to_string());
    command.stdin(Stdio::from(lock)).stdout(Stdio::from(log)).stderr(Stdio::from(again));
    own_session(&mut command, false);
    let mut child = command.spawn().map_err(|e| {
        let what = format!("{} cannot be started: {e}", supervisor.program.display());
        Failure::new(Kind::HarnessConfig, what)
    })?;
    // A program that lives longer than the job has nobody left over.
    std::thread::spawn(move || child.wait());
    Ok(())
}
