//! The settings that hold, each with where it came from.

use super::file::{CONFIG_VAR, Config, user_file};
use super::lines::{Lines, dotted};
use super::merge::Merge;
use super::trust::Project;
use crate::error::Result;
use crate::harness::HarnessRegistry;
use crate::profile::Profile;
use indexmap::IndexMap;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
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
            let (text, config) = Config::read_text(path)?;
            settings = Settings::of_user(config, path, &Lines::of(&text));
        }
        let same = |project: &Project| {
            user.as_ref().is_some_and(|user| user.canonicalize().is_ok_and(|user| user == project.path))
        };
        let found = sources.folder.as_deref().map(Project::find).transpose()?.flatten();
        if let Some(project) = found.filter(|project| !same(project)) {
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
        self.project = Some(project);
    }

    /// Puts the variables over the files: for showing; a run reads them itself.
    pub fn add_variables(&mut self, registry: &HarnessRegistry, var: &dyn Fn(&str) -> Option<String>) {
        let mut set = |key: String, name: String| {
            self.origins.insert(key, vec![Origin::Variable(name)]);
        };
        if let Some(harness) = var("TEAMSTER_HARNESS") {
            self.config.default_harness = Some(harness);
            set("default_harness".to_owned(), "TEAMSTER_HARNESS".to_owned());
        }
        for facts in registry.iter().map(|builder| builder.facts()) {
            let name = facts.variable("BIN");
            if let Some(bin) = var(&name) {
                let profile: &mut Profile = self.config.profiles.entry(facts.id.clone()).or_default();
                profile.bin = Some(bin);
                set(format!("{}.bin", dotted("profiles", &facts.id)), name);
            }
        }
    }

    /// Every value that holds as key and text, in the order of the file; a variable of an agent is `…`.
    pub fn values(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        if let Ok(toml::Value::Table(table)) = toml::Value::try_from(self.shown()) {
            flatten("", &table, &mut all);
        }
        all
    }

    /// The configuration without the values of variables.
    pub fn shown(&self) -> Config {
        let mut config = self.config.clone();
        let values = config.profiles.values_mut().flat_map(|profile| profile.env.values_mut());
        values.for_each(|value| "…".clone_into(value));
        config
    }
}

fn flatten(above: &str, table: &toml::Table, all: &mut Vec<(String, String)>) {
    for (name, value) in table {
        let key = dotted(above, name);
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, all),
            toml::Value::Array(list) if list.is_empty() => {}
            other => all.push((key, other.to_string())),
        }
    }
}
