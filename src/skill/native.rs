//! The names that a file has for tools, in the words of the harness in use.

use super::meet::{own_rules, policy};
use super::pattern::Pattern;
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::{AgentBuilder, ArgumentStyle, Facts, HarnessRegistry, HarnessTool};
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules, Word, tool_argument};

/// Translates for one file and one harness.
pub(super) struct Native<'a> {
    /// The harness in use.
    pub(super) target: &'a Facts,
    /// The harness whose names the file has.
    pub(super) source: Option<&'a Facts>,
    /// All harnesses, for names of others.
    pub(super) registry: &'a HarnessRegistry,
    /// Tools that the file denies but for the parts that it allows.
    pub(super) parts: &'a [String],
}

/// What a name stands for.
enum Meaning<'f> {
    /// No right at all.
    Nothing,
    /// A tool of the harness in use, by its own name.
    Own,
    /// A kind of tool, with the style of arguments that the name has; narrow where it is less than the kind.
    Word(Word, ArgumentStyle, bool),
    /// One tool of an MCP server, as `server/tool`.
    Mcp(String),
    /// All tools of an MCP server, or some of them that cannot be told.
    Server,
    /// A tool of a harness, like no other's.
    Other(&'f HarnessTool),
    /// Nobody knows.
    Unknown,
}

impl<'a> Native<'a> {
    /// A policy of the file's in the words of the harness in use.
    ///
    /// - What is allowed and cannot be told exactly is left out, or told smaller, with a notice.
    /// - What is denied and cannot be told exactly is told larger, with a notice.
    /// - `closed`: also reading that is not allowed by name is denied.
    ///
    /// Errors: [`Kind::Unsupported`] for a denied tool that the harness in use could not be held from.
    pub(super) fn policy(
        &self,
        tools: &ToolPolicy,
        closed: bool,
        notices: &mut Vec<String>,
    ) -> Result<ToolPolicy> {
        let mut rules = ToolRules::default();
        let mut left_out = Vec::new();
        for (rule, entry) in tools.entries().filter(|(rule, _)| *rule == ToolRule::Allow) {
            match self.allow(entry) {
                Ok(Some(told)) if own_rules(self.target, rule, &told).is_ok() => push(&mut rules.allow, told),
                Ok(Some(_)) => left_out.push(format!("`{}` (not told apart there)", cut(entry, 80))),
                Ok(None) => {}
                Err(why) => left_out.push(format!("`{}` ({why})", cut(entry, 80))),
            }
        }
        if !left_out.is_empty() {
            notices.push(format!("not allowed on {}: {}", self.target.id, left_out.join(", ")));
        }
        let everything = rules.allow.iter().any(|entry| entry == "*");
        let mut larger = Vec::new();
        for (rule, entry) in tools.entries().filter(|(rule, _)| *rule != ToolRule::Allow) {
            if !everything
                && self.parts.iter().any(|tool| tool == entry)
                && self.needs(entry) > Permission::ReadOnly
            {
                // What is not allowed may not run anyhow.
                continue;
            }
            let Some(told) = self.deny(rule, entry, everything, notices)? else { continue };
            let part = tool_argument(entry).1.is_some() && tool_argument(&told).1.is_none();
            let narrow = matches!(self.meaning(tool_argument(entry).0, entry), Meaning::Word(_, _, true));
            if (part || narrow) && told != "*" {
                larger.push(format!("`{}` as all of `{told}`", cut(entry, 80)));
            }
            push(if rule == ToolRule::Deny { &mut rules.deny } else { &mut rules.ask }, told);
        }
        if !larger.is_empty() {
            notices.push(format!("denied on {}: {}", self.target.id, larger.join(", ")));
        }
        if closed && !everything {
            self.close(&mut rules)?;
        }
        Ok(policy(rules))
    }

