//! What an agent may do under a request, in a harness's own tools: worked out once, for every builder to render.

use super::Facts;
use super::facts::ArgumentStyle;
use crate::error::{Failure, Kind, Result, cut, did_you_mean};
use crate::policy::{Permission, ToolPolicy, ToolRule, Word, tool_argument};
use crate::request::DispatchRequest;

/// What an agent may do: a permission and a policy, in a harness's own tools.
#[derive(Debug, Clone)]
pub struct Rights<'f> {
    facts: &'f Facts,
    permission: Option<Permission>,
    rules: Option<Vec<OwnRule>>,
}

/// One entry of a policy, in a harness's own names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRule {
    /// What it says.
    pub rule: ToolRule,
    /// The harness's own name for the tool, or `*`.
    pub tool: String,
    /// How much of the tool.
    pub limit: Limit,
}

/// How much of a tool a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// All of it.
    Whole,
    /// Shell commands that begin with these words.
    Words(String),
    /// What the CLI's own pattern says.
    Pattern(String),
}

/// Whether a tool may run with no one there to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum May<'r> {
    /// It may not.
    No,
    /// Only so far.
    Only(Vec<&'r Limit>),
    /// It may.
    Yes,
}

impl<'f> Rights<'f> {
    /// The rights of a request.
    ///
    /// - The five words of every harness (`read`, `edit`, `shell(first words)`, `web`,
    ///   `mcp(server/tool)`) come to the harness's own tools by its facts; they win over a tool of the
    ///   same name. A name of the harness's own passes as it is.
    /// - A name that the harness does not know is refused, since most CLIs ignore it in silence.
    ///
    /// Errors: [`Kind::Unsupported`] that names the entry.
    pub fn of(facts: &'f Facts, request: &DispatchRequest) -> Result<Rights<'f>> {
        let rules = request.tools.as_ref().map(|policy| own_rules(facts, policy)).transpose()?;
        Ok(Rights { facts, permission: request.permission, rules })
    }

    /// Every rule of the policy.
    pub fn rules(&self) -> &[OwnRule] {
        self.rules.as_deref().unwrap_or_default()
    }

    /// Whether there is a policy.
    pub fn has_policy(&self) -> bool {
        self.rules.is_some()
    }

    /// Whether this tool may run. A tool that lifts limits may not, whatever names it.
    pub fn may(&self, tool: &str) -> May<'_> {
        let known = self.facts.tools.get(tool);
        let needs = known.map_or(Permission::Full, |tool| tool.needs);
        if known.is_some_and(|tool| tool.escalates) || self.permission.is_some_and(|most| needs > most) {
            return May::No;
        }
        let Some(rules) = &self.rules else { return May::Yes };
        let about = |rule: &&OwnRule| rule.tool == "*" || rule.tool == tool;
        if rules.iter().filter(about).any(|r| r.rule != ToolRule::Allow && r.limit == Limit::Whole) {
            return May::No;
        }
        let mut allowed = rules.iter().filter(about).filter(|r| r.rule == ToolRule::Allow).peekable();
        if needs == Permission::ReadOnly || allowed.clone().any(|r| r.limit == Limit::Whole) {
            return May::Yes;
        }
        match allowed.peek() {
            Some(_) => May::Only(allowed.map(|rule| &rule.limit).collect()),
            None => May::No,
        }
    }

    /// The known tools that may run whole, in the order of the facts.
    pub fn whole(&self) -> impl Iterator<Item = &'f str> + '_ {
        self.facts.tools.keys().map(String::as_str).filter(|tool| self.may(tool) == May::Yes)
    }

    /// The known tools that may not run at all, in the order of the facts.
    pub fn none(&self) -> impl Iterator<Item = &'f str> + '_ {
        self.facts.tools.keys().map(String::as_str).filter(|tool| self.may(tool) == May::No)
    }

