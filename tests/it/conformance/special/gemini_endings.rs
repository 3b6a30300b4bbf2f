//! gemini exits 0 on answers that are none, and on a clock that ran out.

use super::lab;
use crate::conformance::lab::kind;
use crate::support::model_server::Step;
use serde_json::json;

#[test]
fn an_answer_that_is_empty_blocked_or_broken_off_is_a_failure_though_the_cli_exits_0() {
    let head: String = (0..60).map(|n| format!("line {n} of the answer\n")).collect();
    let endless = "and it says the same words over and over ".repeat(head.len() / 41);
    // Two chunks, and gemini ends the turn in the second, since it repeats itself.
    let looping = Step::text(head + &endless);
    for (name, step, forms) in [
        ("empty", Step::Empty, ["stream", "json"]),
        ("blocked", Step::Blocked, ["stream", "json"]),
        ("looping", looping, ["stream", "json"]),
    ] {
        let Some(lab) = lab(vec![step]) else { return };
        for output in forms {
            let outcome = lab.outcome(json!({"permission": "read-only", "output": output}), &[]);
            let statuses: Vec<_> = outcome.attempts.iter().map(|a| a.exit_status).collect();
            assert_eq!(statuses, [Some(0)], "{name}, {output}: {outcome:?}");
            assert_eq!((outcome.ok, outcome.exit_status()), (false, 1), "{name}, {output}: {outcome:?}");
        }
    }
}

#[test]
fn what_was_said_before_a_timeout_is_no_answer() {
    let Some(lab) = lab(vec![Step::Stall("the first half and the second".to_owned())]) else { return };
    for output in ["stream", "text"] {
        let request = json!({"permission": "read-only", "output": output});
        let outcome = lab.outcome(request, &["--timeout", "7"]);
        assert_eq!((kind(&outcome), outcome.exit_status()), (Some("timeout"), 124), "{output}: {outcome:?}");
        assert_eq!(outcome.text.as_deref(), Some("the first half"), "what was read is kept");
    }
}
