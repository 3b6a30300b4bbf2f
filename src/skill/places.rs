//! Where skills lie, and what a file at a place may do.

use super::merge::Trust;
use super::read::Skill;
use crate::error::{Failure, Kind, Result, cut, did_you_mean};
use crate::harness::{AgentBuilder, HarnessRegistry, SkillFormat};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The most entries of folders that are looked at.
const SEARCHED: usize = 20_000;
/// How deep below a place files are looked for.
const DEPTH: usize = 4;
/// The folder of a project, and of a home, whose skills are for every agent.
const SHARED: &str = ".agents/skills";

/// Whose a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The project's.
    Project,
    /// The user's own.
    User,
    /// Neither.
    Outside,
}

impl Scope {
    /// What a file of such a place may do.
    pub fn trust(self) -> Trust {
        match self {
            Scope::Project | Scope::User => Trust::Grant,
            Scope::Outside => Trust::Restrict,
        }
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Project => "project",
            Scope::User => "user",
            Scope::Outside => "outside",
        }
    }
}

/// The usual folders, in the order in which they are looked through: the project's, from the working directory
/// up, then the user's own.
pub struct Places<'r> {
    registry: &'r HarnessRegistry,
    project: Option<PathBuf>,
    all: Vec<Place>,
}

struct Place {
    folder: PathBuf,
    format: SkillFormat,
    harness: Option<String>,
    scope: Scope,
}

/// A file at one of the usual places.
#[derive(Debug)]
pub struct Found {
    /// The name that it answers to.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Whose it is, links followed.
    pub scope: Scope,
    /// What it says, or why it cannot be read.
    pub skill: Result<Skill>,
}

impl<'r> Places<'r> {
    /// The places for a working directory, a home and the folder with the user's configuration of teamster.
    ///
    /// The project is the git working tree, else the working directory; a folder that the home lies in, the home
    /// itself, and one for everyone's temporary files, is none.
    pub fn new(
        registry: &'r HarnessRegistry,
        cwd: &Path,
        home: Option<&Path>,
        config: Option<&Path>,
    ) -> Self {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let top = cwd.ancestors().find(|dir| dir.join(".git").exists());
        let real_home = home.and_then(|home| home.canonicalize().ok());
        let is_project = |dir: &&Path| {
            let holds_home = real_home.as_ref().is_some_and(|home| home.starts_with(dir));
            dir.parent().is_some() && !holds_home && !is_for_everyone(dir)
        };
        let project = top.filter(is_project).or(Some(&*cwd)).filter(is_project).map(Path::to_owned);
        let facts = || registry.iter().map(AgentBuilder::facts);
        let mut all = Vec::new();
        let mut add = |folder: PathBuf, format, harness: Option<&String>, scope| {
            all.push(Place { folder, format, harness: harness.cloned(), scope });
        };
        let up = cwd.ancestors().take_while(|dir| project.as_ref().is_some_and(|top| dir.starts_with(top)));
        for dir in up {
            add(dir.join(SHARED), SkillFormat::AgentSkills, None, Scope::Project);
            for (facts, place) in
                facts().flat_map(|facts| facts.skills.iter().map(move |place| (facts, place)))
            {
                if let Some(folder) = &place.project {
                    add(dir.join(folder), place.format, Some(&facts.id), Scope::Project);
                }
            }
        }
        if let Some(config) = config {
            add(config.join("skills"), SkillFormat::AgentSkills, None, Scope::User);
        }
        if let Some(home) = home {
            add(home.join(SHARED), SkillFormat::AgentSkills, None, Scope::User);
            for (facts, place) in
                facts().flat_map(|facts| facts.skills.iter().map(move |place| (facts, place)))
            {
                if let Some(folder) = &place.user {
                    add(home.join(folder), place.format, Some(&facts.id), Scope::User);
                }
            }
        }
        Places { registry, project, all }
    }

    /// The places of whoever runs this process.
    pub fn of_user(registry: &'r HarnessRegistry, cwd: &Path) -> Self {
        use etcetera::BaseStrategy;
        let strategy = etcetera::choose_base_strategy().ok();
        let config = strategy.as_ref().map(|own| own.config_dir().join("teamster"));
        Places::new(registry, cwd, strategy.as_ref().map(BaseStrategy::home_dir), config.as_deref())
    }

    /// Whose a file is, links followed.
    pub fn scope(&self, path: &Path) -> Scope {
        let Ok(path) = path.canonicalize() else { return Scope::Outside };
        if self.project.as_ref().is_some_and(|project| path.starts_with(project)) {
            return Scope::Project;
        }
        let own = |place: &&Place| {
            place.scope == Scope::User
                && place.folder.canonicalize().is_ok_and(|folder| path.starts_with(folder))
        };
        if self.all.iter().any(|place| own(&place)) { Scope::User } else { Scope::Outside }
    }

