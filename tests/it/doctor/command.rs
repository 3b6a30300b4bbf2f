//! The command: what it looks at, what it prints, how it ends; and teamster's own checks.

use super::place::{FINE, Place, SECRET, gemini};
use crate::support::fake::{block_on, is_alive};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::process::Stdio;
use std::time::{Duration, Instant};
use teamster::doctor::{Look, Report, together};
use teamster::schema::Schema;
use teamster::{Kind, ReplySchema};

#[track_caller]
fn fits(value: &Value) {
    let text = include_str!("../../../schemas/doctor.schema.json");
    let schema = Schema::compile(&ReplySchema::from_text(text).expect("JSON")).expect("compiles");
    assert_eq!(schema.verdict(value).expect("a verdict"), None, "{value:#}");
    let read: Report = serde_json::from_value(value.clone()).expect("a report");
    assert_eq!(&serde_json::to_value(read).expect("JSON"), value);
}

#[test]
fn without_a_name_all_are_looked_at_and_one_that_is_fine_is_enough() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    place.script("codex", "#!/no/such/interpreter\n");
    let told = place.doctor(&["--json"], &[]);
    let json = told.json();
    fits(&json);
    let all = json["harnesses"].as_array().expect("harnesses");
    assert_eq!((told.status, &json["ok"]), (0, &json!(true)));
    assert_eq!(all.len(), teamster::HarnessRegistry::builtin().iter().count());
    let of = |id: &str| all.iter().find(|h| h["harness"] == id).expect("it is there");
    assert_eq!(
        (&of("gemini")["probed"], &of("codex")["reason"], &of("droid")["reason"]),
        (&json!(true), &json!("broken"), &json!("not_found"))
    );
    // As they stand in the list, in text too; what is not installed shares a line.
    let told = place.doctor(&[], &[]);
    let places = ["✓ gemini  0.61.0  answers", "✗ codex   -", "not installed: claude, copilot"];
    let found: Vec<_> = places.iter().map(|text| told.stdout.find(text)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{}", told.stdout);
    assert!(!told.stdout.contains('\x1b') && told.stderr.is_empty(), "{told:?}");

    let told = place.doctor(&["--json", "codex", "gemini", "codex-cli"], &[]);
    let json = told.json();
    let names: Vec<_> =
        json["harnesses"].as_array().expect("them").iter().map(|h| h["harness"].as_str()).collect();
    assert_eq!((told.status, &json["ok"], names), (127, &json!(false), vec![Some("codex"), Some("gemini")]));
}

#[test]
fn where_nothing_is_fine_the_first_that_is_installed_gives_the_status() {
    let place = Place::new();
    gemini(&place, "0.61.0", "echo 'Please set an Auth method' >&2; exit 41");
    assert_eq!(place.doctor(&[], &[]).status, 41);
    let nothing = Place::new();
    let told = nothing.doctor(&["--skip-probe"], &[]);
    assert_eq!(told.status, 127);
    assert!(
        told.stdout.ends_with("next: `teamster list PLATFORM` says how to install one\n"),
        "{}",
        told.stdout
    );
}

#[test]
fn setup_is_another_name_for_it() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    let output = place.command(&["setup", "gemini", "--json"]).output().expect("runs");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["ok"], output.status.code()), (&json!(true), Some(0)));
}

#[test]
fn a_wrong_question_is_one_json_object_too() {
    let place = Place::new();
    for (args, status, kind) in [
        (&["nonsense", "--json"][..], 2, "unknown_harness"),
        (&["--bin", "x", "--json"][..], 2, "invalid_request"),
        (&["gemini", "codex", "--model", "m", "--json"][..], 2, "invalid_request"),
        (&["--timeout=-1", "--json"][..], 2, "invalid_request"),
        (&["gemini", "--profile", "none", "--json"][..], 2, "invalid_config"),
    ] {
        let told = place.doctor(args, &[]);
        let json = told.json();
        fits(&json);
        let seen = (told.status, &json["ok"], &json["failure"]["kind"]);
        assert_eq!(seen, (status, &json!(false), &json!(kind)), "{args:?}");
        assert_eq!(told.stdout.lines().count(), 1);
    }
    let told = place.doctor(&["nonsense"], &[]);
    assert_eq!((told.status, told.stdout.as_str()), (2, ""));
    assert!(told.stderr.starts_with("error: "), "{}", told.stderr);
}

