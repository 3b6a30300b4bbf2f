//! Each tool: what goes in, what comes out, and what is wrong with it.

use super::{Client, rehearsing, with_fake};
use crate::support::fake::Fake;
use serde_json::{Value, json};
use std::process::Command;
use teamster::FIELDS;

fn schema() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
}

#[test]
fn the_tools_say_what_they_change() {
    let client = rehearsing(&["--permission", "edit"]);
    let hints = |tool: &Value| {
        let hint = |name: &str| tool["annotations"][name].as_bool();
        (tool["name"].as_str().unwrap().to_owned(), hint("readOnlyHint").unwrap(), hint("destructiveHint"))
    };
    let all: Vec<_> = client.tools.iter().map(hints).collect();
    let expected = [
        ("list_harnesses", true, None),
        ("lower", true, None),
        ("dispatch", false, Some(true)),
        ("job_start", false, Some(true)),
        ("job_status", true, None),
        ("job_wait", true, None),
        ("job_result", true, None),
        ("job_logs", true, None),
        ("job_cancel", false, Some(true)),
        ("review", false, Some(false)),
    ];
    assert_eq!(all, expected.map(|(name, reads, ends)| (name.to_owned(), reads, ends)));
}

/// What a client reads before its first call. Whoever changes it changes what every client sees.
#[test]
fn the_tools_are_those_of_the_snapshot() {
    let client = rehearsing(&[]);
    let text = serde_json::to_string_pretty(&client.tools).unwrap();
    let root = client.dir.path().canonicalize().unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/mcp"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("tools", text.replace(root.to_str().unwrap(), "{root}")));
}

#[test]
fn the_request_is_ours_as_far_as_the_ceiling_goes() {
    let properties = |client: &Client, tool: &str| {
        let tool = client.tools.iter().find(|t| t["name"] == tool).unwrap();
        let mut names: Vec<String> =
            tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort();
        (names, tool["inputSchema"]["properties"]["permission"]["enum"].clone())
    };
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        names
    };
    let closed = ["env", "allow_unenforced", "file_references"];
    let harmless: Vec<&str> = FIELDS.iter().copied().filter(|field| !closed.contains(field)).collect();
    let client = rehearsing(&[]);
    assert_eq!(properties(&client, "lower"), (sorted(&harmless), json!(["read-only"])));
    let more = [&harmless[..], &["timeout_s", "attempts"]].concat();
    assert_eq!(properties(&client, "dispatch"), (sorted(&more), json!(["read-only"])));
    let client = rehearsing(&["--permission", "full", "--allow", "env,allow_unenforced,file_references"]);
    assert_eq!(properties(&client, "lower"), (sorted(FIELDS), json!(["read-only", "edit", "full"])));
}

