//! From events to a reply: the one place where a run's texts, ids and refusals come together.

use super::{Denied, Event, Reply};

/// Refusals that are kept one by one; an agent can ask for the same tool for hours.
const DENIED_KEPT: usize = 100;

/// Collects what a reply needs while events pass through.
#[derive(Debug, Default)]
pub struct Collector {
    /// The reply so far.
    pub reply: Reply,
    /// Whether the CLI said that the run is over, and how.
    pub ended: Option<bool>,
    /// Lines that no event came of.
    pub noise: u64,
    /// The last line that no event came of, cut.
    pub last_noise: String,
}

/// Where a decoder puts its events: into the reply, then on to whoever listens.
pub struct Out<'o> {
    /// The reply so far.
    pub collector: &'o mut Collector,
    /// Who listens.
    pub emit: &'o mut dyn FnMut(Event<'_>),
}

impl Out<'_> {
    /// Takes an event into the reply and hands it on.
    pub fn event(&mut self, event: Event<'_>) {
        self.collector.take(&event);
        (self.emit)(event);
    }

    /// Takes note of a line that is no event of this harness.
    pub fn noise(&mut self, line: &[u8]) {
        self.collector.noise += 1;
        self.collector.last_noise = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
    }
}

impl Collector {
    /// What this event adds to the reply.
    ///
    /// A tool's result empties the text: the answer is what comes after the last tool. Every text is
    /// still in the events.
    pub fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Session { id, model } => {
                self.reply.session_id = Some(id.to_string());
                if let Some(model) = model {
                    self.reply.model = Some(model.to_string());
                }
            }
            Event::Text { text, delta: true } => self.reply.text.push_str(text),
            Event::Text { text, delta: false } => {
                self.reply.text.clear();
                self.reply.text.push_str(text);
            }
            Event::ToolResult { .. } => self.reply.text.clear(),
            Event::Denied { tool, reason } if self.reply.denied.len() < DENIED_KEPT => {
                self.reply.denied.push(Denied { tool: tool.to_string(), reason: reason.to_string() });
            }
            Event::Usage { usage } => self.reply.usage = Some(*usage),
            Event::End { ok } => self.ended = Some(*ok),
            _ => {}
        }
    }
}
