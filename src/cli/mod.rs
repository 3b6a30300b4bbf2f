//! The command. One file a subcommand; stdout carries results and nothing else.

mod args;
mod argv;
mod batch;
mod config;
mod diagnosis;
mod dispatch;
mod doctor;
mod findings;
mod job;
mod list;
mod log;
mod man;
mod mcp;
mod print;
mod progress;
mod request;
mod review;
mod run;
mod schema;
mod skills;
mod trust;

use crate::error::{Failure, Result};
use clap::Parser;
use std::process::ExitCode;

/// Runs the command with this process's arguments.
///
/// A process that a rehearsal started is the stand-in, and takes the arguments of the CLI it plays.
pub fn main() -> ExitCode {
    if let Some(status) = crate::rehearse::play() {
        return status;
    }
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let status = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let done = log::begin(cli.log_file.as_deref()).and_then(|()| done(cli.command));
    done.unwrap_or_else(|failure: Failure| {
        print::failure(&failure);
        ExitCode::from(failure.kind.exit_status())
    })
}

fn done(command: args::Sub) -> Result<ExitCode> {
    match command {
        args::Sub::Run(args) => run::run(&args),
        args::Sub::Argv(args) => argv::argv(&args),
        args::Sub::Review(args) => review::review(&args),
        args::Sub::Batch(args) => batch::batch(&args),
        args::Sub::Job(args) => job::job(&args),
        args::Sub::Status(args) => job::status(&args),
        args::Sub::Result(args) => job::result(&args),
        args::Sub::Cancel(args) => job::cancel(&args),
        args::Sub::Mcp(args) => mcp::mcp(&args),
        args::Sub::Doctor(args) => doctor::doctor(&args),
        args::Sub::List(args) => list::list(&args),
        args::Sub::Skills(args) => skills::skills(&args),
        args::Sub::Config(args) => config::config(&args),
        args::Sub::Trust(args) => trust::trust(&args),
        args::Sub::Schema(args) => schema::schema(&args),
        args::Sub::Man(args) => man::man(&args),
        args::Sub::Completions { shell } => schema::completions(shell),
    }
}
