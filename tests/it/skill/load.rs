//! How every file of `fixtures/skills` loads, and what it sets on two harnesses.

use super::{files, fixtures, merged};
use crate::argv::snapshot;
use serde_json::json;
use std::fmt::Write;
use teamster::skill::{Skill, Trust};
use teamster::{DispatchRequest, HarnessRegistry};

fn is_one(name: &str) -> bool {
    (name.ends_with(".md") || name.ends_with(".toml")) && !name.contains("/references/")
}

/// Where a file lies says which snapshot it is in.
fn group(name: &str) -> &str {
    match name.split('/').collect::<Vec<_>>()[..] {
        [first @ ("bad" | "loose"), ..] => first,
        [_, kind, ..] => match kind {
            "skills" => "skills",
            "agents" if !name.starts_with(".opencode") => "agents",
            "agents" | "agent" => "mode-agents",
            _ => "commands",
        },
        _ => "other",
    }
}

/// A request without the prompt, in one line.
fn sets(skill: &Skill, harness: &str, trust: Trust) -> String {
    let short = |path: &str| path.replace(fixtures().to_str().unwrap(), "{fixtures}");
    match merged(skill, harness, trust, DispatchRequest::new("PROMPT")) {
        Err(failure) => short(&format!("refused: {} ({})", failure.message, failure.kind)),
        Ok((request, notices)) => {
            let mut value = json!(request);
            let fields = value.as_object_mut().unwrap();
            if fields["prompt"] == "PROMPT" {
                fields.remove("prompt");
            }
            let own = notices.iter().filter(|notice| !skill.notices.iter().any(|own| notice.ends_with(own)));
            let notices: String = own.fold(String::new(), |mut all, notice| {
                let _ = write!(all, "\n      {}", notice.split_once(": ").unwrap().1);
                all
            });
            // The working directory is that of the tests, which holds the fixtures.
            short(&format!("{value}{notices}"))
        }
    }
}

#[test]
fn every_file_loads_as_reviewed() {
    let registry = HarnessRegistry::builtin();
    let mut groups: std::collections::BTreeMap<&str, String> = Default::default();
    let names = files(&fixtures(), is_one);
    assert!(names.len() >= 40, "{}", names.len());
    for name in &names {
        let out = groups.entry(group(name)).or_default();
        let short = |text: &str| text.replace(fixtures().to_str().unwrap(), "{fixtures}");
        let _ = writeln!(out, "== {name}");
        let skill = match Skill::read(&fixtures().join(name), &registry) {
            Ok(skill) => skill,
            Err(failure) => {
                let _ = writeln!(out, "refused: {} ({})", short(&failure.message), failure.kind);
                if let Some(hint) = failure.hint {
                    let _ = writeln!(out, "  next: {hint}");
                }
                continue;
            }
        };
        let mut whole = json!(skill);
        whole.as_object_mut().unwrap().remove("path");
        let _ = writeln!(out, "{whole:#}");
        for harness in ["gemini", "claude", "opencode"] {
            let _ = writeln!(out, "  {harness}: {}", sets(&skill, harness, Trust::Grant));
        }
        let _ = writeln!(out, "  gemini, untrusted: {}", sets(&skill, "gemini", Trust::Restrict));
        let _ = writeln!(out, "  gemini, vouched for: {}", sets(&skill, "gemini", Trust::Vouched));
    }
    for (group, text) in groups {
        snapshot("skills", group, &text);
    }
}

#[test]
#[cfg(feature = "typed")]
fn every_file_that_loads_fits_the_schema() {
    let text = include_str!("../../../schemas/skill.schema.json");
    let schema = teamster::ReplySchema::from_text(text).unwrap();
    let schema = teamster::schema::Schema::compile(&schema).unwrap();
    let registry = HarnessRegistry::builtin();
    let names = files(&fixtures(), is_one);
    let skills = names.iter().filter_map(|name| Skill::read(&fixtures().join(name), &registry).ok());
    for skill in skills {
        let value = json!(skill);
        assert_eq!(schema.verdict(&value).unwrap(), None, "{value:#}");
    }
    assert!(!schema.accepts(&json!({"name": "a"})));
}
