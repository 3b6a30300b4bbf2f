//! The supervisor: dispatches the spec of a job's folder, and writes what comes of it.

use super::folder::{Held, JobFolder, RUNS, fault};
use super::log::LogWriter;
use super::spec::JobSpec;
use crate::config::Config;
use crate::dispatch::{DispatchOptions, until_valid};
use crate::error::{Failure, Kind, Result};
use crate::outcome::Outcome;
use crate::reply::Event;
use crate::run::{Canceller, LocalRunner};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the supervisor looks whether somebody asked for the end.
const LOOK: Duration = Duration::from_millis(100);
/// How long an outcome that cannot be written is tried.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the job of a folder to its end, in this thread. `end` returns when this process is asked to end.
///
/// The lock of the folder has to be this process's stdin, or free.
///
/// Errors: there is no job to run, somebody else runs it, or its outcome cannot be written.
pub async fn supervise(folder: &Path, end: impl Future<Output = ()>) -> Result<()> {
    let folder = JobFolder { path: folder.to_owned() };
    let _lock = own_lock(&folder)?;
    let Held::None = folder.outcome() else { return Ok(()) };
    let Held::Some(record) = folder.record() else {
        return Err(Failure::new(Kind::InvalidConfig, "job.json is not there, or is no record of a job"));
    };
    let began = Instant::now();
    let mut gap = None;
    let mut outcome = match dispatched(&folder, &record.mark, end, &mut gap).await {
        Ok(outcome) => outcome,
        Err(failure) => Outcome::refused(&record.harness, failure),
    };
    if outcome.duration_ms == 0 {
        outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    }
    // What its run left behind is not only the run's own to end.
    let ended = jiff::Timestamp::now();
    let note = || {
        folder.update_record(|record| {
            record.ended = Some(ended);
            record.log_gap.clone_from(&gap);
        })
    };
    // Ahead of the outcome, so that whoever sees the job done sees when; the outcome is what has to be kept.
    let noted = note();
    write(&folder, outcome).await?;
    noted.or_else(|_| note())
}

async fn dispatched(
    folder: &JobFolder,
    mark: &str,
    end: impl Future<Output = ()>,
    gap: &mut Option<String>,
) -> Result<Outcome> {
    let spec = folder.spec()?;
    folder.write_spec(&spec.clone().without_values())?;
    let JobSpec { harness, request, profile, strict, output_as_asked, bin, harness_files, rehearse, .. } =
        spec;
    let registry = Config { harness_files, ..Config::default() }.registry()?;
    let builder = registry.get(&harness)?;
    let mut log = LogWriter::new(folder)?;
    let (canceller, cancel) = Canceller::new();
    let mut runner = LocalRunner {
        bin: bin.map(Into::into),
        rehearse: rehearse.map(Into::into),
        cancel: Some(cancel),
        keep_files: true,
        end_with_thread: true,
        folder: Some(folder.file(RUNS)),
        mark: Some(mark.to_owned()),
        ..LocalRunner::default()
    };
    let mut listen = |event: Event<'_>| log.event(&event);
    let options = DispatchOptions { strict, output_as_asked, on_event: Some(&mut listen) };
    let dispatch = until_valid(builder, request, &profile, &mut runner, options);
    let asked = async {
        let told = async {
            while !folder.is_cancel_asked() {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = told => {}
            () = end => {}
        }
        canceller.cancel();
        std::future::pending::<()>().await;
    };
    let outcome = tokio::select! {
        outcome = dispatch => outcome,
        () = asked => return Err(Failure::new(Kind::Cancelled, "the job was cancelled")),
    };
    *gap = log.gap();
    Ok(outcome)
}

/// The lock that the client handed over as stdin. Stdin becomes the null device, so that nobody inherits it.
fn own_lock(folder: &JobFolder) -> Result<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let path = folder.file(super::folder::LOCK);
    let io = |e: std::io::Error| fault("lock", &path, &e);
    let handed = File::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(io)?);
    let (own, given) = (std::fs::metadata(&path).map_err(io)?, handed.metadata().map_err(io)?);
    if (own.dev(), own.ino()) == (given.dev(), given.ino()) && handed.try_lock().is_ok() {
        let null = File::open("/dev/null").map_err(io)?;
        rustix::stdio::dup2_stdin(&null).map_err(|e| io(e.into()))?;
        return Ok(handed);
    }
    folder
        .lock()?
        .ok_or_else(|| Failure::invalid("job", format!("{} is supervised already", folder.path.display())))
}

/// Writes the outcome. On a full disk it is tried for a minute, and then without its texts.
async fn write(folder: &JobFolder, mut outcome: Outcome) -> Result<()> {
    let began = Instant::now();
    loop {
        match folder.write_outcome(&outcome) {
            Ok(()) => return Ok(()),
            Err(_) if began.elapsed() < PATIENCE => tokio::time::sleep(Duration::from_millis(500)).await,
            Err(failure) if outcome.text.is_some() || outcome.value.is_some() => {
                outcome = Outcome::refused(&outcome.harness, failure);
            }
            Err(failure) => return Err(failure),
        }
    }
}