#[test]
fn a_dispatch_gives_the_value_as_data_and_as_text() {
    let mut client = rehearsing(&[]);
    let ask = json!({"harness": "gemini", "prompt": "count", "schema": schema()});
    let (is_error, outcome, text) = client.call("dispatch", ask);
    assert_eq!((is_error, &outcome["value"]), (false, &json!({"n": 1})), "{outcome}");
    assert_eq!(text, r#"{"n":1}"#);
    assert_eq!(outcome["harness"], "gemini");
    assert!(client.progress().contains(&"writing"), "{:?}", client.told);
}

#[test]
fn an_answer_that_is_not_valid_is_asked_for_again_and_the_client_hears_of_it() {
    let mut client = Client::new(&["--rehearse=wrong-first"], &[]);
    let outcome =
        client.done("dispatch", json!({"harness": "claude", "prompt": "count", "schema": schema()}));
    let attempts = outcome["attempts"].as_array().unwrap().len();
    assert_eq!((attempts, &outcome["value"]), (2, &json!({"n": 1})));
    assert!(client.progress().iter().any(|said| said.starts_with("asking again: ")), "{:?}", client.told);
    let steps: Vec<f64> = client.told.iter().filter_map(|told| told["params"]["progress"].as_f64()).collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
}

#[test]
fn a_dispatch_that_fails_is_a_result_and_no_error_of_the_protocol() {
    let mut client = Client::new(&[r#"--rehearse=[{"status": 401}]"#], &[]);
    let (kind, _) = client.refused("dispatch", json!({"harness": "gemini", "prompt": "hi"}));
    assert_eq!(kind, "auth");
    let (kind, message) = client.refused("dispatch", json!({"harness": "gemni", "prompt": "hi"}));
    assert_eq!((&*kind, message.contains("did you mean `gemini`")), ("unknown_harness", true), "{message}");
    let bad = json!({"harness": "gemini", "prompt": "hi", "schema": {"type": "nothing"}});
    assert_eq!(client.refused("dispatch", bad).0, "schema_error");
    let dir = client.dir.path().canonicalize().unwrap().join("gone");
    let gone = json!({"harness": "gemini", "prompt": "hi", "cwd": "gone"});
    let said = client.refused("dispatch", gone);
    assert_eq!(
        said,
        ("bad_cwd".into(), format!("cwd: {}: No such file or directory (os error 2)", dir.display()))
    );
}

/// The protocol of July 2026 has no hello: each request says what its client is.
#[test]
fn a_client_that_says_no_hello_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = super::command(dir.path(), env!("CARGO_BIN_EXE_teamster"));
    command.args(["mcp", "--rehearse"]);
    let mut client = Client::silent(dir, command);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "token",
    });
    let listed = client.request("tools/list", json!({"_meta": meta}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 10, "{listed}");
    let arguments = json!({"harness": "gemini", "prompt": "count", "schema": schema()});
    let called =
        client.request("tools/call", json!({"name": "dispatch", "arguments": arguments, "_meta": meta}));
    assert_eq!(called["result"]["structuredContent"]["value"], json!({"n": 1}), "{called}");
    assert!(client.progress().contains(&"writing"), "{:?}", client.told);
}

#[test]
fn malformed_arguments_are_an_error_that_names_the_field() {
    let mut client = rehearsing(&[]);
    let cases = [
        (
            "dispatch",
            json!({"harness": "gemini", "promt": "hi"}),
            "unknown key `promt`; did you mean `prompt`?",
        ),
        ("dispatch", json!({"harness": "gemini"}), "missing field `prompt`"),
        ("dispatch", json!({"prompt": 7}), "invalid type: integer `7`, expected a string"),
        (
            "dispatch",
            json!({"prompt": "hi", "permission": "most"}),
            "`most` is none of read-only, edit, full",
        ),
        ("dispatch", json!({"prompt": "hi", "timeout_s": "long"}), "timeout_s: `\"long\"`: invalid type"),
        ("job_wait", json!({}), "ids: is missing"),
        ("job_cancel", json!({"ids": []}), "ids: is empty"),
        ("job_result", json!({"id": 1}), "id: `1`: invalid type"),
        ("job_start", json!({"prompt": "hi", "id": "../x"}), "`../x` is no id of a job"),
        ("review", json!({"scope": "all"}), "scope: `\"all\"`: unknown variant"),
        ("job_stat", json!({}), "there is no tool `job_stat`; did you mean `job_start` or `job_status`"),
        ("lower", json!([1]), "a call has `name`, a string, and `arguments`, an object"),
    ];
    for (tool, arguments, expected) in cases {
        let error = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let message = error["error"]["message"].as_str().unwrap_or_else(|| panic!("{error}"));
        assert_eq!(error["error"]["code"], -32602, "{error}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_message_that_cannot_be_read_ends_nothing() {
    let mut client = rehearsing(&[]);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    client.send_text("no JSON at all");
    client.send_text("[]");
    client.send_text("");
    client.send_text(r#"{"jsonrpc":"2.0","method":"notifications/unheard","params":{"a":1}}"#);
    client.next += 1;
    let id = client.next;
    client.send_text(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"lower","arguments":{{"prompt":{deep}}}}}}}"#
    ));
    assert_eq!(client.answer(id)["error"]["code"], -32600);
    assert_eq!(client.request("nothing/known", json!({}))["error"]["code"], -32601);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_schema_reaches_the_agent_as_the_client_wrote_it() {
    let mut client = rehearsing(&[]);
    let own = r#"{"zebra": 1, "apple": {"q": 1.50, "b": 12345678901234567890123}}"#;
    client.next += 1;
    let id = client.next;
    client.send_text(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"lower","arguments":{{"harness":"gemini","prompt":"hi","schema":{own}}}}}}}"#
    ));
    let (_, lowered, _) = client.result("lower", id);
    let prompt = lowered["args"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(prompt.ends_with(own), "{prompt}");
}

#[test]
fn lower_is_what_argv_prints() {
    let mut client = rehearsing(&[]);
    let lowered = client.done("lower", json!({"harness": "codex", "prompt": "hi", "model": "m"}));
    let cwd = client.dir.path().canonicalize().unwrap();
    let printed = super::command(client.dir.path(), env!("CARGO_BIN_EXE_teamster"))
        .args(["argv", "codex", "hi", "--model", "m", "--permission", "read-only", "--json", "--cwd"])
        .arg(&cwd)
        .output()
        .unwrap();
    let mut printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    printed.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let mut own = lowered.clone();
    own.as_object_mut().unwrap().retain(|key, _| key != "ok" && key != "shell_line");
    assert_eq!(own, printed);
}

