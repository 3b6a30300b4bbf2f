//! From the text of a file to a skill: what each format's keys mean here.

use super::front::{self, Fields};
use super::read::{Skill, bad};
use super::value::Value;
use crate::error::{Failure, Result, cut};
use crate::harness::SkillFormat;
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules, split_tools, tool_argument};
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
struct Keys<'a> {
    path: &'a Path,
    front: &'a str,
    first_line: usize,
}

impl Keys<'_> {
    /// A failure that names file, line and key.
    fn bad(&self, key: &str, why: impl std::fmt::Display) -> Failure {
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
                        skill
                            .notices
                            .push(format!("the name `{name}` is not that of its folder, `{}`", skill.name));
                    }
                    if !name.is_empty() {
                        skill.name = name;
                    }
                }
                "description" => {
                    skill.description = self.text(key, value)?.map(|text| text.trim_end().to_owned());
                }
                "prompt" if toml => skill.body = self.text(key, value)?.unwrap_or_default(),
                "tools" => drop(self.tools(skill, key, value)?),
                "disallowedTools" => denied = self.tools(skill, key, value)?,
                "permission" => self.permissions(skill, value)?,
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
        skill.parts.retain(|tool| !denied.contains(tool));
        if toml && !fields.contains_key("prompt") {
            return Err(bad(self.path, "has no `prompt`"));
        }
        if !left_out.is_empty() {
            skill.notices.push(format!("not carried: {}", left_out.join(", ")));
        }
        Ok(())
    }

    fn text(&self, key: &str, value: &Value) -> Result<Option<String>> {
        match value {
            Value::Null => Ok(None),
            other => match other.scalar() {
                Some(text) => Ok(Some(text)),
                None => Err(self.bad(key, format!("wants text, not {}", other.kind()))),
            },
        }
    }

    /// `tools` and its opposite: text, a list, or a map of tool → verdict.
    fn tools(&self, skill: &mut Skill, key: &str, value: &Value) -> Result<Vec<String>> {
        let rule = if key == "tools" { ToolRule::Allow } else { ToolRule::Deny };
        let list = match value {
            Value::Null => {
                skill.notices.push(format!("{key} is empty: nothing may run unasked"));
                Vec::new()
            }
            Value::Text(text) => {
                split_tools(text).map_err(|e| self.bad(key, e.message.trim_start_matches("tools: ")))?
            }
            Value::List(list) => {
                let mut tools = Vec::new();
                for entry in list {
                    let Value::Text(text) = entry else {
                        return Err(self.bad(
                            key,
                            format!("an entry is {}, and wants to be the name of a tool", entry.kind()),
                        ));
                    };
                    tools.extend(
                        split_tools(text)
                            .map_err(|e| self.bad(key, e.message.trim_start_matches("tools: ")))?,
                    );
                }
                tools
            }
            Value::Map(map) if rule == ToolRule::Allow => {
                for (tool, verdict) in map {
                    self.verdict(skill, key, tool, verdict)?;
                }
                rules(skill);
                return Ok(Vec::new());
            }
            other => return Err(self.bad(key, format!("wants a list of tools, not {}", other.kind()))),
        };
        let rules = rules(skill);
        match rule {
            ToolRule::Allow => rules.allow.extend(list.iter().cloned()),
            _ => rules.deny.extend(list.iter().cloned()),
        }
        Ok(list)
    }

    /// `permission`: one verdict, a map of tool → verdict or pattern → verdict, or a permission's name.
    fn permissions(&self, skill: &mut Skill, value: &Value) -> Result<()> {
        match value {
            Value::Null => Ok(()),
            Value::Map(map) => {
                for (tool, verdict) in map {
                    match verdict {
                        Value::Map(patterns) => {
                            for (pattern, verdict) in patterns {
                                let entry =
                                    if pattern == "*" { tool.clone() } else { format!("{tool}({pattern})") };
                                self.verdict(skill, "permission", &entry, verdict)?;
                            }
                        }
                        verdict => self.verdict(skill, "permission", tool, verdict)?,
                    }
                }
                rules(skill);
                Ok(())
            }
            Value::Text(text) if matches!(text.as_str(), "allow" | "deny" | "ask") => {
                self.verdict(skill, "permission", "*", value)
            }
            other => self.permission(skill, other),
        }
    }

    /// One tool's verdict. A later one for the same tool wins, and a verdict on the whole of a tool over the
    /// earlier ones on its parts, as these formats have it.
    fn verdict(&self, skill: &mut Skill, key: &str, tool: &str, verdict: &Value) -> Result<()> {
        let rule = match verdict {
            Value::Bool(true) => ToolRule::Allow,
            Value::Bool(false) => ToolRule::Deny,
            Value::Text(text) if text == "allow" => ToolRule::Allow,
            Value::Text(text) if text == "deny" => ToolRule::Deny,
            Value::Text(text) if text == "ask" => ToolRule::Ask,
            other => {
                let said = other.scalar().unwrap_or_else(|| other.kind().to_owned());
                return Err(self.bad(
                    key,
                    format!("`{tool}` is `{}`, expected allow, deny, ask, true or false", cut(&said, 60)),
                ));
            }
        };
        split_tools(tool).map_err(|e| self.bad(key, e.message.trim_start_matches("tools: ")))?;
        let whole = !tool.contains('(');
        let covered = |entry: &String| {
            entry == tool
                || tool == "*"
                || (whole && entry.strip_prefix(tool).is_some_and(|rest| rest.starts_with('(')))
        };
        if tool == "*" {
            skill.closed = rule != ToolRule::Allow;
        }
        let name = tool_argument(tool).0;
        if rule == ToolRule::Allow && !whole && !skill.parts.iter().any(|own| own == name) {
            let is_refused = skill.tools.as_ref().is_some_and(|tools| {
                tools.entries().any(|(rule, entry)| rule != ToolRule::Allow && entry == name)
            });
            skill.parts.extend(is_refused.then(|| name.to_owned()));
        } else if whole {
            skill.parts.retain(|own| own != tool);
        }
        let rules = rules(skill);
        rules.allow.retain(|entry| !covered(entry));
        if rule == ToolRule::Allow {
            rules.deny.retain(|entry| !covered(entry));
            rules.ask.retain(|entry| !covered(entry));
        }
        match rule {
            ToolRule::Allow => rules.allow.push(tool.to_owned()),
            // Nothing runs that no rule names: a later rule may still allow a part.
            _ if tool == "*" => {}
            ToolRule::Deny => rules.deny.push(tool.to_owned()),
            ToolRule::Ask => rules.ask.push(tool.to_owned()),
        }
        Ok(())
    }

    fn permission(&self, skill: &mut Skill, value: &Value) -> Result<()> {
        let name = self.text("permissionMode", value)?.unwrap_or_default();
        skill.permission = match name.as_str() {
            "" | "default" | "inherit" => None,
            name => match Permission::from_name(name) {
                Ok((permission, _)) => Some(permission),
                Err(_) => {
                    let cut = cut(name, 40);
                    skill
                        .notices
                        .push(format!("the permission `{cut}` is not known here: taken as read-only"));
                    Some(Permission::ReadOnly)
                }
            },
        };
        Ok(())
    }
}

/// The rules of a skill, which has a policy from here on.
fn rules(skill: &mut Skill) -> &mut ToolRules {
    let policy = skill.tools.get_or_insert_with(|| ToolPolicy::Structured(ToolRules::default()));
    if let ToolPolicy::Flat(allow) = policy {
        *policy = ToolPolicy::Structured(ToolRules { allow: std::mem::take(allow), ..ToolRules::default() });
    }
    match policy {
        ToolPolicy::Structured(rules) => rules,
        ToolPolicy::Flat(_) => unreachable!("made structured above"),
    }
}
