//! Tool policies in JSON: a string, a list, `{allow, deny, ask}` or `{tool: rule}`.

use super::{ToolPolicy, ToolRules, split_tools, tool_argument};
use crate::error::did_you_mean;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

impl Serialize for ToolPolicy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            ToolPolicy::Flat(tools) => tools.serialize(to),
            ToolPolicy::Structured(rules) => rules.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for ToolPolicy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PolicyVisitor)
    }
}

struct PolicyVisitor;

/// One value of a structured policy: a list, a string, or what a single tool may do.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a tool list, \"allow\", \"deny\", \"ask\", true or false")]
enum RuleValue {
    Flag(bool),
    Text(String),
    List(Vec<String>),
}

impl<'de> de::Visitor<'de> for PolicyVisitor {
    type Value = ToolPolicy;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a tool policy: a string, a list, {allow, deny, ask} or {tool: rule}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ToolPolicy, E> {
        split_tools(text).map(ToolPolicy::Flat).map_err(|e| E::custom(e.message))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<ToolPolicy, A::Error> {
        let mut tools = Vec::new();
        while let Some(tool) = seq.next_element::<String>()? {
            tools.push(entry(tool)?);
        }
        Ok(ToolPolicy::Flat(tools))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<ToolPolicy, A::Error> {
        let (mut rules, mut lists, mut tools) = (ToolRules::default(), false, false);
        while let Some((key, value)) = map.next_entry::<String, RuleValue>()? {
            let place = match key.as_str() {
                "allow" => Some(&mut rules.allow),
                "deny" => Some(&mut rules.deny),
                "ask" => Some(&mut rules.ask),
                _ => None,
            };
            match (place, value) {
                (Some(place), RuleValue::List(list)) => {
                    lists = true;
                    for tool in list {
                        place.push(entry(tool)?);
                    }
                }
                (Some(place), RuleValue::Text(text)) => {
                    lists = true;
                    place.extend(split_tools(&text).map_err(|e| de::Error::custom(e.message))?);
                }
                (None, RuleValue::Flag(true)) => push(&mut tools, &mut rules.allow, entry(key)?),
                (None, RuleValue::Flag(false)) => push(&mut tools, &mut rules.deny, entry(key)?),
                (None, RuleValue::Text(rule)) => {
                    let place = match rule.as_str() {
                        "allow" => &mut rules.allow,
                        "deny" => &mut rules.deny,
                        "ask" => &mut rules.ask,
                        _ => {
                            return Err(de::Error::custom(format!(
                                "tools: `{key}` is `{rule}`, expected \"allow\", \"deny\", \"ask\", true or false"
                            )));
                        }
                    };
                    push(&mut tools, place, entry(key)?);
                }
                (Some(_), RuleValue::Flag(_)) => {
                    return Err(de::Error::custom(format!("tools: `{key}` wants a list of tools")));
                }
                (None, RuleValue::List(_)) => {
                    let near = did_you_mean(&key, ["allow", "deny", "ask"]);
                    return Err(de::Error::custom(format!(
                        "tools: unknown key `{key}` with a list, expected allow, deny or ask{near}"
                    )));
                }
            }
        }
        if lists && tools {
            return Err(de::Error::custom(
                "tools: use {allow, deny, ask} or {tool: rule}, not both in one object",
            ));
        }
        Ok(ToolPolicy::Structured(rules))
    }
}

fn push(seen: &mut bool, place: &mut Vec<String>, tool: String) {
    *seen = true;
    place.push(tool);
}

/// An entry of a list: one tool, taken as it is but for white space around it.
fn entry<E: de::Error>(tool: String) -> Result<String, E> {
    let trimmed = tool.trim();
    let (_, argument) = tool_argument(trimmed);
    match split_tools(trimmed) {
        Err(e) => Err(E::custom(e.message)),
        Ok(_) if trimmed.is_empty() => Err(E::custom("tools: an entry is empty; leave it out")),
        Ok(parts) if parts.len() > 1 && argument.is_none() => {
            Err(E::custom(format!("tools: `{trimmed}` holds {} names; give each its own entry", parts.len())))
        }
        Ok(_) => Ok(trimmed.to_owned()),
    }
}
