//! Tool policies, permission, and the order "at most as much authority as".

use crate::error::{Failure, Result, did_you_mean};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How far the agent may go. Ordered: a smaller permission allows less.
///
/// - Text forms also take the names that people bring from other tools: `plan` (read-only),
///   `acceptEdits` and `auto_edit` (edit), `bypassPermissions` and `yolo` (full). `default`, which
///   would ask a person, becomes `edit`; [`Permission::from_name`] says so in a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Read the workspace; change nothing, run nothing.
    ReadOnly,
    /// Also change files of the workspace.
    Edit,
    /// Anything that the CLI can do without a person.
    Full,
}

impl Permission {
    /// The names that text forms take, in the order of authority.
    pub const NAMES: &'static [&'static str] = &["read-only", "edit", "full"];

    /// The permission of this name, and a notice where the name means something else here.
    pub fn from_name(name: &str) -> Result<(Permission, Option<&'static str>)> {
        const DEFAULT: &str =
            "permission `default` asks a person, and there is none in a headless run: taken as `edit`";
        Ok(match name {
            "read-only" | "read_only" | "readonly" | "plan" => (Permission::ReadOnly, None),
            "edit" | "acceptEdits" | "accept-edits" | "auto_edit" | "auto-edit" => (Permission::Edit, None),
            "full" | "bypassPermissions" | "bypass-permissions" | "yolo" => (Permission::Full, None),
            "default" => (Permission::Edit, Some(DEFAULT)),
            other => {
                let near = did_you_mean(other, Permission::NAMES.iter().copied());
                return Err(Failure::invalid(
                    "permission",
                    format!("`{other}` is none of read-only, edit, full{near}"),
                ));
            }
        })
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        Permission::NAMES[self as usize]
    }
}

impl std::str::FromStr for Permission {
    type Err = Failure;
    fn from_str(name: &str) -> Result<Self> {
        Permission::from_name(name).map(|(permission, _)| permission)
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(|e: Failure| de::Error::custom(e.message))
    }
}

/// Which tools may run.
///
/// Three things that are not the same:
/// - no policy at all (the request's field is absent): the request restricts no tool;
/// - an empty policy (`""`, `[]`, `{}`): nothing with side effects may run unasked;
/// - a policy that denies everything (`{"deny": ["*"]}`): no tool may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Tools that may run unasked; nothing else with side effects may.
    Flat(Vec<String>),
    /// Rules; deny beats ask, ask beats allow. What no rule names may not run unasked when it has
    /// side effects.
    Structured(ToolRules),
}

/// The rules of a structured policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolRules {
    /// May run unasked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// May not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// May run when a person says so; in a headless run there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
}

impl ToolPolicy {
    /// A policy from text: a JSON object or list, else a flat list (see [`split_tools`]).
    pub fn from_text(text: &str) -> Result<ToolPolicy> {
        if text.trim_start().starts_with(['{', '[']) {
            let said = |e: serde_json::Error| e.to_string();
            return serde_json::from_str(text)
                .map_err(|e| Failure::invalid("tools", said(e).trim_start_matches("tools: ")));
        }
        split_tools(text).map(ToolPolicy::Flat)
    }

    /// Whether the policy lets this tool run unasked, names compared as they are.
    ///
    /// `name` may carry an argument (`shell(git status)`): a rule without one covers it, and a rule
    /// with one covers it when the words of the rule begin the words of the argument.
    pub fn allows(&self, name: &str) -> bool {
        match self {
            ToolPolicy::Flat(tools) => tools.iter().any(|rule| covers(rule, name)),
            ToolPolicy::Structured(rules) => {
                rules.allow.iter().any(|rule| covers(rule, name)) && !self.refuses(name)
            }
        }
    }

    /// Whether the policy names this tool in `deny` or `ask`: either way it may not run headless.
    pub fn refuses(&self, name: &str) -> bool {
        match self {
            ToolPolicy::Flat(_) => false,
            ToolPolicy::Structured(r) => r.deny.iter().chain(&r.ask).any(|rule| covers(rule, name)),
        }
    }

