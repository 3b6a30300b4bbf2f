//! Where a check looks: the working directory and what is above it, and texts that name a place.

use super::Vars;
use crate::command::{Piece, Text};
use crate::error::{Failure, Kind, Result};
use std::ffi::OsStr;
use std::path::Path;

/// The working directory by both of its names, and what is above it up to the root of the repository.
pub(super) fn up_to_the_root<'p>(cwd: &'p Path, real: &'p Path) -> impl Iterator<Item = &'p Path> {
    [cwd, real].into_iter().flat_map(|cwd| {
        let root = cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd);
        cwd.ancestors().take_while(move |dir| dir.starts_with(root))
    })
}

/// A place that is looked at; none where a variable or a home in it is not set.
pub(super) fn filled(place: &Text, home: Option<&str>, env: &Vars) -> Result<Option<String>> {
    let mut unset = false;
    let path = place.filled(|piece| {
        let text = fill(piece, home, env)?;
        unset |= text.is_empty();
        Ok::<_, Failure>(text)
    })?;
    Ok((!unset).then(|| path.into_owned()))
}

/// A place of a check's text, as far as it is known before there is a run.
pub(super) fn fill(piece: &Piece, home: Option<&str>, env: &Vars) -> Result<String> {
    match piece {
        Piece::Plain(text) => Ok(text.clone().into_owned()),
        Piece::Home => Ok(home.unwrap_or_default().to_owned()),
        Piece::Env(name) => {
            let value = env.get(OsStr::new(&**name));
            Ok(value.map_or_else(String::new, |value| value.to_string_lossy().into_owned()))
        }
        _ => Err(Failure::new(Kind::HarnessError, "a check names a place that is not there yet")),
    }
}
