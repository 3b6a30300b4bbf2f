//! Tool policies: which tools may run, and what covers what.

use super::{Permission, split_tools};
use crate::error::{Failure, Result};
use serde::{Deserialize, Serialize};

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
