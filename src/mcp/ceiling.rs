//! What a client may ask for at most.

use crate::error::{Failure, Kind, Result};
use crate::harness::Facts;
use crate::policy::Permission;
use crate::profile::{Limits, Profile};
use crate::request::DispatchRequest;
use std::path::{Path, PathBuf};

/// A field that a client may set only where the owner says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "cli", value(rename_all = "snake_case"))]
pub enum Allow {
    /// Variables for the agent
    Env,
    /// Runs of a harness that cannot hold the agent to the restrictions
    AllowUnenforced,
    /// Files that the CLI puts in the place of `@path`
    FileReferences,
}

impl Allow {
    /// The field's name.
    pub const fn name(self) -> &'static str {
        match self {
            Allow::Env => "env",
            Allow::AllowUnenforced => "allow_unenforced",
            Allow::FileReferences => "file_references",
        }
    }
}

/// What any call may ask for at most. It is the owner's, and no call changes it.
#[derive(Debug, Clone)]
pub struct Ceiling {
    /// How far any agent may go.
    pub permission: Permission,
    /// The only harnesses, by id; empty is all.
    pub harnesses: Vec<String>,
    /// Working directories are this one or below it, as are those of the jobs that are seen.
    root: PathBuf,
    /// Fields that may be set.
    pub allow: Vec<Allow>,
}

impl Ceiling {
    /// The ceiling that a careful owner begins with: read-only, in this folder, no field more.
    ///
    /// Errors: the folder is not there.
    pub fn of(root: &Path) -> Result<Ceiling> {
        let bad = |e| Failure::new(Kind::BadCwd, format!("root: {}: {e}", root.display()));
        let root = root.canonicalize().map_err(bad)?;
        Ok(Ceiling { permission: Permission::ReadOnly, harnesses: Vec::new(), root, allow: Vec::new() })
    }

    /// The folder, with no link in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a call may name this harness.
    pub(super) fn has(&self, facts: &Facts) -> bool {
        self.harnesses.is_empty() || self.harnesses.contains(&facts.id)
    }

    /// The request with its folders found, where it stays under the ceiling.
    ///
    /// Errors: the field that does not, [`Kind::Permission`]; a folder that is not there.
    pub(super) fn held(&self, facts: &Facts, mut request: DispatchRequest) -> Result<DispatchRequest> {
        if !self.has(facts) {
            return Err(over(
                "harness",
                &format!("`{}` is not one of {}", facts.id, self.harnesses.join(", ")),
            )
            .hint("`list_harnesses` names those that there are; the owner adds one with --harness"));
        }
        if let Some(asked) = request.permission.filter(|asked| *asked > self.permission) {
            let most = self.permission.name();
            return Err(over("permission", &format!("`{}` is more than `{most}`", asked.name())).hint(format!(
                "ask for {most}, or leave it out; the owner gives more with `teamster mcp --permission {}`",
                asked.name()
            )));
        }
        let set = [
            (Allow::Env, !request.env.is_empty()),
            (Allow::AllowUnenforced, request.allow_unenforced),
            (Allow::FileReferences, request.file_references),
        ];
        if let Some((field, _)) = set.into_iter().find(|(field, set)| *set && !self.allow.contains(field)) {
            return Err(over(field.name(), "may not be set here").hint(format!(
                "leave it out; the owner allows it with `teamster mcp --allow {}`",
                field.name()
            )));
        }
        request.cwd = Some(self.folder("cwd", request.cwd.as_deref())?);
        let dirs = std::mem::take(&mut request.add_dirs);
        request.add_dirs =
            dirs.iter().map(|dir| self.folder("add_dirs", Some(dir))).collect::<Result<_>>()?;
        Ok(request)
    }

    /// A folder below the root, with no link in its path; absent is the root itself.
    pub(super) fn folder(&self, field: &str, asked: Option<&Path>) -> Result<PathBuf> {
        let Some(asked) = asked else { return Ok(self.root.clone()) };
        let path = self.root.join(asked);
        let found = path
            .canonicalize()
            .map_err(|e| Failure::new(Kind::BadCwd, format!("{field}: {}: {e}", path.display())))?;
        if !found.starts_with(&self.root) {
            let what = format!("{} is not below {}", found.display(), self.root.display());
            return Err(over(field, &what)
                .hint("stay in the folder; the owner names another with `teamster mcp --root`"));
        }
        if !found.is_dir() {
            return Err(Failure::new(Kind::BadCwd, format!("{field}: {} is no directory", found.display())));
        }
        Ok(found)
    }

    /// Whether this path is the root or below it, links followed where it is there.
    pub(super) fn covers(&self, path: &Path) -> bool {
        path.canonicalize().unwrap_or_else(|_| path.to_owned()).starts_with(&self.root)
    }

    /// The profile, with the ceiling in it: it holds also for a request that asks for no permission.
    pub(super) fn profile(&self, mut profile: Profile, limits: Limits) -> Result<Profile> {
        let own = profile.permission.unwrap_or(Permission::Full);
        profile.permission = Some(own.min(self.permission));
        let all = limits.or(&profile.limits);
        let (most, asked) = (profile.limits.settled()?, all.settled()?);
        if asked.timeout > most.timeout {
            return Err(over("timeout_s", &format!("more than {} s", most.timeout.as_secs_f64()))
                .hint("the owner gives more with timeout_s in the limits of the profile"));
        }
        if asked.attempts > most.attempts {
            return Err(over("attempts", &format!("more than {}", most.attempts))
                .hint("the owner gives more with attempts in the limits of the profile"));
        }
        profile.limits = all;
        Ok(profile)
    }
}

fn over(field: &str, what: &str) -> Failure {
    Failure::new(Kind::Permission, format!("{field}: {what}"))
}
