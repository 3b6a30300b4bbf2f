//! Bytes and texts as they come: escape sequences of terminals, bad UTF-8, halves of characters.

use std::borrow::Cow;

/// The text of a line, with U+FFFD for what is no UTF-8.
pub fn utf8(line: &[u8]) -> Cow<'_, str> {
    // Nearly every line is UTF-8, and this check is many times faster than the lossy one.
    match std::str::from_utf8(line) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(line),
    }
}

/// A text on one line, with nothing in it that a terminal obeys.
#[cfg(any(feature = "cli", feature = "mcp"))]
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The text without escape sequences of a terminal.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
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

/// The line from its first byte that is neither white space nor of a CSI or OSC sequence.
pub(super) fn without_escapes(mut line: &[u8]) -> &[u8] {
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
