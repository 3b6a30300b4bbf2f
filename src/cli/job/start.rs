//! Starting a job, and being its supervisor.

use crate::cli::dispatch::{Manner, Signals, own_program, runtime};
use crate::cli::print;
use crate::cli::request::Prepared;
use crate::dispatch::{DispatchOptions, first_command};
use crate::error::{Failure, Result};
use crate::jobs::{JobId, JobSpec, Jobs, Supervisor, supervise};
use crate::schema::Schema;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where a job goes, and how that is told.
pub(in crate::cli) struct Background<'b> {
    pub(in crate::cli) id: Option<&'b str>,
    pub(in crate::cli) jobs_dir: Option<&'b Path>,
    pub(in crate::cli) harness_files: Vec<PathBuf>,
    pub(in crate::cli) title: Option<String>,
    pub(in crate::cli) json: bool,
    pub(in crate::cli) quiet: bool,
}

/// Starts a job and prints its id. What can be known to be wrong with the request is said now.
pub(in crate::cli) fn start(prepared: Prepared<'_>, manner: Manner, how: Background<'_>) -> Result<ExitCode> {
    let Prepared { builder, request, profile, output_as_asked, .. } = prepared;
    request.schema.as_ref().map(Schema::compile).transpose()?;
    profile.limits.settled()?;
    let options = DispatchOptions { strict: manner.strict, output_as_asked, on_event: None };
    let lowered = first_command(builder, request.clone(), &profile, &options)?;
    if !how.quiet {
        print::dropped(&lowered.report);
    }
    let jobs = how.jobs_dir.map_or_else(Jobs::of_user, |dir| Ok(Jobs::at(dir)))?;
    let spec = JobSpec {
        harness: builder.facts().id.clone(),
        request,
        models: profile.shared_models.clone(),
        profile,
        strict: manner.strict,
        output_as_asked,
        bin: manner.bin.map(PathBuf::from),
        harness_files: how.harness_files,
        rehearse: manner.rehearse.map(|all| all.of(&builder.facts().id).into()),
        title: how.title,
    };
    let id = how.id.map(JobId::chosen).transpose()?;
    let view = jobs.start(&spec, id, &Supervisor::of(own_program()?))?;
    if how.json {
        return print::json(&json!({"ok": true, "job": view}));
    }
    if !how.quiet {
        print::note(&format!(
            "`teamster job wait {0}` waits for it, `teamster job result {0}` prints the answer",
            view.id
        ));
    }
    print::line(view.id.as_str())
}

/// Supervises the job of a folder, in this process.
pub(super) fn supervised(folder: &Path) -> Result<ExitCode> {
    let folder = folder
        .canonicalize()
        .map_err(|e| Failure::invalid("folder", format!("{}: {e}", folder.display())))?;
    runtime()?.block_on(async {
        let mut signals = Signals::caught()?;
        supervise(&folder, async move { signals.first().await }).await
    })?;
    Ok(ExitCode::SUCCESS)
}
