//! The clocks of a run, and why it was ended by us.

use crate::error::{Failure, Kind, cut};
use crate::profile::SettledLimits;
use crate::reply::RunEnd;
use std::time::{Duration, Instant};

/// How long a process may stay after its output was complete.
const LINGER: Duration = Duration::from_secs(3);

/// The clocks: for the whole dispatch, for the first output, for silence.
pub(super) struct Clocks {
    pub(super) began: Instant,
    pub(super) grew: Option<Instant>,
    pub(super) complete: Option<Instant>,
    pub(super) deadline: Instant,
    pub(super) limits: SettledLimits,
}

impl Clocks {
    pub(super) fn tick(&mut self, grew: bool, complete: bool) -> Option<Stop> {
        let now = Instant::now();
        if grew {
            self.grew = Some(now);
        }
        if complete {
            let since = *self.complete.get_or_insert(now);
            if now.duration_since(since) >= LINGER {
                return Some(Stop::Lingered);
            }
        }
        if now >= self.deadline {
            return Some(Stop::Total);
        }
        let silent = now.duration_since(self.grew.unwrap_or(self.began));
        match (self.grew, self.limits.first_output, self.limits.idle) {
            (None, Some(first), _) if silent >= first => Some(Stop::FirstOutput),
            (_, _, Some(idle)) if silent >= idle && !complete => Some(Stop::Idle),
            _ => None,
        }
    }
}

/// Why a run was ended by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Total,
    FirstOutput,
    Idle,
    Bytes,
    Events,
    Cancelled,
    Lingered,
}

/// What a run that was ended by us comes to.
pub(super) fn stopped_failure(
    stop: Stop,
    end: &RunEnd,
    retry: Option<String>,
    after: Duration,
    cap: u64,
) -> Failure {
    let after = format!("{:.1} s", after.as_secs_f64());
    let last = match (retry, end.last_line()) {
        (Some(retry), _) => format!("; {retry}"),
        (None, Some(line)) => format!("; its last word: {}", cut(line, 300)),
        (None, None) => String::new(),
    };
    let timeout =
        |what: &str, hint: &'static str| Failure::new(Kind::Timeout, format!("{what}{last}")).hint(hint);
    match stop {
        Stop::Total => timeout(
            &format!("no answer within the time for the whole dispatch (ended after {after})"),
            "--timeout SECONDS gives it more",
        ),
        Stop::FirstOutput => timeout(
            &format!("no output at all within {after}"),
            "--first-output-timeout SECONDS gives it more",
        ),
        Stop::Idle => timeout(
            &format!("no new output for too long (ended after {after})"),
            "--idle-timeout SECONDS gives it more",
        ),
        Stop::Bytes => Failure::new(Kind::OutputLimit, format!("the run wrote {cap} bytes, its limit"))
            .hint("max_output_bytes of the profile's limits raises it"),
        Stop::Events => Failure::new(Kind::OutputLimit, "the run gave more events than its limit")
            .hint("max_events of the profile's limits raises it"),
        Stop::Cancelled => Failure::new(Kind::Cancelled, format!("cancelled after {after}")),
        Stop::Lingered => Failure::new(Kind::HarnessError, "ended after its output was complete"),
    }
}
