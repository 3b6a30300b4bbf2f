//! Law 7: a retry must be able to help. Cases B36 to B38, without processes where they need none.

use crate::support::fake::{Fake, block_on, timed};
use serde_json::json;
use std::time::Duration;
use teamster::dispatch::{DispatchOptions, until_valid};
use teamster::run::{Ran, RunContext, Runner};
use teamster::{
    DispatchRequest, Failure, HarnessRegistry, Kind, Limits, Lowered, Outcome, Permission, Profile, Reply,
    ReplySchema, reply::Usage,
};

/// Plays runs without a process: one reply after the other, and keeps the commands.
struct Scripted {
    replies: Vec<Reply>,
    commands: Vec<Lowered>,
}

impl Runner for Scripted {
    async fn run(&mut self, lowered: &Lowered, context: RunContext<'_>) -> Result<Ran, Failure> {
        self.commands.push(lowered.clone());
        let reply = self.replies[(context.attempt as usize - 1).min(self.replies.len() - 1)].clone();
        Ok(Ran { reply, exit_status: Some(0), ..Ran::default() })
    }
}

fn said(text: &str, session: &str) -> Reply {
    let usage = Usage { input_tokens: Some(10), output_tokens: Some(2), ..Usage::default() };
    Reply { text: text.into(), session_id: Some(session.into()), usage: Some(usage), ..Reply::default() }
}

fn failed(kind: Kind) -> Reply {
    Reply { error: Some(Failure::new(kind, "it failed")), ..Reply::default() }
}

fn widgets() -> DispatchRequest {
    let schema =
        json!({"type": "object", "properties": {"widgets": {"type": "integer"}}, "required": ["widgets"]});
    DispatchRequest {
        schema: Some(ReplySchema::from_value(&schema).expect("a schema")),
        system_prompt: Some("You count.".into()),
        permission: Some(Permission::ReadOnly),
        ..DispatchRequest::new("COUNT THE WIDGETS in stock.csv")
    }
}

fn play(request: DispatchRequest, replies: Vec<Reply>) -> (Outcome, Vec<Lowered>) {
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let mut runner = Scripted { replies, commands: Vec::new() };
    let profile = Profile::default();
    let outcome = block_on(until_valid(gemini, request, &profile, &mut runner, DispatchOptions::default()));
    (outcome, runner.commands)
}

fn line(lowered: &Lowered) -> String {
    lowered.command.shell_line()
}

#[test]
fn b36_a_retry_goes_on_in_the_newest_session_and_says_what_is_wrong() {
    let replies = vec![
        said("I counted them: 12.", "s-one"),
        said("{\"widgets\":\"12\"}", "s-two"),
        said("{\"widgets\":12}", "s-three"),
    ];
    let (outcome, commands) = play(widgets(), replies);
    assert_eq!((outcome.ok, outcome.value.clone()), (true, Some(json!({"widgets": 12}))));
    assert_eq!(outcome.session_id.as_deref(), Some("s-three"));
    let usage = Usage { input_tokens: Some(30), output_tokens: Some(6), ..Usage::default() };
    assert_eq!(outcome.usage, Some(usage), "summed over the three");
    let whys: Vec<_> = outcome.attempts.iter().map(|a| (a.ok, a.resumed, a.why.as_deref())).collect();
    assert_eq!(
        whys,
        [
            (false, false, Some("no JSON was found in the reply")),
            (false, true, Some("/widgets: expected integer, found string (type)")),
            (true, true, None),
        ]
    );
    let lines: Vec<String> = commands.iter().map(line).collect();
    assert!(lines[0].contains("COUNT THE WIDGETS") && lines[0].contains("You count."), "{}", lines[0]);
    assert!(lines[1].contains("--resume=s-one") && lines[1].contains("no JSON was found"), "{}", lines[1]);
    assert!(lines[2].contains("--resume=s-two") && lines[2].contains("/widgets"), "{}", lines[2]);
    for line in &lines[1..] {
        // The same rights, and neither goal nor role twice in one session.
        assert!(line.contains("--approval-mode default") && line.contains("--admin-policy="), "{line}");
        assert!(!line.contains("COUNT THE WIDGETS") && !line.contains("You count."), "{line}");
    }
    assert_eq!(commands[1].command.files, commands[0].command.files, "the guard is the same");
}

