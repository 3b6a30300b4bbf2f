//! The same bytes give the same reply, however they are cut; and an answer is read as it was given.

use super::{Finding, Suite, given, note, requests};
use crate::error::Kind;
use crate::harness::{AgentBuilder, Answer, lower};
use crate::reply::{Reply, RunEnd};
use crate::request::Output;
use std::collections::BTreeMap;

const CUT: &str = "any cut of the output gives the same reply";
const USAGE: &str = "usage is read where the facts say that it is told";
const READ: &str = "the reader takes what the CLI says";

/// One recorded run of a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The name, for messages.
    pub name: String,
    /// The form of output that was asked for.
    pub output: Output,
    /// What was on standard output.
    pub stdout: Vec<u8>,
    /// What was on standard error.
    pub stderr: String,
    /// Files that the CLI wrote for us, by their names in the command.
    pub files: BTreeMap<String, String>,
    /// The exit status.
    pub status: i32,
}

impl Transcript {
    /// The reply and the events, as JSON, of this run with its bytes cut in pieces of these sizes, over
    /// and over. No sizes: in one piece.
    pub fn read(&self, builder: &dyn AgentBuilder, sizes: &[usize]) -> (Reply, Vec<String>) {
        let mut events = Vec::new();
        let mut emit =
            |event: crate::Event<'_>| events.push(serde_json::to_string(&event).unwrap_or_default());
        let mut reader = builder.reader(self.output);
        pieces(self.stderr.as_bytes(), sizes).for_each(|piece| reader.push_stderr(piece, &mut emit));
        pieces(&self.stdout, sizes).for_each(|piece| reader.push(piece, &mut emit));
        let end = RunEnd { files: self.files.clone(), ..RunEnd::exited(self.status, self.stderr.clone()) };
        let reply = reader.finish(&end, &mut emit);
        (reply, events)
    }
}

fn pieces<'b>(bytes: &'b [u8], sizes: &'b [usize]) -> impl Iterator<Item = &'b [u8]> {
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    std::iter::from_fn(move || {
        let size = sizes.next().map_or(rest.len(), |size| (*size).clamp(1, rest.len().max(1)));
        let (piece, after) = rest.split_at_checked(size).filter(|(piece, _)| !piece.is_empty())?;
        rest = after;
        Some(piece)
    })
}

pub(super) fn check(builder: &dyn AgentBuilder, suite: &Suite, found: &mut Vec<Finding>) {
    let mut told = false;
    for transcript in &suite.transcripts {
        let whole = transcript.read(builder, &[]);
        told |= whole.0.usage.is_some();
        for sizes in [&[1][..], &[2, 3, 5, 7, 11], &[4096], &[1, 65_536], &[997, 1]] {
            if transcript.read(builder, sizes) != whole {
                note(found, CUT, &transcript.name, format!("pieces of {sizes:?} bytes give another"));
            }
        }
    }
    if !suite.transcripts.is_empty() && told != (builder.facts().capabilities.usage == "yes") {
        let what = if told { "a transcript has it" } else { "no transcript has it" };
        note(found, USAGE, "capabilities.usage", what);
    }
    answers(builder, suite, found);
}

/// What the stand-in says in the CLI's own shape comes back as it was meant, in every form of output.
fn answers(builder: &dyn AgentBuilder, suite: &Suite, found: &mut Vec<Finding>) {
    let Some(stand_in) = builder.stand_in() else { return };
    let text = "a \"quoted\" line\n{\"n\": 1} ☕\n\nend";
    let cases = requests(builder.facts()).into_iter().filter(|case| {
        ["bare", "session_id", "output_text", "output_json", "output_stream", "schema"].contains(&case.name)
    });
    for case in cases {
        let Ok(lowered) = lower(builder, &case.request, &suite.profile) else { continue };
        let Ok(received) = stand_in.receive(&given(&lowered.command)) else { continue };
        let read = |answer: &Answer| {
            let said = stand_in.answer(&received, answer);
            let (output, stdout) = (lowered.command.output, said.stdout.into_bytes());
            let run = Transcript {
                name: String::new(),
                output,
                stdout,
                stderr: said.stderr,
                files: said.files,
                status: said.status,
            };
            run.read(builder, &[]).0
        };
        if received.output != lowered.command.output {
            note(
                found,
                READ,
                case.name,
                format!("asked for {:?}, taken for {:?}", lowered.command.output, received.output),
            );
        }
        let reply = read(&Answer::Text(text.to_owned()));
        if (reply.text.as_str(), &reply.error) != (text, &None) {
            note(
                found,
                READ,
                case.name,
                format!("a good answer is read as {:?}, {:?}", reply.text, reply.error),
            );
        }
        for (answer, kind) in [
            (Answer::Empty, None),
            (Answer::Status(401), Some(Kind::Auth)),
            (Answer::Status(429), Some(Kind::RateLimit)),
        ] {
            let error = read(&answer).error.map(|e| e.kind);
            if error.is_none() || kind.is_some_and(|kind| error != Some(kind)) {
                note(found, READ, case.name, format!("{answer:?} is read as {error:?}"));
            }
        }
    }
}
