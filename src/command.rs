//! The command: program, arguments, environment, stdin and files, as data.

use crate::request::Output;
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::path::PathBuf;

/// What a lowering gives: nothing here is written, looked up or spawned to make one.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The platform name of the harness.
    pub harness: Cow<'static, str>,
    /// The program's name or path.
    pub program: Cow<'static, str>,
    /// The arguments, the program's name not among them.
    pub args: Vec<Text>,
    /// Variables that the CLI has to see with these values, whatever the caller's are.
    pub env: Cow<'static, [EnvEntry]>,
    /// What stands on standard input; absent is the null device.
    pub stdin: Option<String>,
    /// Files that the runner writes for the run (mode 0600) and removes after it.
    pub files: Vec<CommandFile>,
    /// Files that the CLI writes into the run's folder, at `{file:NAME}`: read after the run, they are the
    /// reader's to use ([`RunEnd::files`](crate::reply::RunEnd::files)).
    pub results: Vec<Cow<'static, str>>,
    /// The working directory; absent is the caller's.
    pub cwd: Option<PathBuf>,
    /// More directories that the agent works in; the arguments name them already.
    pub add_dirs: Vec<PathBuf>,
    /// Files of variables that the CLI reads by itself and that must have no effect.
    pub env_files: Option<EnvFiles>,
    /// What the runner has to make sure of before the spawn, since only it may look.
    pub checks: Vec<Check>,
    /// The form of output that was asked for, `auto` settled.
    pub output: Output,
}

/// A variable and its value.
pub type EnvEntry = (Cow<'static, str>, Text);

/// A file of a command, named by `{file:NAME}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandFile {
    /// The file's name, no folder in it.
    pub name: Cow<'static, str>,
    /// The whole content.
    pub content: String,
}

/// Files of variables that a CLI reads from its working directory and every directory above it.
///
/// A CLI takes from such a file what its environment does not have, so the runner gives it every name
/// in them with an empty value, but for those in `keep`. The user's own files, in the home directory,
/// are left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvFiles {
    /// Names, relative to each of the directories.
    pub names: Cow<'static, [Cow<'static, str>]>,
    /// Variables that may come from them.
    pub keep: Cow<'static, [Cow<'static, str>]>,
}

/// Something that has to hold on this machine for the command to mean what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum Check {
    /// The CLI would replace a token of a text by a file, so there must be none: neither of this path,
    /// nor one in the workspace with this in its path, since CLIs search for it there.
    NoSuchFile {
        /// The request's field that holds the token.
        field: Cow<'static, str>,
        /// The path as the CLI would read it, relative to the working directory.
        path: String,
    },
    /// The CLI would replace a token of a text by the file of just this path, so there must be none.
    NoSuchPath {
        /// The request's field that holds the token.
        field: Cow<'static, str>,
        /// The path, relative to the working directory; `~/` is the home.
        path: String,
    },
    /// The CLI would add to a text what files say that go by a name in it, so there must be none.
    NoneNamed(Named),
    /// With this text in this file the CLI would do what nothing here can hold it from.
    NoTextIn {
        /// The file, or the folder whose files are looked at; there may be none.
        path: Text,
        /// The text. Empty: there must be no such file, or nothing in the folder.
        text: Cow<'static, str>,
        /// What it would do.
        why: Cow<'static, str>,
    },
    /// With one of these texts in one of these files the CLI would do what nothing here can hold it from.
    NoTextsIn {
        /// The files; there may be none.
        paths: Cow<'static, [Text]>,
        /// The texts.
        texts: Cow<'static, [Cow<'static, str>]>,
        /// What it would do.
        why: Cow<'static, str>,
    },
    /// With one of these files in the working directory, or in a directory above it up to the root of the
    /// repository, the CLI would do what nothing here can hold it from.
    NoneAbove {
        /// Paths, relative to each of the directories.
        names: Cow<'static, [Cow<'static, str>]>,
        /// What they would do.
        why: Cow<'static, str>,
    },
    /// The session to go on with has to be kept in one of these places: without it the CLI would begin a new one
    /// and not say so. A place that begins with a variable that is not set is none.
    SessionIn {
        /// The session's id.
        id: String,
        /// Where it may be.
        places: Vec<Text>,
    },
    /// With one of these files in the working directory or in any directory above it, the home left out, the CLI
    /// would do what nothing here can hold it from.
    NoneUpwards {
        /// Paths, relative to each of the directories.
        names: Cow<'static, [Cow<'static, str>]>,
        /// What they would do.
        why: Cow<'static, str>,
    },
    /// The command needs this variable for itself, so the caller's environment may not hand it to the CLI.
    NoVariable {
        /// Its name.
        name: Cow<'static, str>,
        /// What it would do, and what else helps.
        why: Cow<'static, str>,
    },
    /// As [`Check::NoneAbove`], where the user's settings name such a directory, or one above it, as one
    /// that they trust.
    NoneTrusted {
        /// The file with the settings; there may be none.
        settings: Text,
        /// Paths, relative to each of the directories.
        names: Cow<'static, [Cow<'static, str>]>,
        /// What they would do.
        why: Cow<'static, str>,
    },
    /// A CLI that takes an empty value for none reads variables from such files in the working directory and
    /// every directory above it, but for the home: they may set none that is not kept and has no value already.
    NoVariables {
        /// Names of the files, relative to each of the directories.
        names: Cow<'static, [Cow<'static, str>]>,
        /// Variables that may come from them.
        keep: Cow<'static, [Cow<'static, str>]>,
        /// What others could do.
        why: Cow<'static, str>,
    },
    /// With such a file the CLI would set the restrictions aside.
    NoFilesIn {
        /// The directory.
        dir: Cow<'static, str>,
        /// The ending of the files' names.
        suffix: Cow<'static, str>,
        /// What they would do.
        why: Cow<'static, str>,
    },
}

