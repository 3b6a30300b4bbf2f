//! What has to hold on this machine before a spawn: the working directory, and a command's checks.

use super::places::{fill, filled, up_to_the_root};
use crate::command::{Check, Command, Text};
use crate::error::{Failure, Kind, Result};
use crate::lowering::MAX_ARGUMENT;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The most files that a search for references looks at.
const SEARCHED: usize = 200_000;
/// The most references that are looked for.
const TOKENS: usize = 500;
/// Folders that CLIs leave out when they search.
const LEFT_OUT: [&str; 2] = [".git", "node_modules"];

/// Makes sure of everything that a command asks for. Nothing is changed.
///
/// `rehearsal`: no CLI has kept a session.
pub(super) fn check(command: &Command, home: Option<&str>, env: &super::Vars, rehearsal: bool) -> Result<()> {
    if let Some(cwd) = &command.cwd {
        working_directory(cwd)?;
    }
    let cwd = match &command.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()
            .map_err(|e| Failure::new(Kind::BadCwd, format!("the working directory cannot be read: {e}")))?,
    };
    let mut tokens = Vec::new();
    for check in &command.checks {
        match check {
            Check::NoneAbove { names, why } => none_above(&cwd, names, why)?,
            Check::NoVariables { names, keep, why } => {
                let homes: Vec<PathBuf> = home.map(PathBuf::from).into_iter().collect();
                super::env_files::sets_nothing(names, keep, why, &cwd, &homes, env)?;
            }
            Check::NoFilesIn { dir, suffix, why } => no_files_in(Path::new(&**dir), suffix, why)?,
            Check::NoneUpwards { names, why } => none_upwards(&cwd, home.map(Path::new), names, why)?,
            Check::NoVariable { name, why } => no_variable(env, name, why)?,
            Check::NoTextIn { path, text, why } => {
                no_text_in(Path::new(&*path.filled(|piece| fill(piece, home, env))?), text, why)?;
            }
            Check::NoTextsIn { paths, texts, why } => {
                for path in paths.iter() {
                    let path = path.filled(|piece| fill(piece, home, env))?;
                    texts.iter().try_for_each(|text| no_text_in(Path::new(&*path), text, why))?;
                }
            }
            Check::NoneTrusted { settings, names, why } => {
                let settings = settings.filled(|piece| fill(piece, home, env))?;
                if is_trusted(&cwd, Path::new(&*settings)) {
                    none_above(&cwd, names, why)?;
                }
            }
            Check::SessionIn { .. } if rehearsal => {}
            Check::SessionIn { id, places } => session_in(id, places, home, env)?,
            Check::NoneNamed(named) => super::named::none_named(named, &cwd, home, env)?,
            Check::NoSuchPath { field, path } => {
                let whole = match path.strip_prefix("~/").or_else(|| (path == "~").then_some("")) {
                    Some(below) => Path::new(home.unwrap_or_default()).join(below),
                    None => cwd.join(path),
                };
                if std::fs::symlink_metadata(&whole).is_ok() {
                    return Err(names_a_file(field, path, &whole));
                }
            }
            Check::NoSuchFile { field, path } => tokens.push((field.as_ref(), path.as_str())),
        }
    }
    if tokens.is_empty() {
        return Ok(());
    }
    if tokens.len() > TOKENS {
        let (field, path) = tokens[0];
        return Err(Failure::invalid(
            field,
            format!("`@{path}` and {} more may name files, too many to look for", tokens.len() - 1),
        )
        .hint("write them without the @, or allow them with --file-references"));
    }
    let places: Vec<&Path> =
        std::iter::once(cwd.as_path()).chain(command.add_dirs.iter().map(PathBuf::as_path)).collect();
    no_such_file(&tokens, &places)
}

fn session_in(id: &str, places: &[Text], home: Option<&str>, env: &super::Vars) -> Result<()> {
    for place in places {
        if filled(place, home, env)?.is_some_and(|path| Path::new(&path).exists()) {
            return Ok(());
        }
    }
    Err(Failure::new(Kind::SessionNotFound, format!("session.resume: no session {id} is kept here"))
        .hint("start a new session, or resume with the home of its first run"))
}

