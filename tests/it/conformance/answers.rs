//! What the agent says arrives whole, and a wrong reply is asked for again.

use super::cli::{Cli, Except};
use super::lab::{Lab, kind};
use crate::support::model_server::{Recorded, Step};
use serde_json::json;
use teamster::Facts;
use teamster::lowering::{Carried, Field};

pub(crate) fn plain_text(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("hello there\n")]) else { return };
    let lab = lab.trusted();
    let done = lab.run(json!({"permission": "full"}), &[]);
    assert_eq!((done.status, done.stdout.as_str()), (Some(0), "hello there\n"), "{done:?}");
    let turn = lab.first_turn();
    assert_eq!((cli.prompt)(&turn).as_deref(), Some("hello"), "{turn:?}");
    let asked = cli.model.rsplit(['/', ':']).next().unwrap_or_default();
    assert!(asked.is_empty() || turn.model() == asked, "{turn:?}");
    assert_eq!(lab.server.main_requests().len(), 1);
    assert_eq!(lab.place.left_over(), Vec::<String>::new(), "the run's folder is gone");
}

pub(crate) fn wrong_then_right(cli: &'static Cli) {
    // Turns in each attempt: the last step repeats.
    let asks = 1 + usize::from(cli.excepted(Except::AsksAgain).is_some());
    let mut steps = vec![Step::text(r#"It is {"n": "three"}"#); asks];
    steps.push(Step::text("```json\n{\"n\": 3}\n```"));
    let Some(lab) = Lab::new(cli, steps) else { return };
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let request = json!({"prompt": "How many?", "schema": schema, "permission": cli.permission});
    let outcome = lab.outcome(request, &[]);
    assert_eq!((outcome.ok, &outcome.value), (true, &Some(json!({"n": 3}))), "{outcome:?}");

    let resumes = facts(cli).capabilities.resume != "no";
    // One that is slow to go after its answer is ended, and has no status then.
    let status = |status: Option<i32>| status.unwrap_or_default();
    let attempts: Vec<_> =
        outcome.attempts.iter().map(|a| (a.ok, a.resumed, status(a.exit_status))).collect();
    assert_eq!(attempts, [(false, false, 0), (true, resumes, 0)]);
    let turns = lab.server.main_requests();
    assert_eq!(turns.len(), 2 * asks, "{:?}", turns.iter().map(Recorded::user_texts).collect::<Vec<_>>());
    // Turns of 1,000 tokens in and 20 out, and 30 of thinking, which some CLIs count as output.
    // Some CLIs tell only what it cost.
    if let Some(usage) = outcome.usage.filter(|usage| usage.input_tokens.is_some()) {
        let seen = (usage.input_tokens, usage.output_tokens);
        let n = turns.len() as u64;
        let known = [(Some(1000 * n), Some(20 * n)), (Some(1000 * n), Some(50 * n))];
        assert!(known.contains(&seen), "{usage:?}");
    }
    let (first, last) = (&turns[0], &turns[asks]);
    assert_eq!(first.offered_tools(), last.offered_tools(), "the rights are those of the first run");
    let feedback = outcome.attempts[0].feedback.as_deref().unwrap_or_default();
    assert!(feedback.contains("/n") && feedback.contains("integer"), "{feedback}");
    let said = last.user_texts().concat();
    if resumes {
        let sessions: Vec<_> = outcome.attempts.iter().map(|a| a.session_id.clone()).collect();
        let same = cli.excepted(Except::NewSession).is_none();
        assert!(sessions.iter().all(Option::is_some), "{sessions:?}");
        assert_eq!(sessions[0] == sessions[1], same, "{sessions:?}");
        assert_eq!((cli.prompt)(last).as_deref(), Some(feedback));
        let answered = |turn: &Recorded| turn.body.to_string().contains("It is {\\\"n\\\"");
        assert!(!answered(first) && answered(last), "the second turn holds what the first answered");
    } else {
        assert!(said.contains(feedback) && said.contains("How many?"), "{said}");
    }
}

pub(crate) fn explicit_resume(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("It was blue."), Step::text("I said blue.")]) else {
        return;
    };
    if facts(cli).capabilities.resume == "no" {
        return;
    }
    let first = lab.outcome(json!({"prompt": "Which colour?", "permission": cli.permission}), &[]);
    let session = first.session_id.clone().unwrap_or_else(|| panic!("no session: {first:?}"));
    let request = json!({"prompt": "Again?", "permission": cli.permission, "session": {"resume": session}});
    let second = lab.outcome(request, &[]);
    assert_eq!((second.text.as_deref().map(str::trim_end), kind(&second)), (Some("I said blue."), None));
    let same = cli.excepted(Except::NewSession).is_none();
    assert!(second.session_id.is_some(), "{second:?}");
    assert_eq!(second.session_id == Some(session), same, "{second:?}");
    let turns = lab.server.main_requests();
    let again = turns.last().map(|turn| turn.body.to_string()).unwrap_or_default();
    assert!(again.contains("Which colour?") && again.contains("It was blue."), "{again}");
    assert_eq!(turns.len(), 2);
}

