//! Ends a job, and makes sure of it.

use super::folder::{Held, JobFolder};
use super::id::JobId;
use super::lost::settle;
use super::record::JobView;
use super::start::JOB_VAR;
use super::store::Jobs;
use crate::error::{Failure, Kind, Result};
use crate::run::end_marked;
use std::time::{Duration, Instant};

/// How long a supervisor may take to end its run: the run's own grace and sweep, and some more.
const PATIENCE: Duration = Duration::from_secs(15);

impl Jobs {
    /// Ends a job. When this returns, nothing of it runs any more.
    ///
    /// - The supervisor is asked first: it ends the run and writes the outcome with what there was.
    /// - One that does not answer (stopped, hung) is killed with everything of the job.
    /// - A job that is over stays as it is.
    ///
    /// Errors: something of the job does not end, or the folder cannot be written.
    pub fn cancel(&self, id: &JobId) -> Result<JobView> {
        let folder = self.folder(id);
        if !self.view(id).state.is_over() {
            folder.ask_for_cancel()?;
            let began = Instant::now();
            while !self.view(id).state.is_over() && began.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let Held::Some(record) = folder.record() else { return Ok(self.view(id)) };
        // Also where it was over: an outcome is written before the supervisor's own end.
        if !is_let_go(&folder) || !matches!(folder.outcome(), Held::Some(_)) {
            if !end_marked(&record.mark, &[JOB_VAR]) {
                return Err(Failure::new(
                    Kind::HarnessConfig,
                    format!("job {id}: something of it does not end"),
                )
                .hint("it sits in the kernel (a device, a network file system): try again, or restart the machine"));
            }
            settle(&folder)?;
        }
        Ok(self.view(id))
    }
}

/// Whether the supervisor let go of the lock, or does so within a second.
fn is_let_go(folder: &JobFolder) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        if matches!(folder.lock(), Ok(Some(_)) | Err(_)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
