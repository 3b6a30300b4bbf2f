//! The file of results: one line of JSON a task, on disk before it counts.

use super::task::Task;
use crate::error::{Failure, Kind, Result};
use crate::outcome::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct ResultLine {
    /// The task's name.
    pub id: String,
    /// The hash of what was asked.
    pub key: String,
    /// The task's place in the batch, from 0.
    pub index: usize,
    /// How often it was dispatched: rate limits are tried again.
    pub tries: u32,
    /// The git worktree that it ran in and that it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
}

/// A part of [`ResultLine`]: what a resumed batch has to know, without the texts.
#[derive(Deserialize)]
struct Head {
    id: String,
    key: String,
    outcome: Ended,
}

#[derive(Deserialize)]
struct Ended {
    ok: bool,
}

/// What an earlier run left in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    /// Where its line is.
    pub(super) at: u64,
    pub(super) ok: bool,
    pub(super) same_request: bool,
}

/// The file of results, held by this process alone.
pub struct Journal {
    path: PathBuf,
    to_writer: Option<Sender<(String, oneshot::Sender<Result<()>>)>>,
    writer: Option<std::thread::JoinHandle<()>>,
    lines: HashMap<String, (u64, bool, String)>,
    lock: File,
}

impl Journal {
    /// Opens the file, or begins one (for this user alone). Half a line at its end, from a writer that was
    /// killed, is taken off: that task has no result.
    ///
    /// Errors: it cannot be written, another process holds it, or a line in it is no result.
    pub fn open(path: &Path) -> Result<Journal> {
        let io = |e: std::io::Error| fault(path, &e);
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(io)?;
        if file.try_lock().is_err() {
            return Err(Failure::invalid("out", format!("{} is written by another batch", path.display()))
                .hint("wait for it, or name another file with --out"));
        }
        let lines = read(path, &mut file)?;
        let lock = file.try_clone().map_err(io)?;
        let (to_writer, from) = channel();
        let own = path.to_owned();
        let writer =
            std::thread::Builder::new().name("results".into()).spawn(move || write(&own, file, &from));
        Ok(Journal {
            path: path.to_owned(),
            to_writer: Some(to_writer),
            writer: Some(writer.map_err(io)?),
            lines,
            lock,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names in the file that no task of this batch has.
    pub fn strangers(&self, tasks: &[Task]) -> usize {
        let known: std::collections::HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        self.lines.keys().filter(|id| !known.contains(id.as_str())).count()
    }

    /// What an earlier run left of a task.
    pub(super) fn before(&self, task: &Task) -> Option<Before> {
        let (at, ok, key) = self.lines.get(&task.id)?;
        Some(Before { at: *at, ok: *ok, same_request: *key == task.key })
    }

    /// The line at a place.
    pub(super) fn line_at(&self, at: u64) -> Result<ResultLine> {
        let io = |e: std::io::Error| fault(&self.path, &e);
        let mut file = File::open(&self.path).map_err(io)?;
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut line = String::new();
        BufReader::new(file).read_line(&mut line).map_err(io)?;
        serde_json::from_str(&line).map_err(|e| fault(&self.path, &e))
    }

    /// Adds a line, and returns when it is on disk. Lines that come together are brought to disk together.
    ///
    /// Errors: the disk is full, or fails otherwise. The line is not in the file then.
    pub(super) async fn add(&self, line: &ResultLine) -> Result<()> {
        let mut text = serde_json::to_string(line).map_err(|e| fault(&self.path, &e))?;
        text.push('\n');
        let (told, done) = oneshot::channel();
        let gone = || fault(&self.path, &"its writer is gone");
        self.to_writer.as_ref().and_then(|to| to.send((text, told)).ok()).ok_or_else(gone)?;
        done.await.map_err(|_| gone())?
    }

    /// Every result that counts, in the order of the file: of two for a task, the later one.
    ///
    /// Errors: the file cannot be read, or what `take` says.
    pub fn each(&self, mut take: impl FnMut(ResultLine, &str) -> Result<()>) -> Result<()> {
        let io = |e: std::io::Error| fault(&self.path, &e);
        let mut last: HashMap<String, u64> = HashMap::new();
        scan(&mut File::open(&self.path).map_err(io)?, &mut |at, text| {
            if let Ok(head) = serde_json::from_str::<Head>(text) {
                last.insert(head.id, at);
            }
            Ok(())
        })
        .map_err(io)?;
        let mut failure = None;
        scan(&mut File::open(&self.path).map_err(io)?, &mut |at, text| {
            if failure.is_none()
                && let Ok(line) = serde_json::from_str::<ResultLine>(text)
                && last.get(&line.id) == Some(&at)
            {
                failure = take(line, text).err();
            }
            Ok(())
        })
        .map_err(io)?;
        failure.map_or(Ok(()), Err)
    }

    /// Writes the results that count anew, in the order of the batch: beside the file, then in its place.
    ///
    /// Errors: the file is as it was then.
    pub fn order(&mut self) -> Result<()> {
        self.close();
        let mut texts: Vec<(usize, String)> = Vec::new();
        self.each(|line, text| {
            texts.push((line.index, text.to_owned()));
            Ok(())
        })?;
        texts.sort_by_key(|(index, _)| *index);
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let done = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            texts.iter().try_for_each(|(_, text)| file.write_all(text.as_bytes()))?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|e| e.error)?;
            Ok(())
        });
        done.map_err(|e| fault(&self.path, &e))
    }

