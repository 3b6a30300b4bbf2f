//! Files of variables that a CLI reads by itself: what they set is taken from them.

use super::Vars;
use crate::command::EnvFiles;
use crate::error::{Failure, Kind, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The largest such file that is read, in bytes.
const MOST: u64 = 4 << 20;

/// Gives the child an empty value for every name that the files of the working directory, or of one
/// above it, would set.
///
/// Errors: [`Kind::Unenforceable`] where a file cannot be read, since the CLI may be able to.
pub(super) fn take_away(files: &EnvFiles, cwd: &Path, homes: &[PathBuf], child: &mut Vars) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let homes: Vec<PathBuf> = homes.iter().map(|home| real(home)).collect();
    // The directory as it is named and as it really is: a link on the way has two sets of parents.
    let both = [cwd.to_owned(), real(cwd)];
    for dir in both.iter().flat_map(|cwd| cwd.ancestors()).filter(|dir| !homes.contains(&real(dir))) {
        for name in files.names.iter() {
            let path = dir.join(&**name);
            let text = match std::fs::metadata(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Ok(data) if data.is_dir() => continue,
                Ok(data) if data.len() > MOST => return Err(unreadable(&path, "is too large")),
                _ => std::fs::read(&path).map_err(|e| unreadable(&path, &e.to_string()))?,
            };
            for name in names(&String::from_utf8_lossy(&text)) {
                if !files.keep.iter().any(|keep| *keep == name) {
                    child.entry(OsString::from(name)).or_default();
                }
            }
        }
    }
    Ok(())
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        Kind::Unenforceable,
        format!("the CLI would read variables from {}, which {why}", path.display()),
    )
}

/// Every name that any reader of such files could see in the text: what stands before a `=` or a `:`.
/// Too many are no harm; line ends, quotes and comments are read differently by everyone.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(['=', ':']).filter_map(move |(at, _)| {
        let before = text[..at].trim_end_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let start = before
            .rfind(|c| !plain(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        (start < before.len()).then(|| &before[start..])
    })
}
