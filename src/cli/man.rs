//! `teamster man`: the manual pages, made from the arguments and their help.

use super::args::Cli;
use super::print;
use crate::error::{Failure, Kind, Result};
use clap::{Args, Command, CommandFactory};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct ManArgs {
    /// Write every page into this folder, teamster.1 and one for each command
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn man(args: &ManArgs) -> Result<ExitCode> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.out else { return print::text(&page(command)?) };
    let mut written = Vec::new();
    pages(command, folder, &mut written)?;
    print::line(&written.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n"))
}

/// The page of a command and those of the commands below it.
fn pages(command: Command, folder: &Path, written: &mut Vec<PathBuf>) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        pages(below.clone(), folder, written)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let text = page(command.name(name))?;
    let done = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        #[cfg(unix)]
        {
            // A page is for everybody, a temporary file is not.
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        file.persist(&path).map_err(|e| e.error)?;
        Ok(())
    });
    done.map_err(|e| Failure::invalid("out", format!("{}: {e}", path.display())))?;
    written.push(path);
    Ok(())
}

fn page(command: Command) -> Result<String> {
    let mut bytes = Vec::new();
    let made = clap_mangen::Man::new(command).render(&mut bytes);
    made.map_err(|e| Failure::new(Kind::HarnessConfig, format!("the page cannot be made: {e}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
