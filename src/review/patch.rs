//! The text of one file's change, or why it is left out.

use super::changes::{Changed, Status};
use super::git::Git;
use crate::error::Result;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

/// `git diff` in one form, whatever a configuration says.
pub(super) const DIFF: &[&str] = &[
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-M",
];

/// The most bytes that one file's change may have in the diff.
const FILE_BYTES: u64 = 100 * 1024;

/// Files that programs write for themselves.
const MADE: &[&str] = &["package-lock.json", "pnpm-lock.yaml", "go.sum"];

/// The change of a file as a patch; where it is left out, its summary is set and the patch is one line.
pub(super) fn patch(git: &Git<'_>, root: &Path, range: &[&str], changed: &mut Changed) -> Result<Vec<u8>> {
    let text = match changed.status {
        Status::Untracked => new_file(root, changed),
        _ if changed.summary.is_some() => None,
        _ if is_made(&changed.path) => out(changed, "a lock file"),
        _ if changed.added.is_none() => {
            let bytes = std::fs::symlink_metadata(root.join(&changed.names[0])).map_or(0, |data| data.len());
            out(changed, &format!("binary, {bytes} bytes"))
        }
        _ => {
            let mut args: Vec<OsString> = DIFF.iter().map(OsString::from).collect();
            args.extend(["--patch", "-U3", "--inter-hunk-context=0"].map(OsString::from));
            args.extend(range.iter().map(OsString::from));
            args.push("--".into());
            args.extend(changed.names.iter().cloned());
            let text = git.read(&args)?;
            if text.len() as u64 > FILE_BYTES {
                out(changed, &format!("a change of {} bytes", text.len()))
            } else {
                Some(text)
            }
        }
    };
    Ok(text.unwrap_or_else(|| {
        let why = changed.summary.as_deref().unwrap_or_default();
        format!("not shown: {:?}: {why}\n", changed.path).into_bytes()
    }))
}

fn out<T>(changed: &mut Changed, why: &str) -> Option<T> {
    changed.summary = Some(why.to_owned());
    None
}

fn is_made(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".lock") || MADE.contains(&name)
}

/// A file that git does not know, as a patch that adds it. A link is not followed.
fn new_file(root: &Path, changed: &mut Changed) -> Option<Vec<u8>> {
    let whole = root.join(&changed.names[0]);
    if changed.summary.is_some() {
        return None;
    }
    let Ok(data) = std::fs::symlink_metadata(&whole) else { return out(changed, "it cannot be read") };
    let (mode, content) = if data.is_symlink() {
        let target = std::fs::read_link(&whole).unwrap_or_default();
        ("120000", target.into_os_string().into_encoded_bytes())
    } else if data.is_dir() {
        return out(changed, "a repository of its own");
    } else if !data.is_file() {
        return out(changed, "no regular file");
    } else if is_made(&changed.path) {
        return out(changed, "a lock file");
    } else if data.len() > FILE_BYTES {
        return out(changed, &format!("{} bytes", data.len()));
    } else {
        let mut content = Vec::new();
        let read =
            std::fs::File::open(&whole).and_then(|file| file.take(FILE_BYTES).read_to_end(&mut content));
        if read.is_err() {
            return out(changed, "it cannot be read");
        }
        ("100644", content)
    };
    if content.contains(&0) {
        return out(changed, &format!("binary, {} bytes", content.len()));
    }
    let ended = content.is_empty() || content.ends_with(b"\n");
    let lines: Vec<&[u8]> = content.split_inclusive(|b| *b == b'\n').collect();
    changed.added = Some(lines.len() as u64);
    changed.removed = Some(0);
    let name = &changed.path;
    let name = if name.contains(['\n', '"', '\t', '\\']) {
        format!("{:?}", format!("b/{name}"))
    } else {
        format!("b/{name}")
    };
    let mut text =
        format!("diff --git {name}\nnew file mode {mode}\n--- /dev/null\n+++ {name}\n").into_bytes();
    if !lines.is_empty() {
        text.extend(format!("@@ -0,0 +1,{} @@\n", lines.len()).bytes());
    }
    for line in lines {
        text.push(b'+');
        text.extend(line);
    }
    if !ended {
        text.extend(b"\n\\ No newline at end of file\n");
    }
    Some(text)
}
