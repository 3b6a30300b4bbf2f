//! `teamster schema` and `teamster completions`.

use super::args::{Cli, SchemaArgs, SchemaName};
use super::print;
use crate::error::Result;
use clap::CommandFactory;
use std::process::ExitCode;

pub(super) fn schema(args: &SchemaArgs) -> Result<ExitCode> {
    print::line(match args.name {
        SchemaName::Request => include_str!("../../schemas/request.schema.json"),
        SchemaName::Config => include_str!("../../schemas/config.schema.json"),
        SchemaName::Harness => include_str!("../../schemas/harness.schema.json"),
        SchemaName::Event => include_str!("../../schemas/event.schema.json"),
        SchemaName::Outcome => include_str!("../../schemas/outcome.schema.json"),
        SchemaName::Skill => include_str!("../../schemas/skill.schema.json"),
        SchemaName::Job => include_str!("../../schemas/job.schema.json"),
        SchemaName::Review => crate::review::SCHEMA,
        SchemaName::Doctor => include_str!("../../schemas/doctor.schema.json"),
    })
}

pub(super) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "teamster", &mut script);
    print::line(&String::from_utf8_lossy(&script))
}
