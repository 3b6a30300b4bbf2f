//! From the text of a file to a skill: what each format's keys mean here.

use super::front::{self, Fields};
use super::read::{Skill, bad};
use super::rules::rules;
use super::value::Value;
use crate::error::{Failure, Result, cut};
use crate::harness::SkillFormat;
use crate::request::Effort;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::path::Path;

/// Keys that say nothing which a request has, and nothing that anyone would miss in one.
const QUIET: &[&str] = &[
    "name",
    "title",
    "description",
    "license",
    "compatibility",
    "color",
    "version",
    "author",
    "icon",
    "tags",
    "category",
    "argument-hint",
    "when_to_use",
    "when-to-use",
    "mode",
    "kind",
    "hidden",
    "user-invocable",
    "disable-model-invocation",
    "target",
];

/// Where a command takes the prompt in.
pub(super) const PLACES: &[&str] = &["{{args}}", "$ARGUMENTS"];

/// Other spellings of a key → the key.
const SAME: &[(&str, &str)] = &[
    ("allowed-tools", "tools"),
    ("allowed_tools", "tools"),
    ("allowedTools", "tools"),
    ("disallowed-tools", "disallowedTools"),
    ("disallowed_tools", "disallowedTools"),
    ("permission-mode", "permissionMode"),
    ("reasoningEffort", "effort"),
    ("max_turns", "maxTurns"),
    ("max-turns", "maxTurns"),
    ("maxSteps", "maxTurns"),
    ("steps", "maxTurns"),
];

/// A skill from its text.
pub(super) fn skill(
    path: &Path,
    text: &str,
    harness: Option<String>,
    format: Option<SkillFormat>,
) -> Result<Skill> {
    let toml = path.extension().is_some_and(|ending| ending == "toml");
    let mut notices = Vec::new();
    let (front, body) =
        if toml { (Some(text), "") } else { front::split(text).map_err(|why| bad(path, why))? };
    let fields = match front {
        None => {
            notices.push("the file has no front matter: all of it is the body".to_owned());
            Fields::new()
        }
        Some(front) if toml => toml::from_str::<Fields>(front).map_err(|e| {
            let line =
                e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            bad(path, format!("line {line}: {}", cut(e.message(), 200)))
        })?,
        Some(front) => {
            let (fields, notice) = front::fields(front).map_err(|why| bad(path, why))?;
            notices.extend(notice);
            fields
        }
    };
    let keys = Keys { path, front: front.unwrap_or_default(), first_line: if toml { 1 } else { 2 } };
    let fields = keys.spelled(fields)?;
    let format = format.unwrap_or_else(|| told(path, &fields, body));
    let stem = match format {
        SkillFormat::AgentSkills => path.parent().and_then(Path::file_name),
        _ => path.file_stem(),
    };
    let stem =
        stem.map(|name| name.to_string_lossy().trim_end_matches(".agent").to_owned()).unwrap_or_default();
    let mut skill = Skill {
        name: stem,
        description: None,
        format,
        harness,
        path: path.to_owned(),
        body: body.to_owned(),
        tools: None,
        closed: false,
        parts: Vec::new(),
        permission: None,
        model: None,
        effort: None,
        max_turns: None,
        metadata: indexmap::IndexMap::new(),
        notices,
    };
    keys.fill(&mut skill, &fields, toml)?;
    skill.body = skill.body.trim_start_matches(['\r', '\n']).trim_end().to_owned();
    body_checked(&keys, &mut skill, toml)?;
    Ok(skill)
}

/// The format by name and content, where the place tells none.
fn told(path: &Path, fields: &Fields, body: &str) -> SkillFormat {
    let is_map = |key: &str| matches!(fields.get(key), Some(Value::Map(_)));
    if path.file_name().is_some_and(|name| name == "SKILL.md") {
        SkillFormat::AgentSkills
    } else if path.extension().is_some_and(|ending| ending == "toml") {
        SkillFormat::Command
    } else if fields.contains_key("mode") || is_map("tools") || is_map("permission") {
        SkillFormat::ModeAgent
    } else if !fields.contains_key("name")
        && (fields.contains_key("argument-hint") || PLACES.iter().any(|place| body.contains(place)))
    {
        SkillFormat::Command
    } else {
        SkillFormat::Agent
    }
}

/// What the harnesses would run or read in ahead of the model is neither run nor read here.
fn body_checked(keys: &Keys<'_>, skill: &mut Skill, toml: bool) -> Result<()> {
    if skill.body.is_empty() {
        skill.notices.push("the file has no body, so it sets no instructions".to_owned());
    }
    let single = |at: usize| skill.body[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '@');
    let numbered = skill.body.match_indices('$').find(|(at, _)| single(*at)).map(|(at, _)| at);
    if let Some(at) = numbered.filter(|_| skill.format == SkillFormat::Command) {
        let word = skill.body[at..].chars().take(2).collect::<String>();
        skill
            .notices
            .push(format!("`{word}` is text here: $ARGUMENTS and {{{{args}}}} alone stand for the prompt"));
    }
    let found: &[(&str, &str)] =
        if toml { &[("!{", "!{…}"), ("@{", "@{…}")] } else { &[("!`", "!`…`")] };
    let Some((_, at)) = found.iter().find(|(mark, _)| skill.body.contains(mark)) else { return Ok(()) };
    if skill.format == SkillFormat::Command {
        return Err(bad(
            keys.path,
            format!("{at} puts a command's output or a file into the prompt, which is not done here"),
        )
        .hint("give the text with the prompt instead: `git diff | teamster run …`"));
    }
    skill.notices.push(format!("{at} in the body is text here: nothing is run"));
    Ok(())
}

