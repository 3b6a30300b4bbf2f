//! What a project's file may say over the user's: one rule a key.
//!
//! | key | not trusted | trusted |
//! | --- | --- | --- |
//! | `default_harness`, `aliases` | ignored: the prompt would go to another vendor | the project's |
//! | `models`, a profile's `models` | ignored: an alias can hide a model's real name | the project's, by key |
//! | a profile's `permission` | the smaller of both | the smaller of both |
//! | a profile's `limits` | only under the user's, or the default | only under the user's |
//! | a profile's `bin` | ignored | the project's; a path is one from the file's folder |
//! | a profile's `env` | ignored | the project's, by key |
//! | a profile's `args`, `env_pass` | ignored | the user's, then the project's |
//! | `platform` of a profile that the user has | ignored | ignored |
//! | `harness_files` | ignored: trust covers the text of one file | ignored |
//!
//! A profile that only the project has starts from the user's for its platform.

use super::file::Config;
use super::layers::{Ignored, Origin, Settings};
use super::lines::{Lines, dotted};
use super::trust::{Project, Standing};
use crate::profile::{Limits, Profile};
use indexmap::IndexMap;

/// A project's file on its way into the settings.
pub(super) struct Merge<'a> {
    into: &'a mut Settings,
    /// The user's alone: what the project's profiles start from.
    user: Settings,
    project: &'a Project,
    lines: Lines,
}

impl<'a> Merge<'a> {
    pub(super) fn new(into: &'a mut Settings, project: &'a Project) -> Self {
        Merge { user: into.clone(), into, lines: Lines::of(&project.text), project }
    }

    pub(super) fn config(&mut self, theirs: Config) {
        if let Some(harness) = theirs.default_harness
            && self.may("default_harness")
        {
            self.into.config.default_harness = Some(harness);
        }
        for (name, platform) in theirs.aliases {
            if self.may(&dotted("aliases", &name)) {
                self.into.config.aliases.insert(name, platform);
            }
        }
        for (alias, by) in theirs.models {
            let mut own = self.into.config.models.get(&alias).cloned().unwrap_or_default();
            self.models(&dotted("models", &alias), &mut own, by);
            if !own.is_empty() {
                self.into.config.models.insert(alias, own);
            }
        }
        if !theirs.harness_files.is_empty() {
            self.refuse("harness_files", "trust covers this file alone; name them in your own settings");
        }
        for (name, profile) in theirs.profiles {
            self.profile(&name, profile);
        }
    }

    fn trusted(&self) -> bool {
        self.project.standing == Standing::Trusted
    }

    /// Takes a key that needs trust, or refuses it.
    fn may(&mut self, key: &str) -> bool {
        if self.trusted() {
            self.take(key, false);
            return true;
        }
        self.refuse(key, self.project.standing.why());
        false
    }

    fn line(&self, key: &str) -> usize {
        self.lines.under(key).unwrap_or(1)
    }

    fn take(&mut self, key: &str, after: bool) {
        let origin = Origin::File { path: self.project.path.clone(), line: self.line(key) };
        let origins = self.into.origins.entry(key.to_owned()).or_default();
        if !after {
            origins.clear();
        }
        origins.push(origin);
    }

    fn refuse(&mut self, key: &str, why: impl Into<String>) {
        let (path, line) = (self.project.path.clone(), self.line(key));
        self.into.ignored.push(Ignored { key: key.to_owned(), path, line, why: why.into() });
    }

    /// Aliases, each under its own key. One that hides a model's real name would spend the user's money.
    fn models(&mut self, above: &str, own: &mut IndexMap<String, String>, theirs: IndexMap<String, String>) {
        for (name, model) in theirs {
            if own.get(&name) != Some(&model) && self.may(&dotted(above, &name)) {
                own.insert(name, model);
            }
        }
    }

