//! What a reply comes to, and what is asked after it.

use crate::error::{Failure, Kind};
use crate::reply::{Found, Reply, find_value};
use crate::request::{DispatchRequest, Session};
use crate::schema::{Invalid, Schema, feedback_for_no_value, feedback_for_several};
use serde_json::Value;

/// What an attempt comes to.
pub(super) enum Verdict {
    /// The answer, with its value where there is a schema.
    Answer(Option<Value>),
    /// A failure that no other answer of the agent would change.
    Failed(Failure),
    /// An answer that is not valid: the agent can be asked again.
    Again { kind: Kind, why: String, feedback: String },
}

impl Verdict {
    /// In a word, for the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Verdict::Answer(_) => "answer",
            Verdict::Failed(failure) => failure.kind.name(),
            Verdict::Again { kind, .. } => kind.name(),
        }
    }
}

/// Judges a reply against the schema of the dispatch.
pub(super) fn judge(reply: &Reply, schema: Option<&Schema>) -> Verdict {
    if let Some(failure) = &reply.error {
        return Verdict::Failed(failure.clone());
    }
    let Some(schema) = schema else { return Verdict::Answer(None) };
    let mut fault: Option<Failure> = None;
    let mut first: Option<Invalid> = None;
    let found = find_value(&reply.text, |value| match schema.verdict(value) {
        Ok(None) => Ok(()),
        Ok(Some(invalid)) => {
            let why = invalid.summary.clone();
            first.get_or_insert(invalid);
            Err(why)
        }
        Err(schema_fault) => {
            let why = schema_fault.message.clone();
            fault.get_or_insert(schema_fault);
            Err(why)
        }
    });
    match (found, fault) {
        (Found::One(value), _) => Verdict::Answer(Some(value)),
        (_, Some(fault)) => Verdict::Failed(fault),
        (Found::Ambiguous(count), _) => Verdict::Again {
            kind: Kind::Ambiguous,
            why: format!("{count} different values fit the schema"),
            feedback: feedback_for_several(count),
        },
        (Found::Invalid(_, why), _) => {
            let feedback = first.map_or_else(|| feedback_for_no_value(&why), |invalid| invalid.feedback);
            Verdict::Again { kind: Kind::SchemaMismatch, why, feedback }
        }
        (Found::Nothing(why), _) => {
            let feedback = feedback_for_no_value(&why);
            Verdict::Again { kind: Kind::SchemaMismatch, why, feedback }
        }
    }
}

/// The whole request again, with the feedback at the end of its prompt.
///
/// A session of a chosen id began with the first attempt, so the next one cannot begin it again.
pub(super) fn next(request: &DispatchRequest, feedback: &str) -> DispatchRequest {
    let session = match &request.session {
        Some(Session::New(Some(_))) => Some(Session::New(None)),
        other => other.clone(),
    };
    let prompt = format!("{}\n\n{feedback}", request.prompt);
    DispatchRequest { prompt, session, ..request.clone() }
}
