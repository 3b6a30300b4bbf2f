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
        ("rec-cut_stream-json", Kind::EmptyReply),
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

/// A class of failure, and whether a recorded run is of it: by what it was, and by what it is read as.
type Class = (&'static str, fn(&Transcript, &Reply) -> bool);

const CLASSES: &[Class] = &[
    ("a refused key", |_, reply| is(reply, Kind::Auth)),
    ("a key that may not", |run, reply| is_by_itself(run, "403") && is(reply, Kind::Auth)),
    ("too many requests", |_, reply| is(reply, Kind::RateLimit)),
    ("a used-up quota", |_, reply| is(reply, Kind::Quota)),
    ("a broken server", |run, reply| is_by_itself(run, "500") && is(reply, Kind::HarnessError)),
    ("an unknown model", |run, reply| is_by_itself(run, "404") && is(reply, Kind::HarnessError)),
    ("a bad option", |run, reply| is_named(run, BAD_OPTION) && reply.error.is_some()),
    ("an unknown session", |_, reply| is(reply, Kind::SessionNotFound)),
    ("no answer", |_, reply| is(reply, Kind::EmptyReply)),
    ("a stream that breaks off", |run, reply| {
        run.status != 137 && is_named(run, CUT) && reply.error.is_some()
    }),
    ("a run that was ended", |run, reply| is_named(run, ENDED) && reply.error.is_some()),
    ("usage", |_, reply| reply.usage.is_some()),
];

const BAD_OPTION: &[&str] = &["badflag", "unknown-flag", "unknown_flag", "unknownflag", "flag_unknown"];
const CUT: &[&str] = &["cut", "drop"];
const ENDED: &[&str] = &["term", "sigint", "kill", "hang", "_int_"];

/// What a CLI does not have, or does not tell: a harness, a class, and why no recording can have it.
const NOT_THERE: &[(&str, &str, &str)] = &[
    ("aider", "a key that may not", "it passes on neither the status nor a name for it"),
    ("openhands", "a key that may not", "it passes on neither the status nor a name for it"),
    ("aider", "a stream that breaks off", "it asks for whole answers, and no stream"),
    ("aider", "an unknown session", "it has no sessions"),
    (
        "openhands",
        "an unknown session",
        "it begins a new one under that id, so that a check comes before the spawn",
    ),
    ("openhands", "a stream that breaks off", "it asks for whole answers, and no stream"),
    ("openhands", "no answer", "it asks the model again without end (246 times in 5 minutes)"),
    ("hermes", "an unknown session", "its one-shot goes on with no session"),
    ("openhands", "usage", "its output tells no tokens"),
    (
        "kimi",
        "a stream that breaks off",
        "it takes half of an answer for a whole one, and nothing tells of it",
    ),
    ("kimi", "usage", "its output tells no tokens"),
    ("droid", "an unknown session", "it ends with 1 and without a word, as on other faults of its own"),
    (
        "droid",
        "a stream that breaks off",
        "it takes half of an answer for a whole one, and nothing tells of it",
    ),
    ("cline", "an unknown session", "it goes on with no session where it has a prompt"),
];

fn is(reply: &Reply, kind: Kind) -> bool {
    reply.error.as_ref().is_some_and(|error| error.kind == kind)
}

fn is_named(run: &Transcript, words: &[&str]) -> bool {
    words.iter().any(|word| run.name.contains(word))
}

/// The CLI came to its end by itself after this status of the model server.
fn is_by_itself(run: &Transcript, status: &str) -> bool {
    run.name.contains(status) && run.status != 137
}

#[test]
fn each_class_of_failure_of_each_harness_that_was_run_is_recorded() {
    let (mut missing, mut told) = (Vec::new(), Vec::new());
    for builder in HarnessRegistry::builtin().iter() {
        let facts = builder.facts();
        if facts.evidence != teamster::harness::Evidence::Run {
            continue;
        }
        let runs: Vec<(Transcript, Reply)> = of(builder)
            .into_iter()
            .map(|run| {
                let reply = run.read(builder, &[]).0;
                (run, reply)
            })
            .collect();
        for (class, holds) in CLASSES {
            let has = runs.iter().any(|(run, reply)| holds(run, reply));
            let excused = NOT_THERE.iter().any(|(id, which, _)| (*id, *which) == (&facts.id, class));
            match (has, excused) {
                (false, false) => missing.push(format!("{}: {class}", facts.id)),
                (true, true) => told.push(format!("{}: {class}", facts.id)),
                _ => {}
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(told, Vec::<String>::new(), "an exception that is none");
}

/// A run with a good answer has no class.
#[test]
fn a_good_answer_is_of_no_class_of_failure() {
    let good = Reply { text: "429 quota 401".to_owned(), ..Reply::default() };
    let run = Transcript {
        name: "err_e500_404_badflag_sigterm".to_owned(),
        output: Output::Text,
        stdout: Vec::new(),
        stderr: String::new(),
        files: std::collections::BTreeMap::new(),
        status: 0,
    };
    let of_it: Vec<&str> =
        CLASSES.iter().filter(|(_, holds)| holds(&run, &good)).map(|(class, _)| *class).collect();
    assert_eq!(of_it, Vec::<&str>::new());
}