/// An id that no server knows must not begin a session of its own without a word.
pub(crate) fn unknown_session(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("a new one")]) else { return };
    let session = json!({"resume": "3f0e6f1c-9f57-4b3a-8f57-0123456789ab"});
    let outcome = lab.outcome(json!({"permission": cli.permission, "session": session}), &[]);
    assert!(!outcome.ok, "{outcome:?}");
}

pub(crate) fn system_prompt(cli: &'static Cli) {
    let text = "You are a parrot.\n\"Say\" \\ 'it' – twice: ${x} $HOME.\n";
    let request = json!({"system_prompt": text, "permission": cli.permission});
    let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { return };
    let lowered = lab.lowered(&request).unwrap_or_else(|e| panic!("{e:?}"));
    let row = lowered.report.rows.iter().find(|row| row.field == Field::SystemPrompt).map(|row| row.carried);
    let outcome = lab.outcome(request, &[]);
    assert!(outcome.ok, "{outcome:?}");
    let turn = lab.first_turn();
    let system = turn.system_text();
    let user = turn.user_texts().concat() + &(cli.prompt)(&turn).unwrap_or_default();
    let from_user = row == Some(Carried::Prompt) || cli.excepted(Except::SystemFromUser).is_some();
    let place = if from_user { &user } else { &system };
    assert!(place.contains(text.trim()), "{row:?}: system {system}; user {user}");
    assert!(user.contains("hello"), "{turn:?}");
}

pub(crate) fn effort(cli: &'static Cli) {
    for effort in ["low", "high"] {
        let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { return };
        let request = json!({"effort": effort, "permission": cli.permission});
        let lowered = lab.lowered(&request).unwrap_or_else(|e| panic!("{e:?}"));
        let dropped = lowered.report.dropped().any(|row| row.field == Field::Effort);
        let outcome = lab.outcome(request, &[]);
        assert!(outcome.ok, "{outcome:?}");
        let seen = lab.first_turn().effort();
        assert!(dropped || seen.as_deref() == Some(effort), "{effort}: the model saw {seen:?}");
    }
}

/// Lines that differ: some CLIs end a reply that repeats itself.
pub(crate) fn long_reply(cli: &'static Cli) {
    let long: String = (0..).map(|n| format!("{n}: «é😀» {}\n", n * n % 7919)).take(14_000).collect();
    assert!(long.len() > 300_000);
    let Some(lab) = Lab::new(cli, vec![Step::text(&long)]) else { return };
    for output in lab.forms() {
        let request = json!({"permission": cli.permission, "output": output});
        let outcome = lab.outcome(request, &[]);
        assert_eq!((outcome.ok, kind(&outcome)), (true, None), "{output}");
        let text = outcome.text.unwrap_or_default();
        // In text form the CLI's own line end cannot be told from the reply's.
        assert!(text.trim_end() == long.trim_end(), "{output}: {} bytes of {}", text.len(), long.len());
    }
}

fn facts(cli: &Cli) -> Facts {
    let registry = teamster::HarnessRegistry::builtin();
    registry.get(cli.id).map(|harness| harness.facts().clone()).unwrap_or_default()
}