/// Refuses an argument or a variable that the system would not take.
pub(super) fn sizes(args: &[OsString], env: &super::Vars) -> Result<()> {
    if let Some(arg) = args.iter().find(|arg| arg.len() > MAX_ARGUMENT) {
        return Err(Failure::new(
            Kind::ArgTooLong,
            format!("an argument of {} bytes is over the system's {MAX_ARGUMENT}", arg.len()),
        ));
    }
    match env.iter().find(|(name, value)| name.len() + 1 + value.len() > MAX_ARGUMENT) {
        Some((name, value)) => Err(Failure::new(
            Kind::ArgTooLong,
            format!(
                "the variable {} of {} bytes is over the system's {MAX_ARGUMENT}",
                name.to_string_lossy(),
                value.len()
            ),
        )),
        None => Ok(()),
    }
}

/// A missing directory and a missing program are the same error of the system, so it is asked first.
fn working_directory(cwd: &Path) -> Result<()> {
    let bad = |what: &str| {
        Err(Failure::new(Kind::BadCwd, format!("cwd: {} {what}", cwd.display()))
            .hint("name a directory that is there"))
    };
    match std::fs::metadata(cwd) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => bad("is no directory"),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => bad("does not exist"),
        Err(e) => bad(&format!("cannot be read: {e}")),
    }
}

/// A repository ends where its `.git` is; without one only the working directory counts. A directory that is
/// named by a link has two sets of parents, and a CLI may take either.
fn none_above(cwd: &Path, names: &[Cow<'static, str>], why: &str) -> Result<()> {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    none_in(up_to_the_root(cwd, &real), names, why)
}

/// By both names of the working directory, where it has a symbolic link in it.
fn none_upwards(cwd: &Path, home: Option<&Path>, names: &[Cow<'static, str>], why: &str) -> Result<()> {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
    let real_home = home.and_then(|home| home.canonicalize().ok());
    let places = cwd.ancestors().chain(real.ancestors());
    none_in(places.filter(|dir| Some(*dir) != home && Some(*dir) != real_home.as_deref()), names, why)
}

fn none_in<'p>(places: impl Iterator<Item = &'p Path>, names: &[Cow<'static, str>], why: &str) -> Result<()> {
    let mut paths = places.flat_map(|dir| names.iter().map(move |name| dir.join(&**name)));
    match paths.find(|path| std::fs::symlink_metadata(path).is_ok()) {
        None => Ok(()),
        Some(path) => Err(Failure::new(Kind::Unenforceable, format!("{} is there: {why}", path.display()))
            .hint("the restriction cannot be held with it; take it away, or run in another directory")),
    }
}

/// Whether a file of settings names this directory or one above it, as it is named or as it really is. A
/// name in it that means something else is no harm.
fn is_trusted(cwd: &Path, settings: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(settings) else { return false };
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let names = |dir: &Path| {
        let dir = dir.to_string_lossy();
        [format!("{dir}/"), dir.into_owned()]
            .iter()
            .any(|dir| text.contains(&serde_json::Value::from(dir.as_str()).to_string()))
    };
    cwd.ancestors().chain(real.ancestors()).any(names)
}

fn no_files_in(dir: &Path, suffix: &str, why: &str) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    match entries.flatten().find(|entry| entry.file_name().to_string_lossy().ends_with(suffix)) {
        None => Ok(()),
        Some(entry) => Err(Failure::new(
            Kind::Unenforceable,
            format!("{} is on this machine: {why}", entry.path().display()),
        )
        .hint("the restriction cannot be held here; leave it out, or have the administrator carry it in that folder")),
    }
}

fn no_variable(env: &super::Vars, name: &str, why: &str) -> Result<()> {
    match env.get(OsStr::new(name)).is_some_and(|value| !value.is_empty()) {
        false => Ok(()),
        true => Err(Failure::new(Kind::Unsupported, format!("{name} is set in the environment: {why}"))),
    }
}

fn no_text_in(path: &Path, text: &str, why: &str) -> Result<()> {
    let refuse = |path: &Path| {
        let what = if text.is_empty() { "it is there".to_owned() } else { format!("it holds `{text}`") };
        Err(Failure::new(Kind::Unenforceable, format!("{}: {what}, and {why}", path.display()))
            .hint("the restriction cannot be held with it; take it out, or leave the restriction out"))
    };
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if text.is_empty() {
            return refuse(&entry.path());
        }
        if !entry.path().is_dir() {
            no_text_in(&entry.path(), text, why)?;
        }
    }
    match std::fs::read(path) {
        Ok(bytes) if memchr::memmem::find(&bytes, text.as_bytes()).is_some() => refuse(path),
        _ => Ok(()),
    }
}

