//! Whether a name in a text is one that files on this machine answer to, such as the name of a skill.

use super::Vars;
use super::places::{filled, up_to_the_root};
use crate::command::Named;
use crate::error::{Failure, Kind, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The most entries that are looked at.
const SEARCHED: usize = 50_000;
/// How deep below a place files are looked for. CLIs look less deep.
const DEPTH: usize = 12;
/// The most bytes of a file in which its name is looked for.
const HEAD: usize = 64 << 10;

/// Refuses where a file that is there has one of the names.
pub(super) fn none_named(named: &Named, cwd: &Path, home: Option<&str>, env: &Vars) -> Result<()> {
    let mut places: Vec<PathBuf> = Vec::new();
    for dir in up_to_the_root(cwd, &cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned())) {
        places.extend(named.above.iter().map(|name| dir.join(&**name)));
    }
    for place in &*named.places {
        places.extend(filled(place, home, env)?.map(PathBuf::from));
    }
    let mut left = SEARCHED;
    let mut open: Vec<(PathBuf, usize)> = places.into_iter().map(|place| (place, DEPTH)).collect();
    while let Some((dir, depth)) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return Err(refused(named, &named.names[0], "may be the name of a file in", &dir)),
            };
            if path.is_dir() {
                open.extend(depth.checked_sub(1).map(|depth| (path, depth)));
            } else if path.file_name().is_some_and(|name| name == &*named.file)
                && let Some(name) = answers(&path, &named.names)
            {
                return Err(refused(named, name, "is the name in", &path));
            }
        }
    }
    Ok(())
}

fn refused(named: &Named, name: &str, how: &str, path: &Path) -> Failure {
    let why = format!("{}: `${name}` {how} {}: {}", named.field, path.display(), named.why);
    Failure::new(Kind::InvalidRequest, why).hint("write it without the $, or allow it with --file-references")
}

/// The name that the file goes by: what a line `name: …` in it says, else that of its folder. A value that is
/// written over several lines, or that cannot be read, may be any.
fn answers<'n>(path: &Path, names: &'n [String]) -> Option<&'n String> {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).into_owned();
    let mut own: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("name")).collect();
    own.retain(|rest| rest.trim_start().starts_with(':'));
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let goes_by = |name: &str| {
        let last = name.rsplit(':').next().unwrap_or(name);
        let says = |rest: &&str| {
            let value = rest.trim_start().trim_start_matches(':').trim();
            let bare = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
            bare == name
                || bare == last
                || bare.is_empty()
                || bare.starts_with(['|', '>', '&', '*', '!', '{', '['])
        };
        own.iter().any(says) || (own.is_empty() && folder.as_deref().is_some_and(|f| f == name || f == last))
    };
    names.iter().find(|name| goes_by(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Piece, Text};

    fn looked(root: &Path, cwd: &str, names: &[&str]) -> Option<String> {
        let named = Named {
            field: "prompt".into(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            file: "SKILL.md".into(),
            above: vec![".cli/skills".into()].into(),
            places: vec![
                Text::home("", "/.cli/skills"),
                Text::Pieces(vec![Piece::Env("CLI_HOME".into()), Piece::Plain("/skills".into())].into()),
            ]
            .into(),
            why: "it would be added".into(),
        };
        let home = root.join("home");
        none_named(&named, &root.join(cwd), home.to_str(), &Vars::default()).err().map(|f| f.message)
    }

    #[test]
    fn a_name_is_looked_for_where_the_cli_does_and_by_what_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let skill = |path: &str, text: &str| {
            fs::create_dir_all(root.join(path)).unwrap();
            fs::write(root.join(path).join("SKILL.md"), text).unwrap();
        };
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::create_dir_all(root.join("repo/sub")).unwrap();
        skill("home/.cli/skills/at-home", "---\nname: at-home\n---\n");
        skill("repo/.cli/skills/folder", "---\nname: \"other\" # so\ndescription: x\n---\nname folder\n");
        skill("repo/.cli/skills/a/b/c", "no front matter");
        skill(".cli/skills/above", "---\nname: above\n---\n");
        for (names, found) in [
            (&["at-home"][..], true),
            (&["x", "other"], true),
            (&["plugin:other"], true),
            (&["folder"], false),
            (&["c"], true),
            (&["above"], false),
            (&["unknown"], false),
        ] {
            assert_eq!(looked(root, "repo/sub", names).is_some(), found, "{names:?}");
        }
        let said = looked(root, "repo/sub", &["other"]).unwrap_or_default();
        assert!(said.starts_with("prompt: `$other` is the name in "), "{said}");
        skill("repo/sub/.cli/skills/dark", "---\nname: >\n  long\n---\n");
        assert!(looked(root, "repo/sub", &["unknown"]).is_some(), "a name over several lines may be any");
    }
}