#[test]
fn broken_settings_are_a_check_that_fails_and_names_the_place() {
    let place = Place::new();
    place.write("teamster.toml", "default_harnes = \"gemini\"\n");
    let config = place.path("teamster.toml").display().to_string();
    let told = place.doctor(&["--json", "--config", &config], &[]);
    let check = told.check("settings");
    assert_eq!((told.status, &check["ok"], &check["kind"]), (2, &json!(false), &json!("invalid_config")));
    let message = check["message"].as_str().expect("a message");
    assert!(message.contains(&config) && message.contains("default_harnes"), "{message}");
    fits(&told.json());
    // A profile that is for another harness than its name says.
    place.write("teamster.toml", "[profiles.gemini]\nplatform = \"claude\"\n");
    let told = place.doctor(&["--json", "--config", &config], &[]);
    assert_eq!((told.status, &told.check("settings")["ok"]), (2, &json!(false)));
    assert_eq!(told.json()["harnesses"], json!([]));
}

#[test]
fn a_state_folder_that_cannot_be_written_fails_and_nothing_is_left_in_one_that_can() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    let told = place.doctor(&["--json", "gemini"], &[("TEAMSTER_JOBS_DIR", "/dev/null/jobs")]);
    let check = told.check("state");
    assert_eq!((told.status, &check["ok"]), (1, &json!(false)), "{check}");
    assert!(check["hint"].as_str().is_some_and(|hint| hint.contains("TEAMSTER_JOBS_DIR")), "{check}");
    let told = place.doctor(&["--json", "gemini"], &[]);
    assert_eq!(told.check("state")["message"], json!(place.path("state/teamster/jobs")));
    assert_eq!(std::fs::read_dir(place.path("state")).expect("a folder").count(), 0);
}

#[test]
fn ending_a_tree_of_processes_is_tried() {
    let place = Place::new();
    let check = place.doctor(&["--json", "--skip-probe"], &[]).check("processes");
    assert_eq!(check["ok"], true, "{check}");
    let message = check["message"].as_str().expect("a message");
    assert!(message.ends_with("was ended, none is left"), "{message}");
}

#[test]
fn an_agent_at_the_limit_of_depth_is_told_so() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    let told = place.doctor(&["--json", "gemini"], &[("TEAMSTER_DEPTH", "5")]);
    let check = told.check("depth");
    assert_eq!((told.status, &check["kind"]), (77, &json!("recursion")), "{check}");
    let told = place.doctor(&["--json", "gemini"], &[("TEAMSTER_DEPTH", "2")]);
    assert_eq!((told.status, &told.check("depth")["message"]), (0, &json!("2 of 5")));
}

#[test]
fn a_folder_for_temporary_files_that_is_gone_fails() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    let told = place.doctor(&["--json", "gemini"], &[("TMPDIR", "/nonexistent")]);
    let check = told.check("temp");
    assert_eq!((told.status, &check["ok"]), (1, &json!(false)), "{check}");
    assert!(check["hint"].as_str().is_some_and(|hint| hint.contains("TMPDIR")), "{check}");
}

/// A run that is refused names the doctor; a rehearsal has nobody to look at.
#[test]
fn a_run_that_is_not_signed_in_names_the_doctor() {
    let place = Place::new();
    gemini(&place, "0.61.0", "echo 'Please set an Auth method' >&2; exit 41");
    let hint = |args: &[&str]| {
        let output =
            place.command(&[&["run", "gemini", "hi", "--json"], args].concat()).output().expect("runs");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), json["failure"]["hint"].as_str().unwrap_or_default().to_owned())
    };
    let sign_in = "export GEMINI_API_KEY, or run `gemini` once and sign in";
    assert_eq!(hint(&[]), (Some(41), format!("{sign_in}; `teamster doctor gemini` checks it")));
    assert_eq!(hint(&["--rehearse=[{\"status\": 401}]"]), (Some(41), sign_in.to_owned()));
}

