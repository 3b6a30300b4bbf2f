//! Cases about what a command says, on every harness that ships where a case is not about one alone.

use crate::argv::{args, lowered};
use teamster::harness::{AgentBuilder, Received};
use teamster::lowering::Lowered;
use teamster::testkit::given;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Permission, Profile, ReplySchema, Session, ToolPolicy, lower,
};

/// What the CLI of this harness makes of a command, by what is known of it.
fn received(builder: &dyn AgentBuilder, lowered: &Lowered) -> Option<Received> {
    let id = &builder.facts().id;
    let received = builder.stand_in()?.receive(&given(&lowered.command));
    Some(received.unwrap_or_else(|said| panic!("{id} ends with {}: {}", said.status, said.stderr)))
}

/// Whether a text arrived as it is, but for the line feed that keeps it from being a command.
fn is_text(seen: &str, text: &str) -> bool {
    seen == text || seen.strip_prefix('\n') == Some(text)
}

#[test]
fn b01_a_text_that_begins_with_a_dash_is_no_option_on_any_harness() {
    let case: serde_json::Value = serde_json::from_str(include_str!("B01.json")).unwrap();
    let mut refused = std::collections::BTreeSet::new();
    for builder in HarnessRegistry::builtin().iter() {
        let id = builder.facts().id.clone();
        for request in case["requests"].as_array().unwrap() {
            let (whole, _) = DispatchRequest::from_json(&request.to_string()).unwrap();
            let model = whole.model.clone().and_then(|model| match id.as_str() {
                "opencode" | "kilo" | "goose" => Some(format!("lab/{model}")),
                // Its settings name it.
                "cline" => None,
                _ => Some(model),
            });
            let whole = DispatchRequest { model, ..whole };
            let bare = DispatchRequest { system_prompt: None, ..whole.clone() };
            for request in [bare, whole] {
                let lowered = match lower(builder, &request, &Profile::default()) {
                    Ok(lowered) => lowered,
                    Err(why) => {
                        assert!(why.message.starts_with("prompt"), "{id}: {why}");
                        refused.insert(id.clone());
                        continue;
                    }
                };
                let Some(seen) = received(builder, &lowered) else { continue };
                let is_whole = match &request.system_prompt {
                    None => is_text(&seen.prompt, &request.prompt),
                    Some(_) => seen.prompt.ends_with(&request.prompt),
                };
                assert!(is_whole, "{id}: {:?} for {:?}", seen.prompt, request.prompt);
            }
        }
    }
    // It takes a prompt in one word alone, and whether it knows `--` was only read.
    assert_eq!(refused.into_iter().collect::<Vec<_>>(), ["cursor"]);
}

/// Options of several values ate the word behind them, and an empty one in between hid it on some machines.
#[test]
fn b02_no_list_takes_the_prompt_on_any_harness() {
    let tools = Some(ToolPolicy::from_text("read, grep").unwrap());
    for builder in HarnessRegistry::builtin().iter() {
        let id = &builder.facts().id;
        let bare = DispatchRequest::new("hello");
        let listed = DispatchRequest { tools: tools.clone(), ..bare.clone() };
        let placed = DispatchRequest { add_dirs: vec!["/w/shared".into()], ..bare.clone() };
        let both = DispatchRequest { tools: tools.clone(), ..placed.clone() };
        for request in [bare, listed, placed, both] {
            match lower(builder, &request, &Profile::default()) {
                Ok(lowered) => {
                    if let Some(seen) = received(builder, &lowered) {
                        assert_eq!(seen.prompt, "hello", "{id}");
                    }
                }
                Err(why) => {
                    assert!(matches!(why.kind, Kind::Unsupported | Kind::Unenforceable), "{id}: {why}");
                }
            }
        }
    }
}

