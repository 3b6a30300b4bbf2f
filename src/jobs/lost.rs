//! Jobs whose supervisor is gone: what they left running is ended, and the outcome says what happened.

use super::folder::{Held, JobFolder};
use super::log::{LogReader, partial_text};
use super::start::JOB_VAR;
use crate::error::{Failure, Kind, Result};
use crate::outcome::Outcome;
use crate::run::end_marked;
use serde_json::Value;

/// Gives a job without a living supervisor its outcome; does nothing to any other.
///
/// The lock is held meanwhile, so of two commands that see the job one does it. Errors: its processes do
/// not end, or the outcome cannot be written; the next command tries again.
pub(super) fn settle(folder: &JobFolder) -> Result<()> {
    let Held::None = folder.outcome() else { return Ok(()) };
    let Held::Some(record) = folder.record() else { return Ok(()) };
    let Ok(Some(_lock)) = folder.lock() else { return Ok(()) };
    let Held::None = folder.outcome() else { return Ok(()) };
    if !end_marked(&record.mark, &[JOB_VAR]) {
        return Err(Failure::new(
            Kind::HarnessConfig,
            format!("job {}: its supervisor is gone, and what it left running does not end", record.id),
        ));
    }
    let mut events = Vec::new();
    LogReader::new(&folder.path).read(&mut |line| events.push(line));
    let failure = if folder.is_cancel_asked() {
        Failure::new(Kind::Cancelled, "the job was cancelled")
    } else {
        Failure::new(Kind::Lost, "the job's supervisor was killed before it could write the outcome")
            .hint("what the agent had said is in the text; what it had changed stays changed: look before it is run again")
    };
    let last = |key: &str| {
        let session = events.iter().rev().filter(|line| line.event["type"] == "session");
        session.filter_map(|line| line.event[key].as_str()).next().map(str::to_owned)
    };
    let mut outcome = Outcome::refused(&record.harness, failure);
    outcome.text = partial_text(&events);
    outcome.session_id = last("id");
    outcome.model = last("model");
    outcome.duration_ms = events.last().map_or(0, |line| line.at_ms);
    outcome.denied = events
        .iter()
        .filter(|line| line.event["type"] == "denied")
        .filter_map(|line| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            Some(crate::reply::Denied {
                tool: text(&line.event["tool"])?,
                reason: text(&line.event["reason"])?,
            })
        })
        .collect();
    if let Ok(spec) = folder.spec() {
        folder.write_spec(&spec.without_values())?;
    }
    folder.write_outcome(&outcome)?;
    folder.update_record(|record| record.ended = Some(jiff::Timestamp::now()))
}
