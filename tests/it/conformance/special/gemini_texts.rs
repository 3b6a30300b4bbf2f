//! Files named in a prompt: gemini would send them, so that such a prompt is refused.

use super::lab;
use crate::conformance::lab::Lab;
use crate::support::model_server::Step;
use serde_json::json;

/// Sends a prompt and gives what the model saw of it, or the refusal.
fn sent(lab: &Lab, prompt: &str) -> Result<String, String> {
    let before = lab.server.main_requests().len();
    let outcome = lab.outcome(json!({"prompt": prompt, "permission": "read-only"}), &[]);
    let turns = lab.server.main_requests();
    match outcome.failure {
        None => {
            let texts = turns[before].user_texts();
            // The first part is gemini's own, about the place where it runs; a file would be a third.
            assert_eq!(texts.len(), 2, "{texts:?}");
            Ok(texts[1].clone())
        }
        Some(failure) => {
            assert_eq!(
                (turns.len(), outcome.attempts.len()),
                (before, 0),
                "refused after a spawn: {failure:?}"
            );
            Err(format!("{}: {}", failure.kind, failure.message))
        }
    }
}

#[test]
fn what_only_looks_like_a_reference_arrives() {
    let Some(lab) = lab(vec![Step::text("ok")]) else { return };
    for prompt in ["no such thing: @does/not/exist, jane@example.test, \\@escaped", "/help"] {
        // The one addition that the contract asks for: without it gemini runs it as its own command.
        let expected = if prompt == "/help" { "\n/help" } else { prompt };
        assert_eq!(sent(&lab, prompt).as_deref(), Ok(expected));
    }
}

#[test]
fn a_prompt_that_the_cli_would_change_is_refused_before_the_spawn() {
    let Some(lab) = lab(vec![Step::text("ok")]) else { return };
    lab.place.file("notes.txt", "SECRET");
    lab.place.file("deep/er/lib.c", "SECRET");
    let outside = lab.place.home().join(".gemini/settings.json");
    let outside = format!("@{}", outside.display());
    for prompt in [
        "see @notes.txt",
        "see @NOTES",
        "mail a@b.c",
        "see \\@@notes.txt",
        "see \\@x@notes.txt",
        "ask @generalist",
        "see @deep/er",
        &outside,
    ] {
        let refusal = sent(&lab, prompt).expect_err(prompt);
        assert!(refusal.contains("prompt"), "{prompt}: {refusal}");
    }
}
