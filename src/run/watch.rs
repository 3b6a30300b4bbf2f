//! Follows the files of a run into its reader, up to its caps.

use super::clocks::Stop;
use super::follow::Follower;
use crate::error::{Failure, Kind, Result};
use crate::reply::{By, Event, Reader};

/// How much of standard error is kept from its start and from its end, in bytes.
const STDERR_KEPT: usize = 64 << 10;

/// Follows the files of a run into its reader.
pub(super) struct Watch<'r> {
    pub(super) reader: Box<dyn Reader>,
    pub(super) stdout: Follower,
    pub(super) stderr: Follower,
    pub(super) tail: Excerpt,
    pub(super) buffer: Vec<u8>,
    pub(super) cap: u64,
    pub(super) events: u64,
    pub(super) last_retry: Option<String>,
    pub(super) emit: &'r mut (dyn FnMut(Event<'_>) + Send),
}

impl Watch<'_> {
    /// Reads what is new; gives whether anything was.
    pub(super) fn follow(&mut self) -> Result<bool> {
        let Watch { reader, stdout, stderr, tail, buffer, cap, events, last_retry, emit } = self;
        let before = stdout.read() + stderr.read();
        let mut pass = |event: Event<'_>| {
            *events += 1;
            if let Event::Retry { by: By::Harness, message, .. } = &event {
                *last_retry = Some(message.to_string());
            }
            emit(event);
        };
        let unreadable = |e: std::io::Error| {
            Failure::new(Kind::HarnessConfig, format!("the run's output cannot be read: {e}"))
        };
        stdout.poll(buffer, *cap, |bytes| reader.push(bytes, &mut pass)).map_err(unreadable)?;
        stderr
            .poll(buffer, *cap, |bytes| {
                tail.push(bytes);
                reader.push_stderr(bytes, &mut pass);
            })
            .map_err(unreadable)?;
        Ok(stdout.read() + stderr.read() > before)
    }

    pub(super) fn over(&self, max_events: u64) -> Option<Stop> {
        if self.stdout.read() + self.stderr.read() >= self.cap {
            Some(Stop::Bytes)
        } else if self.events > max_events {
            Some(Stop::Events)
        } else {
            None
        }
    }
}

/// The first and the last part of a text that grows.
#[derive(Default)]
pub(super) struct Excerpt {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: bool,
}

impl Excerpt {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = STDERR_KEPT.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        if self.tail.len() > 2 * STDERR_KEPT {
            self.tail.drain(..self.tail.len() - STDERR_KEPT);
            self.left_out = true;
        }
    }

    pub(super) fn text(&self) -> String {
        let middle: &[u8] = if self.left_out { b"\n[...]\n" } else { b"" };
        String::from_utf8_lossy(&[&self.head, middle, &self.tail].concat()).into_owned()
    }
}