#[test]
fn without_a_session_the_whole_request_is_sent_again_with_the_feedback() {
    let none = |text: &str| Reply { session_id: None, ..said(text, "") };
    let (outcome, commands) = play(widgets(), vec![none("no"), none("{\"widgets\":1}")]);
    assert!(outcome.ok);
    let second = line(&commands[1]);
    assert!(
        second.contains("COUNT THE WIDGETS")
            && second.contains("You count.")
            && second.contains("no JSON was found")
    );
    assert!(!second.contains("--resume"));
}

#[test]
fn a_session_that_is_gone_costs_one_run_once_and_then_the_whole_request_is_sent() {
    let replies = vec![said("no", "s-one"), failed(Kind::SessionNotFound), said("{\"widgets\":1}", "s-new")];
    let (outcome, commands) = play(widgets(), replies);
    assert!(outcome.ok, "{outcome:?}");
    let lines: Vec<String> = commands.iter().map(line).collect();
    assert!(lines[1].contains("--resume=s-one"));
    assert!(
        !lines[2].contains("--resume")
            && lines[2].contains("COUNT THE WIDGETS")
            && lines[2].contains("no JSON")
    );
    // A session that the caller asked to resume and that is not there is the caller's error.
    let resume = DispatchRequest { session: Some(teamster::Session::Resume("s-x".into())), ..widgets() };
    let (outcome, commands) = play(resume, vec![failed(Kind::SessionNotFound)]);
    assert_eq!((outcome.failure.map(|f| f.kind), commands.len()), (Some(Kind::SessionNotFound), 1));
}

#[test]
fn a_chosen_session_id_is_not_begun_twice() {
    let request = DispatchRequest { session: Some(teamster::Session::New(Some("mine".into()))), ..widgets() };
    let none = |text: &str| Reply { session_id: None, ..said(text, "") };
    let (_, commands) = play(request, vec![none("no"), none("{\"widgets\":1}")]);
    assert!(line(&commands[0]).contains("--session-id mine"));
    assert!(!line(&commands[1]).contains("--session-id"));
}

#[test]
fn failures_that_no_other_answer_would_change_take_one_run() {
    for kind in Kind::ALL.iter().copied().filter(|k| !matches!(k, Kind::SchemaMismatch | Kind::Ambiguous)) {
        let (outcome, commands) = play(widgets(), vec![failed(kind), said("{\"widgets\":1}", "s")]);
        assert_eq!((outcome.failure.map(|f| f.kind), commands.len()), (Some(kind), 1));
    }
}

#[test]
fn exhaustion_is_an_error_and_never_the_last_bad_value() {
    let (outcome, commands) = play(widgets(), vec![said("{\"widgets\":\"x\"}", "s")]);
    assert_eq!((outcome.ok, outcome.value.clone(), commands.len()), (false, None, 3));
    assert_eq!(outcome.exit_status(), 65);
    assert_eq!(outcome.text.as_deref(), Some("{\"widgets\":\"x\"}"));
    let two = said("{\"widgets\":1} or {\"widgets\":2}", "s");
    let (outcome, _) = play(widgets(), vec![two]);
    assert_eq!(outcome.failure.map(|f| f.kind), Some(Kind::Ambiguous));
}

#[test]
fn unknown_usage_stays_unknown() {
    let unknown = |text: &str| Reply { usage: None, ..said(text, "s") };
    let (outcome, _) = play(widgets(), vec![unknown("no"), unknown("{\"widgets\":1}")]);
    assert_eq!(outcome.usage, None);
    let (outcome, _) = play(widgets(), vec![unknown("no"), said("{\"widgets\":1}", "s")]);
    assert_eq!(outcome.usage.and_then(|u| u.input_tokens), Some(10));
}

