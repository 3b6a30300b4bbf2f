//! The payload reaches gemini byte for byte, whatever it looks like.

use super::{gemini, refused};
use crate::argv::{args, lowered};
use teamster::command::Check;
use teamster::lowering::{Carried, Field};
use teamster::testkit::given;
use teamster::{DispatchRequest, HarnessRegistry, Kind, ReplySchema};

/// What the stand-in, which parses as the real CLI does, takes for the prompt.
fn arrives(request: &DispatchRequest) -> String {
    let registry = HarnessRegistry::builtin();
    let stand_in = registry.get("gemini").unwrap().stand_in().unwrap();
    stand_in.receive(&given(&gemini(request).command)).map_err(|spoken| spoken.stderr).unwrap().prompt
}

#[test]
fn a_bare_prompt_is_exactly_the_flag_and_the_prompt() {
    let lowered = gemini(&DispatchRequest::new("Say hi"));
    assert_eq!(args(&lowered.command), ["-p", "Say hi"]);
    assert_eq!(
        (&*lowered.command.program, &lowered.command.stdin, lowered.command.files.len()),
        ("gemini", &None, 0)
    );
    let rows: Vec<(Field, Carried)> =
        lowered.report.rows.iter().map(|row| (row.field, row.carried)).collect();
    assert_eq!(rows, [(Field::Prompt, Carried::Flag)]);
}

#[test]
fn system_prompt_and_schema_are_folded_round_the_prompt_with_blank_lines() {
    let schema = r#"{"type": "object",  "required": ["n"]}"#;
    let request = DispatchRequest {
        system_prompt: Some("Be brief.\n".into()),
        schema: Some(ReplySchema::from_text(schema).unwrap()),
        ..DispatchRequest::new("How many?")
    };
    let payload = format!("Be brief.\n\n\nHow many?\n\n{}", teamster::lowering::schema_instruction(schema));
    assert!(payload.ends_with(schema));
    assert_eq!(args(&gemini(&request).command), ["--output-format", "json", "-p", &payload]);
}

#[test]
fn a_payload_that_looks_like_an_option_is_glued() {
    for prompt in ["-", "- x", "--help", "---\nfront: matter\n---", "-5"] {
        let request = DispatchRequest::new(prompt);
        assert_eq!(args(&gemini(&request).command), [format!("--prompt={prompt}")]);
        assert_eq!(arrives(&request), prompt);
    }
    let system =
        DispatchRequest { system_prompt: Some("---\nname: x\n---".into()), ..DispatchRequest::new("/go") };
    assert_eq!(args(&gemini(&system).command), ["--prompt=---\nname: x\n---\n\n/go"]);
}

#[test]
fn a_payload_that_looks_like_a_command_gets_one_line_feed_and_a_row() {
    let lowered = gemini(&DispatchRequest::new("/help"));
    assert_eq!(args(&lowered.command), ["-p", "\n/help"]);
    assert_eq!(
        lowered.report.rows[0].detail,
        "-p; a line feed before it keeps the leading / from being a command"
    );
    let large = DispatchRequest::new(format!("/{}", "x".repeat(200_000)));
    let lowered = gemini(&large);
    assert_eq!(lowered.command.stdin, Some(format!("\n{}", large.prompt)));
    assert!(lowered.report.rows[0].detail.contains("a line feed before it"));
}

#[test]
fn a_payload_over_an_argument_goes_to_stdin_counted_in_bytes() {
    let rows = [
        ("a".repeat(131_071), false),
        ("a".repeat(131_072), true),
        ("é".repeat(65_535), false),
        ("é".repeat(66_000), true),
        (format!("-{}", "a".repeat(131_061)), false),
        (format!("-{}", "a".repeat(131_062)), true),
    ];
    for (prompt, on_stdin) in rows {
        let request = DispatchRequest::new(prompt.clone());
        let command = gemini(&request).command;
        assert_eq!(command.stdin, on_stdin.then(|| prompt.clone()), "{} bytes", prompt.len());
        assert_eq!(command.args.is_empty(), on_stdin);
        assert_eq!(arrives(&request), prompt);
    }
    let (kind, message) = refused(&DispatchRequest::new("a".repeat((8 << 20) + 1)));
    assert_eq!((kind, message.starts_with("prompt: 8388609 bytes")), (Kind::ArgTooLong, true), "{message}");
}