    /// The skill of a path or a name. A text with a `/` or the ending of such a file is a path; another one is a
    /// name, and a path where there is no such name.
    ///
    /// Errors: [`Kind::InvalidRequest`] as [`Skill::read`], and for a name that nothing answers to.
    pub fn find(&self, path_or_name: &str, base: &Path) -> Result<Found> {
        let path = base.join(path_or_name);
        let is_path = path_or_name.contains(['/', '\\'])
            || [".md", ".toml"].iter().any(|ending| path_or_name.ends_with(ending))
            || matches!(path_or_name, "." | "..");
        if !is_path {
            let mut all = self.list()?;
            if let Some(at) = all.iter().position(|found| found.name == path_or_name) {
                return Ok(all.swap_remove(at));
            }
            if path_or_name.is_empty() || !path.exists() {
                let near = did_you_mean(path_or_name, all.iter().map(|found| found.name.as_str()));
                let why = format!("nothing is called `{}`{near}", cut(path_or_name, 80));
                return Err(Failure::invalid("skill", why)
                    .hint("`teamster skills` lists what there is; a path is taken too"));
            }
        }
        let skill = Skill::read(&path, self.registry)?;
        Ok(Found {
            name: skill.name.clone(),
            scope: self.scope(&skill.path),
            path: skill.path.clone(),
            skill: Ok(skill),
        })
    }

    /// Every skill at the usual places, in their order; of one name the first is the one that is meant.
    ///
    /// Errors: [`Kind::HarnessConfig`] where there are more files than can be looked at.
    pub fn list(&self) -> Result<Vec<Found>> {
        let mut all: Vec<Found> = Vec::new();
        let mut left = SEARCHED;
        for place in &self.all {
            let mut files = Vec::new();
            search(&place.folder, place.format, DEPTH, &mut left, &mut files)?;
            for path in files {
                // Two harnesses may share a folder.
                if all.iter().any(|found| found.path == path) {
                    continue;
                }
                let skill = Skill::read_as(&path, place.harness.clone(), Some(place.format));
                let name = match &skill {
                    Ok(skill) if place.format != SkillFormat::Command => skill.name.clone(),
                    _ => name_of(&path, &place.folder, place.format),
                };
                let skill = skill.map(|skill| Skill { name: name.clone(), ..skill });
                let scope = self.scope(&path);
                all.push(Found { name, path, scope, skill });
            }
        }
        Ok(all)
    }
}

/// Whether this is a folder for the temporary files of everyone.
fn is_for_everyone(dir: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        const STICKY_AND_WRITABLE: u32 = 0o1002;
        dir.metadata().is_ok_and(|meta| meta.mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE)
    }
    #[cfg(not(unix))]
    {
        *dir == std::env::temp_dir()
    }
}

/// The files of a format below a folder, by name.
fn search(
    folder: &Path,
    format: SkillFormat,
    depth: usize,
    left: &mut usize,
    files: &mut Vec<PathBuf>,
) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        *left = left.checked_sub(1).ok_or_else(|| {
            Failure::new(
                Kind::HarnessConfig,
                format!("skills: {} and the other folders hold more than {SEARCHED} files", folder.display()),
            )
            .hint("give the path of the skill instead of its name")
        })?;
        if format == SkillFormat::AgentSkills {
            let file = path.join("SKILL.md");
            if file.is_file() {
                files.push(file);
                continue;
            }
        }
        if path.is_dir() {
            if depth > 1 {
                search(&path, format, depth - 1, left, files)?;
            }
        } else if is_one(&path, format) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_one(path: &Path, format: SkillFormat) -> bool {
    let name = path.file_name().unwrap_or_default();
    match path.extension().and_then(|ending| ending.to_str()) {
        _ if name == "README.md" || name == "AGENTS.md" => false,
        Some("md") => format != SkillFormat::AgentSkills,
        Some("toml") => format == SkillFormat::Command,
        _ => false,
    }
}

/// The name by place: a skill's folder, a command's path with `:` between the folders, else the file's name.
fn name_of(path: &Path, folder: &Path, format: SkillFormat) -> String {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match format {
        SkillFormat::AgentSkills => {
            path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
        }
        SkillFormat::Command => {
            let below = path.strip_prefix(folder).unwrap_or(path);
            let folders = below.parent().into_iter().flat_map(Path::components);
            let mut parts: Vec<String> =
                folders.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            parts.push(stem(below));
            parts.join(":")
        }
        _ => stem(path).trim_end_matches(".agent").to_owned(),
    }
}
