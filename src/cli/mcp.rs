//! `teamster mcp`: the MCP server on stdin and stdout.

use super::dispatch::{Signals, own_program, runtime};
use super::print;
use super::request::{config_file, settings};
use crate::config::CONFIG_VAR;
use crate::error::{Failure, Result};
use crate::jobs::{Jobs, Supervisor};
use crate::mcp::{Allow, Ceiling, Host, StandIn, serve, stdio};
use crate::policy::Permission;
use crate::rehearse::Script;
use crate::run::Canceller;
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct McpArgs {
    /// The most that any call may ask for: read-only, edit or full
    #[arg(long, value_name = "PERMISSION", default_value = "read-only", help_heading = "Ceiling")]
    permission: String,
    /// The folder that agents work in, and below [default: the working directory]
    #[arg(long, value_name = "DIR", help_heading = "Ceiling")]
    root: Option<PathBuf>,
    /// Only these harnesses; may be repeated
    #[arg(long, value_name = "PLATFORM", value_delimiter = ',', help_heading = "Ceiling")]
    harness: Vec<String>,
    /// Fields that a call may set beyond the harmless ones; may be repeated
    #[arg(long, value_enum, value_name = "FIELD", value_delimiter = ',', help_heading = "Ceiling")]
    allow: Vec<Allow>,
    /// How many dispatches run at once (more wait), and how many jobs
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Ceiling")]
    concurrency: u16,
    /// The folder of the jobs [default: $TEAMSTER_JOBS_DIR, then teamster/jobs in your state folder]
    #[arg(long, value_name = "DIR", help_heading = "Where it runs")]
    jobs_dir: Option<PathBuf>,
    /// The file of your settings
    #[arg(long, value_name = "FILE", help_heading = "Where it runs")]
    config: Option<PathBuf>,
    /// Let the built-in stand-in play every CLI; SCRIPT as with `run`
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Where it runs")]
    rehearse: Option<String>,
}

pub(super) fn mcp(args: &McpArgs) -> Result<ExitCode> {
    let host = host(args)?;
    if std::io::stdin().is_terminal() {
        print::note(
            "this speaks MCP on stdin and stdout, and is started by a client: see `teamster mcp --help`",
        );
    }
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::caught()?;
        let (stopper, stop) = Canceller::new();
        let (read, write) = stdio();
        let mut serving = std::pin::pin!(serve(host, read, write, stop));
        // The first signal ends what runs, in order; at the second one it is killed.
        tokio::select! {
            done = &mut serving => return done,
            () = signals.first() => stopper.cancel(),
        }
        tokio::select! {
            done = &mut serving => done,
            () = signals.first() => Ok(()),
        }
    });
    // A thread may wait for stdin for ever.
    runtime.shutdown_background();
    done.map(|()| ExitCode::SUCCESS)
}

fn host(args: &McpArgs) -> Result<Host> {
    let root = args.root.as_deref().unwrap_or(Path::new("."));
    let mut ceiling = Ceiling::of(root)?;
    let (permission, notice) = Permission::from_name(&args.permission)?;
    if let Some(notice) = notice {
        return Err(Failure::invalid("permission", notice));
    }
    ceiling.permission = permission;
    ceiling.harnesses.clone_from(&args.harness);
    ceiling.allow.clone_from(&args.allow);
    let (config, registry) = settings(args.config.as_deref(), Some(ceiling.root()), false)?;
    let rehearse = args.rehearse.as_ref();
    Ok(Host {
        registry,
        config,
        ceiling,
        jobs: args.jobs_dir.as_ref().map_or_else(Jobs::of_user, |dir| Ok(Jobs::at(dir)))?,
        supervisor: Supervisor::of(own_program()?),
        concurrency: args.concurrency.into(),
        stand_in: rehearse.map(|script| stand_in(script, args.config.as_deref())).transpose()?,
    })
}

/// What plays a harness: this program, with the script, and the same settings for one that a file declares.
fn stand_in(script: &str, config: Option<&Path>) -> Result<StandIn> {
    let (script, program) = (script.to_owned(), own_program()?);
    let config = config_file(config).and_then(|file| file.canonicalize().ok());
    Ok(Box::new(move |harness, schema| {
        let mut rehearse = Script::from_text(&script, schema)?.rehearse(harness, program.clone());
        rehearse.env.extend(config.iter().map(|file| (CONFIG_VAR.to_owned(), file.display().to_string())));
        Ok(rehearse)
    }))
}
