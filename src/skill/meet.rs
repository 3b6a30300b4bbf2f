//! What two policies both let.

use crate::error::Result;
use crate::harness::{Facts, Limit, OwnRule, Rights};
use crate::policy::{ToolPolicy, ToolRule, ToolRules};
use crate::request::DispatchRequest;

/// The policy under which a tool may run only where it may under both, on one harness.
///
/// Every deny and ask of both holds. An entry that one allows stays where the other allows all of it; what two
/// entries share only in part is left out, so the result may be smaller than what both let, and never larger.
///
/// Errors: those of [`Rights::of`] for an entry that the harness does not know.
pub fn meet(facts: &Facts, one: &ToolPolicy, other: &ToolPolicy) -> Result<ToolPolicy> {
    let (mine, theirs) = (allowed(facts, one)?, allowed(facts, other)?);
    let mut rules = ToolRules::default();
    for (entries, others) in [(&mine, &theirs), (&theirs, &mine)] {
        for (entry, own) in entries {
            let within = |rule: &OwnRule| others.iter().flat_map(|(_, own)| own).any(|by| covers(by, rule));
            if own.iter().all(within) && !rules.allow.contains(entry) {
                rules.allow.push(entry.clone());
            }
        }
    }
    for (rule, entry) in one.entries().chain(other.entries()) {
        let place = match rule {
            ToolRule::Allow => continue,
            ToolRule::Deny => &mut rules.deny,
            ToolRule::Ask => &mut rules.ask,
        };
        if !place.iter().any(|there| there == entry) {
            place.push(entry.to_owned());
        }
    }
    Ok(policy(rules))
}

/// A policy of these rules: a flat one where nothing is denied or asked.
pub(super) fn policy(rules: ToolRules) -> ToolPolicy {
    match rules.deny.is_empty() && rules.ask.is_empty() {
        true => ToolPolicy::Flat(rules.allow),
        false => ToolPolicy::Structured(rules),
    }
}

/// What one entry comes to on a harness.
pub(super) fn own_rules(facts: &Facts, rule: ToolRule, entry: &str) -> Result<Vec<OwnRule>> {
    let mut rules = ToolRules::default();
    match rule {
        ToolRule::Allow => rules.allow.push(entry.to_owned()),
        ToolRule::Deny => rules.deny.push(entry.to_owned()),
        ToolRule::Ask => rules.ask.push(entry.to_owned()),
    }
    let request =
        DispatchRequest { tools: Some(ToolPolicy::Structured(rules)), ..DispatchRequest::default() };
    Ok(Rights::of(facts, &request)?.rules().to_vec())
}

fn allowed(facts: &Facts, policy: &ToolPolicy) -> Result<Vec<(String, Vec<OwnRule>)>> {
    let allowed = policy.entries().filter(|(rule, _)| *rule == ToolRule::Allow);
    allowed.map(|(rule, entry)| Ok((entry.to_owned(), own_rules(facts, rule, entry)?))).collect()
}

fn covers(by: &OwnRule, rule: &OwnRule) -> bool {
    (by.tool == "*" || by.tool == rule.tool)
        && match (&by.limit, &rule.limit) {
            (Limit::Whole, _) => true,
            (Limit::Words(first), Limit::Words(words)) => words
                .strip_prefix(first.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            (one, other) => one == other,
        }
}