    /// The known tools that may run so far, each with its limits.
    pub fn partly(&self) -> impl Iterator<Item = (&'f str, Vec<&Limit>)> + '_ {
        self.facts.tools.keys().filter_map(|tool| match self.may(tool) {
            May::Only(limits) => Some((tool.as_str(), limits)),
            _ => None,
        })
    }

    /// What of a tool is denied, where the tool as a whole is not.
    pub fn denied(&self, tool: &str) -> impl Iterator<Item = &Limit> + '_ {
        let tool = tool.to_owned();
        self.rules().iter().filter(move |r| r.rule != ToolRule::Allow && r.tool == tool).map(|r| &r.limit)
    }

    /// The tools that may run and are in no list of the facts: those of MCP servers.
    pub fn foreign(&self) -> impl Iterator<Item = &str> + '_ {
        let named = self.rules().iter().map(|rule| rule.tool.as_str()).filter(|tool| *tool != "*");
        named.filter(|tool| !self.facts.tools.contains_key(*tool) && self.may(tool) == May::Yes)
    }

    /// Whether also tools that nobody here knows may run.
    pub fn everything(&self) -> bool {
        self.may("") == May::Yes
    }

    /// Whether nothing but reading is left.
    pub fn only_reads(&self) -> bool {
        let more = |(name, tool): (&String, &super::HarnessTool)| {
            tool.needs > Permission::ReadOnly && self.may(name) != May::No
        };
        !self.facts.tools.iter().any(more) && self.foreign().next().is_none()
    }

    /// Whether any tool of this word may run, at least so far.
    pub fn any_of(&self, word: Word) -> bool {
        let mut tools = self.facts.tools.iter().filter(|(_, tool)| tool.word == Some(word));
        tools.any(|(name, _)| self.may(name) != May::No)
    }

    /// Entries that a policy allows and the permission does not.
    pub fn over(&self) -> impl Iterator<Item = (&OwnRule, Permission)> + '_ {
        self.rules().iter().filter(|rule| rule.rule == ToolRule::Allow && rule.tool != "*").filter_map(
            |rule| {
                let needs = self.facts.tools.get(&rule.tool).map_or(Permission::Full, |tool| tool.needs);
                self.permission.is_some_and(|most| needs > most).then_some((rule, needs))
            },
        )
    }

    /// Whether this use of a tool may run: its own name, with an argument in parentheses.
    pub fn permits(&self, used: &str) -> bool {
        let (name, argument) = tool_argument(used);
        let covers = |limit: &Limit| match (limit, argument) {
            (Limit::Whole, _) => true,
            (_, None) => false,
            (Limit::Pattern(pattern), Some(argument)) => pattern == argument,
            (Limit::Words(words), Some(argument)) => argument
                .strip_prefix(words.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with([' ', '\t'])),
        };
        let tool = self.facts.tool(name).map_or(name, |(own, _)| own);
        if self.denied(tool).any(covers) {
            return false;
        }
        match self.may(tool) {
            May::No => false,
            May::Yes => true,
            May::Only(limits) => limits.into_iter().any(covers),
        }
    }
}

fn own_rules(facts: &Facts, policy: &ToolPolicy) -> Result<Vec<OwnRule>> {
    let mut rules: Vec<OwnRule> = Vec::new();
    for (rule, entry) in policy.entries() {
        for (tool, limit) in resolve(facts, rule, entry)? {
            let own = OwnRule { rule, tool, limit };
            if !rules.contains(&own) {
                rules.push(own);
            }
        }
    }
    Ok(rules)
}

