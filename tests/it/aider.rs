//! aider: what its builder and its reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use std::collections::BTreeMap;
use teamster::command::Check;
use teamster::reply::RunEnd;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Output, Permission, Profile, Reply, Session, ToolPolicy,
};

fn request(tools: Option<&str>, permission: Option<Permission>) -> DispatchRequest {
    let tools = tools.map(|text| ToolPolicy::from_text(text).unwrap());
    DispatchRequest { tools, permission, ..DispatchRequest::new("hello") }
}

fn transcript(name: &str) -> Reply {
    let registry = HarnessRegistry::builtin();
    let aider = registry.get("aider").unwrap();
    let transcript = crate::transcripts::of(aider).into_iter().find(|t| t.name == name).unwrap();
    transcript.read(aider, &[]).0
}

/// What the reader makes of this output and this log.
fn read(stdout: &str, log: &str) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("aider").unwrap().reader(Output::Text);
    reader.push(stdout.as_bytes(), &mut |_| {});
    let files = BTreeMap::from([("llm.log".to_owned(), log.to_owned())]);
    reader.finish(&RunEnd { files, ..RunEnd::exited(0, "") }, &mut |_| {})
}

const HEAD: &str = "Aider v0.86.2\nModel: m with ask edit format\nGit repo: none\nRepo-map: disabled\n\n";

/// B06: `/run CMD` and `!CMD` are run by aider itself, before any model is asked.
#[test]
fn a_prompt_that_begins_like_a_command_is_text() {
    for (prompt, arrives) in [
        ("/run touch x", "\n/run touch x"),
        ("!touch x", "\n!touch x"),
        ("/usr/bin/env is missing on the box, why?", "\n/usr/bin/env is missing on the box, why?"),
        (" /run touch x", " /run touch x"),
        ("see /run and !x", "see /run and !x"),
        ("--help", "--help"),
    ] {
        let command = lowered("aider", &DispatchRequest::new(prompt)).unwrap().command;
        assert_eq!(command.files[0].content, arrives);
        assert!(args(&command).iter().all(|arg| !arg.contains("touch")), "{prompt}");
    }
    // The system prompt comes first, and so it is what would be the command.
    let system = DispatchRequest { system_prompt: Some("/run x".to_owned()), ..DispatchRequest::new("hi") };
    assert_eq!(lowered("aider", &system).unwrap().command.files[0].content, "\n/run x\n\nhi");
}

/// aider reads a file as Python reads text, and makes line feeds of all line ends.
#[test]
fn a_text_with_carriage_returns_goes_by_argument_or_not_at_all() {
    let command = lowered("aider", &DispatchRequest::new("!a\r\nb")).unwrap().command;
    assert_eq!(args(&command).last().map(String::as_str), Some("--message=\n!a\r\nb"));
    assert!(command.files.is_empty());
    let large = "a\r\n".repeat(50_000);
    assert_eq!(lowered("aider", &DispatchRequest::new(large)).unwrap_err().kind, Kind::ArgTooLong);
}

/// B08: an allow-list is a limit where aider has one, and refused where it has none.
#[test]
fn edits_are_applied_where_nothing_confines_them_and_else_not_at_all() {
    let (read, edit, full) = (Permission::ReadOnly, Permission::Edit, Permission::Full);
    let ask = Ok((true, true));
    let code = Ok((false, true));
    for (tools, permission, expected) in [
        (None, None, Ok((false, false))),
        (None, Some(full), Ok((false, false))),
        (None, Some(read), ask),
        (Some(""), None, ask),
        (Some("read"), Some(full), ask),
        (Some("edit"), Some(read), ask),
        (Some("edit"), None, code),
        (Some("edit"), Some(full), code),
        // `../x` and absolute paths are applied as well.
        (None, Some(edit), Err(Kind::Unenforceable)),
        (Some("edit"), Some(edit), Err(Kind::Unenforceable)),
        // No command of an answer ever runs.
        (Some("shell"), None, Err(Kind::Unsupported)),
        (Some("Bash(git status)"), None, Err(Kind::Unsupported)),
    ] {
        let seen = lowered("aider", &request(tools, permission)).map_err(|e| e.kind).map(|lowered| {
            let args = args(&lowered.command);
            let has = |flag: &str| args.iter().any(|arg| arg == flag);
            (has("--chat-mode=ask"), has("--no-git"))
        });
        assert_eq!(seen, expected, "{tools:?}, {permission:?}");
    }
}

/// A repository's own settings win over the environment, and run commands.
#[test]
fn a_restriction_does_not_hold_beside_settings_of_the_repository() {
    let held = lowered("aider", &request(None, Some(Permission::ReadOnly))).unwrap().command;
    let Check::NoneAbove { names, .. } = &held.checks[0] else { panic!("{:?}", held.checks) };
    assert!(names.contains(&".env".into()) && names.contains(&".aider.conf.yml".into()));
    let free = lowered("aider", &request(None, None)).unwrap().command;
    assert!(free.checks.is_empty());
    // What an argument can win over is set by one, also where nothing restricts: AIDER_LOAD ran commands.
    for command in [&held, &free] {
        assert!(args(command).contains(&"--load=".to_owned()));
    }
    let mut env = request(None, Some(Permission::ReadOnly));
    env.env.insert("AIDER_ARCHITECT".to_owned(), "true".to_owned());
    assert_eq!(lowered("aider", &env).unwrap_err().kind, Kind::Unenforceable);
    let profile = Profile { args: vec!["--auto-lint".to_owned()], ..Profile::default() };
    let registry = HarnessRegistry::builtin();
    let lower =
        |request: &DispatchRequest| teamster::lower(registry.get("aider").unwrap(), request, &profile);
    assert_eq!(lower(&request(Some(""), None)).unwrap_err().kind, Kind::Unenforceable);
    let free = args(&lower(&request(None, None)).unwrap().command);
    let at = |flag: &str| free.iter().position(|arg| arg == flag);
    assert!(at("--no-auto-lint") < at("--auto-lint"), "the operator's word comes last");
}