/// The keys of a file, for messages.
pub(super) struct Keys<'a> {
    path: &'a Path,
    front: &'a str,
    first_line: usize,
}

impl Keys<'_> {
    /// A failure that names file, line and key.
    pub(super) fn bad(&self, key: &str, why: impl std::fmt::Display) -> Failure {
        let spellings = || SAME.iter().filter(|(_, same)| *same == key).map(|(own, _)| *own).chain([key]);
        let is_it = |line: &str| {
            spellings().any(|own| {
                line.strip_prefix(own).is_some_and(|rest| rest.trim_start().starts_with([':', '=']))
            })
        };
        match self.front.lines().position(is_it) {
            Some(at) => bad(self.path, format!("line {}: {key}: {why}", at + self.first_line)),
            None => bad(self.path, format!("{key}: {why}")),
        }
    }

    /// The fields under one spelling each.
    fn spelled(&self, fields: Fields) -> Result<Fields> {
        let mut out = Fields::new();
        for (key, value) in fields {
            let same = SAME.iter().find(|(own, _)| *own == key).map_or(key.as_str(), |(_, same)| same);
            if out.insert(same.to_owned(), value).is_some() {
                return Err(self.bad(same, format!("is there twice, once as `{key}`")));
            }
        }
        Ok(out)
    }

    fn fill(&self, skill: &mut Skill, fields: &Fields, toml: bool) -> Result<()> {
        let (mut left_out, mut denied) = (Vec::new(), Vec::new());
        for (key, value) in fields {
            match key.as_str() {
                "name" if skill.format != SkillFormat::Command => {
                    let name = self.text(key, value)?.unwrap_or_default();
                    if skill.format == SkillFormat::AgentSkills && !name.is_empty() && name != skill.name {
                        skill.notices.push(format!(
                            "the name `{}` is not that of its folder, `{}`",
                            cut(&name, 60),
                            skill.name
                        ));
                    }
                    if !name.is_empty() {
                        skill.name = name;
                    }
                }
                "description" => {
                    skill.description = self.text(key, value)?.map(|text| text.trim_end().to_owned());
                }
                "prompt" if toml => skill.body = self.text(key, value)?.unwrap_or_default(),
                "tools" => {
                    let allowed = self.tools(skill, key, value)?;
                    rules(skill).allow.extend(allowed);
                }
                "disallowedTools" => denied = self.tools(skill, key, value)?,
                "permission" => {}
                "permissionMode" => self.permission(skill, value)?,
                "model" => {
                    let first = match value {
                        Value::List(models) => models.first().unwrap_or(&Value::Null),
                        other => other,
                    };
                    skill.model =
                        self.text(key, first)?.filter(|m| !matches!(m.as_str(), "" | "inherit" | "default"));
                }
                "effort" => {
                    let text = self.text(key, value)?.unwrap_or_default();
                    let effort = Effort::deserialize(
                        IntoDeserializer::<serde::de::value::Error>::into_deserializer(text.as_str()),
                    );
                    match effort {
                        Ok(effort) => skill.effort = Some(effort),
                        Err(_) => left_out.push(format!("effort (`{}`)", cut(&text, 40))),
                    }
                }
                "maxTurns" => {
                    let turns = value.scalar().and_then(|text| text.parse().ok()).filter(|n| *n > 0);
                    let why = "is no number of turns from 1";
                    skill.max_turns = Some(turns.ok_or_else(|| self.bad(key, why))?);
                }
                "metadata" => match value {
                    Value::Map(map) => skill.metadata = map.clone(),
                    Value::Null => {}
                    other => return Err(self.bad(key, format!("wants a map, not {}", other.kind()))),
                },
                quiet if QUIET.contains(&quiet) => {}
                other => left_out.push(cut(other, 60).into_owned()),
            }
        }
        // It wins over the map in `tools`, and what is denied by name over both, wherever they stand.
        if let Some(value) = fields.get("permission") {
            self.permissions(skill, value)?;
        }
        skill.parts.retain(|tool| !denied.contains(tool));
        if !denied.is_empty() {
            rules(skill).deny.extend(denied);
        }
        if toml && !fields.contains_key("prompt") {
            return Err(bad(self.path, "has no `prompt`"));
        }
        if !left_out.is_empty() {
            skill.notices.push(format!("not carried: {}", left_out.join(", ")));
        }
        Ok(())
    }

    /// The text of a scalar; none where there is nothing.
    pub(super) fn text(&self, key: &str, value: &Value) -> Result<Option<String>> {
        match value {
            Value::Null => Ok(None),
            other => match other.scalar() {
                Some(text) => Ok(Some(text)),
                None => Err(self.bad(key, format!("wants text, not {}", other.kind()))),
            },
        }
    }
}
