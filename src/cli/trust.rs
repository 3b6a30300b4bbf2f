//! `teamster trust`: whose project settings count in full.

use super::print;
use crate::config::{Config, FILE_NAME, Project, Standing, Trusted};
use crate::error::{Failure, Kind, Result};
use clap::Args;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct TrustArgs {
    /// The project [default: this folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// List what is trusted
    #[arg(long, conflicts_with_all = ["folder", "remove", "yes"])]
    list: bool,
    /// Trust it no longer
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn trust(args: &TrustArgs) -> Result<ExitCode> {
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    let done = match (args.list, args.remove) {
        (true, _) => list(args.json),
        (_, true) => remove(folder, args.json),
        _ => add(folder, args),
    };
    print::told(args.json, done)
}

fn list(as_json: bool) -> Result<ExitCode> {
    let trusted = Trusted::read()?;
    let current = |path: &str, text: &str| std::fs::read_to_string(path).is_ok_and(|now| now == text);
    if as_json {
        let files =
            trusted.0.iter().map(|(path, text)| json!({"path": path, "current": current(path, text)}));
        return print::json(&json!({"ok": true, "trusted": files.collect::<Vec<_>>()}));
    }
    if trusted.0.is_empty() {
        print::note("no project is trusted");
        return Ok(ExitCode::SUCCESS);
    }
    let line = |(path, text): (&String, &String)| match current(path, text) {
        true => path.clone(),
        false => format!("{path} (changed since, so it does not count)"),
    };
    print::line(&trusted.0.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn remove(folder: &Path, as_json: bool) -> Result<ExitCode> {
    let mut trusted = Trusted::read()?;
    // The file may be gone: then the folder's name tells it.
    let path = match Project::find(folder) {
        Ok(Some(project)) => project.path,
        _ => std::path::absolute(folder.join(FILE_NAME)).unwrap_or_else(|_| folder.join(FILE_NAME)),
    };
    if !trusted.remove(&path) {
        return Err(Failure::invalid("folder", format!("{} is not trusted", path.display()))
            .hint("`teamster trust --list` shows what is"));
    }
    trusted.write()?;
    if as_json {
        return print::json(&json!({"ok": true, "path": path, "trusted": false}));
    }
    print::line(&format!("{} is not trusted any longer", path.display()))
}

fn add(folder: &Path, args: &TrustArgs) -> Result<ExitCode> {
    let project = Project::find(folder)?.ok_or_else(|| {
        let message = format!("{} has no {FILE_NAME}, here or up to its repository's root", folder.display());
        Failure::invalid("folder", message)
    })?;
    let config = Config::parse(&project.path, &project.text)?;
    match project.standing {
        Standing::Unsafe(why) => {
            return Err(Failure::invalid("folder", format!("{}: {why}", project.path.display())));
        }
        Standing::Trusted => {}
        Standing::Unknown | Standing::Changed => {
            if !args.yes && !agreed(&project, &config)? {
                return Err(Failure::new(Kind::Cancelled, "nothing was recorded"));
            }
            let mut trusted = Trusted::read()?;
            trusted.add(&project);
            trusted.write()?;
        }
    }
    if args.json {
        return print::json(&json!({"ok": true, "path": project.path, "trusted": true}));
    }
    print::line(&format!("{} is trusted, as it is now", project.path.display()))
}

/// Shows what the file may do, and asks.
fn agreed(project: &Project, config: &Config) -> Result<bool> {
    let mut err = std::io::stderr();
    let path = project.path.display();
    let _ = match project.standing {
        Standing::Changed => writeln!(err, "{path} changed since it was trusted. It sets:"),
        _ => writeln!(err, "{path} sets:"),
    };
    let text = toml::to_string(config).unwrap_or_default();
    for line in text.lines().filter(|line| !line.is_empty()) {
        // A file may hold bytes that a terminal obeys.
        let _ = writeln!(err, "  {}", line.escape_debug());
    }
    let _ = writeln!(err, "A program, arguments and variables of it are used as if they were yours.");
    if !std::io::stdin().is_terminal() {
        return Err(
            Failure::invalid("yes", "there is no terminal to ask at").hint("read the file, then give --yes")
        );
    }
    let _ = write!(err, "Trust it? [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
