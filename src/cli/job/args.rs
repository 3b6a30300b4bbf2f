//! The arguments of `teamster job …`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args)]
pub(in crate::cli) struct JobArgs {
    #[command(subcommand)]
    pub(super) command: JobSub,
}

#[derive(Subcommand)]
pub(super) enum JobSub {
    /// Show all jobs, newest first, or one of them
    #[command(after_help = "EXAMPLES\n  teamster job status\n  teamster job status 0kx3 --json")]
    Status(StatusArgs),
    /// Print the answer of a job; what there is of it while it runs
    #[command(after_help = "EXAMPLES\n  teamster job result 0kx3\n  teamster job result 0kx3 --json")]
    Result(ResultArgs),
    /// Wait until jobs are over
    #[command(after_help = "EXAMPLES
  teamster job wait 0kx3 0kx4          # all of them
  teamster job wait 0kx3 0kx4 --any    # the first
  teamster job wait 0kx3 --timeout 60  # exit status 124 when it still runs then")]
    Wait(WaitArgs),
    /// Print the events of a job
    #[command(
        after_help = "EXAMPLES\n  teamster job logs 0kx3 -f\n  teamster job logs 0kx3 --json | jq .type"
    )]
    Logs(LogsArgs),
    /// End jobs; nothing of them runs any more when this returns
    #[command(after_help = "EXAMPLES\n  teamster job cancel 0kx3")]
    Cancel(CancelArgs),
    /// Remove jobs that are over
    #[command(after_help = "EXAMPLES
  teamster job prune --dry-run         # those that ended over 7 days ago
  teamster job prune --older-than 1
  teamster job prune --all")]
    Prune(PruneArgs),
    /// Supervise the job of a folder
    #[command(hide = true)]
    Supervise {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Args)]
pub(super) struct Common {
    /// The folder of the jobs [default: $TEAMSTER_JOBS_DIR, then teamster/jobs in your state folder]
    #[arg(long, value_name = "DIR")]
    pub(super) jobs_dir: Option<PathBuf>,
    /// Print one JSON object, also for a failure
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args)]
pub(in crate::cli) struct StatusArgs {
    /// A job: its id, or the beginning of it that no other has
    pub(super) id: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(in crate::cli) struct ResultArgs {
    /// A job: its id, or the beginning of it that no other has
    pub(super) id: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct WaitArgs {
    /// Jobs
    #[arg(required = true)]
    pub(super) ids: Vec<String>,
    /// Until the first of them is over
    #[arg(long)]
    pub(super) any: bool,
    /// At most so many seconds; the jobs go on after it
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<f64>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct LogsArgs {
    /// A job
    pub(super) id: String,
    /// Go on until the job is over
    #[arg(long, short)]
    pub(super) follow: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(in crate::cli) struct CancelArgs {
    /// Jobs
    #[arg(required = true)]
    pub(super) ids: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct PruneArgs {
    /// Those that ended over so many days ago [default: 7]
    #[arg(long, value_name = "DAYS", conflicts_with = "all")]
    pub(super) older_than: Option<f64>,
    /// All that are over
    #[arg(long)]
    pub(super) all: bool,
    /// Also those whose folder is damaged
    #[arg(long)]
    pub(super) broken: bool,
    /// Only say which
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) common: Common,
}