    fn close(&mut self) {
        drop(self.to_writer.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
        let _ = self.lock.unlock();
    }
}

fn fault(path: &Path, e: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::HarnessConfig, format!("out: {}: {e}", path.display()))
        .hint("what is in the file stays; the same command goes on from there")
}

/// What is in the file: name → place, whether it is ok, key.
fn read(path: &Path, file: &mut File) -> Result<HashMap<String, (u64, bool, String)>> {
    let io = |e: std::io::Error| fault(path, &e);
    let mut lines = HashMap::new();
    let (mut number, mut bad) = (0_usize, None);
    let whole = scan(file, &mut |at, text| {
        number += 1;
        match serde_json::from_str::<Head>(text) {
            Ok(head) => drop(lines.insert(head.id, (at, head.outcome.ok, head.key))),
            Err(e) => {
                bad = bad.take().or(Some(format!("{}:{number}: no result of a batch: {e}", path.display())))
            }
        }
        Ok(())
    })
    .map_err(io)?;
    if let Some(bad) = bad {
        return Err(Failure::invalid("out", bad).hint("name another file with --out"));
    }
    file.set_len(whole).map_err(io)?;
    Ok(lines)
}

/// Calls for every whole line with its place; gives where the last one ends.
fn scan(file: &mut File, line: &mut dyn FnMut(u64, &str) -> std::io::Result<()>) -> std::io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(1 << 16, &mut *file);
    let (mut at, mut text) = (0_u64, String::new());
    loop {
        text.clear();
        let mut bytes = Vec::new();
        let read = reader.read_until(b'\n', &mut bytes)?;
        if read == 0 || bytes.last() != Some(&b'\n') {
            return Ok(at);
        }
        text.push_str(&String::from_utf8_lossy(&bytes));
        line(at, &text)?;
        at += read as u64;
    }
}

/// The writer's thread: whatever waits is written and brought to disk together.
fn write(path: &Path, mut file: File, from: &Receiver<(String, oneshot::Sender<Result<()>>)>) {
    while let Ok((mut text, told)) = from.recv() {
        let mut waiting = vec![told];
        while let Ok((more, told)) = from.try_recv() {
            text.push_str(&more);
            waiting.push(told);
        }
        let before = file.metadata().map(|meta| meta.len());
        let done = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        let done = done.map_err(|e| {
            // Half a line is worse than none.
            let _ = before.and_then(|len| file.set_len(len));
            fault(path, &e)
        });
        for told in waiting {
            let _ = told.send(done.clone());
        }
    }
}
