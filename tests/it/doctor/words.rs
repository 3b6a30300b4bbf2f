//! The words by which a CLI without a credential is told from one whose credential is refused.

use std::path::Path;
use teamster::HarnessRegistry;

/// The recorded outputs of a harness, stdout and stderr together, by name.
fn recorded(id: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("harnesses").join(id).join("transcripts");
    let mut all: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.strip_suffix(".stdout").or_else(|| file.strip_suffix(".stderr"));
        if let Some(name) = name {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a file")).into_owned();
            all.push((name.to_owned(), text));
        }
    }
    all
}

fn is_without_key(name: &str) -> bool {
    ["noauth", "nokey", "no_key", "no-key"].iter().any(|part| name.contains(part))
}

#[test]
fn words_for_no_credential_stand_in_no_other_recorded_output() {
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for builder in HarnessRegistry::builtin().iter() {
        let facts = builder.facts();
        for (name, text) in recorded(&facts.id) {
            let says = facts.signed_out.iter().any(|words| text.contains(words));
            // With a file of models that cannot be read pi says that it has none, and no more.
            let is_known = facts.id == "pi" && name == "b3-badmodels_text";
            if says && !is_without_key(&name) && !is_known {
                wrong.push(format!("{}/{name}", facts.id));
            } else if says && !seen.contains(&facts.id) {
                seen.push(facts.id.clone());
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // Of the others with such words there is no recording.
    assert_eq!(seen, ["gemini", "claude", "codex", "copilot", "pi", "qwen", "openhands", "kimi", "hermes"]);
}

#[test]
fn every_fact_of_a_harness_that_ships_says_how_it_is_known() {
    for builder in HarnessRegistry::builtin().iter() {
        let facts = builder.facts();
        let sources = [
            facts.min_version.as_ref().map(|least| &least.source),
            facts.status.as_ref().map(|status| &status.source),
        ];
        for source in sources.into_iter().flatten() {
            let known = source.starts_with("run: ")
                || source.starts_with("docs: ")
                || source.starts_with("the oldest");
            assert!(known, "{}: {source}", facts.id);
        }
    }
}