    fn profile(&mut self, name: &str, theirs: Profile) {
        let above = dotted("profiles", name);
        let key = |field: &str| format!("{above}.{field}");
        let known = self.user.config.profiles.get(name).cloned();
        let mut own = match (&known, &theirs.platform) {
            (Some(own), Some(platform)) if own.platform.as_deref().unwrap_or(name) != platform => {
                self.refuse(&key("platform"), "the profile is the user's own");
                own.clone()
            }
            (Some(own), _) => own.clone(),
            (None, Some(platform)) => {
                let base = self.inherited(&above, platform);
                self.take(&key("platform"), false);
                Profile { platform: Some(platform.clone()), ..base }
            }
            // For the harness of its name, or for any: then nothing of the user's would hold it.
            (None, None) => Profile { platform: Some(name.to_owned()), ..Profile::default() },
        };
        if let Some(bin) = theirs.bin
            && self.may(&key("bin"))
        {
            // A path is one from the file's own folder, as it is for whoever wrote it.
            let folder = self.project.path.parent().filter(|_| bin.contains('/'));
            own.bin = Some(folder.map_or(bin.clone(), |folder| folder.join(&bin).display().to_string()));
        }
        for (field, list, more) in
            [("args", &mut own.args, theirs.args), ("env_pass", &mut own.env_pass, theirs.env_pass)]
        {
            if more.is_empty() {
                continue;
            }
            if self.trusted() {
                self.take(&key(field), !list.is_empty());
                list.extend(more);
            } else {
                self.refuse(&key(field), self.project.standing.why());
            }
        }
        for (variable, value) in theirs.env {
            if self.may(&dotted(&key("env"), &variable)) {
                own.env.insert(variable, value);
            }
        }
        self.models(&key("models"), &mut own.models, theirs.models);
        match (theirs.permission, own.permission) {
            (Some(theirs), Some(own)) if theirs > own => {
                self.refuse(
                    &key("permission"),
                    format!("`{}` is over the user's `{}`", theirs.name(), own.name()),
                );
            }
            (Some(theirs), _) => {
                self.take(&key("permission"), false);
                own.permission = Some(theirs);
            }
            (None, _) => {}
        }
        self.limits(&key("limits"), &mut own.limits, &theirs.limits);
        self.into.config.profiles.insert(name.to_owned(), own);
    }

    /// The user's profile for a platform, with its origins under the new name.
    fn inherited(&mut self, above: &str, platform: &str) -> Profile {
        let from = format!("{}.", dotted("profiles", platform));
        for (key, origin) in &self.user.origins {
            if let Some(field) = key.strip_prefix(&from) {
                self.into.origins.insert(format!("{above}.{field}"), origin.clone());
            }
        }
        self.user.config.profiles.get(platform).cloned().unwrap_or_default()
    }

    fn limits(&mut self, above: &str, own: &mut Limits, theirs: &Limits) {
        let trusted = self.trusted();
        let mut each = |field: &str, bound: Option<f64>, default: Option<f64>, asked: Option<f64>| -> bool {
            let Some(asked) = asked else { return false };
            let key = format!("{above}.{field}");
            let most = bound.or(if trusted { None } else { default });
            // Not `asked > most`: a NaN is under nothing.
            if asked.is_nan() || most.is_some_and(|most| asked > most) {
                let most = most.map_or_else(String::new, |most| most.to_string());
                self.refuse(&key, format!("{asked} is over {most}, which holds for the user"));
                return false;
            }
            self.take(&key, false);
            true
        };
        if each("timeout_s", own.timeout_s, Some(600.0), theirs.timeout_s) {
            own.timeout_s = theirs.timeout_s;
        }
        if each("first_output_timeout_s", own.first_output_timeout_s, None, theirs.first_output_timeout_s) {
            own.first_output_timeout_s = theirs.first_output_timeout_s;
        }
        if each("idle_timeout_s", own.idle_timeout_s, None, theirs.idle_timeout_s) {
            own.idle_timeout_s = theirs.idle_timeout_s;
        }
        if each("attempts", own.attempts.map(f64::from), Some(3.0), theirs.attempts.map(f64::from)) {
            own.attempts = theirs.attempts;
        }
        let wide = |n: Option<u64>| n.map(|n| n as f64);
        let bytes = Some(268_435_456.0);
        if each("max_output_bytes", wide(own.max_output_bytes), bytes, wide(theirs.max_output_bytes)) {
            own.max_output_bytes = theirs.max_output_bytes;
        }
        if each("max_tokens", wide(own.max_tokens), None, wide(theirs.max_tokens)) {
            own.max_tokens = theirs.max_tokens;
        }
        if each("max_cost_usd", own.max_cost_usd, None, theirs.max_cost_usd) {
            own.max_cost_usd = theirs.max_cost_usd;
        }
        if each("max_events", wide(own.max_events), Some(1_000_000.0), wide(theirs.max_events)) {
            own.max_events = theirs.max_events;
        }
    }
}
