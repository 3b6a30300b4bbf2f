//! Lowering is pure, its report is complete, and its command is one that a system takes.

use super::given::filled;
use super::{Case, Finding, note, requests};
use crate::command::{Command, Piece, Text};
use crate::error::Kind;
use crate::harness::{AgentBuilder, lower};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT};
use crate::profile::Profile;
use crate::request::Output;

const PURE: &str = "lowering is pure";
const REPORT: &str = "every field is accounted for";
const SHAPE: &str = "a system takes the command";
const REFUSED: &str = "flag-like names are refused";

pub(super) fn check(builder: &dyn AgentBuilder, profile: &Profile, found: &mut Vec<Finding>) {
    let here = machine();
    for case in requests(builder.facts()) {
        let lowered = lower(builder, &case.request, profile);
        if lowered != lower(builder, &case.request.clone(), profile) {
            note(found, PURE, case.name, "lowered twice, it is not the same");
        }
        match lowered {
            Ok(_) if case.name.starts_with("flag_like") => note(found, REFUSED, case.name, "it was lowered"),
            Ok(lowered) => {
                report(&case, &lowered, found);
                shape(builder, &case, &lowered.command, found);
                ambient(&case, &lowered.command, &here, found);
            }
            Err(failure) if failure.kind == Kind::HarnessError => {
                note(found, REPORT, case.name, failure.message);
            }
            Err(_) => {}
        }
    }
}

fn report(case: &Case, lowered: &Lowered, found: &mut Vec<Finding>) {
    for row in &lowered.report.rows {
        let field = row.field.name();
        if row.detail.trim().is_empty() {
            let what = if row.carried == Carried::Dropped {
                "dropped without a reason"
            } else {
                "carried, but not told how"
            };
            note(found, REPORT, case.name, format!("{field} is {what}"));
        }
        if !row.field.is_set(&case.request) {
            note(found, REPORT, case.name, format!("a row for {field}, which the request does not set"));
        }
        if row.field == Field::Prompt && row.carried == Carried::Dropped {
            note(found, REPORT, case.name, "the prompt is dropped");
        }
    }
}

fn shape(builder: &dyn AgentBuilder, case: &Case, command: &Command, found: &mut Vec<Finding>) {
    let mut bad = |what: String| note(found, SHAPE, case.name, what);
    if command.harness != builder.facts().id {
        bad(format!("the command is of `{}`", command.harness));
    }
    if command.program.is_empty() {
        bad("it has no program".to_owned());
    }
    if command.output == Output::Auto {
        bad("its form of output is not settled".to_owned());
    }
    let env = command.env.iter().map(|(name, value)| (name.as_ref(), value));
    for (name, text) in command.args.iter().map(|text| ("an argument", text)).chain(env) {
        let whole = filled(text);
        if whole.len() > MAX_ARGUMENT {
            bad(format!("{name} has {} bytes", whole.len()));
        }
        if whole.contains('\0') {
            bad(format!("{name} holds a NUL byte"));
        }
        let Text::Pieces(pieces) = text else { continue };
        for piece in pieces.iter() {
            if let Piece::File(file) = piece
                && !command.files.iter().any(|own| own.name == *file)
                && !command.results.contains(file)
            {
                bad(format!("{name} names the file `{file}`, which the command does not have"));
            }
        }
    }
    for name in command.files.iter().map(|file| &file.name).chain(&command.results) {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            bad(format!("`{name}` is no plain file name"));
        }
    }
}

/// What a builder could only know by looking around, and the words for it.
fn machine() -> Vec<(&'static str, String)> {
    let variable = |name: &str| std::env::var(name).ok();
    let cwd = std::env::current_dir().ok().map(|dir| dir.to_string_lossy().into_owned());
    let known = [
        ("the working directory", cwd),
        ("the home directory", variable("HOME")),
        ("the user's name", variable("USER")),
    ];
    // Short ones stand in texts by chance.
    known
        .into_iter()
        .filter_map(|(what, value)| Some((what, value?)))
        .filter(|(_, value)| value.len() > 5)
        .collect()
}

fn ambient(case: &Case, command: &Command, here: &[(&str, String)], found: &mut Vec<Finding>) {
    let asked = format!("{:?}", case.request);
    let texts = command.args.iter().chain(command.env.iter().map(|(_, value)| value)).map(filled);
    let texts: Vec<String> = texts
        .chain(command.files.iter().map(|file| file.content.clone()))
        .chain(command.stdin.clone())
        .collect();
    for (what, value) in here {
        if !asked.contains(value.as_str()) && texts.iter().any(|text| text.contains(value.as_str())) {
            note(found, PURE, case.name, format!("the command holds {what}, which no request named"));
        }
    }
}
