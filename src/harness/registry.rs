//! Platform names and aliases to harnesses, in the order of registration.

use super::AgentBuilder;
use crate::error::{Failure, Kind, Result, did_you_mean};
use indexmap::IndexMap;
use std::sync::Arc;

/// Maps platform names and aliases to [`AgentBuilder`]s.
///
/// ```
/// use teamster::{DispatchRequest, HarnessRegistry, Profile};
///
/// let registry = HarnessRegistry::builtin();
/// let gemini = registry.get("gemini")?;
/// let lowered = teamster::lower(gemini, &DispatchRequest::new("hi"), &Profile::default())?;
/// assert_eq!(lowered.command.shell_line(), "gemini -p hi");
/// # Ok::<(), teamster::Failure>(())
/// ```
#[derive(Clone, Default)]
pub struct HarnessRegistry {
    by_name: IndexMap<String, Arc<dyn AgentBuilder>>,
    aliases: IndexMap<String, String>,
}

impl HarnessRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        HarnessRegistry::default()
    }

    /// The harnesses that ship with teamster.
    pub fn builtin() -> Self {
        let mut registry = HarnessRegistry::new();
        for make in crate::harnesses::ALL {
            // The built-in names are held apart by a test.
            let added = registry.register(make());
            debug_assert!(added.is_ok(), "{added:?}");
        }
        registry
    }

    /// Adds a harness under its id and its aliases.
    ///
    /// Errors: [`Kind::InvalidConfig`] where a name is taken, empty, or not of `a-z`, `0-9`, `-`, `_`.
    /// Nothing is added then.
    pub fn register(&mut self, builder: Arc<dyn AgentBuilder>) -> Result<()> {
        let facts = builder.facts();
        let id = facts.id.clone();
        for name in std::iter::once(&id).chain(&facts.aliases) {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
            if name.is_empty() || !name.bytes().all(plain) || name.starts_with('-') {
                return Err(Failure::new(
                    Kind::InvalidConfig,
                    format!("harness name `{name}` is not of a-z, 0-9, - and _"),
                ));
            }
            if self.has(name) {
                return Err(Failure::new(Kind::InvalidConfig, format!("the harness name `{name}` is taken"))
                    .hint("give the harness another id, or leave the alias out"));
            }
        }
        self.aliases.extend(facts.aliases.iter().map(|alias| (alias.clone(), id.clone())));
        self.by_name.insert(id, builder);
        Ok(())
    }

    /// Adds one more name for a harness.
    ///
    /// Errors: [`Kind::UnknownHarness`], and [`Kind::InvalidConfig`] where the name is taken.
    pub fn alias(&mut self, name: &str, platform: &str) -> Result<()> {
        let id = self.get(platform)?.facts().id.clone();
        if name.is_empty() || name.starts_with('-') || name.chars().any(char::is_whitespace) {
            return Err(Failure::new(Kind::InvalidConfig, format!("`{name}` is no name of one word")));
        }
        if self.has(name) {
            return Err(Failure::new(Kind::InvalidConfig, format!("the name `{name}` is taken"))
                .hint("give the alias another name"));
        }
        self.aliases.insert(name.to_owned(), id);
        Ok(())
    }

    /// Whether a harness has this name.
    fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.aliases.contains_key(name)
    }

    /// The harness of this platform name or alias.
    ///
    /// Errors: [`Kind::UnknownHarness`] with the nearest names.
    pub fn get(&self, name: &str) -> Result<&dyn AgentBuilder> {
        let id = self.aliases.get(name).map_or(name, String::as_str);
        self.by_name.get(id).map(AsRef::as_ref).ok_or_else(|| {
            let near = did_you_mean(name, self.names());
            Failure::new(Kind::UnknownHarness, format!("no harness is called `{name}`{near}"))
                .hint("`teamster list` shows every harness")
        })
    }

    /// The harnesses, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &dyn AgentBuilder> {
        self.by_name.values().map(AsRef::as_ref)
    }

    /// All names and aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().chain(self.aliases.keys()).map(String::as_str)
    }
}

impl std::fmt::Debug for HarnessRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