/// Names in a text that files may answer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    /// The request's field that holds them.
    pub field: Cow<'static, str>,
    /// The names.
    pub names: Vec<String>,
    /// What such a file is called. It goes by what a line `name: …` in it says, else by the name of its folder.
    pub file: Cow<'static, str>,
    /// Folders of such files, with folders in them, in the working directory and above it up to the root of the
    /// repository.
    pub above: Cow<'static, [Cow<'static, str>]>,
    /// Folders of such files elsewhere. One that begins with a variable that is not set is none.
    pub places: Cow<'static, [Text]>,
    /// What the CLI would do.
    pub why: Cow<'static, str>,
}

/// A text that may hold places which only the runner can fill.
#[derive(Debug, Clone, PartialEq)]
pub enum Text {
    /// A text as it is.
    Plain(Cow<'static, str>),
    /// Pieces, some of them places.
    Pieces(Cow<'static, [Piece]>),
}

/// A piece of a [`Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A text as it is.
    Plain(Cow<'static, str>),
    /// The path of a file of the command: `{file:NAME}`.
    File(Cow<'static, str>),
    /// The home directory that the CLI uses: `{home}`.
    Home,
    /// The run's own temporary folder: `{tmp}`.
    Tmp,
    /// The caller's value of a variable, empty where it has none: `{env:NAME}`.
    Env(Cow<'static, str>),
    /// What only the machine knows, with commas between: each a string in quotes, as JSON and TOML have it,
    /// and a text behind it: `{each:…}`.
    Each(Cow<'static, Listed>, Cow<'static, str>),
}

/// What a [`Piece::Each`] lists.
#[derive(Debug, Clone, PartialEq)]
pub enum Listed {
    /// The working directory, links followed, and every directory above it.
    Directories,
    /// The names in a table of a TOML file of the user's; none without such a file.
    Names {
        /// The variable that moves the folder with the file.
        variable: Cow<'static, str>,
        /// The folder below the home, where the variable is not set.
        folder: Cow<'static, str>,
        /// The file's name.
        file: Cow<'static, str>,
        /// The table.
        table: Cow<'static, str>,
    },
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Text::Plain(Cow::Borrowed(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::Plain(Cow::Owned(text))
    }
}

impl Text {
    /// A flag glued to the path of a file of the command: `--policy={file:NAME}`.
    pub fn file(before: &'static str, name: &'static str) -> Text {
        Text::Pieces(vec![Piece::Plain(before.into()), Piece::File(name.into())].into())
    }

    /// A path under the CLI's home: `--policy={home}/.gemini/policies`.
    pub fn home(before: &'static str, after: &'static str) -> Text {
        Text::Pieces(vec![Piece::Plain(before.into()), Piece::Home, Piece::Plain(after.into())].into())
    }

    /// The text when it has no places.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Text::Plain(text) => Some(text),
            Text::Pieces(_) => None,
        }
    }

    /// The text with its places filled by `fill`.
    pub fn filled<E>(&self, mut fill: impl FnMut(&Piece) -> Result<String, E>) -> Result<Cow<'_, str>, E> {
        match self {
            Text::Plain(text) => Ok(Cow::Borrowed(text)),
            Text::Pieces(pieces) => {
                let mut whole = String::new();
                for piece in pieces.iter() {
                    match piece {
                        Piece::Plain(text) => whole.push_str(text),
                        place => whole.push_str(&fill(place)?),
                    }
                }
                Ok(Cow::Owned(whole))
            }
        }
    }

    /// The text for a reader: places as `{file:NAME}`, `{home}`, `{tmp}`, `{env:NAME}`, `{each:…}`.
    ///
    /// A place is always one brace: where plain text looks like one, its brace is doubled, so that
    /// nothing in a prompt is ever taken for a place.
    pub fn shown(&self) -> Cow<'_, str> {
        match self {
            Text::Plain(text) => escaped(text),
            Text::Pieces(pieces) => Cow::Owned(
                pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Plain(text) => escaped(text).into_owned(),
                        Piece::File(name) => format!("{{file:{name}}}"),
                        Piece::Home => "{home}".to_owned(),
                        Piece::Tmp => "{tmp}".to_owned(),
                        Piece::Env(name) => format!("{{env:{name}}}"),
                        Piece::Each(listed, after) => format!("{{each:{}}}{after}", listed.shown()),
                    })
                    .collect(),
            ),
        }
    }
}