fn names_a_file(field: &str, path: &str, found: &Path) -> Failure {
    let what = format!(
        "`@{path}` names a file that is there ({}), and the CLI would put its content into the text",
        found.display()
    );
    Failure::invalid(field, what).hint("write it without the @, or allow it with --file-references")
}

fn no_such_file(tokens: &[(&str, &str)], places: &[&Path]) -> Result<()> {
    let refuse = |field: &str, path: &str, found: &Path| Err(names_a_file(field, path, found));
    for (field, path) in tokens {
        for place in places {
            let whole = place.join(path);
            if std::fs::symlink_metadata(&whole).is_ok() {
                return refuse(field, path, &whole);
            }
        }
    }
    let wanted: Vec<(&str, &str, Vec<String>)> = tokens
        .iter()
        .map(|(f, p)| (*f, *p, p.to_lowercase().split('*').map(str::to_owned).collect()))
        .collect();
    let mut left = SEARCHED;
    for place in places {
        let mut open = vec![place.to_path_buf()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                left = match left.checked_sub(1) {
                    Some(left) => left,
                    None => {
                        let (field, path, _) = &wanted[0];
                        return Err(Failure::invalid(
                            field,
                            format!(
                                "`@{path}` may name a file, and the workspace is too large to look for it"
                            ),
                        )
                        .hint("write it without the @, or allow it with --file-references"));
                    }
                };
                let full = entry.path();
                if entry.file_type().is_ok_and(|t| t.is_dir()) {
                    if !LEFT_OUT.contains(&&*entry.file_name().to_string_lossy()) {
                        open.push(full);
                    }
                    continue;
                }
                let below = full.strip_prefix(place).unwrap_or(&full).to_string_lossy().to_lowercase();
                let below = format!("/{below}");
                if let Some((field, path, _)) = wanted.iter().find(|(.., parts)| holds(&below, parts)) {
                    return refuse(field, path, &full);
                }
            }
        }
    }
    Ok(())
}

/// Whether the text holds all parts, one after the other.
fn holds(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Piece;

    fn kind(result: Result<()>) -> Option<Kind> {
        result.err().map(|failure| failure.kind)
    }

    #[test]
    fn a_session_is_looked_for_where_the_cli_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let own = Text::Pieces(vec![Piece::Env("KEPT".into()), Piece::Plain("/one".into())].into());
        let places = [own, Text::home("", "/.cli/one")];
        let look =
            |home: &Path, env: &super::super::Vars| kind(session_in("one", &places, home.to_str(), env));
        let mut env = super::super::Vars::default();
        assert_eq!(look(folder.path(), &env), Some(Kind::SessionNotFound));
        std::fs::create_dir_all(folder.path().join(".cli/one")).unwrap();
        assert_eq!(look(folder.path(), &env), None);
        let other = tempfile::tempdir().unwrap();
        assert_eq!(look(other.path(), &env), Some(Kind::SessionNotFound));
        env.insert("KEPT".into(), folder.path().join(".cli").into());
        assert_eq!(look(other.path(), &env), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_hide_the_directories_above() {
        let folder = tempfile::tempdir().unwrap();
        let repo = folder.path().join("repo");
        std::fs::create_dir_all(repo.join("deep")).unwrap();
        std::fs::create_dir(repo.join(".git")).unwrap();
        std::fs::write(repo.join(".env"), "").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(repo.join("deep"), &link).unwrap();
        for cwd in [repo.join("deep"), link] {
            assert_eq!(kind(none_above(&cwd, &[".env".into()], "it would")), Some(Kind::Unenforceable));
        }
        assert_eq!(kind(none_above(folder.path(), &[".env".into()], "it would")), None);
    }

    #[test]
    fn an_empty_text_stands_for_the_file_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("active");
        assert_eq!(kind(no_text_in(&file, "", "it would")), None);
        std::fs::write(&file, "").unwrap();
        assert_eq!(kind(no_text_in(&file, "", "it would")), Some(Kind::Unenforceable));
        assert_eq!(kind(no_text_in(&file, "x", "it would")), None);
    }

    #[test]
    fn an_empty_text_stands_for_whatever_is_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(kind(no_text_in(folder.path(), "", "it would")), None);
        std::fs::create_dir(folder.path().join("a plugin")).unwrap();
        assert_eq!(kind(no_text_in(folder.path(), "", "it would")), Some(Kind::Unenforceable));
        assert_eq!(kind(no_text_in(folder.path(), "x", "it would")), None);
    }
}