/// Linux: what a doctor started ends with it, however it ends.
#[cfg(target_os = "linux")]
#[test]
fn a_doctor_that_is_killed_leaves_no_call_behind() {
    let place = Place::new();
    gemini(&place, "0.61.0", "echo $$ > \"$DIR/child\"; exec sleep 300");
    let mut command = place.command(&["doctor", "gemini"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
    let until = |what: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !what() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(what());
    };
    until(&|| !place.read("child").trim().is_empty());
    child.kill().expect("killed");
    child.wait().expect("its end");
    until(&|| !is_alive(&place.read("child")));
}

#[test]
fn ctrl_c_ends_the_calls_and_is_130() {
    let place = Place::new();
    gemini(&place, "0.61.0", "init; sleep 300 & echo $! > \"$DIR/child\"; wait");
    let mut command = place.command(&["doctor", "gemini", "--json"]);
    command.env("GEMINI_API_KEY", SECRET).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("runs");
    let began = Instant::now();
    while place.read("child").trim().is_empty() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|sent| sent.success()));
    let output = child.wait_with_output().expect("ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let harness = &json["harnesses"][0];
    let seen = (output.status.code(), &harness["reason"], &harness["kind"]);
    assert_eq!(seen, (Some(130), &json!("cancelled"), &json!("cancelled")), "{json}");
    assert!(!is_alive(&place.read("child")));
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn a_question_that_hangs_is_given_up_with_its_children() {
    let place = Place::new();
    place.program("gemini", "sleep 300 & echo $! > \"$DIR/child\"; wait");
    let began = Instant::now();
    let told = place.doctor(&["gemini", "--json", "--skip-probe"], &[]);
    assert_eq!((told.status, &told.harness()["version_verdict"]), (0, &json!("unknown")));
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    assert!(!is_alive(&place.read("child")));
}

#[test]
fn an_answer_without_end_is_given_up() {
    let place = Place::new();
    gemini(&place, "0.61.0", FINE);
    place.program("gemini", "case \"$1\" in --version) exec yes 0.61;; esac; exit 1");
    let began = Instant::now();
    let told = place.doctor(&["gemini", "--json", "--skip-probe"], &[]);
    assert_eq!((told.status, &told.harness()["version_verdict"]), (0, &json!("unknown")));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(place.left_over(), Vec::<String>::new());
}

/// Nothing that a terminal would obey, and no endless word.
#[test]
fn what_a_cli_says_cannot_play_with_the_terminal() {
    let place = Place::new();
    let long = "9.".repeat(4000);
    let call = r"printf 'Please \033[31mred\007\n\r\033]0;title\007 bad\033[2J\n' >&2; exit 3";
    gemini(&place, &format!("'{long} 1.2\u{1b}[2J 0.61.0'"), call);
    let told = place.doctor(&["gemini"], &[("GEMINI_API_KEY", SECRET)]);
    assert!(!told.stdout.chars().any(|c| c.is_control() && c != '\n'), "{:?}", told.stdout);
    assert!(
        told.stdout.contains("✗ gemini  0.61.0") || told.stdout.contains("✗ gemini  1.2"),
        "{}",
        told.stdout
    );
}

#[test]
fn not_more_than_asked_for_run_at_once_and_their_order_stays() {
    let (running, most) = (RefCell::new(0), RefCell::new(0));
    let look = |n: u64| {
        let (running, most) = (&running, &most);
        async move {
            *running.borrow_mut() += 1;
            let now = *running.borrow();
            let before = *most.borrow();
            *most.borrow_mut() = now.max(before);
            tokio::time::sleep(Duration::from_millis(40 - 4 * n)).await;
            *running.borrow_mut() -= 1;
            n
        }
    };
    let looks: Vec<Look<'_, u64>> = (0..9).map(|n| Box::pin(look(n)) as _).collect();
    assert_eq!(block_on(together(looks, 3)), (0..9).collect::<Vec<_>>());
    assert_eq!(*most.borrow(), 3);
}

#[test]
fn the_settings_of_a_project_count_and_a_profile_of_a_variable_is_for_the_harness_that_it_fits() {
    let place = Place::new();
    gemini(&place, "0.61.0", "printf '%s\\n' \"$@\" > \"$DIR/args\"; init; say ok; result");
    std::fs::create_dir(place.path("config/teamster")).expect("a folder");
    let own = "[profiles.mine]\nplatform = \"gemini\"\nargs = [\"--debug\"]\n";
    place.write("config/teamster/teamster.toml", own);
    std::fs::create_dir(place.path("home/.git")).expect("a folder");
    place.write("home/teamster.toml", "default_harness = \"gemini\"\n");
    for args in [&["--json"][..], &["gemini", "--json"]] {
        let told = place.doctor(args, &[("TEAMSTER_PROFILE", "mine")]);
        assert_eq!(told.status, 0, "{told:?}");
        assert!(place.read("args").starts_with("--debug\n"), "{}", place.read("args"));
        let message = told.check("settings")["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("config/teamster/teamster.toml, "), "{message}");
        assert!(message.ends_with("home/teamster.toml"), "{message}");
    }
}

/// `list` asks as the doctor does: the program that the profile names, with no key.
#[test]
fn list_finds_what_a_profile_names_and_asks_its_version_without_a_key() {
    let place = Place::new();
    let real = gemini(&place, "0.61.0", FINE);
    let other = real.with_file_name("other");
    std::fs::rename(&real, &other).expect("renamed");
    place.write("teamster.toml", &format!("[profiles.gemini]\nbin = \"{}\"\n", other.display()));
    let config = place.path("teamster.toml").display().to_string();
    let output = place.command(&["list", "gemini", "--json", "--config", &config]).output().expect("runs");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let seen =
        (&json[0]["installed"], &json[0]["installed_version"], &json[0]["installed_version_is_verified"]);
    assert_eq!(seen, (&json!(other), &json!("0.61.0"), &json!(true)));
}

#[test]
fn the_kind_of_a_report_is_that_of_its_failure() {
    let report = Report::failed(teamster::Failure::new(Kind::UnknownHarness, "no"));
    assert_eq!((report.ok, report.kind()), (false, Some(Kind::UnknownHarness)));
}
