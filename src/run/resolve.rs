//! Finds the program of a harness.

use crate::error::{Failure, Kind, Result, cut};
use crate::harness::Facts;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A program that was found, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The absolute path.
    pub path: PathBuf,
    /// What named it: `flag`, the variable, `profile` or `PATH`.
    pub by: String,
}

/// Finds a harness's program: the caller's word, then `TEAMSTER_<ID>_BIN`, then the profile's, then
/// the harness's own names in PATH and in the usual folders of a user.
///
/// Errors: [`Kind::NotFound`] that says how to install it. A name that was given explicitly and is not
/// there is an error, and nothing else is looked for.
pub fn find(
    facts: &Facts,
    flag: Option<&OsStr>,
    profile: Option<&str>,
    var: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Found> {
    let name = facts.variable("BIN");
    let own = var(&name).filter(|v| !v.is_empty());
    let explicit = flag
        .map(|f| (f.to_owned(), "flag".to_owned()))
        .or(own.map(|v| (v, name)))
        .or(profile.map(|p| (p.into(), "profile".to_owned())));
    let path = var("PATH").unwrap_or_default();
    let home = var("HOME").map(PathBuf::from);
    if let Some((program, by)) = explicit {
        return match look(&program, &path) {
            Some(path) => Ok(Found { path, by }),
            None => Err(Failure::new(
                Kind::NotFound,
                format!(
                    "{}: `{}` (from {by}) is no program that can be run",
                    facts.id,
                    cut(&program.to_string_lossy(), 200)
                ),
            )
            .hint("give the path of an executable file, or a name that is in PATH")),
        };
    }
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).chain(user_folders(home.as_deref())).collect();
    let everywhere = std::env::join_paths(dirs).unwrap_or(path);
    facts
        .bins
        .iter()
        .find_map(|bin| look(OsStr::new(bin), &everywhere))
        .map(|path| Found { path, by: "PATH".to_owned() })
        .ok_or_else(|| {
            Failure::new(
                Kind::NotFound,
                format!("{} is not installed: no `{}` in PATH", facts.name, facts.bins.join("` or `")),
            )
            .hint(format!("install it with `{}`, or name the program with --bin", facts.install))
        })
}

fn look(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let found = which::which_in(program, Some(path), &cwd).ok()?;
    Some(if found.is_absolute() { found } else { cwd.join(found) })
}

/// Where users have their own programs: PATH is bare under a scheduler or a desktop.
fn user_folders(home: Option<&Path>) -> Vec<PathBuf> {
    let own =
        [".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin", ".cargo/bin", "bin", ".local/share/pnpm"];
    let mut dirs: Vec<PathBuf> = home.into_iter().flat_map(|home| own.map(|dir| home.join(dir))).collect();
    dirs.extend(["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    dirs
}
