//! What is reviewed: the scope, its base, the changed files and the diff.

use super::changes::{Changed, tracked, untracked};
use super::git::{Git, said};
use super::patch::patch;
use crate::error::{Failure, Kind, Result, cut};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Which change is reviewed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Scope {
    /// The working tree where it has changes, else the branch; the branch with a base
    #[default]
    Auto,
    /// What is staged, unstaged and untracked, against the last commit
    WorkingTree,
    /// The branch's commits, since it left its base
    Branch,
}

/// What a review is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Which change.
    pub scope: Scope,
    /// The branch or commit that a branch is compared with.
    pub base: Option<String>,
    /// Only these files and folders; relative to the directory, no patterns.
    pub paths: Vec<PathBuf>,
}

/// The change under review.
#[derive(Debug, Clone)]
pub struct Changes {
    /// The root of the working tree.
    pub root: PathBuf,
    /// [`Scope::WorkingTree`] or [`Scope::Branch`].
    pub scope: Scope,
    /// The commit that it is compared with; absent before the first commit.
    pub base: Option<String>,
    /// The changed files, by name.
    pub files: Vec<Changed>,
    /// The diff; bytes that are no UTF-8 are replaced.
    pub diff: String,
}

/// The change in the repository that this directory is in. Nothing is written.
///
/// Errors: [`Kind::BadCwd`] outside a repository, [`Kind::InvalidRequest`] for a base that is not there or
/// where nothing changed, [`Kind::NotFound`] without git.
pub fn collect(dir: &Path, asked: &Asked) -> Result<Changes> {
    let root = root(dir)?;
    let paths = paths(dir, &root, &asked.paths)?;
    let git = Git::new(&root)?;
    let head = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    let branch = asked.scope == Scope::Branch || (asked.scope == Scope::Auto && asked.base.is_some());
    if asked.scope == Scope::WorkingTree && asked.base.is_some() {
        return Err(Failure::invalid("base", "a working tree is compared with its last commit")
            .hint("leave --base out, or use --scope branch"));
    }
    if !branch {
        let empty = match &head {
            Some(_) => None,
            None => git.line(&["hash-object", "-t", "tree", "/dev/null"])?,
        };
        let from = head.clone().or(empty).unwrap_or_default();
        let range = [&*from];
        let mut files = tracked(&git, &range, &paths)?;
        files.extend(untracked(&git, &paths)?);
        if !files.is_empty() {
            return whole(&git, root.clone(), Scope::WorkingTree, head.clone(), &range, files);
        }
    }
    let nothing = |what: String, hint: &'static str| {
        Err(Failure::invalid("scope", format!("nothing to review: {what}")).hint(hint))
    };
    if asked.scope == Scope::WorkingTree || (head.is_none() && !branch) {
        return nothing(
            "the working tree has no changes".into(),
            "change a file, or review commits with `--scope branch --base REF`",
        );
    }
    let Some(head) = head else {
        return nothing("there is no commit yet".into(), "commit first, or use --scope working-tree");
    };
    let Some(base) = base(&git, asked.base.as_deref(), &head)? else {
        return nothing(
            "the branch has no commits of its own".into(),
            "name what to compare with: `--base REF`, as in --base HEAD~1",
        );
    };
    let range = [&*base, &*head];
    let files = tracked(&git, &range, &paths)?;
    if files.is_empty() {
        return nothing(
            format!("nothing differs from {}", cut(&base, 12)),
            "name other paths, or another --base",
        );
    }
    whole(&git, root.clone(), Scope::Branch, Some(base.clone()), &range, files)
}

