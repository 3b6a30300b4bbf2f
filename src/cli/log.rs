//! The log: what teamster itself does, for whoever looks for a fault. It holds no text of a request, no
//! argument and no variable's value.

use crate::error::{Failure, Result};
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// Says what goes into the log: a level, or levels by module.
const VARIABLE: &str = "TEAMSTER_LOG";
/// What goes into a file where the variable says nothing.
const DEFAULT: &str = "debug";

/// Begins the log: into the file, else, with `TEAMSTER_LOG`, onto stderr; else there is none.
///
/// Errors: a filter that cannot be read, a file that cannot be written.
pub(super) fn begin(file: Option<&Path>) -> Result<()> {
    let asked = super::request::var(VARIABLE);
    if asked.is_none() && file.is_none() {
        return Ok(());
    }
    let filter = filter(asked.as_deref().unwrap_or(DEFAULT))?;
    let layer = tracing_subscriber::fmt::layer().with_ansi(false);
    let begun = match file {
        Some(path) => {
            let layer = layer.with_writer(Mutex::new(opened(path)?));
            tracing_subscriber::registry().with(filter).with(layer).try_init()
        }
        None => {
            let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let layer = layer.with_ansi(coloured).with_writer(std::io::stderr);
            tracing_subscriber::registry().with(filter).with(layer).try_init()
        }
    };
    begun.map_err(|e| Failure::invalid("log", e.to_string()))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "teamster");
    Ok(())
}

fn filter(text: &str) -> Result<Targets> {
    let no = |why: &dyn std::fmt::Display| {
        Failure::invalid(VARIABLE, format!("`{}`: {why}", crate::error::cut(text, 60)))
            .hint("off, error, warn, info, debug, trace; or by module: teamster::run=trace,teamster=info")
    };
    match text.parse::<LevelFilter>() {
        // A bare level is for teamster alone, not for what it is built on.
        Ok(level) => Ok(Targets::new().with_target("teamster", level)),
        Err(_) if !text.contains(['=', ':']) => Err(no(&"is no level")),
        Err(_) => Targets::from_str(text).map_err(|e| no(&e)),
    }
}

/// The file, to be added to; a new one is for this user alone.
fn opened(path: &Path) -> Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|e| Failure::invalid("log_file", format!("{}: {e}", path.display())))
}
