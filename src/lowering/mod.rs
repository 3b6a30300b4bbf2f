//! What builders share: the report, folding texts into one payload, and checks on values.

mod checks;
mod payload;
mod report;

pub use checks::{MAX_ARGUMENT, looks_like_flag, refuse_flag_like};
pub use payload::{folded, payload, schema_instruction};
pub use report::{Carried, Field, Report, Row};

use crate::command::Command;
use crate::error::{Failure, Kind, Result};
use crate::harness::AgentBuilder;
use crate::profile::Profile;
use crate::request::DispatchRequest;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A request, lowered: the exact command, and how each field of the request is carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The command.
    pub command: Command,
    /// One row for each field that was set.
    pub report: Report,
}

impl Serialize for Lowered {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_struct("Lowered", 12)?;
        self.command.serialize_into(&mut map)?;
        map.serialize_field("report", &self.report)?;
        map.end()
    }
}

/// Lowers a request for a harness: pure, so the same request and profile give the same bytes.
///
/// - The profile's permission is a ceiling: the request is lowered as if it asked for the smaller one.
/// - Texts are checked here for all harnesses: a NUL byte, an empty prompt, and a model (also what an
///   alias stands for), session or tool name that a CLI would take for a flag are refused, naming the
///   field.
/// - A field that is set and in no row of the report is a fault of the builder, and an error.
///
/// Errors: the builder's own, and those of the checks.
pub fn lower(builder: &dyn AgentBuilder, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
    checks::request(request)?;
    checks::profile(profile)?;
    if let Some(alias) = request.model.as_deref().filter(|_| !request.model_is_exact) {
        let facts = builder.facts();
        checks::name("model", profile.model(&facts.id, &facts.models, alias, false))?;
    }
    let ceiling = profile.ceiling(request.permission, request.tools.is_some());
    let request = if ceiling == request.permission {
        Cow::Borrowed(request)
    } else {
        Cow::Owned(DispatchRequest { permission: ceiling, ..request.clone() })
    };
    let lowered = builder.lower(&request, profile)?;
    match lowered.report.missing(&request) {
        None => Ok(lowered),
        Some(field) => Err(Failure::new(
            Kind::HarnessError,
            format!("the builder of {} does not say how `{}` is carried", builder.facts().id, field.name()),
        )),
    }
}
