//! What each request is lowered to: snapshots over every harness × request, and what has to hold in words.

use std::fmt::Write;
use std::path::Path;
use teamster::command::{Check, Command, Text};
use teamster::lowering::Lowered;
use teamster::testkit::requests;
use teamster::{DispatchRequest, HarnessRegistry, Profile, Result, lower};

/// Compares a text with `snapshots/<harness>/<name>.snap`.
pub(crate) fn snapshot(harness: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join(harness));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A request lowered for a built-in harness, with the default profile.
pub(crate) fn lowered(harness: &str, request: &DispatchRequest) -> Result<Lowered> {
    lower(HarnessRegistry::builtin().get(harness)?, request, &Profile::default())
}

/// The arguments as a reader sees them.
pub(crate) fn args(command: &Command) -> Vec<String> {
    command.args.iter().map(|arg| arg.shown().into_owned()).collect()
}

#[test]
fn every_request_is_lowered_as_reviewed() {
    for builder in HarnessRegistry::builtin().iter() {
        let cases = requests(builder.facts());
        let bare = lower(builder, &DispatchRequest::new("Say hi"), &Profile::default()).unwrap().command;
        let mut all = String::from("== environment\n");
        for (name, value) in bare.env.iter() {
            let _ = writeln!(all, "{name}={}", value.shown());
        }
        for case in &cases {
            let text = shown(&lower(builder, &case.request, &Profile::default()), &bare);
            let _ = write!(all, "\n== {}\n{}\n", case.name, text.trim_end());
        }
        snapshot(&builder.facts().id, "requests", &all);
    }
}

/// A lowered request for a reader; of the environment what differs from that of a bare request.
fn shown(lowered: &Result<Lowered>, bare: &Command) -> String {
    let mut out = String::new();
    let Lowered { command, report } = match lowered {
        Ok(lowered) => lowered,
        Err(refused) => {
            let hint = refused.hint.as_deref().unwrap_or("(none)");
            return format!(
                "refused: {} ({})\n  {}\n  hint: {hint}",
                refused.kind,
                refused.kind.exit_status(),
                refused.message
            );
        }
    };
    let _ = writeln!(out, "{}", cut(&command.shell_line()));
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:9} {value}");
    };
    for (name, value) in command.env.iter().filter(|entry| !bare.env.contains(entry)) {
        row("env", &format!("{name}={}", value.shown()));
    }
    for (name, _) in bare.env.iter().filter(|(name, _)| !command.env.iter().any(|(own, _)| own == name)) {
        row("env", &format!("{name} is left to the caller"));
    }
    if let Some(stdin) = &command.stdin {
        row("stdin", &cut(stdin));
    }
    for name in &command.results {
        row("result", name);
    }
    if let Some(cwd) = &command.cwd {
        row("cwd", &cwd.display().to_string());
    }
    if let Some(files) = &command.env_files {
        row("env_files", &serde_json::to_string(files).unwrap());
    }
    row("output", &format!("{:?}", command.output).to_lowercase());
    for check in &command.checks {
        row("check", &check_shown(check));
    }
    for file in &command.files {
        row("file", &file.name);
        for line in file.content.lines() {
            row("", format!("| {line}").trim_end());
        }
    }
    for each in &report.rows {
        row("report", &format!("{:16} {:8} {}", each.field.name(), each.carried.name(), cut(&each.detail)));
    }
    out
}

fn check_shown(check: &Check) -> String {
    match check {
        Check::NoSuchFile { field, path } => format!("{field}: no file of {path}"),
        other => serde_json::to_string(other).unwrap(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}… {} bytes", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

#[test]
fn a_shown_place_is_never_taken_for_text() {
    let text = "{home} {{home} {file:x} {env:A} {tmp} {other}";
    assert_eq!(Text::from(text.to_owned()).shown(), "{{home} {{{home} {{file:x} {{env:A} {{tmp} {other}");
    assert_eq!(Text::file("--policy=", "x.toml").shown(), "--policy={file:x.toml}");
}

#[test]
fn strict_turns_a_drop_into_an_error_that_names_the_field() {
    let request = DispatchRequest { max_turns: Some(3), ..DispatchRequest::new("x") };
    let report = lowered("gemini", &request).unwrap().report;
    assert_eq!(
        report.strict().unwrap_err().message,
        "max_turns: not carried: gemini has no flag for it, only its settings file"
    );
    assert_eq!(lowered("gemini", &DispatchRequest::new("x")).unwrap().report.strict(), Ok(()));
}

#[test]
fn lowered_goes_out_in_the_shape_that_programs_read() {
    let request = DispatchRequest {
        permission: Some(teamster::Permission::Edit),
        ..DispatchRequest::new("Fix {home}")
    };
    let value = serde_json::to_value(lowered("gemini", &request).unwrap()).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "add_dirs",
            "args",
            "checks",
            "cwd",
            "env",
            "env_files",
            "files",
            "harness",
            "output",
            "program",
            "report",
            "results",
            "stdin"
        ]
    );
    assert_eq!(
        value["args"],
        serde_json::json!([
            "--approval-mode",
            "auto_edit",
            "--skip-trust",
            "--admin-policy={file:guard.toml}",
            "-p",
            "Fix {{home}"
        ])
    );
    assert_eq!(value["env"]["TMPDIR"], "{tmp}");
    assert_eq!(value["env"]["GEMINI_MODEL"], "{env:GEMINI_MODEL}");
    assert_eq!(value["report"][0]["field"], "permission");
}
