//! The files of a change, as git lists them.

use crate::error::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::git::Git;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is new.
    Added,
    /// It is not known to git yet.
    Untracked,
    /// Its content or its mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It had another name.
    Renamed,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its name now, from the root of the repository; what is no UTF-8 in it is replaced.
    pub path: String,
    /// What happened to it.
    pub status: Status,
    /// Its name before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines added; absent where it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines taken away; absent where it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Why its content is not in the diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The names as bytes, the new one first.
    #[serde(skip)]
    pub(super) names: Vec<OsString>,
}

impl Changed {
    pub(super) fn new(name: &[u8], status: Status) -> Changed {
        Changed {
            path: String::from_utf8_lossy(name).into_owned(),
            status,
            from: None,
            added: None,
            removed: None,
            summary: None,
            names: vec![OsStr::from_bytes(name).to_owned()],
        }
    }
}

/// The tracked files that differ. `range` is one commit (against the working tree) or two.
pub(super) fn tracked(git: &Git<'_>, range: &[&str], paths: &[OsString]) -> Result<Vec<Changed>> {
    let list = |form: &str| {
        let mut args: Vec<OsString> = super::patch::DIFF.iter().map(OsString::from).collect();
        args.extend([form, "-z"].map(OsString::from));
        args.extend(range.iter().map(OsString::from));
        args.push("--".into());
        args.extend(paths.iter().cloned());
        git.read(&args)
    };
    let mut all: BTreeMap<Vec<u8>, Changed> = BTreeMap::new();
    let names = list("--name-status")?;
    let mut words = names.split(|b| *b == 0);
    while let (Some(status), Some(name)) = (words.next(), words.next()) {
        let mut changed = Changed::new(name, Status::Modified);
        match status.first() {
            Some(b'A') => changed.status = Status::Added,
            Some(b'D') => changed.status = Status::Deleted,
            Some(b'R' | b'C') => {
                let Some(now) = words.next() else { break };
                let before = changed;
                changed = Changed::new(now, Status::Renamed);
                changed.names.extend(before.names);
                changed.from = Some(before.path);
            }
            _ => {}
        }
        all.insert(changed.names[0].as_bytes().to_vec(), changed);
    }
    let counts = list("--numstat")?;
    let mut words = counts.split(|b| *b == 0);
    while let Some(word) = words.next() {
        let mut parts = word.splitn(3, |b| *b == b'\t');
        let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let name = match name {
            [] => words.nth(1).unwrap_or_default(),
            name => name,
        };
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
        if let Some(changed) = all.get_mut(name) {
            (changed.added, changed.removed) = (number(added), number(removed));
        }
    }
    Ok(all.into_values().collect())
}

/// The files that git does not know and does not ignore.
pub(super) fn untracked(git: &Git<'_>, paths: &[OsString]) -> Result<Vec<Changed>> {
    let mut args: Vec<OsString> =
        ["ls-files", "--others", "--exclude-standard", "-z", "--"].map(OsString::from).to_vec();
    args.extend(paths.iter().cloned());
    let names = git.read(&args)?;
    let names = names.split(|b| *b == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| Changed::new(name, Status::Untracked)).collect())
}
