//! The configuration file: default harness, model aliases, profiles.

use super::check::Fault;
use super::lines::{Lines, dotted, line_at};
use crate::declared::Declared;
use crate::error::{Failure, Kind, Result, did_you_mean};
use crate::harness::HarnessRegistry;
use crate::profile::Profile;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names the configuration file.
pub const CONFIG_VAR: &str = "TEAMSTER_CONFIG";

/// A configuration, as `teamster.toml` holds it.
///
/// ```toml
/// default_harness = "gemini"
///
/// [models.fast]              # alias → platform → model; "*" for every other platform
/// gemini = "gemini-2.5-flash"
///
/// [profiles.gemini]          # used for the platform of its name, or by --profile
/// args = ["--debug"]
/// permission = "edit"        # the most that any request may ask for
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The harness of a request that names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_harness: Option<String>,
    /// Model aliases for all profiles: alias → platform or `"*"` → model.
    pub models: IndexMap<String, IndexMap<String, String>>,
    /// Profiles by name.
    pub profiles: IndexMap<String, Profile>,
    /// Harness aliases of one's own: name → platform. A name that a harness has is an error.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub aliases: IndexMap<String, String>,
    /// Files that declare harnesses; a relative path is relative to this file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub harness_files: Vec<PathBuf>,
}

impl Config {
    /// Reads a file.
    ///
    /// Errors: [`Kind::InvalidConfig`] with file, line and key.
    pub fn read(path: &Path) -> Result<Config> {
        Config::read_text(path).map(|(_, config)| config)
    }

    /// The same, with the text of the file.
    pub(super) fn read_text(path: &Path) -> Result<(String, Config)> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::new(Kind::InvalidConfig, format!("{}: {e}", path.display())))?;
        let config = Config::parse(path, &text)?;
        Ok((text, config))
    }

    /// Reads a text as that of this file.
    ///
    /// Errors: as [`Config::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Config> {
        Config::parsed(path, text).map_err(Failure::from)
    }

    /// The same, with the place of the fault.
    pub(super) fn parsed(path: &Path, text: &str) -> std::result::Result<Config, Fault> {
        let fault = |line, key: Option<String>, message| Fault {
            path: path.to_owned(),
            line,
            key,
            message,
            hint: None,
        };
        let mut config: Config = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| line_at(text, span.start));
            let key = line.and_then(|line| Lines::of(text).at(line).map(str::to_owned));
            let message = e.message();
            let mut words = message.split('`').skip(1).step_by(2);
            let near = match words.next() {
                Some(unknown) if message.starts_with("unknown field") => did_you_mean(unknown, words),
                _ => String::new(),
            };
            fault(line, key, format!("{message}{near}"))
        })?;
        for (name, profile) in &config.profiles {
            profile.limits.settled().map_err(|e| {
                let key = format!("{}.limits", dotted("profiles", name));
                fault(Lines::of(text).under(&key), Some(key), e.message)
            })?;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        config.harness_files.iter_mut().for_each(|file| *file = folder.join(&*file));
        Ok(config)
    }

    /// The configuration of this user: the named file, else `teamster.toml` in the user's config folder
    /// where there is one.
    pub fn of_user(named: Option<&Path>) -> Result<Config> {
        match named {
            Some(path) => Config::read(path),
            None => match user_file().filter(|path| path.is_file()) {
                Some(path) => Config::read(&path),
                None => Ok(Config::default()),
            },
        }
    }

    /// The harnesses that ship, then those that files declare: the files that this configuration names, and
    /// every `*.toml` in the folder `harnesses` of the user's config folder.
    ///
    /// Errors: [`Kind::InvalidConfig`] that names the file, with line and key, also where a name is taken.
    pub fn registry(&self) -> Result<HarnessRegistry> {
        let mut registry = HarnessRegistry::builtin();
        let folder = user_file().and_then(|file| Some(file.parent()?.join("harnesses")));
        let entries =
            folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let mut own: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .collect();
        own.sort();
        for path in self.harness_files.iter().chain(&own) {
            add_declared(&mut registry, path)?;
        }
        for (name, platform) in &self.aliases {
            registry.alias(name, platform).map_err(|e| {
                let named =
                    Failure::new(Kind::InvalidConfig, format!("{}: {}", dotted("aliases", name), e.message));
                e.hint.into_iter().fold(named, Failure::hint)
            })?;
        }
        Ok(registry)
    }

    /// The profile for a harness: the one of this name, else that of the harness's id, else the default.
    pub fn profile(&self, name: Option<&str>, harness: &str) -> Result<Profile> {
        let mut profile = match name {
            Some(name) => self.profiles.get(name).cloned().ok_or_else(|| {
                let near = did_you_mean(name, self.profiles.keys().map(String::as_str));
                Failure::new(Kind::InvalidConfig, format!("no profile is called `{name}`{near}"))
            })?,
            None => self.profiles.get(harness).cloned().unwrap_or_default(),
        };
        if let Some(platform) = profile.platform.as_deref().filter(|p| *p != harness) {
            let name = name.unwrap_or(harness);
            return Err(Failure::new(
                Kind::InvalidConfig,
                format!("the profile `{name}` is for {platform}, and the request is for {harness}"),
            ));
        }
        profile.shared_models = self.models.clone();
        Ok(profile)
    }
}

/// Adds the harness that a file declares.
pub(super) fn add_declared(registry: &mut HarnessRegistry, path: &Path) -> Result<()> {
    let declared = Declared::read(path)?;
    registry.register(Arc::new(declared)).map_err(|e| {
        let named = Failure::new(e.kind, format!("{}: {}", path.display(), e.message));
        e.hint.into_iter().fold(named, Failure::hint)
    })
}

/// `teamster/teamster.toml` in the user's config folder.
pub fn user_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("teamster").join("teamster.toml"))
}