/// B09: nothing is asked, and what would wait for a person is over.
#[test]
fn nothing_waits_for_a_person() {
    let args = args(&lowered("aider", &DispatchRequest::new("hi")).unwrap().command);
    for flag in
        ["--yes-always", "--no-gitignore", "--no-check-update", "--no-analytics", "--no-show-release-notes"]
    {
        assert!(args.iter().any(|arg| arg == flag), "{flag}");
    }
    let registry = HarnessRegistry::builtin();
    let aider = registry.get("aider").unwrap();
    let waits = "Please open this URL\n\nWaiting up to 5 minutes for you to finish in the browser...\n";
    for (output, over) in [(waits.to_owned(), true), (format!("{HEAD}{waits}"), false)] {
        let mut reader = aider.reader(Output::Text);
        output.as_bytes().chunks(7).for_each(|piece| reader.push(piece, &mut |_| {}));
        assert_eq!(reader.is_complete(), over, "{output}");
    }
    assert_eq!(transcript("e_nokey_nomodel_text").error.unwrap().kind, Kind::Auth);
}

#[test]
fn there_are_no_sessions_to_go_on_with() {
    let resume =
        DispatchRequest { session: Some(Session::Resume("x".to_owned())), ..DispatchRequest::new("hi") };
    let refused = lowered("aider", &resume).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsupported);
    assert!(refused.message.contains("session.resume"), "{}", refused.message);
}

/// B17: on a narrow terminal, line feeds were put into the strings of an answer.
#[test]
fn json_arrives_as_it_was_written() {
    let env = lowered("aider", &DispatchRequest::new("hi")).unwrap().command.env;
    assert!(env.iter().any(|(name, value)| name == "COLUMNS" && value.plain() == Some("1000000")));
    let value: serde_json::Value = serde_json::from_str(&transcript("reco_text").text).unwrap();
    assert_eq!(value["s"], "<tag> &amp; :smile: \\u00e9 é");
    assert!(serde_json::from_str::<serde_json::Value>(&transcript("wrap_nostream_text").text).is_err());
}

/// The log has the answer as it was; the output has tabs as blanks, and the answer's lines among aider's own.
#[test]
fn the_answer_is_that_of_the_log() {
    let log = "TO LLM 2026-12-01T12:00:00\n-------\nUSER LLM RESPONSE 2026-12-01T12:00:00\n\
               LLM RESPONSE 2026-12-01T12:00:01\nASSISTANT a\tb\nASSISTANT \nASSISTANT Tokens: 1 sent, 2 received.\n";
    let stdout =
        format!("{HEAD}a       b\n\nTokens: 1 sent, 2 received.\n\nTokens: 111 sent, 22 received.\n");
    let reply = read(&stdout, log);
    assert_eq!((reply.text.as_str(), reply.error), ("a\tb\n\nTokens: 1 sent, 2 received.", None));
    assert_eq!(reply.usage.unwrap().output_tokens, Some(22));
    assert_eq!(reply.model.as_deref(), Some("m"));
}

#[test]
fn tries_that_failed_are_no_failure_and_no_text() {
    let failed = "litellm.RateLimitError: slow down\nThe API provider has rate limited you.\nRetrying in 0.2 seconds...\n";
    let stdout = format!(
        "{HEAD}{failed}It is 4.\n\nTokens: 2.4k sent, 22 received. Cost: $0.01 message, $0.03 session.\n"
    );
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("aider").unwrap().reader(Output::Text);
    reader.push(stdout.as_bytes(), &mut |_| {});
    let reply = reader.finish(&RunEnd::exited(0, ""), &mut |_| {});
    assert_eq!((reply.text.as_str(), reply.error), ("It is 4.", None));
    // A rounded number is not known.
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_usd), (None, None, Some(0.03)));
}

#[test]
fn an_answer_whose_edits_came_to_nothing_is_no_success() {
    let log = "LLM RESPONSE 2026-12-01T12:00:01\nASSISTANT x\n";
    let tokens = format!("{HEAD}x\n\nTokens: 111 sent, 22 received.\n");
    for (rest, kind) in [
        ("\nApplied edit to x\n", None),
        ("Only 3 reflections allowed, stopping.\n", Some(Kind::HarnessError)),
        ("Cmd('git') failed due to: exit code(128)\n", Some(Kind::HarnessError)),
        ("litellm.AuthenticationError: no\n", Some(Kind::Auth)),
        ("\nModel m has hit a token limit!\n", Some(Kind::HarnessError)),
    ] {
        assert_eq!(read(&(tokens.clone() + rest), log).error.map(|e| e.kind), kind, "{rest}");
    }
    let denied = read(&(tokens + "Skipping edits to x that matches gitignore spec.\n"), log).denied;
    assert_eq!(denied[0].tool, "edit");
}
