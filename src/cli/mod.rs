//! The command. One file a subcommand; stdout carries results and nothing else.

mod args;
mod argv;
mod diagnosis;
mod dispatch;
mod doctor;
mod findings;
mod job;
mod list;
mod print;
mod progress;
mod request;
mod review;
mod run;
mod schema;

use crate::error::Failure;
use clap::Parser;
use std::process::ExitCode;

/// Runs the command with this process's arguments.
///
/// A process that a rehearsal started is the stand-in, and takes the arguments of the CLI it plays.
pub fn main() -> ExitCode {
    if let Some(status) = crate::rehearse::play() {
        return status;
    }
    let command = match args::Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => {
            let status = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let done = match command {
        args::Sub::Run(args) => run::run(&args),
        args::Sub::Argv(args) => argv::argv(&args),
        args::Sub::Review(args) => review::review(&args),
        args::Sub::Job(args) => job::job(&args),
        args::Sub::Status(args) => job::status(&args),
        args::Sub::Result(args) => job::result(&args),
        args::Sub::Cancel(args) => job::cancel(&args),
        args::Sub::Doctor(args) => doctor::doctor(&args),
        args::Sub::List(args) => list::list(&args),
        args::Sub::Schema(args) => schema::schema(&args),
        args::Sub::Completions { shell } => schema::completions(shell),
    };
    done.unwrap_or_else(|failure: Failure| {
        print::failure(&failure);
        ExitCode::from(failure.kind.exit_status())
    })
}
