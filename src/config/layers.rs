//! The settings that hold, each with where it came from.

use super::file::{CONFIG_VAR, Config, user_file};
use super::lines::{Lines, dotted};
use super::merge::Merge;
use super::trust::Project;
use crate::error::{Failure, Result};
use crate::harness::HarnessRegistry;
use crate::profile::Profile;
use indexmap::IndexMap;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nobody set it: what teamster or the harness has built in.
    BuiltIn,
    /// A variable of the environment.
    Variable(String),
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built in"),
            Origin::Variable(name) => f.write_str(name),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
        }
    }
}

/// A value that a project's file sets and that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// The dotted key.
    pub key: String,
    /// The project's file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// Why it does not hold, and the next step.
    pub why: String,
}

impl std::fmt::Display for Ignored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: `{}` is ignored: {}", self.path.display(), self.line, self.key, self.why)
    }
}

impl Ignored {
    /// One notice for each reason, with the lines and keys.
    pub fn notices(all: &[Ignored]) -> Vec<String> {
        let mut by_reason: IndexMap<(&Path, &str), Vec<String>> = IndexMap::new();
        for ignored in all {
            let keys = by_reason.entry((&ignored.path, &ignored.why)).or_default();
            keys.push(format!("`{}` (line {})", ignored.key, ignored.line));
        }
        let notice = |((path, why), keys): ((&Path, &str), Vec<String>)| {
            let are = if keys.len() == 1 { "is" } else { "are" };
            format!("{}: {} {are} ignored: {why}", path.display(), keys.join(", "))
        };
        by_reason.into_iter().map(notice).collect()
    }
}

/// What settings are read from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's file, where an argument or [`CONFIG_VAR`] names it; it has to exist.
    pub named: Option<PathBuf>,
    /// The folder whose project counts; none: no project's file is read.
    pub folder: Option<PathBuf>,
}

impl Sources {
    /// The sources of this process: what `--config` and `--cwd` say, else the variables and the
    /// working directory.
    pub fn of_process(named: Option<&Path>, folder: Option<&Path>) -> Sources {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let no_project = var("TEAMSTER_NO_PROJECT").is_some_and(|value| value != "0");
        let here = || folder.map(Path::to_owned).or_else(|| std::env::current_dir().ok());
        Sources {
            named: named.map(Path::to_owned).or_else(|| var(CONFIG_VAR).map(PathBuf::from)),
            folder: if no_project { None } else { here() },
        }
    }

    /// The project's file, where there is one that is not the user's own.
    ///
    /// Errors: as [`Project::find`].
    pub fn project(&self) -> Result<Option<Project>> {
        let own = self.user().and_then(|user| user.canonicalize().ok());
        let found = self.folder.as_deref().map(Project::find).transpose()?.flatten();
        Ok(found.filter(|project| own.as_ref() != Some(&project.path)))
    }

    /// The user's file, where there is one.
    pub fn user(&self) -> Option<PathBuf> {
        self.named.clone().or_else(|| user_file().filter(|path| path.is_file()))
    }
}

/// The settings that hold: the user's file, and over it what the project's file may say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// What holds.
    pub config: Config,
    /// Where each value came from, by dotted key, the strongest last.
    pub origins: IndexMap<String, Vec<Origin>>,
    /// What the project's file sets in vain.
    pub ignored: Vec<Ignored>,
    /// The project's file, where there is one.
    pub project: Option<Project>,
}

impl Settings {
    /// Reads and merges the files.
    ///
    /// Errors: [`Kind::InvalidConfig`](crate::Kind::InvalidConfig) with file and line.
    pub fn read(sources: &Sources) -> Result<Settings> {
        let user = sources.user();
        let mut settings = Settings::default();
        if let Some(path) = &user {
            tracing::debug!(path = %path.display(), "the user's settings");
            let (text, config) = Config::read_text(path)?;
            settings = Settings::of_user(config, path, &Lines::of(&text));
        }
        if let Some(project) = sources.project()? {
            tracing::debug!(path = %project.path.display(), standing = ?project.standing, "the project's settings");
            let config = Config::parse(&project.path, &project.text)?;
            settings.merge(config, project);
        }
        Ok(settings)
    }