#[test]
fn b02_neither_a_session_nor_a_list_of_the_profile_takes_the_prompt() {
    let registry = HarnessRegistry::builtin();
    let claude = registry.get("claude").unwrap();
    let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    let resumed =
        DispatchRequest { session: Some(Session::Resume(id.into())), ..DispatchRequest::new("hello") };
    for list in ["--mcp-config", "--allowedTools", "--disallowedTools", "--add-dir", "--betas"] {
        let words = [list, "one", "two"].map(str::to_owned).to_vec();
        let profile = Profile { args: words, ..Profile::default() };
        for request in [&resumed, &DispatchRequest::new("hello")] {
            match lower(claude, request, &profile) {
                Ok(lowered) => {
                    let seen = received(claude, &lowered).unwrap();
                    assert_eq!(
                        (seen.prompt.as_str(), &seen.session),
                        ("hello", &request.session),
                        "behind {list}"
                    );
                }
                Err(why) => assert_eq!(why.kind, Kind::InvalidConfig, "{list}: {why}"),
            }
        }
    }
}

#[test]
fn b03_a_resumed_run_is_taken_by_the_parser_and_still_reads_only() {
    let registry = HarnessRegistry::builtin();
    let codex = registry.get("codex").unwrap();
    let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    let request = format!(
        r#"{{"prompt": "carry on", "session": {{"resume": "{id}"}}, "permission": "read-only", "cwd": "/w/repo",
            "add_dirs": ["/w/shared"], "effort": "high", "schema": {{"type": "object"}}}}"#
    );
    let (request, _) = DispatchRequest::from_json(&request).unwrap();
    let lowered = lower(codex, &request, &Profile::default()).unwrap();
    let seen = received(codex, &lowered).unwrap();
    assert_eq!(seen.session, Some(Session::Resume(id.to_owned())));
    assert!(seen.prompt.starts_with("carry on\n"), "{}", seen.prompt);
    for tool in ["apply_patch", "shell(touch x)"] {
        assert!(!(seen.may_run)(tool), "{tool}");
    }
}

/// The texts of B04, by the field that is large.
fn large() -> Vec<(&'static str, DispatchRequest)> {
    let schema = format!(
        r#"{{"type": "object", "properties": {{"n": {{"type": "integer", "description": "{}"}}}}}}"#,
        "s".repeat(160 << 10)
    );
    let prompt = |text: String| ("prompt", DispatchRequest::new(text));
    vec![
        prompt("x".repeat(204_800)),
        prompt("x".repeat(131_071)),
        prompt("x".repeat(131_072)),
        prompt("é".repeat(66_000)),
        (
            "system_prompt",
            DispatchRequest { system_prompt: Some("s".repeat(153_600)), ..DispatchRequest::new("ok") },
        ),
        (
            "schema",
            DispatchRequest {
                schema: Some(ReplySchema::from_text(&schema).unwrap()),
                ..DispatchRequest::new("ok")
            },
        ),
    ]
}

#[test]
fn b04_no_argument_or_variable_is_over_the_limit_on_any_harness() {
    for builder in HarnessRegistry::builtin().iter() {
        let id = &builder.facts().id;
        for (field, request) in large() {
            let lowered = match lower(builder, &request, &Profile::default()) {
                Ok(lowered) => lowered,
                Err(why) => {
                    // These two write Markdown for a terminal, and give no values at all.
                    let no_values = field == "schema" && ["amazonq", "kiro"].contains(&id.as_str());
                    let wanted = if no_values { Kind::Unsupported } else { Kind::ArgTooLong };
                    assert_eq!(why.kind, wanted, "{id}, {field}: {why}");
                    assert!(
                        why.message.split(' ').any(|word| word.trim_end_matches([':', ',', ';']) == field),
                        "{id}, {field}: {why}"
                    );
                    continue;
                }
            };
            let given = given(&lowered.command);
            let longest = given.args.iter().map(String::len).max().unwrap_or_default();
            assert!(longest <= 131_071, "{id}, {field}: {longest}");
            let longest = given.env.iter().map(|(name, value)| name.len() + value.len() + 1).max();
            assert!(longest.unwrap_or_default() <= 131_071, "{id}, {field}: {longest:?}");
            if let Some(seen) = received(builder, &lowered) {
                assert!(
                    seen.prompt.contains(&request.prompt),
                    "{id}, {field}: {} bytes arrive",
                    seen.prompt.len()
                );
            }
        }
    }
}