/// The tools that an entry names, in the harness's own words.
fn resolve(facts: &Facts, rule: ToolRule, entry: &str) -> Result<Vec<(String, Limit)>> {
    let name_of = &facts.name;
    let bad = |why: String| Failure::new(Kind::Unsupported, format!("tools: `{}`: {why}", cut(entry, 120)));
    let (name, argument) = tool_argument(entry);
    if name == "*" {
        return match argument {
            None => Ok(vec![("*".to_owned(), Limit::Whole)]),
            Some(_) => Err(bad("`*` takes no argument".to_owned())),
        };
    }
    match Word::from_name(name) {
        Some(Word::Mcp) => return mcp(facts, rule, argument).map_err(bad),
        Some(word) => {
            let limit = match argument {
                None => Limit::Whole,
                Some(words) if word == Word::Shell && facts.arguments != ArgumentStyle::None => {
                    Limit::Words(first_words(words).map_err(bad)?)
                }
                Some(_) if word == Word::Shell => {
                    return Err(bad(format!(
                        "{name_of} can be held to whole tools only, not to the words of a command"
                    ))
                    .hint("leave the argument out, or another harness may enforce it: `teamster list`"));
                }
                Some(_) => return Err(bad(format!("`{}` takes no argument", word.name()))),
            };
            let own = facts.tools.iter().filter(|(_, tool)| tool.word == Some(word));
            let tools: Vec<_> = own.map(|(own, _)| (own.clone(), limit.clone())).collect();
            return match tools.is_empty() {
                // What is not there cannot run.
                true if rule != ToolRule::Allow => Ok(tools),
                true => Err(bad(format!("{name_of} has no tool for `{}`", word.name()))),
                false => Ok(tools),
            };
        }
        None => {}
    }
    if let Some((own, tool)) = facts.tool(name) {
        let limit = match (argument, facts.arguments) {
            (None, _) => Limit::Whole,
            (Some(_), ArgumentStyle::None) => {
                return Err(
                    bad(format!("{name_of} can be held to whole tools only")).hint("leave the argument out")
                );
            }
            (Some(words), ArgumentStyle::Words) if tool.word == Some(Word::Shell) => {
                Limit::Words(first_words(words).map_err(bad)?)
            }
            (Some(_), ArgumentStyle::Words) => return Err(bad("only a shell takes an argument".to_owned())),
            (Some(pattern), ArgumentStyle::Patterns) => Limit::Pattern(pattern.to_owned()),
        };
        return Ok(vec![(own.to_owned(), limit)]);
    }
    if facts.is_foreign(name) {
        return match argument {
            None => Ok(vec![(name.to_owned(), Limit::Whole)]),
            Some(_) => Err(bad("a tool of an MCP server takes no argument here".to_owned())),
        };
    }
    let known = facts.tools.keys().map(String::as_str).chain(Word::ALL.iter().map(|word| word.name()));
    let near = did_you_mean(name, known);
    Err(bad(format!("{name_of} has no such tool and would ignore it{near}"))
        .hint(format!("its tools: `teamster list {}`; on every harness: read, edit, shell, web", facts.id)))
}

/// The first words of a command.
fn first_words(words: &str) -> std::result::Result<String, String> {
    if words.trim() != words || words.is_empty() || words.chars().any(char::is_control) {
        return Err("the argument is the first words of a command, on one line".to_owned());
    }
    if words.ends_with('*') {
        return Err("these are the first words of a command, and no pattern: leave the * out, \
                    `git status` covers `git status -s`"
            .to_owned());
    }
    Ok(words.to_owned())
}

fn mcp(
    facts: &Facts,
    rule: ToolRule,
    argument: Option<&str>,
) -> std::result::Result<Vec<(String, Limit)>, String> {
    let Some(argument) = argument else {
        // Under a policy no tool of a server runs that is not allowed by name.
        return match rule {
            ToolRule::Allow => Err("name the tool: mcp(server/tool)".to_owned()),
            _ => Ok(Vec::new()),
        };
    };
    let parts = argument.split_once('/').filter(|(server, tool)| is_plain(server) && is_plain(tool));
    let (Some((server, tool)), Some(template)) = (parts, &facts.mcp_tool) else {
        return Err(match &facts.mcp_tool {
            None => format!("{} cannot be held to single tools of MCP servers", facts.name),
            Some(_) => "write mcp(server/tool), each of letters, digits, _, - and .".to_owned(),
        });
    };
    Ok(vec![(template.replace("{server}", server).replace("{tool}", tool), Limit::Whole)])
}

pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
