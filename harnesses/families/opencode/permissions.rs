//! What the private agent may do, as the CLI's own map of permissions.
//!
//! As read in opencode 1.18.33 and run there and on kilo 7.7.9, 2026-12-01:
//! - The rules of the default agent, of the user's settings and of the agent stand in one list, in this order, and
//!   the last one that matches wins; keys are patterns too. So an `allow` here would set aside what the user denies,
//!   and `"*": "deny"` would take the tools that are granted with it.
//! - Denies alone leave the user's own rules for what is granted in force. They name every tool that is known and not
//!   granted, and by patterns the names that nobody here knows.
//! - A tool whose last rule is a plain deny is not offered to the model at all.
//! - What the user's settings ask about is refused, and ends the run: there is nobody to ask.
//! - `edit`, `write` and `apply_patch` are one permission, `edit`.
//! - `bash` takes patterns, and cannot be held to them: a redirection without a command (`> file`) is no command to
//!   it, and runs unasked.

use super::{AGENT, Fork};
use crate::command::{Check, Piece, Text};
use crate::error::Result;
use crate::harness::{Draft, Rights};
use crate::lowering::Carried;
use crate::policy::{Permission, ToolRule};
use indexmap::IndexMap;
use serde::Serialize;

/// A map of permissions; the order counts.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Permissions(IndexMap<String, Rule>);

/// What one key says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Rule {
    Plain(&'static str),
    ByPattern(IndexMap<String, &'static str>),
}

impl Permissions {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn set(&mut self, key: impl Into<String>, rule: Rule) {
        let key = key.into();
        self.0.shift_remove(&key);
        self.0.insert(key, rule);
    }

    fn deny(&mut self, key: impl Into<String>) {
        self.set(key, Rule::Plain("deny"));
    }
}

/// The permissions of a request, and the rows of what they hold.
pub(super) fn permissions(fork: &Fork, draft: &mut Draft<'_>, carrier: Carried) -> Result<Permissions> {
    let mut all = Permissions::default();
    let request = draft.request;
    if request.restricts() {
        let rights = draft.rights()?;
        held(fork, &rights, &mut all);
        let granted: Vec<&str> = rights.whole().chain(rights.foreign()).collect();
        let granted = match (rights.everything(), granted.is_empty()) {
            (true, _) => "everything that is not denied by name".to_owned(),
            (false, true) => "no tool".to_owned(),
            (false, false) => granted.join(", "),
        };
        let held = format!("the agent {AGENT} is granted {granted}; your own rules for that stay in force");
        draft.rights_row(carrier, held);
        let foreign: Vec<&str> = rights.foreign().collect();
        // What the CLI asks about by itself, and what the pattern for unknown names covers.
        let said = rights.whole().filter(|tool| fork.asks.contains(tool) || tool.contains('_'));
        for tool in said.chain(foreign) {
            all.set(tool, Rule::Plain("allow"));
            not_denied_by_the_user(fork, draft, tool);
        }
    }
    directories(draft, &mut all);
    Ok(all)
}

/// The denies: unknown names first, then the known ones.
fn held(fork: &Fork, rights: &Rights<'_>, all: &mut Permissions) {
    let facts = (fork.facts)();
    if !rights.everything() {
        let granted: Vec<&str> = rights.whole().collect();
        for pattern in other_names(&granted) {
            all.deny(pattern);
        }
        // Tools of MCP servers and of several functions in one file, and what the CLI asks about by itself.
        all.deny("*_*");
    }
    for tool in rights.none() {
        all.deny(tool);
    }
    let named = rights.rules().iter().filter(|rule| rule.rule != ToolRule::Allow && rule.tool != "*");
    for rule in named.filter(|rule| !facts.tools.contains_key(&rule.tool)) {
        all.deny(rule.tool.clone());
    }
    if rights.whole().any(|tool| tool == "read") {
        // By itself the CLI asks about these, which would end the run.
        let secret = ["*.env", "*.env.*"].map(|pattern| (pattern.to_owned(), "deny"));
        all.set("read", Rule::ByPattern(secret.into_iter().collect()));
    }
}

/// Patterns for names that are none of these: every other length, and every other first and second letter
/// at the same length.
///
/// A list of denies has no "all but"; what is left are names of the same length that begin with the same two
/// letters as a granted one.
fn other_names(granted: &[&str]) -> Vec<String> {
    let any = |count: usize| "?".repeat(count);
    let longest = granted.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut patterns = Vec::new();
    for length in 1..=longest {
        let same: Vec<&str> = granted.iter().copied().filter(|name| name.len() == length).collect();
        if same.is_empty() {
            patterns.push(any(length));
            continue;
        }
        for first in 'a'..='z' {
            let begun: Vec<&str> = same.iter().copied().filter(|name| name.starts_with(first)).collect();
            if begun.is_empty() {
                patterns.push(format!("{first}{}", any(length - 1)));
                continue;
            }
            let seconds =
                ('a'..='z').filter(|second| !begun.iter().any(|name| name[1..].starts_with(*second)));
            patterns
                .extend(seconds.map(|second| format!("{first}{second}{}", any(length.saturating_sub(2)))));
        }
    }
    patterns.push(format!("{}*", any(longest + 1)));
    patterns
}

/// Directories besides the workspace: those of the request, and none else under a restriction.
fn directories(draft: &Draft<'_>, all: &mut Permissions) {
    let request = draft.request;
    let full = request.permission == Some(Permission::Full);
    let mut rules: IndexMap<String, &'static str> = IndexMap::new();
    if request.restricts() {
        // Asking is refusing here, and a deny lets the run go on.
        rules.insert("*".to_owned(), if full { "ask" } else { "deny" });
    }
    for dir in &request.add_dirs {
        rules.insert(format!("{}/*", dir.to_string_lossy().trim_end_matches('/')), "allow");
    }
    match (rules.len(), rules.get("*")) {
        (0, _) => {}
        (1, Some(action)) => all.set("external_directory", Rule::Plain(action)),
        _ => all.set("external_directory", Rule::ByPattern(rules)),
    }
}

/// A grant that has to be said sets the user's own rule aside, so there must be none that denies.
fn not_denied_by_the_user(fork: &Fork, draft: &mut Draft<'_>, tool: &str) {
    let why = format!("a run that is granted {tool} would set that rule aside");
    for file in fork.settings {
        let own = vec![Piece::Env("XDG_CONFIG_HOME".into()), Piece::Plain(format!("/{file}").into())];
        for path in [
            Text::Pieces(own.into()),
            Text::Pieces(vec![Piece::Home, Piece::Plain(format!("/.config/{file}").into())].into()),
        ] {
            for text in ["\"deny\"".to_owned(), "\"tools\"".to_owned()] {
                draft.checks.push(Check::NoTextIn {
                    path: path.clone(),
                    text: text.into(),
                    why: why.clone().into(),
                });
            }
        }
    }
}
