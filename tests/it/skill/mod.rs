//! Skill, agent and command files: how each loads, what each may do, and the command around them.

mod command;
mod hostile;
mod load;
mod places;
mod rights;

use std::path::{Path, PathBuf};
use teamster::skill::{Merge, Skill, Trust, merge};
use teamster::{DispatchRequest, HarnessRegistry, Profile, Result};

/// The folder with the files that were written for these tests.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/skills")
}

/// Every file below a folder, as its path in there.
fn files(root: &Path, ending: fn(&str) -> bool) -> Vec<String> {
    let (mut files, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if ending(&name) {
                files.push(name);
            }
        }
    }
    files.sort();
    files
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A skill merged into a request for a harness, with the default profile.
fn merged(
    skill: &Skill,
    harness: &str,
    trust: Trust,
    mut request: DispatchRequest,
) -> Result<(DispatchRequest, Vec<String>)> {
    let registry = HarnessRegistry::builtin();
    let facts = registry.get(harness)?.facts();
    let how = Merge { facts, registry: &registry, profile: &Profile::default(), trust, tools_stand: false };
    let notices = merge(skill, &mut request, &how)?;
    Ok((request, notices))
}
