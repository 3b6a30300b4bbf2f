//! The one value of a reply: found in prose, or not at all, and in time linear in the text.

use serde::Deserialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use teamster::reply::{Denied, Documents, Found, RunEnd, find_value, strict_value};
use teamster::{Failure, HarnessRegistry, Kind, Output, Reply};

#[derive(Deserialize)]
struct Rows {
    rows: Vec<(String, Value)>,
}

fn rows(case: &str) -> Vec<(String, Value)> {
    serde_json::from_str::<Rows>(case).unwrap().rows
}

fn anything(text: &str) -> Found {
    find_value(text, |_| Ok(()))
}

/// Accepts objects that have these keys.
fn with_keys(text: &str, keys: &[&str]) -> Found {
    find_value(text, |value| match keys.iter().find(|key| value.get(key).is_none()) {
        None => Ok(()),
        Some(key) => Err(format!("/{key} is missing")),
    })
}

fn objects(text: &str) -> Found {
    find_value(text, |value| if value.is_object() { Ok(()) } else { Err("no object".to_owned()) })
}

#[test]
fn b27_braces_in_prose_do_not_hide_the_value() {
    let rows = rows(include_str!("cases/B27.json"));
    assert_eq!(rows.len(), 6);
    for (text, wanted) in rows {
        assert_eq!(with_keys(&text, &["ok", "n"]), Found::One(wanted), "{text}");
    }
}

#[test]
fn b28_a_draft_in_a_reasoning_block_is_no_answer() {
    let rows = rows(include_str!("cases/B28.json"));
    assert_eq!(rows.len(), 6);
    for (text, wanted) in rows {
        match (with_keys(&text, &["verdict", "score"]), wanted) {
            (found, Value::String(_)) => {
                assert_eq!(found, Found::Nothing("no JSON was found in the reply".into()), "{text}");
            }
            (found, wanted) => assert_eq!(found, Found::One(wanted), "{text}"),
        }
    }
}

#[test]
fn b29_fence_marks_inside_the_json_are_text() {
    let rows = rows(include_str!("cases/B29.json"));
    assert_eq!(rows.len(), 7);
    for (text, wanted) in rows {
        assert_eq!(objects(&text), Found::One(wanted), "{text}");
    }
}

