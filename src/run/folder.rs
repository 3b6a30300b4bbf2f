//! The run's own folder: stdin, stdout, stderr and the command's files, for its owner alone.

use crate::command::Command;
use crate::error::{Failure, Kind, Result};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The most that is read of a file that a CLI wrote for us, in bytes.
const RESULT: u64 = 8 << 20;

/// The folder of one run. Dropped, it is removed.
pub(super) struct RunFolder {
    dir: tempfile::TempDir,
}

/// The child's three files.
pub(super) struct Standard {
    pub(super) stdin: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl RunFolder {
    /// Makes the folder (0700) with the command's files (0600) and an empty folder `tmp` in it: in `place`,
    /// or where temporary files are.
    pub(super) fn new(command: &Command, place: Option<&Path>) -> Result<RunFolder> {
        let mut builder = tempfile::Builder::new();
        let named = builder.prefix("teamster-").permissions(Permissions::from_mode(0o700));
        let place = place.map_or_else(std::env::temp_dir, Path::to_owned);
        let dir = named.tempdir_in(&place).map_err(|e| fault("make a folder in", &place, &e))?;
        let folder = RunFolder { dir };
        std::fs::create_dir(folder.tmp()).map_err(|e| fault("make", &folder.tmp(), &e))?;
        for file in &command.files {
            folder.write(&file.name, file.content.as_bytes())?;
        }
        if let Some(stdin) = &command.stdin {
            folder.write("stdin", stdin.as_bytes())?;
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// Opens what the child gets: stdin for reading or the null device, the others for appending.
    pub(super) fn standard(&self, command: &Command) -> Result<Standard> {
        let stdin =
            if command.stdin.is_some() { self.path().join("stdin") } else { PathBuf::from("/dev/null") };
        Ok(Standard {
            stdin: File::open(&stdin).map_err(|e| fault("open", &stdin, &e))?,
            stdout: self.append("stdout")?,
            stderr: self.append("stderr")?,
        })
    }

    /// Opens a file of the run for the follower.
    pub(super) fn read(&self, name: &str) -> Result<File> {
        let path = self.path().join(name);
        File::open(&path).map_err(|e| fault("open", &path, &e))
    }

    /// The files that the CLI wrote for us, those that are there.
    pub(super) fn results(&self, command: &Command) -> BTreeMap<String, String> {
        let read = |name: &str| {
            let mut bytes = Vec::new();
            let file = File::open(self.path().join(name)).ok()?;
            file.take(RESULT).read_to_end(&mut bytes).ok()?;
            Some((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        command.results.iter().filter_map(|name| read(name)).collect()
    }

    /// Keeps the folder, and says where it is.
    pub(super) fn keep(self) -> PathBuf {
        self.dir.keep()
    }

    fn append(&self, name: &str) -> Result<File> {
        let path = self.path().join(name);
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600).open(&path).map_err(|e| fault("make", &path, &e))
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path().join(name);
        let mut options = OpenOptions::new();
        let file = options.create_new(true).write(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(content)).map_err(|e| fault("write", &path, &e))
    }
}

fn fault(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::HarnessConfig, format!("cannot {what} {}: {error}", path.display()))
        .hint("the folder for temporary files (TMPDIR) must be writable and have room")
}
