//! The events of a job: written as they happen, read while they grow.

use super::folder::{EVENTS, JobFolder, fault};
use crate::error::Result;
use crate::reply::Event;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Writes the events of a job. A disk that is full stops no job: what could not be written is counted.
pub(super) struct LogWriter {
    file: File,
    began: Instant,
    /// A line was cut by a write that failed.
    torn: bool,
    lost: u64,
    why: Option<String>,
}

impl LogWriter {
    pub(super) fn new(folder: &JobFolder) -> Result<LogWriter> {
        let path = folder.file(EVENTS);
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(|e| fault("make", &path, &e))?;
        Ok(LogWriter { file, began: Instant::now(), torn: false, lost: 0, why: None })
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        let json = serde_json::to_string(event).unwrap_or_default();
        let Some(rest) = json.strip_prefix('{') else { return };
        let start = if self.torn { "\n" } else { "" };
        let line = format!("{start}{{\"at_ms\":{},{rest}\n", self.began.elapsed().as_millis());
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => self.torn = false,
            Err(e) => {
                self.torn = true;
                self.lost += 1;
                self.why.get_or_insert_with(|| e.to_string());
            }
        }
    }

    /// What could not be written, in words.
    pub(super) fn gap(&self) -> Option<String> {
        self.why.as_ref().map(|why| format!("{} events could not be written: {why}", self.lost))
    }
}

/// One line of a job's log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// Milliseconds since the dispatch began.
    pub at_ms: u64,
    /// The event, as `--stream` writes it, with `at_ms`.
    pub event: Value,
}

/// Reads a job's log from where it stands to what is there now; called again, it goes on.
///
/// A line that is not whole yet is left for the next time; one that is no JSON is skipped.
#[derive(Debug)]
pub(super) struct LogReader {
    path: PathBuf,
    file: Option<BufReader<File>>,
    line: Vec<u8>,
}

impl LogReader {
    pub(super) fn new(folder: &Path) -> LogReader {
        LogReader { path: folder.join(EVENTS), file: None, line: Vec::new() }
    }

    pub(super) fn read(&mut self, take: &mut dyn FnMut(LogLine)) {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok().map(BufReader::new);
        }
        let Some(file) = &mut self.file else { return };
        while file.by_ref().read_until(b'\n', &mut self.line).is_ok_and(|read| read > 0) {
            if self.line.last() != Some(&b'\n') {
                return;
            }
            if let Ok(event) = serde_json::from_slice::<Value>(&self.line) {
                take(LogLine { at_ms: event["at_ms"].as_u64().unwrap_or(0), event });
            }
            self.line.clear();
        }
    }
}

/// The text of the agent so far: what would be the answer if it ended now.
///
/// As in a reply, a text that is no part of a longer one takes the place of what was before, and a tool's
/// result empties it.
pub fn partial_text(events: &[LogLine]) -> Option<String> {
    let mut text = String::new();
    for LogLine { event, .. } in events {
        match event["type"].as_str() {
            Some("text") => {
                if event["delta"] != Value::Bool(true) {
                    text.clear();
                }
                text.push_str(event["text"].as_str().unwrap_or_default());
            }
            Some("tool_result") => text.clear(),
            Some("retry") if event["by"] == "teamster" => text.clear(),
            _ => {}
        }
    }
    (!text.is_empty()).then_some(text)
}
