//! Records how a real CLI ends badly, for `harnesses/<id>/transcripts`.
//!
//! `RECORD="kilo:429,quota kimi:403" cargo test --all-features --test it -- --ignored record` plays these scenarios
//! through `teamster` itself, and keeps what the CLI wrote, its exit status, and no path of this machine.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a helper of tests")]

use super::cli::Cli;
use super::lab::{Lab, kind};
use super::place::text;
use crate::support::model_server::Step;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use teamster::{HarnessRegistry, Output};

/// What the model server does, and what else is asked for.
fn scenario(name: &str, cli: &Cli) -> (Step, Value) {
    let says = match name {
        "401" => "no-real-key.",
        "403" => "This key may not use that model.",
        "404" => "The model `lab-model` does not exist or you do not have access to it.",
        "429" => "Rate limit reached for requests",
        "quota" => "You exceeded your current quota, please check your plan and billing details.",
        "500" => "The server had an error while processing your request",
        _ => "",
    };
    let step = match name {
        "empty" => Step::Empty,
        "hang" => Step::Hang,
        "cut" => Step::Cut("half of an answer that never comes".to_owned()),
        "quota" => Step::Status(429, says.to_owned()),
        _ if says.is_empty() => Step::text("Hello from mock."),
        status => Step::Status(status.parse().expect("a status"), says.to_owned()),
    };
    let more = match name {
        "session" => {
            let registry = HarnessRegistry::builtin();
            let example = registry.get(cli.id).ok().and_then(|own| own.facts().session_example.clone());
            json!({"session": {"resume": example.unwrap_or("0199a213-81c0-7800-8aa1-bbab2a035a53".into())}})
        }
        _ => json!({}),
    };
    (step, more)
}

/// Not a test: it writes files of this repository.
#[test]
#[ignore = "records, where RECORD says what"]
fn record() {
    for wanted in std::env::var("RECORD").unwrap_or_default().split_whitespace() {
        let (id, names) = wanted.split_once(':').expect("CLI:SCENARIO,…");
        let cli = super::ALL.iter().find(|cli| cli.id == id).expect("a CLI of the battery");
        for name in names.split(',') {
            recorded(cli, name);
        }
    }
}

fn recorded(cli: &'static Cli, name: &str) {
    let (step, more) = scenario(name, cli);
    let Some(mut lab) = Lab::new(cli, vec![step]) else { return };
    let mut request = json!({"permission": cli.permission, "output": lab.forms()[0]});
    let fields = more.as_object().expect("an object").clone();
    request.as_object_mut().expect("an object").extend(fields);

    // The CLI's own exit status, also where teamster ends it. A trap that is set is not inherited.
    let (status, wrapper) = (lab.place.outside().join("status"), lab.place.outside().join(cli.id));
    let real = text(&fs::canonicalize(lab.bin.parent().expect("a folder")).expect("its folder"));
    let script = format!(
        "#!/bin/sh\ntrap : TERM\n'{real}/{}' \"$@\"\necho $? > '{}'\nexit $(cat '{1}')\n",
        cli.id,
        status.display()
    );
    fs::write(&wrapper, script).expect("a wrapper");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("a program");
    lab.bin = wrapper;

    let seconds = if name == "hang" { cli.seconds.start } else { 300 };
    let lowered = lab.lowered(&request).expect("a command");
    let outcome =
        lab.outcome(request, &["--keep-files", "--attempts", "1", "--timeout", &seconds.to_string()]);
    let folder = outcome.attempts[0].files.clone().expect("kept files");
    let form = match lowered.command.output {
        Output::Stream => "stream-json",
        Output::Json => "json",
        Output::Text | Output::Auto => "text",
    };
    let stem = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("harnesses")
        .join(cli.id)
        .join(format!("transcripts/rec-{name}_{form}"));
    let url = lab.place.url.clone();
    let places = [
        (folder.clone(), "/tmp/run"),
        (text(&lab.place.workspace()), "/repo"),
        (text(&lab.place.home()), "/home/user"),
        (text(&lab.place.tmp()), "/tmp"),
        (real.trim_end_matches("/bin").to_owned(), "/opt/cli"),
        (url.trim_start_matches("http://").to_owned(), "127.0.0.1:8080"),
    ];
    let keep = |from: &str, ending: &str| {
        let Ok(bytes) = fs::read(Path::new(&folder).join(from)) else { return };
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        let clean = places.iter().fold(whole, |whole, (ours, theirs)| whole.replace(ours, theirs));
        fs::write(format!("{}.{ending}", stem.display()), clean).expect("a transcript");
    };
    keep("stdout", "stdout");
    keep("stderr", "stderr");
    for result in &lowered.command.results {
        keep(result, &format!("file.{result}"));
    }
    let status = fs::read_to_string(&status).unwrap_or_else(|_| "137\n".to_owned());
    fs::write(format!("{}.exit", stem.display()), &status).expect("a status");
    let turns = lab.server.main_requests().len();
    println!("{} {name}: status {}, {turns} turns, {:?}", cli.id, status.trim(), kind(&outcome));
}
