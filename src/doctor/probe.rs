//! The small call: one run with no rights, whose answer proves that the CLI works.

use super::examine::Examination;
use crate::dispatch::{DispatchOptions, first_command, until_valid};
use crate::error::{Failure, Kind};
use crate::harness::AgentBuilder;
use crate::outcome::Outcome;
use crate::policy::{Permission, ToolPolicy};
use crate::profile::{Limits, Profile};
use crate::request::DispatchRequest;
use crate::run::LocalRunner;

/// What the agent is asked.
const PROMPT: &str = "Reply with the one word: ok";

/// Makes the call, in an empty folder; `Err` where it cannot be made with no rights, or not at all.
pub(super) async fn probe(
    builder: &dyn AgentBuilder,
    profile: &Profile,
    how: &Examination,
) -> Result<Outcome, Failure> {
    let folder = tempfile::Builder::new().prefix("teamster-").tempdir().map_err(|e| {
        Failure::new(Kind::HarnessConfig, format!("no folder for a call: {e}"))
            .hint("the folder for temporary files (TMPDIR) must be writable and have room")
    })?;
    let cwd = folder.path().canonicalize().unwrap_or_else(|_| folder.path().to_owned());
    let profile = Profile {
        limits: Limits {
            timeout_s: Some(how.timeout.as_secs_f64()),
            attempts: Some(1),
            ..profile.limits.clone()
        },
        ..profile.clone()
    };
    let request = with_no_rights(builder, &profile, |tools, permission| DispatchRequest {
        tools,
        permission,
        model: how.model.clone(),
        cwd: Some(cwd.clone()),
        ..DispatchRequest::new(PROMPT)
    })?;
    let mut runner = LocalRunner {
        bin: how.bin.clone(),
        cancel: how.cancel.clone(),
        end_with_thread: true,
        ..LocalRunner::default()
    };
    Ok(until_valid(builder, request, &profile, &mut runner, DispatchOptions::default()).await)
}

/// The first of the requests with the least rights that the harness can enforce.
fn with_no_rights(
    builder: &dyn AgentBuilder,
    profile: &Profile,
    request: impl Fn(Option<ToolPolicy>, Option<Permission>) -> DispatchRequest,
) -> Result<DispatchRequest, Failure> {
    let nothing = ToolPolicy::from_text("")?;
    let read_only = Some(Permission::ReadOnly);
    let mut refused = None;
    for (tools, permission) in [(Some(nothing.clone()), read_only), (Some(nothing), None), (None, read_only)]
    {
        let request = request(tools, permission);
        match first_command(builder, request.clone(), profile, &DispatchOptions::default()) {
            Ok(_) => return Ok(request),
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    Err(refused.unwrap_or_else(|| Failure::new(Kind::Unenforceable, "no call can be made without rights")))
}
