//! The fields of a request as most CLIs take them: a flag, or none.

use super::Draft;
use crate::command::Text;
use crate::error::{Failure, Kind, Result, cut};
use crate::lowering::{Carried, Field, MAX_ARGUMENT, refuse_flag_like};
use crate::request::{Effort, Output, Session};
use std::borrow::Cow;

/// The file with a system prompt.
const SYSTEM: &str = "system.md";

/// A flag with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// In one argument, `--session=ID`.
    Glued(&'static str),
    /// In two arguments, `--session ID`.
    Pair(&'static str),
}

/// What the ids of a CLI's sessions look like. Many a CLI takes another text for a title, for the beginning of an
/// id, or for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionIds {
    /// A UUID.
    Uuid,
    /// This beginning, and a UUID.
    UuidAfter(&'static str),
    /// This beginning, and letters and digits.
    WordAfter(&'static str),
    /// Nothing is known of them.
    Any,
}

/// How a CLI that keeps its sessions takes their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    /// What they look like.
    pub ids: SessionIds,
    /// The flag that gives a new session its id; none where the CLI gives it.
    pub begin: Option<Flag>,
    /// The flag that goes on with one.
    pub resume: Flag,
}

impl<'r> Draft<'r> {
    /// Adds a flag with its value, and the field's row.
    ///
    /// Errors: [`Kind::ArgTooLong`] that names the field.
    pub fn flag(&mut self, field: Field, flag: Flag, value: &str) -> Result<()> {
        match flag {
            Flag::Glued(flag) => self.glued(field, flag, value),
            Flag::Pair(flag) => self.pair(field, flag, value),
        }
    }

    /// The row for the form of output, where one is asked for. `form` is the one that the arguments ask for, and
    /// `text` says why the text is taken from it.
    pub fn output_row(&mut self, form: &str, text: &str) {
        let how = match self.request.output {
            Output::Auto => return,
            Output::Text => format!("{form}, and the text is taken from it: {text}"),
            Output::Json | Output::Stream => form.to_owned(),
        };
        self.row(Field::Output, Carried::Flag, how);
    }

    /// The model to ask for, aliases looked up; an exact one gets its row.
    pub fn model(&mut self) -> Result<Option<&'r str>> {
        if self.request.model_is_exact {
            self.row(Field::ModelIsExact, Carried::Flag, "no alias was looked up");
        }
        let Some(name) = self.request.model.as_deref() else { return Ok(None) };
        let model = self.profile.model(&self.facts.id, &self.facts.models, name, self.request.model_is_exact);
        refuse_flag_like("model", model)?;
        Ok(Some(model))
    }

    /// Asks for the model by a flag.
    pub fn model_flag(&mut self, flag: Flag) -> Result<()> {
        match self.model()? {
            Some(model) => self.flag(Field::Model, flag, model),
            None => Ok(()),
        }
    }

    /// Asks for the model by a variable.
    pub fn model_env(&mut self, name: &'static str) -> Result<()> {
        if let Some(model) = self.model()? {
            self.set_env(name, model.to_owned());
            self.row(Field::Model, Carried::Env, format!("{name}={model}"));
        }
        Ok(())
    }

    /// The system prompt, for a CLI that has a place for it; the caller carries it and adds the row.
    ///
    /// An empty one says nothing, and a correction stands in a session that has it: those get their rows.
    pub fn system_prompt(&mut self) -> Option<&'r str> {
        let system = self.request.system_prompt.as_deref()?;
        if system.is_empty() {
            self.row(Field::SystemPrompt, Carried::Runner, "it is empty, so the CLI's own stays as it is");
            return None;
        }
        Some(system)
    }

    /// Gives the system prompt by `flag` in one argument; by the file that `file`, such as `--system-prompt-file=`,
    /// names, where it is larger than an argument.
    pub fn system_prompt_flag(&mut self, flag: &'static str, file: &'static str) {
        let Some(system) = self.system_prompt() else { return };
        let arg = format!("{flag}={system}");
        if arg.len() <= MAX_ARGUMENT {
            self.row(Field::SystemPrompt, Carried::Flag, cut(&arg, 200).into_owned());
            return self.arg(arg);
        }
        self.file(SYSTEM, system);
        self.arg(Text::file(file, SYSTEM));
        let how = format!("{}, since it is larger than an argument", file.trim_end_matches('='));
        self.row(Field::SystemPrompt, Carried::File, how);
    }

    /// The CLI's word for the effort: the nearest one that it knows, the lower of two.
    ///
    /// `words` are in the order of [`Effort`]. The caller adds the row.
    pub fn effort(&self, words: &[(Effort, &'static str)]) -> Option<&'static str> {
        let rank = |effort: Effort| effort as i32;
        let asked = rank(self.request.effort?);
        words
            .iter()
            .min_by_key(|(known, _)| ((rank(*known) - asked).abs(), *known as i32))
            .map(|(_, word)| *word)
    }

    /// Asks for the effort by a flag, in the CLI's nearest word.
    pub fn effort_flag(&mut self, flag: Flag, words: &[(Effort, &'static str)]) -> Result<()> {
        match self.effort(words) {
            Some(word) => self.flag(Field::Effort, flag, word),
            None => Ok(()),
        }
    }

    /// Names each directory beside the working directory by a flag.
    pub fn add_dirs(&mut self, flag: Flag) -> Result<()> {
        let dirs = self.request.add_dirs.iter().map(|dir| dir.to_string_lossy());
        dirs.into_iter().try_for_each(|dir| self.flag(Field::AddDirs, flag, &dir))
    }

    /// As [`Draft::add_dirs`], for a CLI that cuts the value at every comma.
    pub fn add_dirs_uncut(&mut self, flag: Flag) -> Result<()> {
        match self.request.add_dirs.iter().find(|dir| dir.to_string_lossy().contains(',')) {
            Some(dir) => {
                let why = format!("{} cuts `{}` at its comma", self.facts.id, dir.display());
                Err(Failure::invalid("add_dirs", why))
            }
            None => self.add_dirs(flag),
        }
    }

    /// Limits the turns by a flag.
    pub fn max_turns(&mut self, flag: Flag) -> Result<()> {
        match self.request.max_turns {
            Some(turns) => self.flag(Field::MaxTurns, flag, &turns.to_string()),
            None => Ok(()),
        }
    }

    /// Tells the CLI the most dollars that it may spend, where the profile's limits say it.
    pub fn max_cost(&mut self, flag: &'static str) {
        if let Some(most) = self.profile.limits.max_cost_usd {
            self.arg(format!("{flag}={most}"));
        }
    }

    /// Carries the request's session.
    ///
    /// Errors: [`Kind::InvalidRequest`] for what is no id of this CLI; [`Kind::Unsupported`] for an id of the
    /// caller's where the CLI gives each session its own.
    pub fn session(&mut self, how: &Sessions) -> Result<()> {
        let (field, id, flag) = match (&self.request.session, how.begin) {
            (None, _) => return Ok(()),
            (Some(Session::New(None)), _) => {
                let own = format!("{} keeps every session and says its id", self.facts.id);
                self.row(Field::Session, Carried::Flag, own);
                return Ok(());
            }
            (Some(Session::New(Some(_))), None) => return Err(self.own_session_ids()),
            (Some(Session::New(Some(id))), Some(flag)) => ("session.id", id, flag),
            (Some(Session::Resume(id)), _) => ("session.resume", id, how.resume),
        };
        self.session_id(field, id, how.ids)?;
        self.flag(Field::Session, flag, id)
    }

    /// The session of a request, for a CLI that goes on with none.
    ///
    /// Errors: [`Kind::Unsupported`] where one is to be gone on with.
    pub fn no_sessions(&mut self) -> Result<()> {
        let name = &self.facts.id;
        match &self.request.session {
            None => Ok(()),
            Some(Session::New(_)) => {
                let why = format!("{name} has no sessions that could be gone on with");
                self.row(Field::Session, Carried::Dropped, why);
                Ok(())
            }
            Some(Session::Resume(_)) => {
                let why = format!("session.resume: {name} has no sessions to go on with");
                Err(Failure::new(Kind::Unsupported, why).hint(
                    "put what was said before into the prompt, or take another harness: `teamster list`",
                ))
            }
        }
    }

    /// The refusal of an id that the caller wants for a new session.
    pub fn own_session_ids(&self) -> Failure {
        let why = format!("session.id: {} gives every session an id of its own", self.facts.name);
        Failure::new(Kind::Unsupported, why).hint("leave the id out: the outcome has the one that was given")
    }

    /// Refuses what is no id of a session.
    pub fn session_id(&self, field: &str, id: &str, ids: SessionIds) -> Result<()> {
        let (fits, shape) = match ids {
            SessionIds::Any => return Ok(()),
            SessionIds::Uuid => (is_uuid(id), Cow::Borrowed("a UUID")),
            SessionIds::UuidAfter(beginning) => {
                (id.strip_prefix(beginning).is_some_and(is_uuid), format!("{beginning} and a UUID").into())
            }
            SessionIds::WordAfter(beginning) => (
                id.strip_prefix(beginning).is_some_and(is_word),
                format!("{beginning} and letters or digits").into(),
            ),
        };
        if fits {
            return Ok(());
        }
        let why = format!("`{}` is no session id: one of {} is {shape}", cut(id, 80), self.facts.id);
        Err(Failure::invalid(field, why))
    }
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric())
}
