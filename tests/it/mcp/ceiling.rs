//! What a client may ask for is the owner's to say: no call gets more, however it asks.

use super::{Client, rehearsing};
use serde_json::{Value, json};
use teamster::{DispatchRequest, HarnessRegistry, Permission, Profile, ToolPolicy, lower};

const ALL: [Permission; 3] = [Permission::ReadOnly, Permission::Edit, Permission::Full];

/// Every harness, under every ceiling, with every permission and form of policy: what `lower` gives is the
/// command of a request that asks for no more than the ceiling, or it is refused.
#[test]
fn no_call_is_lowered_to_more_than_the_ceiling() {
    let registry = HarnessRegistry::builtin();
    let policies = [
        Value::Null,
        json!([]),
        json!("read, edit, shell"),
        json!({"allow": ["*"]}),
        json!({"allow": ["edit", "shell"], "deny": ["web"]}),
    ];
    for most in ALL {
        let mut client = rehearsing(&["--permission", most.name()]);
        let cwd = client.dir.path().canonicalize().unwrap();
        for builder in registry.iter() {
            let id = &builder.facts().id;
            for asked in [None, Some(ALL[0]), Some(ALL[1]), Some(ALL[2])] {
                for tools in &policies {
                    let mut arguments = json!({"harness": id, "prompt": "Do it", "tools": tools});
                    if let Some(asked) = asked {
                        arguments["permission"] = json!(asked);
                    }
                    let case = format!("{arguments} under {}", most.name());
                    let (is_error, lowered, _) = client.call("lower", arguments);
                    if asked.is_some_and(|asked| asked > most) {
                        assert_eq!(lowered["failure"]["kind"], "permission", "{case}");
                        continue;
                    }
                    let held = match (asked, most) {
                        (Some(asked), _) => Some(asked),
                        (None, Permission::Full) => None,
                        (None, most) if !tools.is_null() => Some(most),
                        (None, _) => Some(Permission::ReadOnly),
                    };
                    let policy: Option<ToolPolicy> = serde_json::from_value(tools.clone()).unwrap();
                    let request = DispatchRequest {
                        permission: held,
                        tools: policy,
                        cwd: Some(cwd.clone()),
                        output: teamster::Output::Stream,
                        ..DispatchRequest::new("Do it")
                    };
                    match lower(builder, &request, &Profile::default()) {
                        Ok(expected) => {
                            let expected = json!(expected);
                            for part in ["args", "env", "files", "stdin"] {
                                assert_eq!(lowered[part], expected[part], "{part} of {case}");
                            }
                        }
                        Err(failure) => {
                            assert_eq!((is_error, &lowered["failure"]), (true, &json!(failure)), "{case}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_over_the_ceiling_is_refused_by_every_tool_that_runs_something() {
    let outside = tempfile::tempdir().unwrap();
    let mut client = rehearsing(&["--harness", "gemini,claude"]);
    std::os::unix::fs::symlink(outside.path(), client.dir.path().join("link")).unwrap();
    let cases = [
        (json!({"permission": "edit"}), "permission: `edit` is more than `read-only`"),
        (json!({"permission": "yolo"}), "permission: `full` is more than `read-only`"),
        (json!({"env": {"A": "b"}}), "env: may not be set here"),
        (json!({"allow_unenforced": true}), "allow_unenforced: may not be set here"),
        (json!({"file_references": true}), "file_references: may not be set here"),
        (json!({"harness": "codex"}), "harness: `codex` is not one of gemini, claude"),
        (json!({"cwd": ".."}), "cwd: "),
        (json!({"cwd": "/"}), "cwd: / is not below "),
        (json!({"cwd": "link"}), "cwd: "),
        (json!({"add_dirs": ["/"]}), "add_dirs: / is not below "),
        (json!({"add_dirs": ["link"]}), "add_dirs: "),
    ];
    for (more, expected) in cases {
        let mut arguments = json!({"harness": "gemini", "prompt": "hi"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        for tool in ["lower", "dispatch", "job_start"] {
            let (kind, message) = client.refused(tool, arguments.clone());
            assert_eq!((&*kind, message.starts_with(expected)), ("permission", true), "{tool}: {message}");
        }
    }
    for (more, expected) in [
        (json!({"timeout_s": 601}), "timeout_s: more than 600 s"),
        (json!({"attempts": 4}), "attempts: more than 3"),
    ] {
        let mut arguments = json!({"harness": "gemini", "prompt": "hi"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(client.refused("dispatch", arguments), ("permission".into(), expected.into()));
    }
    let (kind, _) = client.refused("review", json!({"harness": "codex"}));
    assert_eq!(kind, "permission");
    assert_eq!(client.done("job_status", json!({}))["jobs"], json!([]), "none was started");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn what_the_owner_allows_is_allowed() {
    let mut client = rehearsing(&["--permission=edit", "--allow", "env", "--allow", "file_references"]);
    std::fs::create_dir(client.dir.path().join("below")).unwrap();
    let ask = json!({
        "harness": "gemini", "prompt": "hi", "permission": "edit", "env": {"A": "b"}, "file_references": true,
        "cwd": "below", "timeout_s": 30, "attempts": 1,
    });
    let lowered = client.done("lower", without(&ask, &["timeout_s", "attempts"]));
    let below = client.dir.path().canonicalize().unwrap().join("below");
    assert_eq!((&lowered["env"]["A"], &lowered["cwd"]), (&json!("b"), &json!(below)));
    client.done("dispatch", ask);
    assert_eq!(
        client.refused("lower", json!({"harness": "gemini", "prompt": "hi", "allow_unenforced": true})).0,
        "permission"
    );
}

/// The profile's own ceiling stays where the server's is higher.
#[test]
fn the_settings_hold_too() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("user.toml");
    std::fs::write(
        &file,
        "[profiles.gemini]\npermission = \"read-only\"\n[profiles.gemini.limits]\ntimeout_s = 5\n",
    )
    .unwrap();
    let mut client =
        Client::new(&["--rehearse", "--permission=full", "--config", file.to_str().unwrap()], &[]);
    let lowered = client.done("lower", json!({"harness": "gemini", "prompt": "hi", "permission": "full"}));
    let report = lowered["report"].as_array().unwrap();
    assert!(report.iter().any(|row| row["detail"] == "--approval-mode default"), "{lowered}");
    let (_, message) =
        client.refused("dispatch", json!({"harness": "gemini", "prompt": "hi", "timeout_s": 6}));
    assert_eq!(message, "timeout_s: more than 5 s");
}

fn without(value: &Value, names: &[&str]) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    value
}
