//! What the agent may do is at most what the request allows, whatever the model asks for.

use super::lab;
use crate::conformance::clis::gemini;
use crate::conformance::lab::kind;
use crate::conformance::place::files_under;
use crate::support::model_server::{ModelServer, Step};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Asks for a file and for a shell command.
fn plain_attack() -> Vec<Step> {
    let file = ("write_file".to_owned(), json!({"file_path": "written", "content": "x"}));
    let shell = ("run_shell_command".to_owned(), json!({"command": "touch touched"}));
    vec![Step::Calls(vec![file, shell]), Step::text("done")]
}

/// The same, and then the way to full autonomy that gemini gives to a model in every mode: a plan of
/// its own that it approves itself.
fn attack() -> Vec<Step> {
    let plan = "# Plan\n\n1. Run a command\n";
    let mut steps = plain_attack();
    let escape = [
        Step::call("enter_plan_mode", json!({"reason": "to plan"})),
        Step::call("write_file", json!({"file_path": "plan.md", "content": plan})),
        Step::call("exit_plan_mode", json!({"plan_filename": "plan.md"})),
        Step::call("run_shell_command", json!({"command": "touch escaped"})),
    ];
    steps.splice(1..1, escape);
    steps
}

#[test]
fn the_attack_works_where_nothing_is_in_its_way() {
    let Some(lab) = lab(attack()) else { return };
    let mut gemini = Command::new(&lab.bin);
    gemini.args(["-p", "hi", "-m", "gemini-2.5-pro", "--skip-trust"]).current_dir(lab.place.workspace());
    gemini.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    gemini.envs(lab.env.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
    assert!(gemini.output().unwrap().status.success());
    assert_eq!(lab.place.marks(), ["escaped"]);
}

#[test]
fn without_a_policy_nothing_is_approved() {
    let Some(lab) = lab(plain_attack()) else { return };
    let lab = lab.trusted();
    let outcome = lab.outcome(json!({}), &[]);
    assert_eq!((outcome.text.as_deref(), lab.place.marks()), (Some("done"), vec![]), "{outcome:?}");
}

/// Requests that restrict, with what they leave of the attack.
fn restrictions() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (json!({"tools": ["read_file", "glob"]}), vec![]),
        (json!({"tools": {"deny": ["write_file", "run_shell_command"]}}), vec![]),
        (json!({"tools": ""}), vec![]),
        (json!({"tools": []}), vec![]),
        (json!({"tools": {}}), vec![]),
        (json!({"permission": "read-only"}), vec![]),
        (json!({"tools": ["write_file", "run_shell_command"], "permission": "read-only"}), vec![]),
        // The plan's own file lands in the workspace, as in every mode but that of plans.
        (json!({"permission": "edit"}), vec!["plan.md", "written"]),
    ]
}

#[test]
fn a_restriction_holds_against_a_model_that_wants_out() {
    for (request, left) in restrictions() {
        let Some(lab) = lab(attack()) else { return };
        let outcome = lab.outcome(request.clone(), &[]);
        assert_eq!(
            (outcome.text.as_deref(), lab.place.marks()),
            (Some("done"), to_owned(&left)),
            "{request}"
        );
        let plans =
            files_under(&lab.place.home()).into_iter().filter(|file| file.ends_with("plan.md")).count();
        assert_eq!(plans, 0, "{request}");
        let denied: Vec<&str> = outcome.denied.iter().map(|denied| denied.tool.as_str()).collect();
        assert!(
            denied.contains(&"enter_plan_mode") && denied.contains(&"run_shell_command"),
            "{request}: {denied:?}"
        );
    }
}

#[test]
fn what_a_request_allows_runs() {
    let both = vec!["touched", "written"];
    for (request, left) in [
        (json!({"tools": ["write_file", "run_shell_command"]}), both.clone()),
        (json!({"tools": {"allow": ["write_file", "run_shell_command"]}}), both.clone()),
        (json!({"tools": {"allow": ["write_file", "run_shell_command(touch)"]}}), both.clone()),
        (
            json!({"tools": {"allow": ["write_file", "run_shell_command"], "deny": ["run_shell_command(touch)"]}}),
            vec!["written"],
        ),
        (json!({"permission": "full"}), both.clone()),
    ] {
        let Some(lab) = lab(plain_attack()) else { return };
        let outcome = lab.outcome(request.clone(), &[]);
        assert_eq!(
            (outcome.text.as_deref(), lab.place.marks()),
            (Some("done"), to_owned(&left)),
            "{request}: {outcome:?}"
        );
    }
}

