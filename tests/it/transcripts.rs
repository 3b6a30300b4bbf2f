//! Recorded runs of the real CLIs, read: `harnesses/<id>/transcripts/<case>_<output>.{stdout,stderr,exit}`.

use std::fmt::Write;
use std::path::Path;
use teamster::testkit::Transcript;
use teamster::{AgentBuilder, HarnessRegistry, Kind, Output, Reply};

/// The transcripts of a harness, in the order of their names.
pub(crate) fn of(builder: &dyn AgentBuilder) -> Vec<Transcript> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("harnesses").join(&builder.facts().id).join("transcripts");
    // A harness that was only read about has none.
    let mut all: Vec<Transcript> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "exit"))
        .map(|path| read(&path))
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// What the CLI wrote for us: `<case>_<output>.file.<name>`.
fn files(exit: &Path) -> std::collections::BTreeMap<String, String> {
    let stem = format!("{}.file.", exit.file_stem().unwrap().to_str().unwrap());
    let entries = std::fs::read_dir(exit.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &Path| Some(path.file_name()?.to_str()?.strip_prefix(&stem)?.to_owned());
    entries.filter_map(|path| Some((named(&path)?, std::fs::read_to_string(&path).unwrap()))).collect()
}

fn read(exit: &Path) -> Transcript {
    let name = exit.file_stem().unwrap().to_str().unwrap().to_owned();
    let output = match name.rsplit_once('_').unwrap().1 {
        "text" => Output::Text,
        "json" => Output::Json,
        "stream-json" => Output::Stream,
        other => panic!("{name}: {other} is no form of output"),
    };
    Transcript {
        name,
        output,
        stdout: std::fs::read(exit.with_extension("stdout")).unwrap(),
        stderr: std::fs::read_to_string(exit.with_extension("stderr")).unwrap(),
        files: files(exit),
        status: std::fs::read_to_string(exit).unwrap().trim().parse().unwrap(),
    }
}

#[test]
fn every_transcript_reads_as_reviewed() {
    for builder in HarnessRegistry::builtin().iter() {
        let mut all = String::new();
        for transcript in of(builder) {
            shown(&mut all, &transcript, &transcript.read(builder, &[]).0);
        }
        if !all.is_empty() {
            crate::argv::snapshot(&builder.facts().id, "transcripts", &all.replace('\u{1b}', "\\e"));
        }
    }
}

fn shown(all: &mut String, transcript: &Transcript, reply: &Reply) {
    let _ = writeln!(all, "{} (exit {})", transcript.name, transcript.status);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(all, "  {name:8} {value}");
    };
    row("text", &format!("{:?}", reply.text));
    if let Some(id) = &reply.session_id {
        row("session", id);
    }
    if let Some(model) = &reply.model {
        row("model", model);
    }
    if let Some(usage) = &reply.usage {
        row("usage", &serde_json::to_string(usage).unwrap());
    }
    for denied in &reply.denied {
        row("denied", &format!("{}: {}", denied.tool, denied.reason));
    }
    if let Some(error) = &reply.error {
        row("error", &format!("{}, retryable: {}", error.kind, error.retryable));
        row("", &error.message);
        row("", error.hint.as_deref().unwrap_or("(no hint)"));
    }
}

#[test]
fn exit_0_proves_nothing() {
    let registry = HarnessRegistry::builtin();
    let mut failed: Vec<(String, Kind)> = Vec::new();
    for transcript in of(registry.get("gemini").unwrap()).iter().filter(|transcript| transcript.status == 0) {
        if let Some(error) = transcript.read(registry.get("gemini").unwrap(), &[]).0.error {
            failed.push((transcript.name.clone(), error.kind));
        }
    }
    let wanted = [
        ("killed_by_group_json", Kind::EmptyReply),
        ("no_request_made_json", Kind::EmptyReply),
        ("odd_empty_json", Kind::EmptyReply),
        ("odd_empty_stream-json", Kind::EmptyReply),
        ("odd_empty_text", Kind::EmptyReply),
        ("odd_malformed_fc_stream-json", Kind::EmptyReply),
        ("odd_safety_stream-json", Kind::EmptyReply),
        ("overflow_text", Kind::EmptyReply),
        ("version_printed_json", Kind::EmptyReply),
    ];
    assert_eq!(failed, wanted.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn an_api_error_has_its_kind_in_every_form_of_output() {
    let cases = [
        ("err_e400key", Kind::Auth),
        ("err_e401", Kind::Auth),
        ("err_e404", Kind::HarnessError),
        ("err_e429daily", Kind::Quota),
        ("maxturns", Kind::MaxTurns),
        ("noauth", Kind::Auth),
        ("odd_badjson_sse", Kind::HarnessError),
    ];
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").unwrap();
    for transcript in of(gemini) {
        let Some((_, kind)) = cases.iter().find(|(case, _)| transcript.name.starts_with(case)) else {
            continue;
        };
        let found = transcript.read(gemini, &[]).0.error.map(|e| e.kind);
        assert_eq!(found, Some(*kind), "{}", transcript.name);
    }
}

#[test]
fn a_run_that_we_ended_is_no_success_whatever_it_printed() {
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").unwrap();
    for transcript in of(gemini).iter().filter(|t| t.name.starts_with("plain_")) {
        for (ended_by_us, lingered, wanted) in
            [(false, false, true), (true, false, false), (true, true, true)]
        {
            let mut reader = gemini.reader(transcript.output);
            reader.push(&transcript.stdout, &mut |_| {});
            let exited = teamster::reply::RunEnd::exited(0, transcript.stderr.clone());
            let end = teamster::reply::RunEnd { ended_by_us, lingered, ..exited };
            let reply = reader.finish(&end, &mut |_| {});
            assert_eq!(reply.error.is_none(), wanted, "{}: {end:?}", transcript.name);
        }
    }
}
