//! The reader for output that is JSON documents at the end: an envelope, or an array of all events.

use super::{Collector, Decode, Documents, Event, Lines, Out, Reader, Reply, RunEnd};
use serde_json::value::RawValue;

/// Reads JSON documents wherever they stand between notices, each handed to a decoder as one line; an
/// array is its elements, one by one.
#[derive(Debug, Default)]
pub struct DocumentReader<D> {
    text: Vec<u8>,
    over: bool,
    decode: D,
}

impl<D: Decode> DocumentReader<D> {
    /// A reader with this decoder.
    pub fn new(decode: D) -> Self {
        DocumentReader { text: Vec::new(), over: false, decode }
    }
}

impl<D: Decode> Reader for DocumentReader<D> {
    fn push(&mut self, bytes: &[u8], _emit: &mut dyn FnMut(Event<'_>)) {
        let room = Lines::CAP - self.text.len();
        self.over |= bytes.len() > room;
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn finish(self: Box<Self>, end: &RunEnd, emit: &mut dyn FnMut(Event<'_>)) -> Reply {
        let DocumentReader { text, over, mut decode } = *self;
        let text = super::utf8(&text);
        let mut collector = Collector::default();
        let mut out = Out { collector: &mut collector, emit };
        for document in Documents::new(&text) {
            match serde_json::from_str::<Vec<&RawValue>>(document) {
                Ok(elements) => elements.iter().for_each(|one| decode.line(one.get().as_bytes(), &mut out)),
                Err(_) => decode.line(document.as_bytes(), &mut out),
            }
        }
        if collector.last_noise.is_empty() {
            let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            collector.last_noise = crate::error::cut(last, 400).into_owned();
        }
        let mut reply = decode.judge(collector, end);
        if over {
            reply.error.get_or_insert_with(|| super::lines::over_long(1));
        }
        reply
    }
}
