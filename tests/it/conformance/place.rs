//! Where a run happens: folders of its own, and the address of its model server.

#![expect(clippy::expect_used, reason = "a helper of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Empty folders: a home without an account, a workspace, a place outside of it, one for temporary files.
pub(crate) struct Place {
    home: TempDir,
    workspace: TempDir,
    outside: TempDir,
    tmp: TempDir,
    /// Where the model server listens, with no path.
    pub(crate) url: String,
}

impl Place {
    pub(crate) fn new(url: String) -> Place {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        Place { home: folder(), workspace: folder(), outside: folder(), tmp: folder(), url }
    }

    pub(crate) fn home(&self) -> PathBuf {
        real(&self.home)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        real(&self.workspace)
    }

    /// A folder that no request of a test names.
    pub(crate) fn outside(&self) -> PathBuf {
        real(&self.outside)
    }

    /// What runs left where folders of runs are made; the cache of compiled scripts that Node.js keeps there
    /// for all programs is none of theirs.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let mut left = files_under(&self.tmp());
        left.retain(|name| !name.starts_with("node-compile-cache/"));
        left
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        real(&self.tmp)
    }

    /// The path of a file of the workspace, as text.
    pub(crate) fn inside(&self, name: &str) -> String {
        text(&self.workspace().join(name))
    }

    /// The path of a file outside of the workspace, as text.
    pub(crate) fn beyond(&self, name: &str) -> String {
        text(&self.outside().join(name))
    }

    /// Writes a file under the home, folders and all: `.gemini/policies/mine.toml`.
    pub(crate) fn home_file(&self, name: &str, content: &str) {
        write(&self.home().join(name), content);
    }

    /// Writes a file into the workspace, folders and all.
    pub(crate) fn file(&self, name: &str, content: &str) {
        write(&self.workspace().join(name), content);
    }

    /// The files of the workspace, and those outside with `outside/` before them, sorted.
    pub(crate) fn marks(&self) -> Vec<String> {
        let mut all = files_under(&self.workspace());
        all.extend(files_under(&self.outside()).iter().map(|name| format!("outside/{name}")));
        all.sort();
        all
    }

    /// Command lines of processes that have this home in their environment; Linux only.
    pub(crate) fn processes(&self) -> Vec<String> {
        let home = text(&self.home());
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|process| {
            let environ = fs::read(process.path().join("environ")).ok()?;
            let line = fs::read(process.path().join("cmdline")).ok()?;
            let is_ours = environ.windows(home.len()).any(|window| window == home.as_bytes());
            is_ours.then(|| String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
    }
}

fn real(folder: &TempDir) -> PathBuf {
    folder.path().canonicalize().expect("a folder that stays")
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("the file's folder");
    fs::write(path, content).expect("the file");
}

/// The files under a folder, what git keeps left out.
pub(crate) fn files_under(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name() != ".git" {
                    open.push(path);
                }
            } else {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}
