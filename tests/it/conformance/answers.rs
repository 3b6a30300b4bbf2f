//! What the agent says arrives whole, and a wrong reply is asked for again.

use super::{Lab, kind};
use crate::support::model_server::Step;
use serde_json::{Value, json};

#[test]
fn a_plain_prompt_gives_the_text_and_nothing_else_on_stdout() {
    let Some(lab) = Lab::new(vec![Step::text("hello there\n")]) else { return };
    let lab = lab.trusted();
    let done = lab.run(json!({"prompt": "hi", "model": null}), &[]);
    assert_eq!((done.status, done.stdout.as_str()), (Some(0), "hello there\n"), "{done:?}");
    assert_eq!(lab.server.user_texts().last().map(String::as_str), Some("hi"));
    assert_eq!(super::files_under(lab.tmp.path()), Vec::<String>::new(), "the run's folder is gone");
}

#[test]
fn a_wrong_reply_is_asked_for_again_in_the_same_session() {
    let steps = vec![Step::text(r#"It is {"n": "three"}"#), Step::text("```json\n{\"n\": 3}\n```")];
    let Some(lab) = Lab::new(steps) else { return };
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let request = json!({"prompt": "How many?", "schema": schema, "permission": "read-only"});
    let outcome = lab.outcome(request, &[]);
    assert_eq!((outcome.ok, &outcome.value), (true, &Some(json!({"n": 3}))), "{outcome:?}");

    let attempts: Vec<_> = outcome.attempts.iter().map(|a| (a.ok, a.resumed, a.exit_status)).collect();
    assert_eq!(attempts, [(false, false, Some(0)), (true, true, Some(0))]);
    let sessions: Vec<_> = outcome.attempts.iter().map(|a| a.session_id.clone()).collect();
    assert!(sessions[0].is_some() && sessions[0] == sessions[1], "{sessions:?}");
    // Two turns of 1,000 and 20 tokens: the sum of both attempts.
    let usage = outcome.usage.expect("stream-json tells the usage");
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(2000), Some(40)));

    let turns = lab.server.main_requests();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].offered_tools(), turns[1].offered_tools(), "the rights are those of the first run");
    assert!(!turns[1].offered_tools().is_empty());
    let said = |turn: &Value| turn["contents"].to_string().contains("It is {\\\"n\\\"");
    assert!(!said(&turns[0].body) && said(&turns[1].body), "the second turn holds what the first answered");
    let feedback = outcome.attempts[0].feedback.as_deref();
    assert_eq!(turns[1].user_texts().last().map(String::as_str), feedback);
    assert!(feedback.is_some_and(|text| text.contains("/n") && text.contains("integer")), "{feedback:?}");
}

#[test]
fn a_reply_of_300_kb_arrives_whole_in_every_form_of_output() {
    // Lines that differ: gemini ends a reply that repeats itself.
    let long: String = (0..).map(|n| format!("{n}: «é😀» {}\n", n * n % 7919)).take(14_000).collect();
    assert!(long.len() > 300_000);
    let Some(lab) = Lab::new(vec![Step::text(&long)]) else { return };
    for output in ["text", "json", "stream"] {
        let request = json!({"prompt": "hi", "permission": "read-only", "output": output});
        let outcome = lab.outcome(request, &[]);
        assert_eq!((outcome.ok, kind(&outcome)), (true, None), "{output}");
        let text = outcome.text.unwrap_or_default();
        // In text form the CLI's own line end cannot be told from the reply's.
        assert!(text.trim_end() == long.trim_end(), "{output}: {} bytes of {}", text.len(), long.len());
    }
}
