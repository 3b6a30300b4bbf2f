//! Lists that only this machine knows: directories, and names in a user's own settings.

use super::environment::Places;
use crate::command::Listed;
use crate::error::{Failure, Kind, Result};
use std::path::{Path, PathBuf};

/// Each of the list in quotes with `after` behind it, commas between.
pub(super) fn each(
    listed: &Listed,
    after: &str,
    places: &Places<'_>,
    value: impl Fn(&str) -> Option<PathBuf>,
) -> Result<String> {
    let names = match listed {
        Listed::Directories => directories(places.cwd)?,
        Listed::Names { variable, folder, file, table } => {
            let moved = value(variable).filter(|dir| !dir.as_os_str().is_empty());
            let below_home = || places.home.map(|home| Path::new(home).join(&**folder));
            match moved.or_else(below_home) {
                Some(dir) => in_table(&dir.join(&**file), table)?,
                None => Vec::new(),
            }
        }
    };
    let quoted = names.iter().map(|name| {
        // TOML wants this one escaped, JSON does not.
        let text = serde_json::Value::from(name.as_str()).to_string().replace('\u{7f}', "\\u007f");
        text + after
    });
    Ok(quoted.collect::<Vec<_>>().join(","))
}

/// The directory and all above it, as they really are: CLIs follow links before they look one up.
fn directories(cwd: &Path) -> Result<Vec<String>> {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let text = |dir: &Path| {
        dir.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::new(Kind::BadCwd, format!("cwd: {} is not UTF-8, and has to be named", dir.display()))
        })
    };
    real.ancestors().map(text).collect()
}

/// The keys of a table. A file that is not there has none, and neither has one that is no TOML: the CLI
/// does not start with that one.
fn in_table(file: &Path, table: &str) -> Result<Vec<String>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => {
            let why = format!("{} cannot be read, and may name what has to be off: {e}", file.display());
            return Err(Failure::new(Kind::Unenforceable, why));
        }
    };
    let read: Option<toml::Table> = text.parse().ok();
    let found = read.as_ref().and_then(|all| all.get(table)).and_then(toml::Value::as_table);
    Ok(found.into_iter().flat_map(toml::Table::keys).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(listed: &Listed, home: &Path, cwd: &Path, variable: Option<&Path>) -> String {
        let home = home.to_str();
        let places = Places { folder: cwd, tmp: cwd, home, cwd, separator: None };
        each(listed, "={x=1}", &places, |_| variable.map(Path::to_owned)).unwrap()
    }

    #[test]
    fn names_come_from_the_file_that_counts_and_are_quoted() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cli")).unwrap();
        let names = Listed::Names {
            variable: "CLI_HOME".into(),
            folder: ".cli".into(),
            file: "config.toml".into(),
            table: "servers".into(),
        };
        let here = |variable| filled(&names, home.path(), other.path(), variable);
        assert_eq!(here(None), "");
        let text = "a = 1\n[servers.one]\nx = 2\n[servers.\"t \\\"wo\"]\n[other.three]\n";
        std::fs::write(home.path().join(".cli/config.toml"), text).unwrap();
        assert_eq!(here(None), r#""one"={x=1},"t \"wo"={x=1}"#);
        assert_eq!(here(Some(other.path())), "");
        std::fs::write(other.path().join("config.toml"), "servers = {four = {}}").unwrap();
        assert_eq!(here(Some(other.path())), r#""four"={x=1}"#);
        assert_eq!(here(Some(Path::new(""))), here(None));
    }

    #[test]
    fn directories_are_the_real_ones_up_to_the_root() {
        let real = tempfile::tempdir().unwrap();
        let real_path = real.path().canonicalize().unwrap();
        let link = real_path.join("link");
        std::os::unix::fs::symlink(&real_path, &link).unwrap();
        let all = filled(&Listed::Directories, &real_path, &link, None);
        assert!(all.starts_with(&format!("\"{}\"={{x=1}},", real_path.display())), "{all}");
        assert!(all.ends_with(",\"/\"={x=1}") && !all.contains("link"), "{all}");
    }
}
