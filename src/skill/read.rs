//! A skill file: read whole, or refused with the place of what is wrong.

use super::parse;
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, HarnessRegistry, SkillFormat};
use crate::policy::{Permission, ToolPolicy};
use crate::request::Effort;
use crate::skill::Value;
use indexmap::IndexMap;
use serde::Serialize;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The most bytes of a skill file.
pub const MAX_BYTES: u64 = 1 << 20;

/// What a skill, agent or command file says.
///
/// Tool names are those of the file; [`merge`](super::merge) puts them into the words of the harness in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct Skill {
    /// The name that it is called by.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The format of the file.
    pub format: SkillFormat,
    /// The harness whose names for tools and models the file has, where its place tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// The text after the front matter, or a command's prompt.
    pub body: String,
    /// The tools that it names, by its own names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolPolicy>,
    /// Tools that it does not allow may not run, not even to read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typed", schemars(default))]
    pub closed: bool,
    /// Tools that are denied but for those parts of them which `tools` allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typed", schemars(default))]
    pub parts: Vec<String>,
    /// How far it lets the agent go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The model that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much the model should think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The format's `metadata`, as it stands.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[cfg_attr(feature = "typed", schemars(default))]
    pub metadata: IndexMap<String, Value>,
    /// What was read otherwise than it is written, or left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typed", schemars(default))]
    pub notices: Vec<String>,
}

impl Skill {
    /// Reads a skill file, or the `SKILL.md` of a folder.
    ///
    /// - UTF-8, with or without a byte order mark, at most [`MAX_BYTES`].
    /// - Nothing in the file is run, and no other file is read.
    ///
    /// Errors: [`Kind::InvalidRequest`] with file and, where there is one, line and key.
    pub fn read(path: &Path, registry: &HarnessRegistry) -> Result<Skill> {
        let folder = path.is_dir();
        let path = if folder { path.join("SKILL.md") } else { path.to_owned() };
        let (harness, format) = place_of(&path, registry);
        Skill::read_as(&path, harness, format).map_err(|failure| {
            if folder && !path.exists() {
                return failure.hint("the folder of a skill holds a SKILL.md");
            }
            failure
        })
    }

    /// Reads a file whose place is known.
    pub(super) fn read_as(
        path: &Path,
        harness: Option<String>,
        format: Option<SkillFormat>,
    ) -> Result<Skill> {
        let text = text_of(path).map_err(|why| bad(path, why))?;
        parse::skill(path, &text, harness, format)
    }

    /// The folder whose files a skill may name, where there is more in it than the skill itself.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.path.parent().filter(|_| self.format == SkillFormat::AgentSkills)?;
        let more = std::fs::read_dir(folder).ok()?.flatten().any(|entry| entry.file_name() != "SKILL.md");
        more.then(|| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
    }
}

/// A failure that names the file.
pub(super) fn bad(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::InvalidRequest, plain(&format!("skill: {}: {why}", path.display())))
}

/// A text of a file's for a terminal: what would move the cursor or turn the direction of writing is shown as `\u{…}`.
pub(crate) fn plain(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        c if c.is_control() || turns(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

fn text_of(path: &Path) -> std::result::Result<String, String> {
    let meta = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !meta.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        let size = meta.len().max(bytes.len() as u64);
        return Err(format!(
            "has {size} bytes, and a skill may have {MAX_BYTES}: keep the instructions short, and the rest in files beside it"
        ));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("is UTF-16; save it as UTF-8".to_owned());
    }
    if let Some(at) = memchr::memchr(0, &bytes) {
        return Err(format!("has a NUL at byte {at}, so it is no text"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| format!("is not UTF-8 at byte {}; save it as UTF-8", e.utf8_error().valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// Harness and format by the folders that a file lies in; of several the innermost.
pub(super) fn place_of(path: &Path, registry: &HarnessRegistry) -> (Option<String>, Option<SkillFormat>) {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let own = names(absolute.parent().unwrap_or(&absolute));
    let mut best: Option<(usize, String, SkillFormat)> = None;
    for facts in registry.iter().map(AgentBuilder::facts) {
        for place in &facts.skills {
            for folder in place.project.iter().chain(&place.user) {
                let folder = names(Path::new(folder));
                let found = own.windows(folder.len().max(1)).rposition(|part| part == folder);
                if let Some(end) = found.map(|at| at + folder.len())
                    && best.as_ref().is_none_or(|(before, ..)| end > *before)
                {
                    best = Some((end, facts.id.clone(), place.format));
                }
            }
        }
    }
    best.map_or((None, None), |(_, harness, format)| (Some(harness), Some(format)))
}

fn names(path: &Path) -> Vec<OsString> {
    let normal = |c: Component<'_>| match c {
        Component::Normal(name) => Some(name.to_owned()),
        _ => None,
    };
    path.components().filter_map(normal).collect()
}