#[test]
fn b35_what_a_number_or_key_would_lose_makes_no_value() {
    let rows = rows(include_str!("cases/B35.json"));
    assert_eq!(rows.len(), 11);
    let exact = [r#"{"id": 9007199254740993}"#, r#"{"id": 18446744073709551615}"#];
    for (text, _) in rows {
        let text = match text.as_str() {
            "gen: 127 nested arrays in {\"a\":...}" => {
                format!("{{\"a\":{}{}}}", "[".repeat(127), "]".repeat(127))
            }
            "gen: 100000 times '['" => "[".repeat(100_000),
            text => text.to_owned(),
        };
        match objects(&text) {
            Found::One(value) if exact.contains(&text.as_str()) => {
                assert_eq!(value.to_string(), text.replace(' ', ""));
            }
            Found::Nothing(why) if !exact.contains(&text.as_str()) => assert!(!why.is_empty()),
            other => panic!("{:?}: {other:?}", &text[..text.len().min(60)]),
        }
    }
    let twice = strict_value(r#"{"verdict":"reject","verdict":"approve"}"#).unwrap_err();
    assert!(twice.starts_with("the key `verdict` stands twice"), "{twice}");
    let wide = strict_value(r#"{"id": 12345678901234567890123}"#);
    assert_eq!(wide, Err("the integer 12345678901234567890123 does not fit in 64 bits".into()));
    let kept = json!([1, -9_223_372_036_854_775_808_i64, 1500.0]);
    assert_eq!(strict_value("[1, -9223372036854775808, 1.5e3]"), Ok(kept));
}

#[test]
fn a_value_is_the_whole_text_else_a_fence_else_in_the_prose() {
    let rows = [
        ("4", json!(4)),
        ("\u{feff} \"x\" \n", json!("x")),
        ("[1]\n", json!([1])),
        ("see {\"a\":1}:\n```json\n{\"a\":2}\n```", json!({"a": 2})),
        ("the list [1, 2] it is", json!([1, 2])),
        ("twice {\"a\":1} and again {\"a\": 1}", json!({"a": 1})),
        ("an inner one does not count: {\"a\": {\"b\": 1}}", json!({"a": {"b": 1}})),
    ];
    for (text, wanted) in rows {
        assert_eq!(anything(text), Found::One(wanted), "{text}");
    }
}

#[test]
fn values_that_differ_are_ambiguous_and_the_first_refused_one_is_told() {
    assert_eq!(anything("{\"a\":1} or {\"a\":2}"), Found::Ambiguous(2));
    assert_eq!(anything("```\n{\"a\":1}\n```\n```\n{\"a\":2}\n```"), Found::Ambiguous(2));
    assert_eq!(with_keys("{\"a\":1} or {\"b\":2}", &["b"]), Found::One(json!({"b": 2})));
    assert_eq!(
        with_keys("{\"x\":1} or {\"y\":2}", &["b"]),
        Found::Invalid(json!({"x": 1}), "/b is missing".into())
    );
}

#[test]
fn a_part_of_a_broken_value_is_no_value() {
    let rows = [
        (
            "{\"a\": {\"b\": 1}, oops}",
            "the JSON that begins at byte 0 of the reply breaks at byte 16, at 'o'",
        ),
        ("so: {\"a\": [1, {\"b\": 2}", "the JSON that begins at byte 4 of the reply is cut off"),
        ("{\"n\": 01}", "the JSON that begins at byte 0 of the reply breaks at byte 7, at '1'"),
        ("no JSON here", "no JSON was found in the reply"),
        ("", "no JSON was found in the reply"),
    ];
    for (text, why) in rows {
        assert_eq!(anything(text), Found::Nothing(why.into()), "{text}");
    }
    let too_deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(matches!(anything(&too_deep), Found::Nothing(_)));
    assert!(matches!(anything(&format!("see {too_deep}")), Found::Nothing(_)));
}

#[test]
fn the_finder_is_linear() {
    let texts = [
        "{".repeat(40 << 10),
        "[".repeat(100_000),
        "{\"a\":".repeat(40_000),
        "[1,".repeat(60_000),
        "[\"".repeat(60_000),
        "{\"".repeat(60_000),
        "{\"a\" ".repeat(40_000),
        "[ ".repeat(60_000),
        "\\\"[".repeat(60_000),
        "<think>".repeat(30_000),
        "</think>".repeat(30_000),
        "<think></thinking>".repeat(10_000),
        "```\n{\n".repeat(30_000),
        "```json\n{}\n```\n".repeat(10_000),
        "{} ".repeat(60_000),
        "{\"a\":1} ".repeat(30_000),
        "[[1],".repeat(40_000),
        format!("{}{}", "[".repeat(120), "]".repeat(119)).repeat(800),
        "{\"a\":[}".repeat(30_000),
        "-".repeat(200_000),
        "[1e".repeat(60_000),
    ];
    for text in texts {
        let start = Instant::now();
        let _ = find_value(&text, |_| Err("no".to_owned()));
        let _ = Documents::new(&text).count();
        let took = start.elapsed();
        // A debug build looks at some 20 MB a second; what is quadratic takes minutes here.
        assert!(took < Duration::from_secs(2), "{:?}… took {took:?}", &text[..20]);
    }
}

#[test]
fn documents_stand_between_notices_of_any_kind() {
    let text = "\u{feff}[setup] {agent} [1/2]...\r\n{\"a\": \"}\"}\r\nat f (x.js:1) {\n  code: 1\n}\n[1]{\"b\":[2]} tail {";
    assert_eq!(Documents::new(text).collect::<Vec<_>>(), ["{\"a\": \"}\"}", "[1]", "{\"b\":[2]}"]);
}

/// What gemini's output of this form and its exit come to.
fn gemini(output: Output, stdout: &[u8], end: &RunEnd) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("gemini").unwrap().reader(output);
    reader.push(stdout, &mut |_| {});
    reader.finish(end, &mut |_| {})
}

#[test]
fn b19_noise_round_the_envelope_is_skipped() {
    for stdout in [&include_bytes!("cases/B19.a.stdout")[..], include_bytes!("cases/B19.b.stdout")] {
        let reply = gemini(Output::Json, stdout, &RunEnd::exited(0, ""));
        let usage = teamster::reply::Usage {
            input_tokens: Some(7173),
            output_tokens: Some(1),
            cached_tokens: Some(0),
            thinking_tokens: Some(17),
            tool_tokens: Some(0),
            total_tokens: Some(7191),
            ..Default::default()
        };
        let wanted = Reply {
            text: "4".into(),
            session_id: Some("g-19".into()),
            model: Some("gemini-2.5-pro".into()),
            usage: Some(usage),
            ..Reply::default()
        };
        assert_eq!(reply, wanted);
    }
}

#[test]
fn b26_exit_statuses_have_their_kinds() {
    let names = [
        (41, Kind::Auth),
        (42, Kind::InvalidRequest),
        (44, Kind::HarnessConfig),
        (52, Kind::HarnessConfig),
        (53, Kind::MaxTurns),
        (54, Kind::HarnessError),
        (55, Kind::UntrustedDir),
        (130, Kind::Cancelled),
    ];
    #[derive(Deserialize)]
    struct Case {
        rows: Vec<(i32, String)>,
        stderr_for_55: String,
    }
    let case: Case = serde_json::from_str(include_str!("cases/B26.json")).unwrap();
    assert_eq!(case.rows.iter().map(|row| row.0).collect::<Vec<_>>(), names.map(|name| name.0));
    for (status, kind) in names {
        for output in [Output::Text, Output::Json, Output::Stream] {
            let stderr = if status == 55 { case.stderr_for_55.as_str() } else { "" };
            let error = gemini(output, b"", &RunEnd::exited(status, stderr)).error.unwrap();
            assert_eq!((error.kind, error.retryable), (kind, false), "{status}, {output:?}");
            assert!(status != 55 || error.hint.unwrap().contains("--skip-trust"));
        }
    }
}

/// Law 12: a refusal that leaves no answer is why there is none.
#[test]
fn an_empty_answer_after_a_refusal_is_a_refusal() {
    let denied = vec![Denied { tool: "shell".to_owned(), reason: "no".to_owned() }];
    let empty = || Some(Failure::new(Kind::EmptyReply, "nothing"));
    let kind = |reply: Reply| reply.voided_by_refusals().error.map(|error| error.kind);
    assert_eq!(
        kind(Reply { denied: denied.clone(), error: empty(), ..Reply::default() }),
        Some(Kind::Permission)
    );
    assert_eq!(kind(Reply { error: empty(), ..Reply::default() }), Some(Kind::EmptyReply));
    assert_eq!(kind(Reply { denied, text: "done".to_owned(), ..Reply::default() }), None);
}
