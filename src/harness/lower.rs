//! Lowering for any harness: what holds for all, then the builder.

use super::AgentBuilder;
use crate::error::{Failure, Kind, Result};
use crate::lowering::{Lowered, checks};
use crate::profile::Profile;
use crate::request::DispatchRequest;
use std::borrow::Cow;

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