    /// What of an entry may be allowed; `None` where nothing needs to be, an error where it cannot be told.
    fn allow(&self, entry: &str) -> std::result::Result<Option<String>, String> {
        let (name, argument) = tool_argument(entry);
        if name == "*" {
            return Ok(Some(entry.to_owned()));
        }
        let argument = argument.filter(|argument| *argument != "*");
        match (self.meaning(name, entry), argument) {
            (Meaning::Nothing, _) => Ok(None),
            (Meaning::Own, None) => Ok(Some(name.to_owned())),
            (Meaning::Own, Some(argument)) => Ok(Some(self.own(name, argument))),
            (Meaning::Word(word, _, true), _) => Err(format!("less than `{}`", word.name())),
            (Meaning::Word(word, ..), None) => Ok(Some(word.name().to_owned())),
            (Meaning::Word(Word::Shell, style, _), Some(argument)) => {
                let words = Pattern::of(argument, style).at_most();
                words
                    .map(|words| Some(shell_of(&words)))
                    .ok_or("one command or a pattern, not first words".to_owned())
            }
            (Meaning::Word(Word::Read, ..), Some(_)) => Ok(None),
            (Meaning::Word(..), Some(_)) => Err("its argument cannot be told".to_owned()),
            (Meaning::Mcp(tool), _) => Ok(Some(format!("mcp({tool})"))),
            (Meaning::Server, _) => Err("no single tool of an MCP server".to_owned()),
            (Meaning::Other(_), _) => Err("no such tool there".to_owned()),
            (Meaning::Unknown, _) => Err("no harness has such a tool".to_owned()),
        }
    }

    /// A tool of the harness in use with an argument. The same first words get one spelling, so that policies can be
    /// compared.
    fn own(&self, name: &str, argument: &str) -> String {
        let shell = self.target.tool(name).is_some_and(|(_, tool)| tool.word == Some(Word::Shell));
        let words = Pattern::of(argument, self.target.arguments).exactly();
        words.filter(|_| shell).map_or_else(|| format!("{name}({argument})"), |words| shell_of(&words))
    }

    /// What has to be denied for an entry to be; `None` where it may not run anyhow.
    fn deny(
        &self,
        rule: ToolRule,
        entry: &str,
        everything: bool,
        notices: &mut Vec<String>,
    ) -> Result<Option<String>> {
        let (name, argument) = tool_argument(entry);
        if name == "*" {
            return Ok(Some(name.to_owned()));
        }
        let keeps = |told: &String| own_rules(self.target, rule, told).is_ok();
        let implied = |needs: Permission| !everything && needs > Permission::ReadOnly;
        let first = |told: [Option<String>; 2]| told.into_iter().flatten().find(keeps);
        let argument = argument.filter(|argument| *argument != "*");
        let told = match self.meaning(name, entry) {
            Meaning::Nothing => {
                notices.push(format!(
                    "what it says of `{}` is not carried: no right stands for it",
                    cut(entry, 80)
                ));
                return Ok(None);
            }
            Meaning::Own => first([argument.map(|argument| self.own(name, argument)), Some(name.to_owned())]),
            Meaning::Word(Word::Shell, style, _) => {
                let words = argument.and_then(|argument| Pattern::of(argument, style).at_least());
                first([words.map(|words| shell_of(&words)), Some("shell".to_owned())])
            }
            Meaning::Word(word, ..) => Some(word.name().to_owned()).filter(keeps),
            Meaning::Mcp(tool) => match Some(format!("mcp({tool})")).filter(keeps) {
                None if implied(Permission::Full) => return Ok(None),
                told => told,
            },
            Meaning::Server if implied(Permission::Full) => return Ok(None),
            Meaning::Other(tool) if implied(tool.needs) => return Ok(None),
            Meaning::Server | Meaning::Other(_) | Meaning::Unknown => None,
        };
        told.map(Some).ok_or_else(|| {
            let why = format!(
                "tools: `{}` is denied, and {} cannot be held from it: it knows no such tool",
                cut(entry, 120),
                self.target.name
            );
            Failure::new(Kind::Unsupported, why)
                .hint("say with --tools what may run; it replaces the file's tools")
        })
    }

    /// The least permission for a tool of the file's; `read-only` where nobody knows.
    fn needs(&self, name: &str) -> Permission {
        match self.meaning(name, name) {
            Meaning::Own => self.target.tool(name).map_or(Permission::ReadOnly, |(_, tool)| tool.needs),
            Meaning::Word(Word::Read, ..) | Meaning::Nothing | Meaning::Unknown => Permission::ReadOnly,
            Meaning::Word(Word::Edit, ..) => Permission::Edit,
            Meaning::Word(..) | Meaning::Mcp(_) | Meaning::Server => Permission::Full,
            Meaning::Other(tool) => tool.needs,
        }
    }