fn whole(
    git: &Git<'_>,
    root: PathBuf,
    scope: Scope,
    base: Option<String>,
    range: &[&str],
    mut files: Vec<Changed>,
) -> Result<Changes> {
    files.sort_by(|a, b| a.names[0].cmp(&b.names[0]));
    let mut names = Vec::new();
    files.iter().for_each(|file| {
        names.extend(file.names[0].as_bytes());
        names.push(0);
    });
    let made = git.read_with(&["check-attr", "-z", "--stdin", "linguist-generated"], &names)?;
    let words: Vec<&[u8]> = made.split(|b| *b == 0).collect();
    let made = words.chunks_exact(3).filter(|three| matches!(three[2], b"set" | b"true"));
    let made: HashSet<&[u8]> = made.map(|three| three[0]).collect();
    for file in files.iter_mut().filter(|file| made.contains(file.names[0].as_bytes())) {
        file.summary = Some("generated".into());
    }
    let mut diff = Vec::new();
    for file in &mut files {
        diff.extend(patch(git, &root, range, file)?);
    }
    let diff = String::from_utf8_lossy(&diff).replace('\0', "\u{fffd}");
    Ok(Changes { root, scope, base, files, diff })
}

fn root(dir: &Path) -> Result<PathBuf> {
    let git = Git::new(dir)?;
    let out = git.run(&["rev-parse", "--show-toplevel"])?;
    if out.status.success() && out.stdout.len() > 1 {
        let name = out.stdout.strip_suffix(b"\n").unwrap_or(&out.stdout);
        return Ok(PathBuf::from(OsStr::from_bytes(name)));
    }
    let words = String::from_utf8_lossy(&out.stderr);
    if words.contains("not a git repository") {
        return Err(Failure::new(Kind::BadCwd, format!("cwd: {} is not a git repository", dir.display()))
            .hint("go to a repository, name one with --cwd, or make one with `git init`"));
    }
    Err(said(&format!("cwd: {} has no working tree", dir.display()), &out))
}

/// The paths from the root.
fn paths(dir: &Path, root: &Path, asked: &[PathBuf]) -> Result<Vec<OsString>> {
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    asked
        .iter()
        .map(|path| {
            let mut whole = PathBuf::new();
            for part in real.join(path).components() {
                match part {
                    std::path::Component::ParentDir => drop(whole.pop()),
                    std::path::Component::CurDir => {}
                    part => whole.push(part),
                }
            }
            match whole.strip_prefix(root) {
                Ok(below) if below.as_os_str().is_empty() => Ok(".".into()),
                Ok(below) => Ok(below.as_os_str().to_owned()),
                Err(_) => {
                    Err(Failure::invalid("paths", format!("{} is outside the repository", path.display()))
                        .hint(format!("name a path under {}", root.display())))
                }
            }
        })
        .collect()
}

/// Where the branch left its base; `None` where it has nothing of its own.
fn base(git: &Git<'_>, named: Option<&str>, head: &str) -> Result<Option<String>> {
    let commit = |name: &str| {
        git.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
    };
    let apart = |name: &str| {
        Failure::invalid("base", format!("`{}` and HEAD have no commit in common here", cut(name, 80)))
            .hint("name another --base; a shallow clone needs `git fetch --unshallow` first")
    };
    if let Some(name) = named {
        let Some(id) = commit(name)? else {
            return Err(Failure::invalid("base", format!("`{}` is no commit here", cut(name, 80)))
                .hint("`git branch -a` shows the branches; fetch it first where it is elsewhere"));
        };
        let left = git.line(&["merge-base", &id, head])?.ok_or_else(|| apart(name))?;
        return Ok(Some(left).filter(|left| left != head));
    }
    let mut found = None;
    for name in ["@{upstream}", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"] {
        let Some(id) = commit(name)? else { continue };
        found = Some(name);
        match git.line(&["merge-base", &id, head])? {
            Some(left) if left != head => return Ok(Some(left)),
            Some(_) => {}
            None => return Err(apart(name)),
        }
    }
    match found {
        Some(_) => Ok(None),
        None => Err(Failure::invalid("base", "no upstream, origin, main or master to compare with")
            .hint("name it: --base REF")),
    }
}
