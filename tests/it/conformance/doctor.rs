//! The doctor on the real CLIs: each state has a verdict of its own.

use super::cli::Cli;
use super::clis::{aider, claude, codex, copilot, gemini, opencode, pi, qwen};
use super::lab::{Lab, done};
use crate::support::model_server::Step;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use teamster::HarnessRegistry;

/// The CLIs whose every state must be told apart.
const FOUR: [&Cli; 4] = [&gemini::CLI, &claude::CLI, &codex::CLI, &copilot::CLI];
/// Others that are looked at as far as it goes.
const MORE: [&Cli; 4] = [&opencode::CLI, &pi::CLI, &qwen::CLI, &aider::CLI];

/// The report of the CLI, the exit status beside it; nothing is left behind, and no key is in the output.
fn examined(lab: &Lab, flags: &[&str]) -> (Option<i32>, Value) {
    let mut args = vec![lab.cli.id, "--json"];
    if !lab.cli.model.is_empty() {
        args.extend(["--model", lab.cli.model]);
    }
    args.extend(flags);
    let done = done(lab.start_other("doctor", &args));
    let json: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
    assert!(!format!("{done:?}").contains("no-real-key"), "{done:?}");
    let own = json["teamster"].as_array().expect("checks");
    assert!(own.iter().all(|check| check["ok"] == true), "{own:?}");
    let harness = json["harnesses"][0].clone();
    assert_eq!((&harness["harness"], json["ok"] == harness["ok"]), (&json!(lab.cli.id), true), "{json}");
    assert_eq!(lab.place.marks(), Vec::<String>::new(), "{harness}");
    assert_eq!(lab.place.processes(), Vec::<String>::new(), "{harness}");
    assert_eq!(lab.place.left_over(), Vec::<String>::new(), "{harness}");
    (done.status, harness)
}

/// What a verdict comes down to.
fn verdict((status, harness): &(Option<i32>, Value)) -> (i32, &str, bool) {
    let reason = harness["reason"].as_str().unwrap_or("fine");
    (status.expect("a status"), reason, harness["probed"] == true)
}

/// The CLI behind a script that says this version, and another name for what is real of it.
fn says_version(lab: &mut Lab, version: &str) {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\nexec '{}' \"$@\"\n",
        lab.bin.display()
    );
    lab.place.home_file("other-version", &script);
    let path = lab.place.home().join("other-version");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    lab.bin = path;
}

/// Takes away what signs the CLI in.
fn signed_out(lab: &mut Lab) {
    let registry = HarnessRegistry::builtin();
    let facts = registry.get(lab.cli.id).expect("it is built in").facts();
    lab.env.retain(|(name, _)| !facts.auth_env.iter().any(|key| key == name));
}

#[test]
fn fine() {
    for cli in FOUR.into_iter().chain(MORE) {
        let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        let told = examined(&lab, &[]);
        assert_eq!(verdict(&told), (0, "fine", true), "{}: {}", cli.id, told.1);
        let seen = (&told.1["version"], &told.1["version_verdict"], &told.1["signed_in"]);
        assert_eq!(seen, (&json!(cli.version), &json!("verified"), &json!("yes")), "{}", told.1);
        assert!(!lab.server.main_requests().is_empty());
    }
}

#[test]
fn not_installed() {
    for cli in FOUR {
        let Some(mut lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        lab.bin = lab.place.home().join("nothing");
        let told = examined(&lab, &[]);
        assert_eq!(verdict(&told), (127, "not_found", false), "{}: {}", cli.id, told.1);
    }
}

#[test]
fn not_signed_in() {
    for cli in FOUR {
        let Some(mut lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        signed_out(&mut lab);
        // With its provider's address copilot asks for no key.
        lab.env.retain(|(name, _)| !name.starts_with("COPILOT_PROVIDER") && *name != "COPILOT_OFFLINE");
        let told = examined(&lab, &[]);
        let (status, reason, _) = verdict(&told);
        assert_eq!((status, reason), (41, "unauthenticated"), "{}: {}", cli.id, told.1);
        assert_eq!(told.1["auth"], json!([]), "{}", told.1);
        assert!(lab.server.main_requests().is_empty(), "{}: nothing was asked", cli.id);
    }
}

/// A home in which the CLI was never run.
#[test]
fn not_signed_in_and_never_run() {
    // codex asks its vendor by itself, which a test may not.
    for cli in [&gemini::CLI, &claude::CLI, &copilot::CLI, &pi::CLI, &qwen::CLI] {
        let Some(mut lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        let home = tempfile::tempdir().expect("a folder");
        lab.env =
            vec![("HOME", home.path().display().to_string()), ("COPILOT_AUTO_UPDATE", "false".to_owned())];
        let told = examined(&lab, &[]);
        let (status, reason, _) = verdict(&told);
        assert_eq!((status, reason), (41, "unauthenticated"), "{}: {}", cli.id, told.1);
    }
}

#[test]
fn bad_key() {
    for cli in FOUR.into_iter().chain(MORE) {
        let Some(lab) = Lab::new(cli, vec![Step::Status(401, "the scripted refusal".to_owned())]) else {
            continue;
        };
        let told = examined(&lab, &[]);
        assert_eq!(verdict(&told), (41, "bad_key", true), "{}: {}", cli.id, told.1);
        assert!(!lab.server.main_requests().is_empty());
    }
}

#[test]
fn wrong_version() {
    for cli in FOUR {
        let Some(mut lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        says_version(&mut lab, "0.0.1");
        let told = examined(&lab, &[]);
        assert_eq!(verdict(&told), (1, "version", false), "{}: {}", cli.id, told.1);
        assert_eq!(told.1["version_verdict"], "too_old");
        assert!(lab.server.requests().is_empty(), "{}: it was not asked", cli.id);
    }
}

#[test]
fn a_newer_version_is_tried() {
    for cli in FOUR {
        let Some(mut lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        says_version(&mut lab, "99.0.0");
        let told = examined(&lab, &[]);
        assert_eq!(verdict(&told), (0, "fine", true), "{}: {}", cli.id, told.1);
        assert_eq!(told.1["version_verdict"], "newer");
    }
}

/// What the CLI says of itself, and nothing more: no model is asked.
#[test]
fn without_a_call() {
    for cli in FOUR.into_iter().chain(MORE) {
        let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { continue };
        let told = examined(&lab, &["--skip-probe"]);
        assert_eq!(verdict(&told), (0, "unprobed", false), "{}: {}", cli.id, told.1);
        let by_variable = told.1["auth"] != json!([]);
        let signed_in = if by_variable { "variable" } else { "unknown" };
        assert_eq!((&told.1["signed_in"], told.1["kind"].is_null()), (&json!(signed_in), true), "{}", told.1);
        assert!(lab.server.main_requests().is_empty(), "{}", cli.id);
    }
}