#[test]
fn the_list_has_every_harness_and_the_ceiling() {
    let mut client = rehearsing(&[]);
    let all = client.done("list_harnesses", json!({}));
    let ids: Vec<&str> =
        all["harnesses"].as_array().unwrap().iter().filter_map(|h| h["id"].as_str()).collect();
    let registry = teamster::HarnessRegistry::builtin();
    assert_eq!(ids, registry.iter().map(|builder| builder.facts().id.as_str()).collect::<Vec<_>>());
    let root = client.dir.path().canonicalize().unwrap();
    assert_eq!(all["ceiling"], json!({"permission": "read-only", "root": root, "allow": []}));
    let one = client.done("list_harnesses", json!({"harness": "gemini"}));
    assert_eq!(one["harnesses"][0]["tools"]["read_file"]["needs"], "read-only", "{one}");
}

#[test]
fn several_dispatches_run_at_once_as_many_as_the_owner_says() {
    let body = r#"init; : > "$DIR/here.$$"; i=0
while [ "$(ls "$DIR" | grep -c here)" -lt 2 ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
say "$(ls "$DIR" | grep -c here)"; rm "$DIR/here.$$"; result"#;
    let ask = json!({"harness": "gemini", "prompt": "hi"});
    let fake = Fake::new(body);
    let mut client = with_fake(&fake, &["--concurrency", "2"]);
    let both = [client.start("dispatch", ask.clone()), client.start("dispatch", ask.clone())];
    let texts = both.map(|id| client.result("dispatch", id).2);
    assert!(texts.contains(&"2".to_owned()), "{texts:?}");
    let fake = Fake::new("init; sleep 0.3; say done; result");
    let mut client = with_fake(&fake, &["--concurrency", "1"]);
    let both = [client.start("dispatch", ask.clone()), client.start("dispatch", ask)];
    let texts = both.map(|id| client.result("dispatch", id).2);
    assert_eq!(texts, ["done", "done"]);
    assert!(client.progress().contains(&"waiting for another dispatch to end"), "{:?}", client.told);
}

#[test]
fn a_review_gives_findings_and_stays_in_the_repository() {
    let findings = r#"--rehearse=[{"json": {"findings": [{"severity": "low", "file": "a.txt", "line": 1, "title": "t",
        "detail": "d", "confidence": 0.5}]}}]"#;
    let mut client = Client::new(&[findings], &[]);
    let dir = client.dir.path().to_owned();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.test"]).args(args).current_dir(&dir);
        assert!(git.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    std::fs::write(dir.join("a.txt"), "one\n").unwrap();
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "one"]);
    let (kind, _) = client.refused("review", json!({"harness": "gemini"}));
    assert_eq!(kind, "invalid_request", "nothing changed");
    std::fs::write(dir.join("a.txt"), "two\n").unwrap();
    let done = client.done("review", json!({"harness": "gemini", "scope": "working-tree"}));
    assert_eq!((&done["findings"][0]["file"], &done["files"][0]["path"]), (&json!("a.txt"), &json!("a.txt")));
    // A server of a folder in it does not get at the whole.
    std::fs::create_dir(dir.join("below")).unwrap();
    let mut command = super::command(&dir, env!("CARGO_BIN_EXE_teamster"));
    command.args(["mcp", "--rehearse", "--root", "below"]);
    let mut client = Client::of(tempfile::tempdir().unwrap(), command);
    let (kind, message) = client.refused("review", json!({"harness": "gemini"}));
    assert_eq!((&*kind, message.starts_with("cwd: the repository, ")), ("permission", true), "{message}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    for (args, status, said) in [
        (&["--permission", "most"][..], 2, "`most` is none of read-only, edit, full"),
        (&["--root", "/nonexistent"], 2, "root: /nonexistent: No such file or directory"),
        (&["--harness", "gemni"], 2, "did you mean `gemini`"),
        (&["--allow", "bin"], 2, "invalid value 'bin'"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let done = super::command(dir.path(), env!("CARGO_BIN_EXE_teamster"))
            .arg("mcp")
            .args(args)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!((done.status.code(), err.contains(said)), (Some(status), true), "{err}");
        assert!(done.stdout.is_empty());
    }
}
