//! The project's file, and whether the user trusts what it says.

use super::file::user_file;
use crate::error::{Failure, Kind, Result};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of a settings file.
pub const FILE_NAME: &str = "teamster.toml";

/// No settings file is larger.
const MAX_BYTES: u64 = 1 << 20;

/// How the user stands to a project's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// `teamster trust` recorded this text.
    Trusted,
    /// Nobody recorded it.
    Unknown,
    /// Another text was recorded.
    Changed,
    /// It cannot be trusted: others may change it. The reason.
    Unsafe(&'static str),
}

impl Standing {
    /// Why it is not trusted, and what to do.
    pub fn why(&self) -> &'static str {
        match self {
            Standing::Trusted => "trusted",
            Standing::Unknown => "the project is not trusted; `teamster trust` changes that",
            Standing::Changed => {
                "the file changed since it was trusted; `teamster trust` shows it and asks again"
            }
            Standing::Unsafe(why) => why,
        }
    }
}

/// A project's settings file as it was read, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its path, the folder without links.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
    /// Whether the user trusts it.
    pub standing: Standing,
}

impl Project {
    /// The nearest file from `folder` upwards to the repository's root; without a repository in `folder`
    /// alone. The user's own file is no project's.
    ///
    /// Errors: a file that is a link, too large, unreadable, or a broken record of trust.
    pub fn find(folder: &Path) -> Result<Option<Project>> {
        let Ok(folder) = folder.canonicalize() else { return Ok(None) };
        let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
        let own = user_file().and_then(|file| file.canonicalize().ok());
        let found = folder
            .ancestors()
            .take_while(|above| above.starts_with(root))
            .map(|above| above.join(FILE_NAME))
            .find(|file| file.symlink_metadata().is_ok() && Some(file) != own.as_ref());
        found.map(|path| Project::read(&path)).transpose()
    }

    /// Why the user's trust does not cover it, if it does not.
    pub fn untrusted_because(&self) -> Option<&'static str> {
        (self.standing != Standing::Trusted).then(|| self.standing.why())
    }

    fn read(path: &Path) -> Result<Project> {
        let bad = |why: &dyn std::fmt::Display| {
            Failure::new(Kind::InvalidConfig, format!("{}: {why}", path.display()))
                .hint("TEAMSTER_NO_PROJECT=1 leaves the project's file out")
        };
        let meta = path.symlink_metadata().map_err(|e| bad(&e))?;
        if !meta.is_file() {
            return Err(bad(&"a project's settings are a plain file, no link and no folder"));
        }
        if meta.len() > MAX_BYTES {
            return Err(bad(&format!("{} bytes are more than {MAX_BYTES}", meta.len())));
        }
        let text = std::fs::read_to_string(path).map_err(|e| bad(&e))?;
        let standing = match unsafe_because(&meta) {
            Some(why) => Standing::Unsafe(why),
            None => match Trusted::read()?.0.get(&name(path)) {
                Some(known) if *known == text => Standing::Trusted,
                Some(_) => Standing::Changed,
                None => Standing::Unknown,
            },
        };
        Ok(Project { path: path.to_owned(), text, standing })
    }
}

#[cfg(unix)]
fn unsafe_because(meta: &std::fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if meta.mode() & 0o002 != 0 {
        return Some("everybody may write the file, so it cannot be trusted; `chmod o-w` it");
    }
    let own = rustix::process::geteuid().as_raw();
    (meta.uid() != own && own != 0).then_some("the file is another user's, so it cannot be trusted")
}

#[cfg(not(unix))]
fn unsafe_because(_: &std::fs::Metadata) -> Option<&'static str> {
    None
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What the user trusts: path of a file → the text that was trusted. A file with another text is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trusted(pub BTreeMap<String, String>);

impl Trusted {
    /// Where it is kept: `trusted.json` beside the user's settings.
    pub fn file() -> Option<PathBuf> {
        Some(user_file()?.with_file_name("trusted.json"))
    }

    /// The record of this user; empty where there is none.
    ///
    /// Errors: [`Kind::InvalidConfig`] for one that is broken.
    pub fn read() -> Result<Trusted> {
        let Some(path) = Trusted::file() else { return Ok(Trusted::default()) };
        let bad = |e: &dyn std::fmt::Display| {
            Failure::new(Kind::InvalidConfig, format!("{}: {e}", path.display()))
                .hint("remove the file, and trust your folders again")
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Trusted).map_err(|e| bad(&e)),
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                Ok(Trusted::default())
            }
            Err(e) => Err(bad(&e)),
        }
    }

    /// Records a project's file with the text that was read.
    pub fn add(&mut self, project: &Project) {
        self.0.insert(name(&project.path), project.text.clone());
    }

    /// Forgets a file; whether it was known.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.0.remove(&name(path)).is_some()
    }

    /// Writes the record: beside, then renamed, for this user alone.
    pub fn write(&self) -> Result<()> {
        let path = Trusted::file()
            .ok_or_else(|| Failure::new(Kind::InvalidConfig, "this user has no config folder"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|e| e.error)?;
            Ok(())
        });
        written.map_err(|e| Failure::new(Kind::InvalidConfig, format!("{}: {e}", path.display())))
    }
}
