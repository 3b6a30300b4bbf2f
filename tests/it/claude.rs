//! Claude Code: what its builder and its reader have to do over what every harness has to.

use crate::argv::{args, lowered};
use teamster::reply::Usage;
use teamster::testkit::Transcript;
use teamster::{
    AgentBuilder, DispatchRequest, HarnessRegistry, Kind, Permission, Reply, ReplySchema, ToolPolicy,
};

fn tools(text: &str) -> DispatchRequest {
    DispatchRequest { tools: Some(ToolPolicy::from_text(text).unwrap()), ..DispatchRequest::new("hello") }
}

fn flag(request: &DispatchRequest, name: &str) -> Option<String> {
    let args = args(&lowered("claude", request).unwrap().command);
    args.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

fn read(name: &str) -> Reply {
    let registry = HarnessRegistry::builtin();
    let claude = registry.get("claude").unwrap();
    let transcript = crate::transcripts::of(claude).into_iter().find(|t| t.name == name).unwrap();
    transcript.read(claude, &[]).0
}

/// B02: `--allowedTools`, `--add-dir` and `--resume` take any number of words, and ate the prompt.
#[test]
fn no_list_option_eats_the_prompt() {
    let request = DispatchRequest { add_dirs: vec!["/w/shared".into()], ..tools("Read Grep Bash") };
    let command = lowered("claude", &request).unwrap().command;
    assert_eq!(command.stdin.as_deref(), Some("hello"));
    let args = args(&command);
    assert!(
        args.contains(&"--tools=Read,Grep,Glob,Bash".to_owned())
            && args.contains(&"--add-dir=/w/shared".to_owned())
    );
    let dangling: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-') && *arg != "json").collect();
    assert_eq!(dangling, Vec::<&String>::new());
}

/// B08: an approval is no limit. What is not listed does not exist for the model, whatever the permission.
#[test]
fn a_list_is_the_tools_that_are_there_and_never_an_approval_alone() {
    let listed = DispatchRequest { permission: Some(Permission::Full), ..tools("Read,Grep,Glob") };
    let reading = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") };
    for request in [listed, reading] {
        assert_eq!(flag(&request, "--tools").as_deref(), Some("Read,Grep,Glob"));
        assert_eq!(
            (flag(&request, "--permission-mode").as_deref(), flag(&request, "--allowedTools")),
            (Some("dontAsk"), None)
        );
        assert!(
            args(&lowered("claude", &request).unwrap().command).contains(&"--strict-mcp-config".to_owned())
        );
    }
}

#[test]
fn edits_are_approved_below_the_working_directory_alone() {
    let edit = DispatchRequest {
        permission: Some(Permission::Edit),
        add_dirs: vec!["/w/shared".into()],
        ..DispatchRequest::new("x")
    };
    assert_eq!(flag(&edit, "--allowedTools").as_deref(), Some("Edit(./**),Edit(//w/shared/**)"));
    let anywhere = DispatchRequest { permission: Some(Permission::Full), ..tools("Edit") };
    assert_eq!(flag(&anywhere, "--allowedTools").as_deref(), Some("Edit"));
}

#[test]
fn first_words_and_patterns_stand_in_its_own_syntax() {
    assert_eq!(flag(&tools("shell(git status)"), "--allowedTools").as_deref(), Some("Bash(git status *)"));
    assert_eq!(flag(&tools("Bash(git diff:*)"), "--allowedTools").as_deref(), Some("Bash(git diff:*)"));
    let rules = tools(r#"{"allow": ["shell"], "deny": ["shell(rm)", "Read(.env)"]}"#);
    assert_eq!(flag(&rules, "--disallowedTools").as_deref(), Some("Bash(rm *),Read(.env)"));
    let servers = tools("mcp(github/list_issues)");
    assert_eq!(flag(&servers, "--allowedTools").as_deref(), Some("mcp__github__list_issues"));
    assert!(!args(&lowered("claude", &servers).unwrap().command).contains(&"--strict-mcp-config".to_owned()));
}

/// Run: rules that are not closed are dropped in silence, a deny with them; `Write(…)` matches nothing.
#[test]
fn a_rule_that_claude_would_drop_is_refused() {
    for (text, wanted) in [
        (r#"{"deny": ["Bash(echo \")\")"]}"#, "its parentheses are not balanced"),
        (r#"["Write(src/**)"]"#, "claude matches no pattern of Write"),
        (r#"["write"]"#, "Claude Code has no such tool and would ignore it"),
        (r#"["Bash( )"]"#, "it is empty, or not on one line"),
    ] {
        let request = match ToolPolicy::from_text(text) {
            Ok(tools) => DispatchRequest { tools: Some(tools), ..DispatchRequest::new("x") },
            Err(refused) => panic!("{text}: {refused}"),
        };
        let refused = lowered("claude", &request).unwrap_err();
        assert!(refused.kind == Kind::Unsupported && refused.message.contains(wanted), "{text}: {refused}");
    }
}

/// B32: a draft that its checker does not know is not sent, and the instruction holds the caller's own schema.
#[test]
fn a_schema_goes_to_the_native_flag_only_where_its_checker_takes_it() {
    let native = |schema: &str| {
        let schema = Some(ReplySchema::from_text(schema).unwrap());
        let request = DispatchRequest { schema, ..DispatchRequest::new("x") };
        assert!(lowered("claude", &request).unwrap().command.stdin.unwrap().contains("JSON Schema"));
        flag(&request, "--json-schema")
    };
    let plain = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"n": {"type": "integer"}}}"#;
    assert_eq!(native(plain).as_deref(), Some(r#"{"properties":{"n":{"type":"integer"}},"type":"object"}"#));
    for schema in [
        "true",
        r#"{"type": "array"}"#,
        r#"{"type": "object", "properties": {"a": {"prefixItems": [{"type": "string"}]}}}"#,
        r#"{"type": "object", "x-mine": 1}"#,
        r#"{"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}"#,
        r#"{"type": "object", "unevaluatedProperties": false}"#,
        r#"{"type": "object", "anyOf": [{"required": ["a"]}]}"#,
    ] {
        assert_eq!(native(schema), None, "{schema}");
    }
}

/// B20: with a flag or a setting of the user the envelope is an array of every message.
#[test]
fn an_array_is_read_by_its_last_result_and_a_decoy_in_a_tool_is_not_it() {
    let reply = read("b20_json");
    assert_eq!(
        (reply.text.as_str(), reply.session_id.as_deref(), reply.error),
        ("{\"ok\": true}", Some("s-20"), None)
    );
}

/// B21: `subtype` says success, the exit status is 0, and it is an error.
#[test]
fn an_error_that_is_called_a_success_is_an_error() {
    let kind = |name: &str| read(name).error.map(|e| (e.kind, e.message.contains("limit")));
    assert_eq!(kind("b21a_json"), Some((Kind::RateLimit, true)));
    assert_eq!(kind("b21b_json"), Some((Kind::Quota, true)));
}

/// B23: words about rate limits in the work are work.
#[test]
fn words_of_the_work_classify_nothing() {
    assert_eq!(read("b23a_json").error, None);
    assert_eq!(read("b23b_stream-json").error.map(|e| e.kind), Some(Kind::Quota));
    assert_eq!(read("b23c_json").error.map(|e| e.kind), Some(Kind::HarnessError));
}

/// B24: the limit of turns, with an empty list of errors.
#[test]
fn the_limit_of_turns_is_told_as_what_it_is() {
    let failure = read("b24_json").error.unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (Kind::MaxTurns, "claude: error_max_turns"));
}

/// B40: a message comes as several lines, each with the usage so far.
#[test]
fn each_message_counts_once_also_where_the_last_line_is_cut_off() {
    let usage = Usage {
        input_tokens: Some(6 + 1000 + 181_000),
        cache_write_tokens: Some(1000),
        cached_tokens: Some(181_000),
        output_tokens: Some(520),
        ..Usage::default()
    };
    assert_eq!(read("b40_stream-json").usage, Some(usage));
    let cut = read("b40cut_stream-json");
    assert_eq!((cut.usage, cut.error.map(|e| e.kind)), (Some(usage), Some(Kind::HarnessError)));
}

/// Run: SIGINT gives status 0 and an envelope that says so.
#[test]
fn an_interrupted_run_is_no_success_though_its_status_is_0() {
    for name in ["14b_int_hang_json", "14d_int_tool_json", "14j_int_stream_stream-json"] {
        assert_eq!(read(name).error.map(|e| e.kind), Some(Kind::HarnessError), "{name}");
    }
}

#[test]
fn a_command_of_the_cli_is_kept_text_by_one_line_feed() {
    let command = lowered("claude", &DispatchRequest::new("/compact")).unwrap().command;
    assert_eq!(command.stdin.as_deref(), Some("\n/compact"));
    let refused = lowered("claude", &DispatchRequest::new("ask @agent-Explore")).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsupported);
}

#[test]
fn every_transcript_that_was_an_error_is_one() {
    let registry = HarnessRegistry::builtin();
    let claude: &dyn AgentBuilder = registry.get("claude").unwrap();
    let good = |t: &Transcript| t.read(claude, &[]).0.error.is_none();
    let failed: Vec<String> = crate::transcripts::of(claude)
        .into_iter()
        .filter(|t| t.status != 0 && good(t))
        .map(|t| t.name)
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

/// The system prompt goes by a flag, so that nothing stands ahead of the prompt in what is looked at.
#[test]
fn a_file_that_the_prompt_names_is_a_matter_of_the_prompt() {
    let asked = DispatchRequest {
        system_prompt: Some("Be as brief as you can be.".to_owned()),
        ..DispatchRequest::new("see @notes")
    };
    let command = lowered("claude", &asked).unwrap().command;
    let fields: Vec<&str> = command
        .checks
        .iter()
        .filter_map(|check| match check {
            teamster::command::Check::NoSuchPath { field, .. } => Some(field.as_ref()),
            _ => None,
        })
        .collect();
    assert_eq!(fields, ["prompt"]);
}
