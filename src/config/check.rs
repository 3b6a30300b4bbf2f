//! What is wrong with a settings file, beyond its form: names that nothing has, profiles that no request fits.

use super::file::{Config, add_declared};
use super::lines::{Lines, dotted};
use crate::error::{Failure, Kind};
use crate::harness::{HarnessRegistry, lower};
use crate::request::DispatchRequest;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Something wrong in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The dotted key, where it is known.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.line.iter().try_for_each(|line| write!(f, ":{line}"))?;
        self.key.iter().try_for_each(|key| write!(f, ": {key}"))?;
        write!(f, ": {}", self.message)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        let failure = Failure::new(Kind::InvalidConfig, fault.to_string());
        fault.hint.into_iter().fold(failure, Failure::hint)
    }
}

/// Checks the text of a settings file. `known` has the harnesses of the other files; the ones that this
/// file declares are added.
pub fn check(path: &Path, text: &str, known: HarnessRegistry) -> Vec<Fault> {
    match Config::parsed(path, text) {
        Err(fault) => vec![fault],
        Ok(config) => {
            let mut check = Check { path, lines: Lines::of(text), registry: known, faults: Vec::new() };
            check.config(&config);
            check.faults
        }
    }
}

struct Check<'a> {
    path: &'a Path,
    lines: Lines,
    registry: HarnessRegistry,
    faults: Vec<Fault>,
}

impl Check<'_> {
    fn wrong(&mut self, key: &str, failure: Failure) {
        let hint = failure.hint.map(std::borrow::Cow::into_owned);
        let (line, key) = (self.lines.under(key), Some(key.to_owned()));
        self.faults.push(Fault { path: self.path.to_owned(), line, key, message: failure.message, hint });
    }

    fn config(&mut self, config: &Config) {
        for file in &config.harness_files {
            if let Err(failure) = add_declared(&mut self.registry, file) {
                self.wrong("harness_files", failure);
            }
        }
        for (name, platform) in &config.aliases {
            if let Err(failure) = self.registry.alias(name, platform) {
                self.wrong(&dotted("aliases", name), failure);
            }
        }
        if let Some(Err(failure)) =
            config.default_harness.as_deref().map(|name| self.registry.get(name).map(|_| ()))
        {
            self.wrong("default_harness", failure);
        }
        for (alias, by) in &config.models {
            for platform in by.keys().filter(|platform| *platform != "*") {
                self.is_id(&dotted(&dotted("models", alias), platform), platform);
            }
        }
        for (name, profile) in &config.profiles {
            let above = dotted("profiles", name);
            if let Some(platform) = &profile.platform
                && !self.is_id(&format!("{above}.platform"), platform)
            {
                continue;
            }
            // A profile of any other name, with no platform, is for every harness.
            let harness = profile.platform.as_deref().unwrap_or(name);
            let lowered = self
                .registry
                .get(harness)
                .map(|builder| lower(builder, &DispatchRequest::new("hi"), profile).map(|_| ()));
            if let Ok(Err(failure)) = lowered {
                self.wrong(&above, failure.hint("no request under this profile can be run"));
            }
        }
    }

    /// Whether a name is that of a harness; an alias is not, where files look the name up.
    fn is_id(&mut self, key: &str, name: &str) -> bool {
        match self.registry.get(name).map(|builder| builder.facts().id.clone()) {
            Ok(id) if id == name => return true,
            Ok(id) => {
                let failure = Failure::new(Kind::InvalidConfig, format!("`{name}` is an alias"));
                self.wrong(key, failure.hint(format!("write `{id}` here")));
            }
            Err(failure) => self.wrong(key, failure),
        }
        false
    }
}