    /// Denies reading that no rule allows.
    fn close(&self, rules: &mut ToolRules) -> Result<()> {
        if rules.allow.is_empty() {
            rules.deny = vec!["*".to_owned()];
            return Ok(());
        }
        let mut allowed = Vec::new();
        for entry in &rules.allow {
            allowed.extend(own_rules(self.target, ToolRule::Allow, entry)?);
        }
        for (name, tool) in &self.target.tools {
            let open = allowed.iter().any(|own| own.tool == *name);
            if tool.needs == Permission::ReadOnly && !open {
                push(&mut rules.deny, name.clone());
            }
        }
        Ok(())
    }

    /// What a name stands for: in the file's own harness, then in the words of every harness, then in the
    /// harness in use, then in any other one.
    fn meaning(&self, name: &str, entry: &str) -> Meaning<'a> {
        let own = self.source.map_or(Meaning::Unknown, |facts| self.meaning_in(facts, name));
        if !matches!(own, Meaning::Unknown) {
            return own;
        }
        if let Some(word) = Word::from_name(name) {
            return match (word, tool_argument(entry).1) {
                (Word::Mcp, Some(tool)) if !tool.ends_with('*') => Meaning::Mcp(tool.to_owned()),
                (Word::Mcp, _) => Meaning::Server,
                // The words' own argument is first words, but people write patterns into it.
                (word, Some(argument)) if argument.contains('*') => {
                    Meaning::Word(word, ArgumentStyle::Patterns, false)
                }
                (word, _) => Meaning::Word(word, ArgumentStyle::Words, false),
            };
        }
        if let Some((server, tool)) = name.split_once('/') {
            return if tool == "*" { Meaning::Server } else { Meaning::Mcp(format!("{server}/{tool}")) };
        }
        let target = self.meaning_in(self.target, name);
        if !matches!(target, Meaning::Unknown) {
            return target;
        }
        // Of other harnesses all have to mean the same.
        let mut found = Meaning::Unknown;
        for facts in self.registry.iter().map(AgentBuilder::facts) {
            found = match (found, self.meaning_in(facts, name)) {
                (found, Meaning::Unknown) => found,
                (Meaning::Unknown, next) => next,
                (Meaning::Word(one, style, narrow), Meaning::Word(other, _, also)) if one == other => {
                    Meaning::Word(one, style, narrow || also)
                }
                (Meaning::Nothing, Meaning::Nothing) => Meaning::Nothing,
                (Meaning::Other(one), Meaning::Other(other)) => {
                    Meaning::Other(if one.needs < other.needs { one } else { other })
                }
                (Meaning::Mcp(one), Meaning::Mcp(other)) if one == other => Meaning::Mcp(one),
                _ => return Meaning::Unknown,
            };
        }
        found
    }

    fn meaning_in(&self, facts: &'a Facts, name: &str) -> Meaning<'a> {
        if let Some(word) = facts.skill_tools.get(name) {
            return word.map_or(Meaning::Nothing, |word| Meaning::Word(word, facts.arguments, false));
        }
        let target = facts.id == self.target.id;
        match facts.tool(name) {
            Some(_) if target => Meaning::Own,
            Some((_, tool)) => match tool.word {
                Some(word) => Meaning::Word(word, facts.arguments, tool.narrow),
                None => Meaning::Other(tool),
            },
            None => match facts.mcp_tool.as_deref() {
                _ if target && facts.is_foreign(name) && !name.ends_with('*') => Meaning::Own,
                Some(template) => mcp_tool(template, name),
                None => Meaning::Unknown,
            },
        }
    }
}

/// What a name is by a harness's template for tools of MCP servers.
fn mcp_tool<'f>(template: &str, name: &str) -> Meaning<'f> {
    let parts = template.split_once("{server}").and_then(|(before, rest)| {
        let (between, after) = rest.split_once("{tool}")?;
        // Without a beginning of its own any name would do.
        (!before.is_empty() && !between.is_empty() && after.is_empty()).then_some((before, between))
    });
    let Some((before, between)) = parts else { return Meaning::Unknown };
    let Some(rest) = name.strip_prefix(before).filter(|rest| !rest.is_empty()) else {
        return Meaning::Unknown;
    };
    match rest.split(between).collect::<Vec<_>>()[..] {
        [_] | [_, "" | "*"] => Meaning::Server,
        [server, tool] if !server.is_empty() => Meaning::Mcp(format!("{server}/{tool}")),
        // Where the name of the server ends cannot be told.
        _ => Meaning::Server,
    }
}

fn shell_of(words: &str) -> String {
    format!("shell({words})")
}

fn push(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}
