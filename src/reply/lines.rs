//! Bytes to lines, and the reader of any harness that writes one event a line.

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

/// The line from its first byte that is neither white space nor of a CSI or OSC sequence.
fn without_escapes(mut line: &[u8]) -> &[u8] {
    loop {
        line = line.trim_ascii_start();
        line = match line {
            [0x1B, b'[', rest @ ..] => match rest.iter().position(|b| (0x40..=0x7E).contains(b)) {
                Some(end) => &rest[end + 1..],
                None => return &[],
            },
            // An OSC sequence ends with BEL, or with ESC and a backslash.
            [0x1B, b']', rest @ ..] => match memchr::memchr2(0x07, 0x1B, rest) {
                Some(end) if rest[end] == 0x07 => &rest[end + 1..],
                Some(end) if rest.get(end + 1) == Some(&b'\\') => &rest[end + 2..],
                _ => return line,
            },
            _ => return line,
        };
    }
}

/// The text without escape sequences of a terminal.
#[cfg(feature = "run")]
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if memchr::memchr(0x1B, text.as_bytes()).is_none() {
        return text.into();
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let end = match tail.as_bytes().first() {
            Some(b'[') => tail.find(|c: char| matches!(c, '\u{40}'..='\u{7e}') && c != '[').map(|e| e + 1),
            Some(b']') => {
                let ends = [tail.find('\u{7}').map(|e| e + 1), tail.find("\u{1b}\\").map(|e| e + 2)];
                ends.into_iter().flatten().min()
            }
            _ => Some(0),
        };
        rest = &tail[end.unwrap_or(tail.len())..];
    }
    out.push_str(rest);
    out.into()
}

/// The text of a line, with U+FFFD for what is no UTF-8.
pub fn utf8(line: &[u8]) -> std::borrow::Cow<'_, str> {
    // Nearly every line is UTF-8, and this check is many times faster than the lossy one.
    match std::str::from_utf8(line) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(line),
    }
}

/// A line of JSON with U+FFFD in the place of every half of a surrogate pair; `None` where it has none.
///
/// JavaScript writes such halves (`\\ud83d`) when a text was cut inside a character. They are no text, so
/// a parser refuses the line, and the rest of it would be lost with them.
pub(super) fn mend_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let hex = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
    };
    let (mut out, mut at, mut mended) = (Vec::with_capacity(line.len()), 0, false);
    while at < line.len() {
        let step = match (line[at], unit(at)) {
            (b'\\', Some(0xD800..0xDC00)) if matches!(unit(at + 6), Some(0xDC00..0xE000)) => 12,
            (b'\\', Some(0xD800..0xE000)) => {
                out.extend_from_slice(b"\\ufffd");
                (at, mended) = (at + 6, true);
                continue;
            }
            (b'\\', _) => 2,
            _ => 1,
        };
        out.extend_from_slice(&line[at..(at + step).min(line.len())]);
        at += step;
    }
    mended.then_some(out)
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

fn over_long(lines: u64) -> Failure {
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