    /// The settings of a user's file alone.
    pub fn of_user(config: Config, path: &Path, lines: &Lines) -> Settings {
        let origin = |line| vec![Origin::File { path: path.to_owned(), line }];
        let origins = lines.iter().map(|(key, line)| (key.to_owned(), origin(line))).collect();
        Settings { config, origins, ..Settings::default() }
    }

    /// Puts a project's file over them: only what it may say holds, the rest is in `ignored`.
    pub fn merge(&mut self, config: Config, project: Project) {
        Merge::new(self, &project).config(config);
        self.ignored.sort_by_key(|ignored| ignored.line);
        self.project = Some(project);
    }

    /// The harnesses that the settings know, with the aliases.
    ///
    /// Errors: as [`Config::registry`], with the place of an alias.
    pub fn registry(&self) -> Result<HarnessRegistry> {
        self.config.registry().map_err(|e| {
            let set = e.message.split(": ").next().and_then(|key| self.origins.get(key)?.last());
            match set {
                Some(origin) => Failure { message: format!("{origin}: {}", e.message), ..e },
                None => e,
            }
        })
    }

    /// Puts the variables over the files: for showing; a run reads them itself.
    pub fn add_variables(&mut self, registry: &HarnessRegistry, var: &dyn Fn(&str) -> Option<String>) {
        let mut set = |key: String, name: &str| {
            self.origins.insert(key, vec![Origin::Variable(name.to_owned())]);
        };
        if let Some(harness) = var("TEAMSTER_HARNESS") {
            self.config.default_harness = Some(harness);
            set("default_harness".to_owned(), "TEAMSTER_HARNESS");
        }
        for facts in registry.iter().map(super::super::harness::AgentBuilder::facts) {
            let name = facts.variable("BIN");
            let Some(bin) = var(&name) else { continue };
            self.config.profiles.entry(facts.id.clone()).or_default();
            let of_it = |(own, profile): &(&String, &mut Profile)| {
                profile.platform.as_ref().unwrap_or(own) == &facts.id
            };
            for (own, profile) in self.config.profiles.iter_mut().filter(of_it) {
                profile.bin = Some(bin.clone());
                set(format!("{}.bin", dotted("profiles", own)), &name);
            }
        }
    }

    /// The configuration that holds, as TOML; the value of an agent's variable is `…`.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.table()).unwrap_or_default()
    }

    /// Every value that holds, with where it came from, in the order of the files; as [`Settings::to_toml`].
    pub fn values(&self) -> Vec<SetValue> {
        let mut all = Vec::new();
        flatten("", &self.table(), &mut all);
        let with = |(key, value): (String, toml::Value)| SetValue {
            origins: self.origins.get(&key).cloned().unwrap_or_default(),
            key,
            value,
        };
        all.into_iter().map(with).collect()
    }

    fn table(&self) -> toml::Table {
        let mut config = self.config.clone();
        let values = config.profiles.values_mut().flat_map(|profile| profile.env.values_mut());
        values.for_each(|value| "…".clone_into(value));
        let mut table = toml::Table::try_from(config).unwrap_or_default();
        without_empty(&mut table);
        table
    }
}

/// A value that holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetValue {
    /// The dotted key.
    pub key: String,
    /// The value.
    pub value: toml::Value,
    /// Where it came from; a list can come from two files, one after the other.
    pub origins: Vec<Origin>,
}

/// Takes tables and lists with nothing in them out.
fn without_empty(table: &mut toml::Table) {
    table.retain(|_, value| match value {
        toml::Value::Table(inner) => {
            without_empty(inner);
            !inner.is_empty()
        }
        toml::Value::Array(list) => !list.is_empty(),
        _ => true,
    });
}

pub(super) fn flatten(above: &str, table: &toml::Table, all: &mut Vec<(String, toml::Value)>) {
    for (name, value) in table {
        let key = dotted(above, name);
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, all),
            other => all.push((key, other.clone())),
        }
    }
}