    /// Every entry of the policy with the rule that it stands under.
    pub fn entries(&self) -> impl Iterator<Item = (ToolRule, &str)> {
        let (flat, rules) = match self {
            ToolPolicy::Flat(tools) => (tools.as_slice(), None),
            ToolPolicy::Structured(rules) => (rules.allow.as_slice(), Some(rules)),
        };
        flat.iter().map(|t| (ToolRule::Allow, t.as_str())).chain(rules.into_iter().flat_map(|r| {
            r.deny
                .iter()
                .map(|t| (ToolRule::Deny, t.as_str()))
                .chain(r.ask.iter().map(|t| (ToolRule::Ask, t.as_str())))
        }))
    }
}

/// Whether a tool may run with no one there to ask, under a permission and a policy.
///
/// `needs` is the least permission that covers what the tool does. A tool that only reads needs no
/// entry in a policy, but one that is refused by name stays refused.
pub fn permits(
    permission: Option<Permission>,
    tools: Option<&ToolPolicy>,
    name: &str,
    needs: Permission,
) -> bool {
    if permission.is_some_and(|ceiling| needs > ceiling) {
        return false;
    }
    match tools {
        None => true,
        Some(policy) if needs == Permission::ReadOnly => !policy.refuses(name),
        Some(policy) => policy.allows(name),
    }
}

/// What a rule says of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolRule {
    /// It may run unasked.
    Allow,
    /// It may not run.
    Deny,
    /// A person decides.
    Ask,
}

/// A tool's name and what stands in its parentheses: `shell(git status)` → `("shell", "git status")`.
pub fn tool_argument(entry: &str) -> (&str, Option<&str>) {
    match entry.strip_suffix(')').and_then(|e| e.split_once('(')) {
        Some((name, argument)) => (name, Some(argument)),
        None => (entry, None),
    }
}

fn covers(rule: &str, tool: &str) -> bool {
    if rule == "*" || rule == tool {
        return true;
    }
    let ((rule, prefix), (tool, argument)) = (tool_argument(rule), tool_argument(tool));
    rule == tool
        && match (prefix, argument) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(p), Some(a)) => {
                a.strip_prefix(p).is_some_and(|r| r.is_empty() || r.starts_with([' ', '\t']))
            }
        }
}

/// Splits a flat list at commas and white space that stand outside parentheses, brackets, braces and
/// quotes. Unbalanced ones are an error: a cut rule is another rule.
pub fn split_tools(text: &str) -> Result<Vec<String>> {
    let (mut entries, mut open, mut quote, mut start) = (Vec::new(), Vec::new(), None, 0);
    let unbalanced = |what: char, at: usize| {
        Failure::invalid(
            "tools",
            format!("unbalanced `{what}` at byte {at} of `{}`", crate::error::cut(text, 80)),
        )
        .hint("close it, or give the tools as a JSON list")
    };
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some((q, _)), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some((c, at)),
            (None, '(' | '[' | '{') => open.push((c, at)),
            (None, ')' | ']' | '}') => match open.pop() {
                Some(('(', _)) if c == ')' => {}
                Some(('[', _)) if c == ']' => {}
                Some(('{', _)) if c == '}' => {}
                _ => return Err(unbalanced(c, at)),
            },
            (None, c) if open.is_empty() && (c == ',' || c.is_whitespace()) => {
                entries.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if let Some((c, at)) = quote.or(open.pop()) {
        return Err(unbalanced(c, at));
    }
    entries.push(&text[start..]);
    Ok(entries.into_iter().filter(|e| !e.is_empty()).map(str::to_owned).collect())
}

impl Serialize for ToolPolicy {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            ToolPolicy::Flat(tools) => tools.serialize(to),
            ToolPolicy::Structured(rules) => rules.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for ToolPolicy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
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

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<ToolPolicy, E> {
        split_tools(text).map(ToolPolicy::Flat).map_err(|e| E::custom(e.message))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<ToolPolicy, A::Error> {
        let mut tools = Vec::new();
        while let Some(tool) = seq.next_element::<String>()? {
            tools.push(entry(tool)?);
        }
        Ok(ToolPolicy::Flat(tools))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> std::result::Result<ToolPolicy, A::Error> {
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
fn entry<E: de::Error>(tool: String) -> std::result::Result<String, E> {
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
