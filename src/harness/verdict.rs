//! What a run's failures look like on any harness, in the words of its facts.

use super::Facts;
use crate::error::{Failure, Kind, cut};
use crate::reply::{Reply, RunEnd};

/// What a failure of the kind auth begins with, after the id.
const AUTH: &str = " is not signed in, or its key is not accepted";

impl Facts {
    /// A failure that the CLI reported: the kind, what it said, and the next step.
    pub fn failure(&self, kind: Kind, said: &str) -> Failure {
        let what = if kind == Kind::Auth { AUTH } else { "" };
        let failure = Failure::new(kind, format!("{}{what}: {}", self.id, cut(said.trim(), 600)));
        match kind {
            Kind::Auth => failure.hint(self.sign_in.clone()),
            Kind::RateLimit => {
                failure.hint(format!("wait and run it again; {} has tried again by itself", self.id))
            }
            Kind::Quota => failure.hint("another model or another day: the quota is used up"),
            Kind::MaxTurns => failure.hint("--max-turns N allows more, or ask for less at once"),
            Kind::Budget => failure.hint("--max-tokens N and --max-cost USD say how much may be spent"),
            Kind::SessionNotFound => failure
                .hint("start a new session, or resume from the working directory and home of its first run"),
            _ => failure,
        }
    }

    /// What the CLI said, out of the message of a [`failure`](Facts::failure) of the kind auth.
    #[cfg(feature = "doctor")]
    pub(crate) fn said<'m>(&self, message: &'m str) -> Option<&'m str> {
        message.strip_prefix(&self.id)?.strip_prefix(AUTH)?.strip_prefix(": ")
    }

    /// A failure that the CLI reported in words with an HTTP status of its model server, where they hold one.
    ///
    /// For the CLI's own error texts only: what an agent says about statuses is its work.
    pub fn api_failure(&self, said: &str) -> Failure {
        let kind =
            crate::reply::http_status(said).and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError);
        self.failure(kind, said)
    }

    /// An end with status 0 and without an answer.
    pub fn empty(&self) -> Failure {
        Failure::new(Kind::EmptyReply, format!("{} ended well and gave no answer", self.id))
            .hint("the prompt may be over the model's context, or the answer was blocked; try another model")
    }

    /// No result in the output: what the exit status and the last line on standard error say.
    pub fn no_result(&self, end: &RunEnd, last_output: &str) -> Failure {
        if end.is_fine() && crate::reply::asks_a_person(last_output) {
            return self.asks(last_output);
        }
        if end.is_fine() {
            return self.empty();
        }
        let line = end.last_line().map_or_else(String::new, |line| format!(": {}", cut(line, 400)));
        let how = match (end.status, end.signal) {
            (Some(status), _) => format!("with status {status}"),
            (None, Some(signal)) => format!("by signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        };
        let kind = self.kind_of(end).unwrap_or(Kind::HarnessError);
        let failure = Failure::new(kind, format!("{} ended {how} and gave no result{line}", self.id));
        if kind == Kind::Auth { failure.hint(self.sign_in.clone()) } else { failure }
    }

    /// It waited for a person.
    fn asks(&self, question: &str) -> Failure {
        let asks = format!("{} asks: {}", self.id, cut(question.trim(), 300));
        Failure::new(Kind::NeedsInteraction, asks)
            .hint(format!("run `{}` once in a terminal and answer it", self.id))
    }

    /// A reply whose output is nothing but the answer: good with a good end and a text that is not empty, and
    /// that does not end as a question which nobody answers.
    pub fn text_reply(&self, stdout: &str, end: &RunEnd) -> Reply {
        let text = stdout.strip_suffix('\n').unwrap_or(stdout).to_owned();
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        let error = match (end.is_fine(), last.trim().is_empty()) {
            (true, false) if crate::reply::asks_yes_or_no(last) => Some(self.asks(last)),
            (true, false) => None,
            (true, true) => Some(self.empty()),
            (false, _) => Some(self.no_result(end, last)),
        };
        Reply { text, error, ..Reply::default() }
    }
}