#[test]
fn a_schema_that_does_not_compile_is_the_callers_error_before_any_run() {
    let schema = ReplySchema::from_text(r#"{"type": "nonsense"}"#).expect("JSON");
    let (outcome, commands) =
        play(DispatchRequest { schema: Some(schema), ..widgets() }, vec![said("x", "s")]);
    assert_eq!((outcome.failure.map(|f| f.kind), commands.len()), (Some(Kind::SchemaError), 0));
}

#[test]
fn b38_an_auth_failure_is_one_spawn() {
    let fake = Fake::new(
        r#"echo x >> "$DIR/spawns"; echo 'Please set an Auth method in your settings' >&2; exit 41"#,
    );
    let limits = Limits { attempts: Some(4), ..Limits::default() };
    let outcome = fake.dispatch_with(widgets(), Profile { limits, ..Profile::default() }, fake.runner());
    assert_eq!(outcome.failure.map(|f| f.kind), Some(Kind::Auth));
    assert_eq!(fake.read("spawns"), "x\n");
}

#[test]
fn b38_one_time_budget_spans_all_attempts() {
    let fake = Fake::new(r#"echo x >> "$DIR/spawns"; sleep 3; init; say 'no json here'; result"#);
    let limits = Limits { attempts: Some(6), timeout_s: Some(7.0), ..Limits::default() };
    let profile = Profile { limits, ..Profile::default() };
    let (took, outcome) = timed(|| fake.dispatch_with(widgets(), profile, fake.runner()));
    assert_eq!(outcome.failure.map(|f| f.kind), Some(Kind::Timeout));
    assert!(took < Duration::from_millis(9500), "{took:?}");
    assert!(fake.read("spawns").lines().count() <= 3);
}

#[test]
fn b38_counts_and_clocks_that_are_none_are_refused_before_any_run() {
    for attempts in [0, 101, u32::MAX] {
        let limits = Limits { attempts: Some(attempts), ..Limits::default() };
        assert_eq!(limits.settled().expect_err("is refused").kind, Kind::InvalidRequest);
    }
    for seconds in [-1.0, 0.0, f64::NAN, f64::INFINITY, 1e300] {
        let limits = Limits { timeout_s: Some(seconds), ..Limits::default() };
        assert_eq!(limits.settled().expect_err("is refused").kind, Kind::InvalidRequest, "{seconds}");
    }
}

#[cfg(feature = "typed")]
#[test]
fn a_typed_dispatch_takes_its_schema_from_the_type_and_gives_the_type_back() {
    use teamster::dispatch::complete;

    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Count {
        widgets: u32,
        note: Option<String>,
    }

    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let replies = vec![said("{\"widgets\":-1}", "s-1"), said("{\"widgets\":12}", "s-1")];
    let mut runner = Scripted { replies, commands: Vec::new() };
    let profile = Profile::default();
    let request = DispatchRequest::new("count");
    let done =
        block_on(complete::<Count, _>(gemini, request.clone(), &profile, &mut runner)).expect("a count");
    assert_eq!(done.value, Count { widgets: 12, note: None });
    assert_eq!(done.outcome.attempts[0].why.as_deref(), Some("/widgets: at least 0 (minimum)"));
    assert!(line(&runner.commands[0]).contains("\"widgets\""), "the type's schema is in the prompt");
    let mut never = Scripted { replies: vec![said("no", "s-1")], commands: Vec::new() };
    let failure = block_on(complete::<Count, _>(gemini, request, &profile, &mut never)).map(|d| d.value);
    assert_eq!(failure.expect_err("it never is valid").kind, Kind::SchemaMismatch);
    let twice = block_on(complete::<Count, _>(gemini, widgets(), &profile, &mut never)).map(|d| d.value);
    assert_eq!(twice.expect_err("two schemas").kind, Kind::InvalidRequest);
}
