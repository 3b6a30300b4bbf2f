//! Each state of a CLI has a verdict of its own, and costs no more than it must.

use super::place::{FINE, Place, REFUSED, SECRET, gemini};
use serde_json::{Value, json};

/// The report of a gemini of the verified version, with these fields another.
fn report(fields: Value) -> Value {
    let mut report = json!({
        "harness": "gemini", "ok": true, "installed": true, "found_by": "PATH", "version": "0.61.0",
        "verified": "0.61.0", "version_verdict": "verified", "auth": [], "signed_in": "unknown", "probed": false,
    });
    let all = report.as_object_mut().expect("an object");
    for (name, value) in fields.as_object().expect("an object") {
        match value {
            Value::Null => drop(all.remove(name)),
            value => drop(all.insert(name.clone(), value.clone())),
        }
    }
    report
}

#[test]
fn fine_is_proven_by_a_call_without_rights() {
    let place = Place::new();
    gemini(&place, "0.61.0", &format!("printf '%s\\n' \"$@\" > \"$DIR/args\"; pwd > \"$DIR/cwd\"\n{FINE}"));
    let told = place.doctor(&["gemini", "--json"], &[("GEMINI_API_KEY", SECRET)]);
    let expected = json!({"auth": ["GEMINI_API_KEY"], "signed_in": "yes", "probed": true});
    assert_eq!((told.status, told.harness()), (0, report(expected)));
    let json = told.json();
    assert_eq!((&json["ok"], json["teamster"].as_array().map(Vec::len)), (&json!(true), Some(6)));
    assert_eq!(place.read("calls").lines().count(), 2, "the version and the call");
    assert!(place.read("args").contains("--admin-policy="), "{}", place.read("args"));
    assert!(place.read("cwd").starts_with(&place.path("tmp").display().to_string()), "an empty folder");
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn not_installed_is_127_with_what_installs_it() {
    let place = Place::new();
    let told = place.doctor(&["gemini", "--json"], &[("TEAMSTER_GEMINI_BIN", "/nonexistent/gemini")]);
    let expected = report(json!({
        "ok": false, "installed": false, "found_by": null, "version": null, "version_verdict": "unknown",
        "reason": "not_found", "kind": "not_found",
        "message": "gemini: `/nonexistent/gemini` (from TEAMSTER_GEMINI_BIN) is no program that can be run",
        "hint": "give the path of an executable file, or a name that is in PATH",
    }));
    assert_eq!((told.status, told.harness()), (127, expected));
    let told = place.doctor(&["droid", "--json"], &[]);
    let harness = told.harness();
    assert_eq!((told.status, &harness["reason"]), (127, &json!("not_found")));
    assert!(harness["hint"].as_str().is_some_and(|hint| hint.starts_with("install it with `")), "{harness}");
}

#[test]
fn what_cannot_start_is_broken_and_not_missing() {
    let place = Place::new();
    place.script("gemini", "#!/usr/bin/env no-such-runtime\n");
    let told = place.doctor(&["gemini", "--json", "--skip-probe"], &[]);
    let harness = told.harness();
    assert_eq!(
        (told.status, &harness["reason"], &harness["installed"]),
        (127, &json!("broken"), &json!(true))
    );
    assert!(harness["message"].as_str().is_some_and(|m| m.contains("no-such-runtime")), "{harness}");
    place.script("gemini", "#!/no/such/interpreter\n");
    let told = place.doctor(&["gemini", "--json"], &[]);
    assert_eq!((told.status, &told.harness()["reason"]), (127, &json!("broken")));
}

#[test]
fn too_old_is_said_before_any_call() {
    let place = Place::new();
    gemini(&place, "0.39.0", FINE);
    let told = place.doctor(&["gemini", "--json"], &[("GEMINI_API_KEY", SECRET)]);
    let expected = report(json!({
        "ok": false, "version": "0.39.0", "version_verdict": "too_old", "auth": ["GEMINI_API_KEY"],
        "reason": "version", "kind": "harness_config",
        "message": "gemini 0.39.0 is older than 0.39.1, the oldest that can be driven",
        "hint": "update it: npm install -g @google/gemini-cli",
    }));
    assert_eq!((told.status, told.harness()), (1, expected));
    assert_eq!(place.read("calls"), "--version\n");
}

#[test]
fn a_version_that_was_not_verified_is_a_note_and_no_failure() {
    for (version, verdict, note) in [
        ("0.60.1", "older", "older than 0.61.0, and was not verified itself"),
        ("0.62.0-preview.1", "newer", "newer than 0.61.0, the newest that was verified"),
        ("none", "unknown", "it says no version"),
    ] {
        let place = Place::new();
        gemini(&place, version, FINE);
        let told = place.doctor(&["gemini", "--json"], &[]);
        assert_eq!((told.status, &told.harness()["version_verdict"]), (0, &json!(verdict)), "{version}");
        let told = place.doctor(&["gemini"], &[]);
        assert!(told.stdout.contains(note), "{}", told.stdout);
    }
}

#[test]
fn no_credential_is_told_from_one_that_is_refused() {
    let place = Place::new();
    gemini(&place, "0.61.0", "echo 'Please set an Auth method in your settings' >&2; exit 41");
    let told = place.doctor(&["gemini", "--json"], &[]);
    let expected = report(json!({
        "ok": false, "signed_in": "no", "probed": true, "reason": "unauthenticated", "kind": "auth",
        "message": "gemini is not signed in", "hint": "export GEMINI_API_KEY, or run `gemini` once and sign in",
    }));
    assert_eq!((told.status, told.harness()), (41, expected));

    gemini(&place, "0.61.0", REFUSED);
    let told = place.doctor(&["gemini", "--json"], &[("GEMINI_API_KEY", SECRET)]);
    let expected = report(json!({
        "ok": false, "auth": ["GEMINI_API_KEY"], "signed_in": "no", "probed": true, "reason": "bad_key",
        "kind": "auth", "message": "gemini's credential is refused: API keys are not supported by this API.",
        "hint": "what signs it in (GEMINI_API_KEY) is refused: export GEMINI_API_KEY, or run `gemini` once and sign in",
    }));
    assert_eq!((told.status, told.harness()), (41, expected));
    // A sign-in that only the CLI knows of, refused.
    let harness = place.doctor(&["gemini", "--json"], &[]).harness();
    assert_eq!(harness["reason"], "bad_key");
    assert!(harness["hint"].as_str().is_some_and(|h| h.contains("(the stored sign-in)")), "{harness}");
}

#[test]
fn a_cli_that_goes_on_with_a_refused_key_has_a_bad_key_when_the_clock_ends_it() {
    let place = Place::new();
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":611,"error_status":401,"error":"authentication_failed","session_id":"s"}"#;
    let body = format!(
        "case \"$1\" in --version) echo '2.1.332 (Claude Code)'; exit;; auth) echo '\"loggedIn\": true'; exit;; esac\n\
         printf '%s\\n' '{retry}'\nsleep 300 & echo $! > \"$DIR/child\"\nwait"
    );
    place.program("claude", &body);
    let told = place.doctor(&["claude", "--json", "--timeout", "2"], &[("ANTHROPIC_API_KEY", SECRET)]);
    let harness = told.harness();
    let seen = (told.status, &harness["reason"], &harness["probed"]);
    assert_eq!(seen, (41, &json!("bad_key"), &json!(true)), "{harness}");
    assert!(!crate::support::fake::is_alive(&place.read("child")));
}

#[test]
fn a_call_that_fails_otherwise_keeps_its_own_kind() {
    for (call, kind, status) in [
        ("init; sleep 60", "timeout", 124),
        (
            "init; printf '%s\\n' '{\"type\":\"result\",\"status\":\"error\",\"error\":{\"message\":\"[API Error: {\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":\\\"slow down\\\"}}]\"}}'; exit 173",
            "rate_limit",
            75,
        ),
        ("init; exit 0", "empty_reply", 1),
    ] {
        let place = Place::new();
        gemini(&place, "0.61.0", call);
        let told = place.doctor(&["gemini", "--json", "--timeout", "1.5"], &[("GEMINI_API_KEY", SECRET)]);
        let harness = told.harness();
        let seen = (told.status, &harness["reason"], &harness["kind"], &harness["probed"]);
        assert_eq!(seen, (status, &json!("probe_failed"), &json!(kind), &json!(false)), "{harness}");
    }
}

/// claude's status command looks at everything: its no is one, and its yes proves nothing.
#[test]
fn a_status_command_that_looks_at_everything_saves_the_call_with_its_no() {
    let place = Place::new();
    let body = |says: &str, status: i32| {
        let call = r#"printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}'"#;
        format!(
            "case \"$1\" in --version) echo '2.1.332 (Claude Code)'; exit;; auth) echo '{says}'; exit {status};; esac\n{call}"
        )
    };
    place.program("claude", &body("  \"loggedIn\": false,", 1));
    let told = place.doctor(&["claude", "--json"], &[]);
    let harness = told.harness();
    let seen = (told.status, &harness["reason"], &harness["signed_in"], &harness["probed"]);
    assert_eq!(seen, (41, &json!("unauthenticated"), &json!("no"), &json!(false)));
    assert_eq!(place.read("calls"), "--version\nauth\n");

    place.program("claude", &body("  \"loggedIn\": true,", 0));
    let skipped = place.doctor(&["claude", "--json", "--skip-probe"], &[]);
    let harness = skipped.harness();
    let seen = (skipped.status, &harness["reason"], &harness["signed_in"], &harness["probed"]);
    assert_eq!(seen, (0, &json!("unprobed"), &json!("stored"), &json!(false)));
    let harness = place.doctor(&["claude", "--json"], &[]).harness();
    assert_eq!((&harness["signed_in"], &harness["probed"]), (&json!("yes"), &json!(true)), "{harness}");

    // The profile's arguments may name settings with a key: then the call tells.
    place.program("claude", &body("  \"loggedIn\": false,", 1));
    place.write("teamster.toml", "[profiles.claude]\nargs = [\"--debug\"]\n");
    let config = place.path("teamster.toml").display().to_string();
    let told = place.doctor(&["claude", "--json", "--config", &config], &[]);
    assert_eq!((told.status, &told.harness()["probed"]), (0, &json!(true)), "{}", told.harness());
}

/// codex's status command looks at the stored login alone: a variable may sign it in all the same.
#[test]
fn a_status_command_that_looks_at_the_login_alone_decides_nothing() {
    let place = Place::new();
    let answer = r#"printf '%s\n' '{"type":"thread.started","thread_id":"t"}' '{"type":"turn.started"}' '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"ok"}}' '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'"#;
    let body = |status: &str, call: &str| {
        format!(
            "case \"$1\" in --version) echo 'codex-cli 0.171.0'; exit;; login) {status};; esac\ncat > /dev/null\n{call}"
        )
    };
    place.program("codex", &body("echo 'Not logged in' >&2; exit 1", answer));
    let told = place.doctor(&["codex", "--json"], &[("CODEX_API_KEY", SECRET)]);
    assert_eq!((told.status, &told.harness()["probed"]), (0, &json!(true)), "{}", told.harness());

    let refused = r#"printf '%s\n' '{"type":"error","message":"unexpected status 401 Unauthorized: no"}' '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: no"}}'; exit 1"#;
    place.program("codex", &body("echo 'Logged in using ChatGPT' >&2; exit 0", refused));
    let told = place.doctor(&["codex", "--json"], &[]);
    let harness = told.harness();
    assert_eq!((told.status, &harness["reason"]), (41, &json!("bad_key")), "{harness}");
    assert!(harness["hint"].as_str().is_some_and(|h| h.contains("(the stored sign-in)")), "{harness}");
}

#[test]
fn without_a_call_nothing_is_proven_and_nothing_is_wrong() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    for (env, signed_in) in [(&[][..], "unknown"), (&[("GEMINI_API_KEY", SECRET)][..], "variable")] {
        let told = place.doctor(&["gemini", "--json", "--skip-probe"], env);
        let harness = told.harness();
        let seen = (told.status, &harness["reason"], &harness["signed_in"], &harness["probed"]);
        assert_eq!(seen, (0, &json!("unprobed"), &json!(signed_in), &json!(false)));
    }
    assert_eq!(place.read("calls"), "--version\n--version\n");
}

