//! A command never lets the agent do more than the request and the profile allow.

use super::requests::tool;
use super::{Finding, given, note};
use crate::harness::{AgentBuilder, ArgumentStyle, Facts, Received, Rights, lower};
use crate::lowering::{Field, Lowered};
use crate::policy::{Permission, ToolPolicy, ToolRule, ToolRules, Word, tool_argument};
use crate::profile::Profile;
use crate::request::DispatchRequest;

const RULE: &str = "a restriction never widens";
const CEILING: &str = "the profile's permission is a ceiling";
const GRANTED: &str = "what is allowed may run";

pub(super) fn check(builder: &dyn AgentBuilder, profile: &Profile, found: &mut Vec<Finding>) {
    let full = DispatchRequest { permission: Some(Permission::Full), ..DispatchRequest::new("Do it") };
    let open = [DispatchRequest::new("Do it"), full].map(|request| lower(builder, &request, profile).ok());
    for permission in [None, Some(Permission::ReadOnly), Some(Permission::Edit), Some(Permission::Full)] {
        for tools in policies(builder.facts()) {
            let request = DispatchRequest { permission, tools, ..DispatchRequest::new("Do it") };
            if !request.restricts() {
                continue;
            }
            let Ok(lowered) = lower(builder, &request, profile) else { continue };
            let case = format!("{permission:?}, {:?}", request.tools);
            match builder.stand_in().map(|stand_in| stand_in.receive(&given(&lowered.command))) {
                Some(Ok(received)) => held(builder.facts(), &request, &lowered, &received, &case, found),
                Some(Err(spoken)) => {
                    note(found, RULE, &case, format!("the CLI refuses the command: {}", spoken.stderr));
                }
                None => shown(&request, &lowered, &open, &case, found),
            }
        }
        ceiling(builder, profile, permission, found);
    }
}

/// Policies over the tools of a harness: every form, each kind of tool allowed and denied.
fn policies(facts: &Facts) -> Vec<Option<ToolPolicy>> {
    let names = [Permission::ReadOnly, Permission::Edit, Permission::Full].map(|needs| tool(facts, needs));
    let mut known: Vec<String> = names.into_iter().flatten().map(str::to_owned).collect();
    known.extend(facts.tools.values().find_map(|tool| tool.aliases.first().cloned()));
    if facts.arguments == ArgumentStyle::Words {
        known.extend(names[2].map(|run| format!("{run}(git status)")));
    }
    if facts.arguments != ArgumentStyle::None {
        known.push("shell(git status)".to_owned());
    }
    let has = |word: &Word| facts.tools.values().any(|tool| tool.word == Some(*word));
    known.extend(Word::ALL.iter().filter(|word| has(word)).map(|word| word.name().to_owned()));
    known.push("*".to_owned());
    let rules = |allow: &[&String], deny: &[&String], ask: &[&String]| {
        let owned = |list: &[&String]| list.iter().map(|name| (*name).clone()).collect();
        Some(ToolPolicy::Structured(ToolRules { allow: owned(allow), deny: owned(deny), ask: owned(ask) }))
    };
    let mut all = vec![
        None,
        Some(ToolPolicy::Flat(Vec::new())),
        Some(ToolPolicy::Flat(known.clone())),
        rules(&[], &[], &[]),
    ];
    for (at, one) in known.iter().enumerate() {
        let next = &known[(at + 1) % known.len()];
        all.extend([
            Some(ToolPolicy::Flat(vec![one.clone()])),
            rules(&[one], &[], &[]),
            rules(&[], &[one], &[]),
            rules(&[next], &[], &[one]),
            rules(&[one, next], &[one], &[]),
            rules(&[next], &[one], &[next]),
        ]);
    }
    all.extend(facts.tools.keys().map(|name| Some(ToolPolicy::Flat(vec![name.clone()]))));
    all
}

/// By the model of the CLI: each tool, and some that nobody knows.
fn held(
    facts: &Facts,
    request: &DispatchRequest,
    lowered: &Lowered,
    received: &Received,
    case: &str,
    found: &mut Vec<Finding>,
) {
    // A policy that was lowered has names that the harness knows.
    let Ok(rights) = Rights::of(facts, request) else { return };
    let shell =
        facts.tools.iter().find(|(_, tool)| tool.word == Some(Word::Shell)).map(|(name, _)| name.as_str());
    let run = shell.or(tool(facts, Permission::Full)).unwrap_or("shell");
    let probes = ["git status -s", "git", "gitstatus", "rm -rf /", "id > s.txt"]
        .map(|command| format!("{run}({command})"));
    let unknown = ["mcp_server_tool", "a_tool_that_nobody_knows"].map(str::to_owned);
    for probe in facts.tools.keys().cloned().chain(probes).chain(unknown) {
        let known = facts.tool(tool_argument(&probe).0).map(|(_, tool)| tool);
        let wanted = rights.permits(&probe);
        let may_run = (received.may_run)(&probe);
        if may_run && !wanted {
            note(found, RULE, case, format!("`{probe}` may run"));
        }
        // What only reads may run unlisted, and need not.
        let listed = request.tools.as_ref().is_none_or(|policy| {
            policy.allows(&probe)
                || rights.rules().iter().any(|rule| rule.rule == ToolRule::Allow && rule.tool == probe)
        });
        if !may_run && wanted && listed && known.is_some() && !says_dropped(lowered) {
            note(found, GRANTED, case, format!("`{probe}` may not run, and no row says so"));
        }
    }
}

/// By the command alone: it is not that of a request that restricts nothing, or a row says why.
fn shown(
    request: &DispatchRequest,
    lowered: &Lowered,
    open: &[Option<Lowered>; 2],
    case: &str,
    found: &mut Vec<Finding>,
) {
    let same = |other: &Option<Lowered>| other.as_ref().is_some_and(|other| other.command == lowered.command);
    let [bare, full] = open;
    if same(full) && !same(bare) {
        note(found, RULE, case, "the command is that of a request with full permission");
    } else if same(bare) && !says_dropped(lowered) {
        note(
            found,
            RULE,
            case,
            format!("the command is that of a request without {:?}, and no row says so", request.permission),
        );
    }
}

fn says_dropped(lowered: &Lowered) -> bool {
    lowered.report.dropped().any(|row| matches!(row.field, Field::Tools | Field::Permission))
}

fn ceiling(
    builder: &dyn AgentBuilder,
    profile: &Profile,
    permission: Option<Permission>,
    found: &mut Vec<Finding>,
) {
    let Some(most) = permission else { return };
    let under = Profile { permission: Some(most), ..profile.clone() };
    let asks = DispatchRequest { permission: Some(Permission::Full), ..DispatchRequest::new("Do it") };
    let fits = DispatchRequest { permission: Some(most), ..asks.clone() };
    if lower(builder, &asks, &under) != lower(builder, &fits, profile) {
        note(
            found,
            CEILING,
            most.name(),
            "a request for full permission is not lowered as one for the smaller",
        );
    }
}
