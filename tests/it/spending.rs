//! Budgets and fallback: when nothing more is asked, and who is asked next.

use crate::support::fake::block_on;
use serde_json::json;
use teamster::dispatch::{Candidate, DispatchOptions, first_that_answers, until_valid};
use teamster::reply::Usage;
use teamster::run::{Ran, RunContext, Runner};
use teamster::{
    DispatchRequest, Event, Failure, HarnessRegistry, Kind, Limits, Lowered, Outcome, Permission, Profile,
    Reply, ReplySchema, Session, ToolPolicy,
};

/// Plays runs without a process, one reply after the other, with the tools that were used.
#[derive(Clone, Default)]
struct Scripted {
    replies: Vec<Reply>,
    tools: Vec<&'static str>,
    commands: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl Runner for Scripted {
    async fn run(&mut self, lowered: &Lowered, context: RunContext<'_>) -> Result<Ran, Failure> {
        self.commands.lock().expect("free").push(lowered.command.shell_line());
        for tool in &self.tools {
            (context.emit)(Event::ToolUse { id: None, name: (*tool).into(), input: None });
        }
        let reply = self.replies[(context.attempt as usize - 1).min(self.replies.len() - 1)].clone();
        match reply.error {
            // What cannot be started.
            Some(failure) if failure.kind == Kind::NotFound => Err(failure),
            _ => Ok(Ran { reply, exit_status: Some(0), ..Ran::default() }),
        }
    }
}

fn said(text: &str, tokens: Option<u64>, cost_usd: Option<f64>) -> Reply {
    let usage =
        Usage { input_tokens: tokens, output_tokens: tokens.map(|_| 0), cost_usd, ..Usage::default() };
    let usage = (tokens.is_some() || cost_usd.is_some()).then_some(usage);
    Reply {
        text: text.into(),
        session_id: Some("00000000-0000-4000-8000-000000000000".into()),
        usage,
        ..Reply::default()
    }
}

fn failed(kind: Kind) -> Reply {
    Reply { error: Some(Failure::new(kind, format!("it failed: {kind}"))), ..Reply::default() }
}

fn number() -> DispatchRequest {
    let schema = ReplySchema::from_value(&json!({"type": "integer"})).expect("a schema");
    DispatchRequest { schema: Some(schema), ..DispatchRequest::new("count") }
}

fn budget(limits: Limits, replies: Vec<Reply>) -> (Outcome, Vec<String>) {
    let registry = HarnessRegistry::builtin();
    let mut runner = Scripted { replies, ..Scripted::default() };
    let profile = Profile { limits, ..Profile::default() };
    let claude = registry.get("claude").expect("built in");
    let outcome = block_on(until_valid(claude, number(), &profile, &mut runner, DispatchOptions::default()));
    let commands = runner.commands.lock().expect("free").clone();
    (outcome, commands)
}

fn tokens(most: u64) -> Limits {
    Limits { max_tokens: Some(most), ..Limits::default() }
}

fn told(outcome: &Outcome) -> (Option<Kind>, &str, usize) {
    let failure = outcome.failure.as_ref();
    (failure.map(|f| f.kind), failure.map_or("", |f| f.message.as_str()), outcome.attempts.len())
}

#[test]
fn a_spent_budget_of_tokens_ends_the_asking_with_what_was_spent() {
    let wrong = || said("no", Some(60), None);
    let (outcome, _) = budget(tokens(100), vec![wrong(), wrong(), said("7", Some(1), None)]);
    assert_eq!(
        told(&outcome),
        (
            Some(Kind::Budget),
            "the budget of 100 tokens is spent: 120, after 2 attempt(s); the last one: no JSON was found in the reply",
            2
        )
    );
    assert_eq!(outcome.exit_status(), 75);
    let (outcome, _) = budget(tokens(121), vec![wrong(), wrong(), said("7", Some(1), None)]);
    assert_eq!((told(&outcome), outcome.value.clone()), ((None, "", 3), Some(json!(7))));
}

#[test]
fn an_answer_over_the_budget_is_an_answer() {
    let (outcome, _) = budget(tokens(10), vec![said("7", Some(1000), None)]);
    assert_eq!((outcome.ok, outcome.value), (true, Some(json!(7))));
}

#[test]
fn what_is_not_told_is_not_taken_for_nothing() {
    let (outcome, _) = budget(tokens(10), vec![said("no", None, None), said("7", None, None)]);
    assert_eq!(
        told(&outcome),
        (
            Some(Kind::Budget),
            "the CLI does not tell how much of the budget of 10 tokens is spent, after 1 attempt(s); the last one: no JSON \
             was found in the reply",
            1
        )
    );
    let cost = Limits { max_cost_usd: Some(1.0), ..Limits::default() };
    let (outcome, _) = budget(cost, vec![said("no", Some(5), None), said("7", None, None)]);
    assert_eq!(told(&outcome).0, Some(Kind::Budget));
}

#[test]
fn a_cli_with_a_budget_of_its_own_is_told_what_is_left() {
    let limits = Limits { max_cost_usd: Some(1.0), ..Limits::default() };
    let wrong = || said("no", None, Some(0.375));
    let (outcome, commands) = budget(limits, vec![wrong(), wrong(), wrong()]);
    assert_eq!(told(&outcome).0, Some(Kind::SchemaMismatch), "{outcome:?}");
    let flag = |line: &String| {
        let words = shell_words::split(line).expect("a shell line");
        words.iter().find_map(|word| word.strip_prefix("--max-budget-usd=")).map(str::to_owned)
    };
    assert_eq!(
        commands.iter().map(flag).collect::<Vec<_>>(),
        [Some("1".to_owned()), Some("0.625".to_owned()), Some("0.25".to_owned())]
    );
}

#[test]
fn budgets_that_are_none_are_refused() {
    for limits in [
        tokens(0),
        Limits { max_cost_usd: Some(0.0), ..Limits::default() },
        Limits { max_cost_usd: Some(f64::NAN), ..Limits::default() },
    ] {
        let (outcome, commands) = budget(limits, vec![said("7", Some(1), None)]);
        assert_eq!((told(&outcome).0, commands.len()), (Some(Kind::InvalidRequest), 0));
    }
}

/// Plays a list of harnesses, each with what it says and the tools that it uses.
struct Play {
    request: DispatchRequest,
    limits: Limits,
    after_effects: bool,
}

impl Play {
    fn of(request: DispatchRequest) -> Play {
        Play { request, limits: Limits::default(), after_effects: false }
    }