/// A harness that cannot hold an agent to reading gets no call at all.
#[test]
fn a_call_that_would_have_rights_is_not_made() {
    let place = Place::new();
    place.program("scribe", "case \"$1\" in --version) echo 1.0.0; exit;; esac; echo hello");
    place.write("teamster.toml", "harness_files = [\"scribe.toml\"]\n");
    place.write(
        "scribe.toml",
        "id = \"scribe\"\nbins = [\"scribe\"]\n[command]\nargs = [\"run\"]\nprompt = \"stdin\"\n",
    );
    let config = place.path("teamster.toml").display().to_string();
    let told = place.doctor(&["scribe", "--json", "--config", &config], &[]);
    let harness = told.harness();
    let seen = (told.status, &harness["reason"], &harness["probed"]);
    assert_eq!(seen, (0, &json!("unprobed"), &json!(false)), "{harness}");
    assert!(
        harness["message"].as_str().is_some_and(|m| m.starts_with("no call was made, since")),
        "{harness}"
    );
    assert_eq!(place.read("calls"), "--version\n");
}

/// What a file declares counts as what ships does.
#[test]
fn a_harness_from_a_file_has_its_own_status_words_and_oldest_version() {
    let place = Place::new();
    place.write("teamster.toml", "harness_files = [\"scribe.toml\"]\n");
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/harness.toml"));
    place.write("scribe.toml", &text.expect("the example"));
    let config = place.path("teamster.toml").display().to_string();
    let verdict = |version: &str, rest: &str| {
        place.program("scribe", &format!("case \"$1\" in --version) echo {version}; exit;; {rest} esac"));
        let told = place.doctor(&["scribe", "--json", "--config", &config], &[]);
        let harness = told.harness();
        (told.status, harness["reason"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(verdict("1.1.9", ""), (1, "version".to_owned()));
    let out = "whoami) echo 'Not signed in'; exit 1;;";
    assert_eq!(verdict("1.2.0", out), (41, "unauthenticated".to_owned()));
    let refused = |why: &str| format!("whoami) echo 'Signed in as x';; *) echo '{why}' >&2; exit 3;;");
    assert_eq!(verdict("1.2.0", &refused("no key is set")), (41, "unauthenticated".to_owned()));
    assert_eq!(verdict("1.2.0", &refused("that key is over")), (41, "bad_key".to_owned()));
}

#[test]
fn a_secret_is_in_no_output_even_where_the_cli_says_it() {
    let place = Place::new();
    let call = "init; printf '%s\\n' \"{\\\"type\\\":\\\"result\\\",\\\"status\\\":\\\"error\\\",\\\"error\\\":{\\\"message\\\":\\\"[API Error: {\\\\\\\"error\\\\\\\":{\\\\\\\"code\\\\\\\":401,\\\\\\\"message\\\\\\\":\\\\\\\"bad key $GEMINI_API_KEY\\\\\\\"}}]\\\"}}\"; echo \"$GEMINI_API_KEY\" >&2; exit 145";
    gemini(&place, "0.61.0", call);
    // `doctor` looks for it in both outputs.
    let told = place.doctor(&["gemini", "--json"], &[("GEMINI_API_KEY", SECRET)]);
    assert_eq!(told.harness()["message"], "gemini's credential is refused: bad key ***");
    let told = place.doctor(&["gemini"], &[("GEMINI_API_KEY", SECRET)]);
    assert!(told.stdout.contains("credential is refused: bad key ***"), "{}", told.stdout);
    assert_eq!(told.status, 41);
}

#[test]
fn a_key_of_the_profile_counts_and_version_gets_none() {
    let place = Place::new();
    let config = format!("[profiles.gemini]\nenv = {{ GEMINI_API_KEY = \"{SECRET}\" }}\n");
    std::fs::create_dir(place.path("config/teamster")).expect("a folder");
    place.write("config/teamster/teamster.toml", &config);
    let body =
        "case \"$1\" in --version) echo \"<$GEMINI_API_KEY>\" > \"$DIR/seen\"; echo 0.61.0; exit;; esac\n";
    place.program("gemini", &format!("{body}{}\n{FINE}", crate::support::fake::PRELUDE));
    let told = place.doctor(&["gemini", "--json"], &[]);
    let harness = told.harness();
    assert_eq!((told.status, &harness["auth"]), (0, &json!(["GEMINI_API_KEY"])), "{harness}");
    assert_eq!(place.read("seen"), "<>\n");
}
