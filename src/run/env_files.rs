//! Files of variables that a CLI reads by itself: what they set is taken from them.

use super::Vars;
use crate::command::EnvFiles;
use crate::error::{Failure, Kind, Result};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The largest such file that is read, in bytes.
const MOST: u64 = 4 << 20;

/// Gives the child an empty value for every name that the files of the working directory, or of one
/// above it, would set.
///
/// Errors: [`Kind::Unenforceable`] where a file cannot be read, since the CLI may be able to.
pub(super) fn take_away(files: &EnvFiles, cwd: &Path, homes: &[PathBuf], child: &mut Vars) -> Result<()> {
    each(&files.names, cwd, homes, |_, text| {
        for name in names(text).filter(|name| !files.keep.iter().any(|keep| keep == name)) {
            child.entry(OsString::from(name)).or_default();
        }
        Ok(())
    })
}

/// Refuses such files where they would set a name that is not kept and that the child has no value for.
pub(super) fn sets_nothing(
    files: &[Cow<'static, str>],
    keep: &[Cow<'static, str>],
    why: &str,
    cwd: &Path,
    homes: &[PathBuf],
    child: &Vars,
) -> Result<()> {
    each(files, cwd, homes, |path, text| {
        let has_value = |name: &str| child.get(OsStr::new(name)).is_some_and(|value| !value.is_empty());
        let wanted = |name: &&str| {
            begins_a_line(text, name) && !keep.iter().any(|keep| keep == name) && !has_value(name)
        };
        match names(text).find(wanted) {
            None => Ok(()),
            Some(name) => Err(Failure::new(
                Kind::Unenforceable,
                format!("{} sets {}: {why}", path.display(), crate::error::cut(name, 80)),
            )
            .hint("the restriction cannot be held with it; take the file away, or run in another directory")),
        }
    })
}

/// Hands on every such file in the working directory and those above it, but for the home, with its text.
fn each(
    files: &[Cow<'static, str>],
    cwd: &Path,
    homes: &[PathBuf],
    mut take: impl FnMut(&Path, &str) -> Result<()>,
) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let homes: Vec<PathBuf> = homes.iter().map(|home| real(home)).collect();
    // The directory as it is named and as it really is: a link on the way has two sets of parents.
    let both = [cwd.to_owned(), real(cwd)];
    for dir in both.iter().flat_map(|cwd| cwd.ancestors()).filter(|dir| !homes.contains(&real(dir))) {
        for name in files {
            let path = dir.join(&**name);
            let text = match std::fs::metadata(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Ok(data) if data.is_dir() => continue,
                Ok(data) if data.len() > MOST => return Err(unreadable(&path, "is too large")),
                _ => std::fs::read(&path).map_err(|e| unreadable(&path, &e.to_string()))?,
            };
            take(&path, &String::from_utf8_lossy(&text))?;
        }
    }
    Ok(())
}

/// Whether a part of a text is the first word of its line, an `export` before it left aside.
fn begins_a_line(text: &str, part: &str) -> bool {
    let at = part.as_ptr() as usize - text.as_ptr() as usize;
    let line = text[..at].rsplit(['\n', '\r', '\u{2028}', '\u{2029}']).next().unwrap_or_default();
    matches!(line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'), "" | "export")
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
