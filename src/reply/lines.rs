//! Bytes to lines, and the reader of any harness that writes one event a line.

use super::text::without_escapes;
use super::{Collector, Event, Out, Reader, Reply, RunEnd};
use crate::error::{Failure, Kind};

/// Cuts bytes into lines, in whatever pieces they come.
///
/// A line is handed on without its line end, a BOM before it, and escape sequences of a terminal in
/// front of it. Empty lines are left out.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
    overlong: bool,
    begun: bool,
    dropped: u64,
}

impl Lines {
    /// The longest line that is kept, in bytes: longer ones are dropped and counted.
    pub const CAP: usize = 32 << 20;

    /// Takes bytes and hands on every line that is whole.
    pub fn push(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end);
            if self.rest.is_empty() && !self.overlong && head.len() <= Lines::CAP {
                self.hand_on(head, &mut line);
            } else {
                self.keep(head);
                let whole = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.overlong) {
                    self.hand_on(&whole, &mut line);
                }
                // The room of an ordinary line is used again, that of a giant is given back.
                if whole.capacity() <= 1 << 16 {
                    self.rest = whole;
                    self.rest.clear();
                }
            }
            rest = &tail[1..];
        }
        self.keep(rest);
    }

    /// Hands on the last line when it has no line end.
    pub fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        let whole = std::mem::take(&mut self.rest);
        if !std::mem::take(&mut self.overlong) {
            self.hand_on(&whole, &mut line);
        }
    }

    /// How many lines were longer than [`Lines::CAP`] and dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn keep(&mut self, part: &[u8]) {
        if self.overlong {
            return;
        }
        if self.rest.len() + part.len() > Lines::CAP {
            self.overlong = true;
            self.dropped += 1;
            self.rest = Vec::new();
        } else {
            self.rest.extend_from_slice(part);
        }
    }

    fn hand_on(&mut self, line: &[u8], to: &mut impl FnMut(&[u8])) {
        let line = if self.begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        self.begun = true;
        let line = without_escapes(line.strip_suffix(b"\r").unwrap_or(line));
        if !line.is_empty() {
            to(line);
        }
    }
}

/// What a harness makes of one line of its output.
pub trait Decode: Send {
    /// Reads a line: events go to `out`, and a line that is no event goes to [`Out::noise`].
    fn line(&mut self, line: &[u8], out: &mut Out<'_>);

    /// Reads a line of standard error while the run goes on.
    fn stderr_line(&mut self, _line: &[u8], _out: &mut Out<'_>) {}

    /// Judges the run: turns what was collected into the reply.
    fn judge(self, collected: Collector, end: &RunEnd) -> Reply;
}

/// The reader for harnesses that write one event a line.
#[derive(Debug, Default)]
pub struct LineReader<D> {
    lines: Lines,
    stderr: Lines,
    collector: Collector,
    decode: D,
}

impl<D: Decode> LineReader<D> {
    /// A reader with this decoder.
    pub fn new(decode: D) -> Self {
        LineReader {
            lines: Lines::default(),
            stderr: Lines::default(),
            collector: Collector::default(),
            decode,
        }
    }
}

impl<D: Decode> Reader for LineReader<D> {
    fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Event<'_>)) {
        let LineReader { lines, collector, decode, .. } = self;
        lines.push(bytes, |line| decode.line(line, &mut Out { collector, emit }));
    }

    fn push_stderr(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Event<'_>)) {
        let LineReader { stderr, collector, decode, .. } = self;
        stderr.push(bytes, |line| decode.stderr_line(line, &mut Out { collector, emit }));
    }

    fn is_complete(&self) -> bool {
        self.collector.ended.is_some()
    }

    fn finish(self: Box<Self>, end: &RunEnd, emit: &mut dyn FnMut(Event<'_>)) -> Reply {
        let LineReader { mut lines, mut collector, mut decode, .. } = *self;
        lines.finish(|line| decode.line(line, &mut Out { collector: &mut collector, emit }));
        let dropped = lines.dropped();
        let mut reply = decode.judge(collector, end);
        if dropped > 0 {
            reply.error.get_or_insert_with(|| over_long(dropped));
        }
        reply
    }
}

pub(super) fn over_long(lines: u64) -> Failure {
    Failure::new(
        Kind::OutputLimit,
        format!("{lines} line(s) of output were longer than {} bytes and could not be read", Lines::CAP),
    )
}

/// The reader for output that is nothing but the answer.
pub struct TextReader<J> {
    text: Vec<u8>,
    over: bool,
    judge: J,
}

impl<J> TextReader<J> {
    /// A reader that gives the whole text to `judge` at the end.
    pub fn new(judge: J) -> Self {
        TextReader { text: Vec::new(), over: false, judge }
    }
}

impl<J: FnOnce(String, &RunEnd) -> Reply + Send> Reader for TextReader<J> {
    fn push(&mut self, bytes: &[u8], _emit: &mut dyn FnMut(Event<'_>)) {
        let room = Lines::CAP - self.text.len();
        self.over |= bytes.len() > room;
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn finish(self: Box<Self>, end: &RunEnd, emit: &mut dyn FnMut(Event<'_>)) -> Reply {
        let text = match String::from_utf8(self.text) {
            Ok(text) => text,
            Err(bad) => String::from_utf8_lossy(bad.as_bytes()).into_owned(),
        };
        let mut reply = (self.judge)(text, end);
        if self.over {
            reply.error.get_or_insert_with(|| over_long(1));
        }
        if !reply.text.is_empty() {
            emit(Event::Text { text: (&reply.text).into(), delta: false });
        }
        reply
    }
}
