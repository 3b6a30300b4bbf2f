//! What the keys for tools and permissions say.

use super::parse::Keys;
use super::read::Skill;
use super::value::Value;
use crate::error::{Result, cut};
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules, split_tools, tool_argument};

impl Keys<'_> {
    /// The tools of a list; of a map of tool → verdict none, since its rules go into the skill.
    pub(super) fn tools(&self, skill: &mut Skill, key: &str, value: &Value) -> Result<Vec<String>> {
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
            Value::Map(map) if key == "tools" => {
                for (tool, verdict) in map {
                    self.verdict(skill, key, tool, verdict)?;
                }
                rules(skill);
                return Ok(Vec::new());
            }
            other => return Err(self.bad(key, format!("wants a list of tools, not {}", other.kind()))),
        };
        rules(skill);
        Ok(list)
    }

    /// `permission`: one verdict, a map of tool → verdict or pattern → verdict, or a permission's name.
    pub(super) fn permissions(&self, skill: &mut Skill, value: &Value) -> Result<()> {
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

    /// A permission by its name.
    pub(super) fn permission(&self, skill: &mut Skill, value: &Value) -> Result<()> {
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
pub(super) fn rules(skill: &mut Skill) -> &mut ToolRules {
    let policy = skill.tools.get_or_insert_with(|| ToolPolicy::Structured(ToolRules::default()));
    if let ToolPolicy::Flat(allow) = policy {
        *policy = ToolPolicy::Structured(ToolRules { allow: std::mem::take(allow), ..ToolRules::default() });
    }
    match policy {
        ToolPolicy::Structured(rules) => rules,
        ToolPolicy::Flat(_) => unreachable!("made structured above"),
    }
}