impl Listed {
    fn shown(&self) -> String {
        match self {
            Listed::Directories => "directory".to_owned(),
            Listed::Names { file, table, .. } => format!("{table} of {file}"),
        }
    }
}

/// Doubles the last brace of a run of braces that plain text puts before the name of a place.
fn escaped(text: &str) -> Cow<'_, str> {
    const PLACES: [&str; 5] = ["{file:", "{home}", "{tmp}", "{env:", "{each:"];
    if memchr::memchr(b'{', text.as_bytes()).is_none() || !PLACES.iter().any(|p| text.contains(p)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        if c == '{' && PLACES.iter().any(|p| text[at..].starts_with(p)) {
            out.push('{');
        }
        out.push(c);
    }
    Cow::Owned(out)
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.shown())
    }
}

struct Env<'a>(&'a [EnvEntry]);

impl Serialize for Env<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Command {
    /// The command of this program with no arguments, whose output is text.
    pub fn new(harness: impl Into<Cow<'static, str>>, program: impl Into<Cow<'static, str>>) -> Self {
        Command {
            harness: harness.into(),
            program: program.into(),
            args: Vec::new(),
            env: Cow::Borrowed(&[]),
            stdin: None,
            files: Vec::new(),
            results: Vec::new(),
            cwd: None,
            add_dirs: Vec::new(),
            env_files: None,
            checks: Vec::new(),
            output: Output::Text,
        }
    }

    /// The command for a shell: program and quoted arguments, places as `{…}`.
    pub fn shell_line(&self) -> String {
        let args: Vec<Cow<'_, str>> = self.args.iter().map(Text::shown).collect();
        shell_words::join(std::iter::once(self.program.as_ref()).chain(args.iter().map(AsRef::as_ref)))
    }

    pub(crate) fn serialize_into<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error> {
        to.serialize_field("harness", &self.harness)?;
        to.serialize_field("program", &self.program)?;
        to.serialize_field("args", &self.args)?;
        to.serialize_field("env", &Env(&self.env))?;
        to.serialize_field("stdin", &self.stdin)?;
        to.serialize_field("files", &self.files)?;
        to.serialize_field("results", &self.results)?;
        to.serialize_field("cwd", &self.cwd)?;
        to.serialize_field("add_dirs", &self.add_dirs)?;
        to.serialize_field("env_files", &self.env_files)?;
        to.serialize_field("checks", &self.checks)?;
        to.serialize_field("output", &self.output)
    }
}
