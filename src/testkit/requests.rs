//! The requests that every harness is lowered with, as data; tests take their snapshots over the same.

use crate::harness::Facts;
use crate::policy::Permission;
use crate::request::DispatchRequest;

/// A request and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The name, for messages and snapshots.
    pub name: &'static str,
    /// The request.
    pub request: DispatchRequest,
}

/// The id of a session, as most CLIs have them.
pub(super) const SESSION: &str = "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88";

/// Name and request. `$read`, `$edit` and `$run` stand for tools of the harness that need the
/// permissions read-only, edit and full; a case is left out where the harness tells of no such tool.
const CASES: &[(&str, &str)] = &[
    ("bare", r#"{"prompt": "Say hi"}"#),
    ("system_prompt", r#"{"prompt": "Say hi", "system_prompt": "Be brief."}"#),
    ("system_prompt_empty", r#"{"prompt": "Say hi", "system_prompt": ""}"#),
    ("schema", r#"{"prompt": "How many?", "schema": {"type": "object", "required": ["n"]}}"#),
    ("system_prompt_and_schema", r#"{"prompt": "How many?", "system_prompt": "Be brief.", "schema": true}"#),
    ("model", r#"{"prompt": "Say hi", "model": "m-1"}"#),
    ("model_exact", r#"{"prompt": "Say hi", "model": "m-1", "model_is_exact": true}"#),
    ("output_text", r#"{"prompt": "Say hi", "output": "text"}"#),
    ("output_json", r#"{"prompt": "Say hi", "output": "json"}"#),
    ("output_stream", r#"{"prompt": "Say hi", "output": "stream"}"#),
    ("schema_as_text", r#"{"prompt": "How many?", "schema": true, "output": "text"}"#),
    ("schema_as_stream", r#"{"prompt": "How many?", "schema": true, "output": "stream"}"#),
    ("read_only", r#"{"prompt": "Look", "permission": "read-only"}"#),
    ("edit", r#"{"prompt": "Fix it", "permission": "edit"}"#),
    ("full", r#"{"prompt": "Do it", "permission": "full"}"#),
    ("flat_one", r#"{"prompt": "Look", "tools": "$read"}"#),
    ("flat_three", r#"{"prompt": "Fix it", "tools": "$read,$edit $run"}"#),
    ("flat_twice_the_same", r#"{"prompt": "Look", "tools": ["$read", "$read"]}"#),
    ("flat_empty_text", r#"{"prompt": "Look", "tools": ""}"#),
    ("flat_empty_list", r#"{"prompt": "Look", "tools": []}"#),
    ("flat_everything", r#"{"prompt": "Do it", "tools": "*"}"#),
    ("flat_first_words", r#"{"prompt": "Look", "tools": ["$run(git status)"]}"#),
    ("flat_comma_in_argument", r#"{"prompt": "Look", "tools": ["$run(cut -d, -f1)"]}"#),
    ("rules_empty", r#"{"prompt": "Look", "tools": {}}"#),
    ("rules_allow", r#"{"prompt": "Fix it", "tools": {"allow": ["$read", "$edit"]}}"#),
    ("rules_deny", r#"{"prompt": "Look", "tools": {"deny": ["$run"]}}"#),
    ("rules_ask", r#"{"prompt": "Fix it", "tools": {"allow": ["$edit"], "ask": ["$run"]}}"#),
    (
        "rules_deny_beats_allow",
        r#"{"prompt": "Fix it", "tools": {"allow": ["$edit", "$run"], "deny": ["$run"]}}"#,
    ),
    ("rules_deny_reading", r#"{"prompt": "Fix it", "tools": {"allow": ["$edit"], "deny": ["$read"]}}"#),
    ("rules_allow_first_words", r#"{"prompt": "Look", "tools": {"allow": ["$run(git status)"]}}"#),
    ("rules_deny_first_words", r#"{"prompt": "Do it", "tools": {"allow": ["$run"], "deny": ["$run(rm)"]}}"#),
    ("rules_by_tool", r#"{"prompt": "Fix it", "tools": {"$read": "allow", "$edit": true, "$run": false}}"#),
    ("rules_deny_everything", r#"{"prompt": "Think", "tools": {"deny": ["*"]}}"#),
    ("rules_everything_but_one", r#"{"prompt": "Do it", "tools": {"allow": ["*"], "deny": ["$run"]}}"#),
    ("read_only_with_editor", r#"{"prompt": "Fix it", "tools": "$edit", "permission": "read-only"}"#),
    (
        "read_only_with_rules",
        r#"{"prompt": "Look", "tools": {"deny": ["$read"]}, "permission": "read-only"}"#,
    ),
    ("edit_with_shell", r#"{"prompt": "Fix it", "tools": "$edit,$run", "permission": "edit"}"#),
    ("full_with_nothing", r#"{"prompt": "Think", "tools": "", "permission": "full"}"#),
    ("full_with_flat", r#"{"prompt": "Look", "tools": "$read", "permission": "full"}"#),
    ("full_with_rules", r#"{"prompt": "Do it", "tools": {"allow": ["$edit"]}, "permission": "full"}"#),
    ("session_new", r#"{"prompt": "Say hi", "session": {}}"#),
    ("session_id", r#"{"prompt": "Say hi", "session": {"id": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#),
    ("resume", r#"{"prompt": "Go on", "session": {"resume": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#),
    (
        "resume_read_only",
        r#"{"prompt": "Go on", "permission": "read-only", "session": {"resume": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#,
    ),
    (
        "resume_with_rules",
        r#"{"prompt": "Go on", "tools": {"allow": ["$edit"]}, "session": {"resume": "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88"}}"#,
    ),
    ("effort", r#"{"prompt": "Think", "effort": "high"}"#),
    ("max_turns", r#"{"prompt": "Say hi", "max_turns": 3}"#),
    ("cwd", r#"{"prompt": "Look", "cwd": "/repo/some project"}"#),
    ("add_dirs", r#"{"prompt": "Look", "add_dirs": ["/repo/one", "/repo/the other"]}"#),
    ("env", r#"{"prompt": "Say hi", "env": {"RUST_LOG": "debug"}}"#),
    ("file_references", r#"{"prompt": "Explain @README.md", "file_references": true}"#),
    ("allow_unenforced", r#"{"prompt": "Look", "permission": "read-only", "allow_unenforced": true}"#),
    ("dash", r#"{"prompt": "- [ ] fix the parser"}"#),
    ("front_matter", r#"{"prompt": "Add it", "system_prompt": "---\nname: reviewer\n---\nBe strict."}"#),
    ("slash", r#"{"prompt": "/usr/bin/env is missing, why?"}"#),
    ("slash_in_system_prompt", r#"{"prompt": "Go", "system_prompt": "/etc is yours"}"#),
    ("at", r#"{"prompt": "Ask jane@example.com why @/etc/hostname failed"}"#),
    ("looks_like_a_place", r#"{"prompt": "{file:guard.toml} {home}"}"#),
    (
        "everything",
        r#"{"prompt": "Fix it", "system_prompt": "Be brief.", "model": "m-1", "model_is_exact": true, "tools": {"allow": ["$edit"]},
            "permission": "edit", "schema": {"type": "object"}, "effort": "low", "session": {}, "cwd": "/repo/project",
            "add_dirs": ["/repo/other"], "max_turns": 5, "env": {"LANG": "C.UTF-8"}, "output": "stream", "file_references": true,
            "allow_unenforced": true}"#,
    ),
    ("unknown_tool", r#"{"prompt": "Look", "tools": "no_such_tool"}"#),
    ("flag_like_tool", r#"{"prompt": "Look", "tools": ["--all"]}"#),
    ("flag_like_model", r#"{"prompt": "Say hi", "model": "-m"}"#),
    ("flag_like_session", r#"{"prompt": "Say hi", "session": {"resume": "--last"}}"#),
    ("nul", r#"{"prompt": "a\u0000b"}"#),
    ("empty_prompt", r#"{"prompt": ""}"#),
    ("no_turns", r#"{"prompt": "Say hi", "max_turns": 0}"#),
];

/// Every case for a harness with these facts, the ones with large texts last.
pub fn requests(facts: &Facts) -> Vec<Case> {
    let large = [
        ("largest_argument", "a".repeat(131_071)),
        ("one_byte_over_an_argument", "a".repeat(131_072)),
        ("more_bytes_than_characters", "é".repeat(66_000)),
        ("large_with_dash", format!("-{}", "a".repeat(131_071))),
    ];
    let small = CASES.iter().filter_map(|(name, text)| Some(Case { name, request: request(facts, text)? }));
    small.chain(large.map(|(name, prompt)| Case { name, request: DispatchRequest::new(prompt) })).collect()
}

/// Prompts that parsers of arguments, shells and CLIs like to take for something else.
pub fn hostile_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "-",
        "--",
        "- x",
        "-5",
        "-p",
        "--help",
        "--model=evil now do it",
        "---\ntitle: spec\n---\nAdd the flag",
        "=x",
        "123",
        "/",
        "/quit",
        "/usr/bin/env is missing",
        "// a comment",
        "!ls",
        "?",
        "#",
        "~",
        "*",
        "Why did @/etc/hostname fail?",
        "mail jane@example.com, or \\@bob",
        "@",
        "it's \"quoted\" `id` $(id) $HOME %PATH% \\",
        "'x'",
        "\"x\"",
        "\n\nfirst\r\nsecond\n",
        " \t ",
        "\u{feff}mark",
        "합니다 ☕ 😀 e\u{301}\u{200b}",
        "a\u{1}\u{1b}[31mred\u{7f}\u{85}\u{2028}b",
        "{home} {{file:x}} {tmp} {env:PATH}",
        "{\"a\": [1]}",
        "a,b;c|d&e>f",
        "<think>no</think>",
        "EOF",
        "null",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([
        "x".repeat(200 << 10),
        "☕".repeat(70_000),
        format!("/{}", "x".repeat(131_071)),
        format!("-{}", "é".repeat(65_530)),
    ]);
    texts
}

/// The name of a tool that needs just this permission and gives no more than it.
pub(super) fn tool(facts: &Facts, needs: Permission) -> Option<&str> {
    facts.tools.iter().find(|(_, tool)| tool.needs == needs && !tool.escalates).map(|(name, _)| name.as_str())
}

/// The request of a case; none where the harness has no such tool, or a name that breaks the JSON, which
/// is a finding on its facts.
fn request(facts: &Facts, text: &str) -> Option<DispatchRequest> {
    let mut text = text.to_owned();
    if let Some(own) = &facts.session_example {
        text = text.replace(&format!(r#""resume": "{SESSION}""#), &format!(r#""resume": "{own}""#));
    }
    for (place, needs) in
        [("$read", Permission::ReadOnly), ("$edit", Permission::Edit), ("$run", Permission::Full)]
    {
        if text.contains(place) {
            text = text.replace(place, tool(facts, needs)?);
        }
    }
    DispatchRequest::from_json(&text).ok().map(|(request, _)| request)
}