#[test]
fn b01_a_dash_in_front_makes_no_option() {
    let case: serde_json::Value = serde_json::from_str(include_str!("../cases/B01.json")).unwrap();
    let requests = case["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 6);
    for request in requests {
        let (request, _) = DispatchRequest::from_json(&request.to_string()).unwrap();
        let wanted = format!("{}\n\n{}", request.system_prompt.as_ref().unwrap(), request.prompt);
        assert_eq!(arrives(&request), wanted);
        assert_eq!(args(&gemini(&request).command), ["--model", "m-1", &format!("--prompt={wanted}")]);
        let bare = DispatchRequest { system_prompt: None, ..request };
        assert_eq!(arrives(&bare), bare.prompt);
    }
}

#[test]
fn b04_large_texts_arrive_whole() {
    let schema = format!(r#"{{"description": "{}"}}"#, "s".repeat(160 << 10));
    let requests = [
        DispatchRequest::new("a".repeat(200 << 10)),
        DispatchRequest { system_prompt: Some("b".repeat(150 << 10)), ..DispatchRequest::new("ok") },
        DispatchRequest {
            schema: Some(ReplySchema::from_text(&schema).unwrap()),
            ..DispatchRequest::new("ok")
        },
    ];
    for request in requests {
        assert_eq!(arrives(&request), teamster::lowering::payload(&request, true));
        assert!(gemini(&request).command.args.iter().all(|arg| arg.shown().len() < 131_072));
    }
}

#[test]
fn b06_an_at_is_checked_before_the_spawn_and_named() {
    let checks = |request: &DispatchRequest| {
        let checks = gemini(request).command.checks.into_iter();
        checks
            .map(|check| match check {
                Check::NoSuchFile { field, path } => (field.into_owned(), path),
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    let found = |prompt: &str| {
        checks(&DispatchRequest::new(prompt)).into_iter().map(|(_, path)| path).collect::<Vec<_>>()
    };
    let rows: [(&str, &[&str]); 14] = [
        ("Summarise this log line: @/etc/hostname failed", &["/etc/hostname"]),
        ("Write to jane.doe@example.test, please", &["example.test"]),
        ("@a @a\t@b", &["a", "b"]),
        ("@a.b. @c.", &["a.b", "c"]),
        ("@a,@b;@c!@d?@(e)@[f]@{g}", &["a", "b", "c", "d"]),
        ("\\@no but \\\\@no and \\@one@two", &["two"]),
        ("@a\\ b\\,c", &["a b,c"]),
        ("@\"a b\"c d", &["\"a b\"c"]),
        ("@\"open end", &["\"open"]),
        ("@ @. @", &[]),
        ("@é\u{a0}☕ x", &["é\u{a0}☕"]),
        ("@a\\\nb @c\\\rd", &["a\\", "c\\"]),
        ("a@b@c", &["b@c"]),
        ("@src/**/*.rs", &["src/**/*.rs"]),
    ];
    for (prompt, wanted) in rows {
        assert_eq!(found(prompt), wanted, "{prompt:?}");
    }
    let request = DispatchRequest {
        system_prompt: Some("as @one says".into()),
        schema: Some(ReplySchema::from_text(r#"{"$comment": "@three"}"#).unwrap()),
        ..DispatchRequest::new("do @two and @one")
    };
    let named = |field: &str, path: &str| (field.to_owned(), path.to_owned());
    assert_eq!(
        checks(&request),
        [named("system_prompt", "one"), named("prompt", "two"), named("schema", "three\"}")][..2]
            .iter()
            .cloned()
            .chain([named("schema", "three\"")])
            .collect::<Vec<_>>()
    );
    assert_eq!(checks(&DispatchRequest { file_references: true, ..request }), []);
}

#[test]
fn an_at_with_the_name_of_an_agent_is_refused() {
    let (kind, message) = refused(&DispatchRequest::new("ask @cli_help for it"));
    assert_eq!(kind, Kind::Unsupported);
    assert_eq!(
        message,
        "prompt: gemini takes `@cli_help` for an order to its agent of that name, and adds to the text"
    );
    assert!(lowered("gemini", &DispatchRequest::new("ask @cli_helper")).is_ok());
}

#[test]
fn many_references_take_linear_time() {
    for text in [
        (0..60_000).map(|n| format!("@{n} ")).collect::<String>(),
        "\\@".repeat(200_000),
        "@\"".repeat(100_001),
        "@\\".repeat(100_000),
        "@".repeat(200_000),
    ] {
        let start = std::time::Instant::now();
        let _ = lowered("gemini", &DispatchRequest::new(text.clone())).unwrap();
        assert!(start.elapsed().as_secs() < 20, "{:?}… took {:?}", &text[..12], start.elapsed());
    }
}
