//! The tool `review`.

use super::arguments::{Arguments, Wrong};
use super::dispatch::{Prepared, limits};
use super::progress::Caller;
use super::server::{Answer, Server, told, var};
use crate::error::{Failure, Kind, Result};
use crate::outcome::Outcome;
use crate::request::DispatchRequest;
use crate::review::{
    Asked, Changes, INLINE_BYTES, checked, collect, instruction, names_files, request, wants_file,
};
use serde_json::json;

/// The arguments.
pub(super) const FIELDS: &[&str] =
    &["harness", "scope", "base", "paths", "cwd", "model", "effort", "timeout_s", "attempts"];

impl Server {
    pub(super) async fn review(
        &self,
        arguments: &str,
        caller: &Caller,
    ) -> std::result::Result<Answer, Wrong> {
        let mut arguments = Arguments::read(arguments, FIELDS)?;
        let limits = limits(&mut arguments)?;
        let asked = Asked {
            scope: arguments.take("scope")?.unwrap_or_default(),
            base: arguments.take("base")?,
            paths: arguments.take("paths")?.unwrap_or_default(),
        };
        let cwd: Option<std::path::PathBuf> = arguments.take("cwd")?;
        let mut own = DispatchRequest {
            model: arguments.take("model")?,
            effort: arguments.take("effort")?,
            ..DispatchRequest::default()
        };
        let builder = self.builder(arguments.take("harness")?)?;
        own.model = own.model.or_else(|| var(&builder.facts().variable("MODEL")));
        let ceiling = &self.host.ceiling;
        // The request of a review has a folder of its own; everything else of it is under the ceiling here.
        ceiling.held(builder.facts(), DispatchRequest { cwd: cwd.clone(), ..own.clone() })?;
        let dir = ceiling.folder("cwd", cwd.as_deref())?;
        let profile = self.profile(&builder.facts().id, limits)?;
        let changes = blocking(move || collect(&dir, &asked)).await?;
        if !ceiling.covers(&changes.root) {
            let what = format!("the repository, {}, is not below", changes.root.display());
            return Err(Failure::new(Kind::Permission, format!("cwd: {what} {}", ceiling.root().display()))
                .hint("the owner names the repository with `teamster mcp --root`")
                .into());
        }
        let instruction = instruction(None, &changes.root)?;
        let once = async |inline: bool| -> Result<(Outcome, bool)> {
            let asked = request(&changes, &instruction, inline, own.clone())?;
            let refers = inline && names_files(builder, &asked.request, &profile);
            let (request, profile) = (asked.request.clone(), profile.clone());
            let prepared = Prepared { builder, request, profile };
            let outcome = caller.follow(|teller, cancel| self.run(prepared, teller, cancel)).await;
            Ok((outcome, refers))
        };
        let mut inlined = changes.diff.len() <= INLINE_BYTES;
        let (mut outcome, refers) = once(inlined).await?;
        if wants_file(&outcome, inlined, refers) {
            inlined = false;
            outcome = once(false).await?.0;
        }
        told_of(&changes, inlined, &outcome)
    }
}

fn told_of(changes: &Changes, inlined: bool, outcome: &Outcome) -> std::result::Result<Answer, Wrong> {
    let findings = outcome.value.as_ref().map_or(Ok(Vec::new()), |value| checked(value, changes))?;
    let text = match &outcome.failure {
        Some(failure) => told(failure),
        None => json!({"findings": findings}).to_string(),
    };
    let value = json!({
        "ok": outcome.ok, "scope": changes.scope, "base": changes.base, "inlined": inlined,
        "files": changes.files, "findings": findings, "outcome": outcome,
    });
    Ok(Answer { ok: outcome.ok, text, value })
}

/// git is called as a program, which takes its time.
async fn blocking<T: Send + 'static>(what: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(what).await;
    done.map_err(|e| Failure::new(Kind::HarnessConfig, format!("review: {e}")))?
}