/// A word of an address that is longer than a file's name may be made the CLI fail.
#[test]
fn b06_an_address_as_long_as_no_file_name_is_text() {
    let case: serde_json::Value = serde_json::from_str(include_str!("B06.json")).unwrap();
    let rows = case["cases"].as_array().unwrap();
    let prompt = rows
        .iter()
        .filter_map(|row| row["prompt"].as_str())
        .find(|prompt| prompt.contains("jane.doe@"))
        .unwrap();
    assert!(prompt.len() > 255);
    for builder in HarnessRegistry::builtin().iter() {
        match lower(builder, &DispatchRequest::new(prompt), &Profile::default()) {
            Ok(lowered) => {
                if let Some(seen) = received(builder, &lowered) {
                    assert_eq!(seen.prompt, prompt, "{}", builder.facts().id);
                }
            }
            Err(why) => assert!(why.message.starts_with("prompt"), "{}: {why}", builder.facts().id),
        }
    }
}

/// The rows of B07 that are lists.
fn lists() -> Vec<(String, Vec<String>)> {
    let case: serde_json::Value = serde_json::from_str(include_str!("B07.json")).unwrap();
    let rows = case["rows"].as_array().unwrap().iter();
    let list = |row: &serde_json::Value| serde_json::from_value(row[1].clone()).ok();
    rows.filter_map(|row| Some((row[0].as_str().unwrap().to_owned(), list(row)?))).collect()
}

fn listed(text: &str) -> DispatchRequest {
    DispatchRequest { tools: Some(ToolPolicy::from_text(text).unwrap()), ..DispatchRequest::new("x") }
}

#[test]
fn b07_a_list_that_goes_out_to_claude_reads_as_the_same_list() {
    let lists = lists();
    assert_eq!(lists.len(), 10);
    for (text, wanted) in lists {
        let lowered = lowered("claude", &listed(&text)).unwrap_or_else(|why| panic!("{text}: {why}"));
        let value = |flag: &str| {
            let args = args(&lowered.command);
            args.iter()
                .find_map(|arg| arg.strip_prefix(flag).map(str::to_owned))
                .map_or_else(Vec::new, |value| split(&value))
        };
        let (there, approved) = (value("--tools="), value("--allowedTools="));
        for tool in &wanted {
            let name = tool.split('(').next().unwrap().to_owned();
            let has_rule = tool.contains('(') || tool.starts_with("mcp__");
            assert!(approved.contains(tool) || !has_rule, "{text}: {tool} is not in {approved:?}");
            assert!(there.contains(&name) || name.starts_with("mcp__"), "{text}: {name} is not in {there:?}");
        }
        // What needs approval is approved in no wider form.
        let rules = |tools: &[String], name: &str| {
            tools.iter().filter(|tool| tool.starts_with(name)).cloned().collect::<Vec<_>>()
        };
        assert_eq!(rules(&approved, "Bash"), rules(&wanted, "Bash"), "{text}");
    }
}

/// A list as claude reads it: at commas outside of parentheses.
fn split(list: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().unwrap().push(c),
        }
    }
    parts
}

#[test]
fn b07_no_list_with_a_comma_in_an_element_goes_to_a_flag_that_cuts_there() {
    for id in ["gemini", "qwen"] {
        for (text, _) in lists() {
            match lowered(id, &listed(&text)) {
                Ok(lowered) => {
                    let args = args(&lowered.command);
                    let cut = args.iter().find(|arg| arg.contains('(') && arg.contains(','));
                    assert_eq!(cut, None, "{id}: {text}");
                }
                Err(why) => assert!(
                    matches!(why.kind, Kind::Unsupported | Kind::Unenforceable | Kind::InvalidRequest),
                    "{id}: {text}: {why}"
                ),
            }
        }
    }
}

#[test]
fn b26_full_autonomy_trusts_the_folder_and_reading_need_not() {
    let has = |permission: Permission| {
        let request = DispatchRequest { permission: Some(permission), ..DispatchRequest::new("x") };
        args(&lowered("gemini", &request).unwrap().command).contains(&"--skip-trust".to_owned())
    };
    assert!(has(Permission::Full));
    assert!(
        !args(&lowered("gemini", &DispatchRequest::new("x")).unwrap().command)
            .contains(&"--skip-trust".to_owned())
    );
}