    fn asked(&self, list: &[(&str, Reply, &[&'static str])]) -> (Outcome, Vec<String>) {
        let registry = HarnessRegistry::builtin();
        let candidates = list.iter().map(|(id, ..)| Candidate {
            builder: registry.get(id).expect("built in"),
            profile_name: None,
            profile: Profile { limits: self.limits.clone(), ..Profile::default() },
            request: self.request.clone(),
        });
        let mut asked = Vec::new();
        let runner = |candidate: &Candidate<'_>| {
            let id = &candidate.builder.facts().id;
            let (_, reply, tools) = list.iter().find(|(name, ..)| name == id).expect("in the list");
            asked.push(id.clone());
            Scripted { replies: vec![reply.clone()], tools: tools.to_vec(), ..Scripted::default() }
        };
        let candidates = candidates.collect();
        let outcome =
            block_on(first_that_answers(candidates, runner, self.after_effects, DispatchOptions::default()));
        (outcome, asked)
    }
}

fn steps(outcome: &Outcome) -> Vec<(&str, Kind)> {
    outcome.fallback.iter().map(|step| (step.harness.as_str(), step.failure.kind)).collect()
}

#[test]
fn the_next_harness_is_asked_for_the_kinds_that_it_can_help_with_and_no_other() {
    let helps = [Kind::NotFound, Kind::Auth, Kind::Quota, Kind::RateLimit, Kind::HarnessError];
    for kind in Kind::ALL.iter().copied().filter(|kind| *kind != Kind::SessionNotFound) {
        let list = [("gemini", failed(kind), &[][..]), ("claude", said("yes", None, None), &[][..])];
        let (outcome, asked) = Play::of(DispatchRequest::new("go")).asked(&list);
        if helps.contains(&kind) {
            assert_eq!((outcome.ok, outcome.harness.as_str()), (true, "claude"), "{kind}");
            assert_eq!(steps(&outcome), [("gemini", kind)]);
        } else {
            assert_eq!(
                (outcome.ok, asked.len(), outcome.fallback.len()),
                (false, 1, 0),
                "{kind}: {outcome:?}"
            );
        }
    }
}

#[test]
fn when_nobody_answers_the_failure_is_the_last_ones_and_each_step_is_named() {
    let list = [
        ("gemini", failed(Kind::NotFound), &[][..]),
        ("claude", failed(Kind::Auth), &[][..]),
        ("codex", failed(Kind::Quota), &[][..]),
    ];
    let (outcome, _) = Play::of(DispatchRequest::new("go")).asked(&list);
    assert_eq!((outcome.harness.as_str(), told(&outcome).0), ("codex", Some(Kind::Quota)));
    assert_eq!(steps(&outcome), [("gemini", Kind::NotFound), ("claude", Kind::Auth)]);
}

#[test]
fn after_a_tool_that_may_have_changed_something_nobody_else_is_asked_unless_allowed() {
    let list = |tool: &'static [&'static str]| {
        [("gemini", failed(Kind::RateLimit), tool), ("claude", said("yes", None, None), &[][..])]
    };
    let full = DispatchRequest { permission: Some(Permission::Full), ..DispatchRequest::new("go") };
    for tool in [&["write_file"][..], &["run_shell_command"], &["mcp_unknown"], &["read_file", "replace"]] {
        let (outcome, asked) = Play::of(full.clone()).asked(&list(tool));
        assert_eq!((outcome.harness.as_str(), asked.len()), ("gemini", 1), "{tool:?}");
        let hint = outcome.failure.and_then(|failure| failure.hint).unwrap_or_default();
        assert!(hint.contains("may have changed something"), "{hint}");
        let allowed = Play { after_effects: true, ..Play::of(full.clone()) };
        assert_eq!(allowed.asked(&list(tool)).0.harness, "claude");
    }
    // A tool that only reads, and an agent that was held to reading.
    assert_eq!(Play::of(full).asked(&list(&["read_file"])).0.harness, "claude");
    let held = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go") };
    assert_eq!(Play::of(held).asked(&list(&["write_file"])).0.harness, "claude");
}

#[test]
fn a_harness_that_cannot_be_held_to_the_same_is_passed_over() {
    // openhands can be held to nothing.
    let held = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go") };
    let list = [
        ("gemini", failed(Kind::Quota), &[][..]),
        ("openhands", said("never", None, None), &[][..]),
        ("claude", said("yes", None, None), &[][..]),
    ];
    let (outcome, asked) = Play::of(held).asked(&list);
    assert_eq!((outcome.harness.as_str(), asked), ("claude", vec!["gemini".to_owned(), "claude".to_owned()]));
    assert_eq!(steps(&outcome), [("gemini", Kind::Quota), ("openhands", Kind::Unenforceable)]);
    // A tool's own name on another harness is a name that it does not know.
    let named = DispatchRequest {
        tools: Some(ToolPolicy::from_text("read_file").expect("a policy")),
        ..DispatchRequest::new("go")
    };
    let (outcome, asked) = Play::of(named).asked(&[list[0].clone(), list[2].clone()]);
    assert_eq!((outcome.harness.as_str(), asked.len()), ("gemini", 1));
    assert_eq!(steps(&outcome).len(), 1, "{outcome:?}");
    assert_eq!(outcome.fallback[0].harness, "claude");
}

#[test]
fn one_budget_spans_all_of_them() {
    let limits = Limits { max_tokens: Some(50), ..Limits::default() };
    let spent = Reply { usage: said("", Some(60), None).usage, ..failed(Kind::RateLimit) };
    let list = [("gemini", spent, &[][..]), ("claude", said("yes", None, None), &[][..])];
    let (outcome, asked) = Play { limits, ..Play::of(DispatchRequest::new("go")) }.asked(&list);
    assert_eq!(
        (outcome.harness.as_str(), asked.len(), told(&outcome).0),
        ("gemini", 1, Some(Kind::RateLimit))
    );
}

#[test]
fn a_session_has_one_harness() {
    let resumed =
        DispatchRequest { session: Some(Session::Resume("s-1".into())), ..DispatchRequest::new("go") };
    let list = [("gemini", failed(Kind::Quota), &[][..]), ("claude", said("yes", None, None), &[][..])];
    let (outcome, asked) = Play::of(resumed).asked(&list);
    assert_eq!((told(&outcome).0, asked.len()), (Some(Kind::InvalidRequest), 0));
}