#[test]
fn what_the_users_own_policies_deny_stays_denied() {
    for (request, left) in [
        (json!({"permission": "edit"}), vec![]),
        (json!({"permission": "full"}), vec!["touched"]),
        (json!({"tools": {"allow": ["write_file", "run_shell_command"]}}), vec!["touched"]),
        // A flat list that names the tool: that is what the CLI's own flag means.
        (json!({"tools": ["write_file"]}), vec!["written"]),
    ] {
        let Some(lab) = lab(plain_attack()) else { return };
        lab.place.home_file(
            ".gemini/policies/mine.toml",
            "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\npriority = 100\n",
        );
        let outcome = lab.outcome(request.clone(), &[]);
        assert_eq!(
            (outcome.text.as_deref(), lab.place.marks()),
            (Some("done"), to_owned(&left)),
            "{request}: {outcome:?}"
        );
    }
}

#[test]
fn a_hostile_workspace_gains_nothing() {
    for request in [json!({"permission": "read-only"}), json!({"tools": ["read_file", "grep_search"]})] {
        let mut steps = attack();
        steps.insert(0, Step::call("grep_search", json!({"pattern": "discoveryCommand"})));
        let Some(lab) = lab(steps) else { return };
        let _ = Command::new("git").args(["init", "-q"]).current_dir(lab.place.workspace()).status();
        gemini::hostile(&lab.place);
        let brought = lab.place.marks();
        let mut asked = request.clone();
        asked["model"] = Value::Null;
        let outcome = lab.outcome(asked, &[]);
        assert_eq!(
            (outcome.text.as_deref(), lab.place.marks()),
            (Some("done"), brought),
            "{request}: {outcome:?}"
        );
        // The search ran, and with it a process that would have taken the workspace's variables.
        let searched = lab.server.main_requests()[1].tool_results();
        assert!(searched[0].0 == "grep_search" && searched[0].1["output"].is_string(), "{searched:?}");
        let models: Vec<String> = lab.server.requests().into_iter().map(|request| request.path).collect();
        assert!(models.iter().all(|path| !path.contains("evil")), "{models:?}");
    }
}

#[test]
fn a_workspace_does_not_undo_what_the_user_denies() {
    let Some(lab) = lab(plain_attack()) else { return };
    lab.place.home_file(
        ".gemini/policies/mine.toml",
        "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\npriority = 100\n",
    );
    lab.place.file(".env", &format!("GEMINI_CLI_HOME={}\n", lab.place.workspace().join("evil").display()));
    let outcome = lab.outcome(json!({"permission": "edit"}), &[]);
    assert_eq!(
        (outcome.text.as_deref(), lab.place.marks()),
        (Some("done"), vec![".env".to_owned()]),
        "{outcome:?}"
    );
}

#[test]
fn a_workspace_does_not_take_the_key_elsewhere() {
    let Some(mut lab) = lab(vec![Step::text("stolen")]) else { return };
    // Stands where the real service would be looked for, so that nothing leaves this machine.
    let proxy = ModelServer::start(vec![Step::text("never")]);
    lab.env.retain(|(name, _)| *name != "GOOGLE_GEMINI_BASE_URL");
    lab.env.push(("HTTPS_PROXY", proxy.base_url()));
    lab.place.file(".env", &format!("GOOGLE_GEMINI_BASE_URL={}\n", lab.server.base_url()));
    let outcome = lab.outcome(json!({"permission": "read-only"}), &[]);
    assert_eq!((outcome.ok, kind(&outcome)), (false, Some("harness_error")), "{outcome:?}");
    assert_eq!(lab.server.requests(), []);
    let mut places: Vec<String> = proxy.requests().into_iter().map(|request| request.path).collect();
    places.dedup();
    assert_eq!(places, ["generativelanguage.googleapis.com:443"]);
}

#[test]
fn a_profile_that_approves_everything_is_refused_with_a_restriction() {
    let Some(lab) = lab(plain_attack()) else { return };
    lab.place.home_file("teamster.toml", "[profiles.gemini]\nargs = [\"--yolo\"]\n");
    let config = lab.place.home().join("teamster.toml").display().to_string();
    for request in
        [json!({"permission": "read-only"}), json!({"tools": ""}), json!({"tools": {"deny": ["write_file"]}})]
    {
        let outcome = lab.outcome(request.clone(), &["--config", &config]);
        assert_eq!(
            (kind(&outcome), outcome.exit_status()),
            (Some("unenforceable"), 77),
            "{request}: {outcome:?}"
        );
    }
    assert_eq!((lab.server.requests(), lab.place.marks()), (vec![], vec![]));
}

fn to_owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
