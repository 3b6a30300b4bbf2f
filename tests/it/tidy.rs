//! The house rules that no compiler knows: who imports whom, no vendor in `src`, heads and sizes.

use std::path::{Path, PathBuf};

/// Modules from the ground up: each may use those of its own rank and below.
const RANKS: &[&[&str]] = &[
    &["error"],
    &["policy"],
    &["request", "profile"],
    &["command", "reply"],
    &["schema", "outcome"],
    &["lowering"],
    &["harness"],
    &["harnesses", "declared"],
    &["run"],
    &["dispatch", "testkit"],
    &["config", "rehearse", "jobs", "batch", "review", "skill", "doctor", "mcp", "fleet"],
    &["wire"],
    &["cli"],
];

/// Uses of a higher rank, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The one list of what ships, for `HarnessRegistry::builtin`.
    ("harness", "harnesses"),
];

/// Companies and programs beside the harnesses' own names.
const VENDORS: &[&str] =
    &["anthropic", "openai", "google", "github", "mistral", "moonshot", "gptme", "amazon"];

/// What `src` may not name: ids and aliases of all harnesses, and those. A letter is no name.
fn vendors() -> Vec<String> {
    let registry = teamster::HarnessRegistry::builtin();
    let names = |facts: &teamster::Facts| [vec![facts.id.clone()], facts.aliases.clone()].concat();
    let mut all: Vec<String> = registry.iter().flat_map(|builder| names(builder.facts())).collect();
    all.retain(|name| name.len() > 1);
    all.extend(VENDORS.iter().map(|&vendor| vendor.to_owned()));
    all
}

/// Whether a line of code names a vendor; a short name has to be a whole word.
fn names(code: &str, vendor: &str) -> bool {
    match vendor.len() {
        0..=4 => code.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == vendor),
        _ => code.contains(vendor),
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file under a folder of the repo: path in the repo, and text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let (mut files, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The module that a file belongs to: `src/reply/find.rs` → `reply`; none for the crate's roots.
fn module(path: &str) -> Option<String> {
    if path.starts_with("harnesses/") {
        return Some("harnesses".to_owned());
    }
    let below = Path::new(path.strip_prefix("src/")?);
    let first = below.components().next()?.as_os_str().to_str()?.trim_end_matches(".rs").to_owned();
    (!["lib", "main"].contains(&first.as_str())).then_some(first)
}

fn rank(module: &str) -> Option<usize> {
    RANKS.iter().position(|modules| modules.contains(&module))
}

/// The crate's modules that a text names as `crate::module`, comments left out.
fn used(text: &str) -> Vec<String> {
    let code: String = text.lines().map(code_of).collect::<Vec<_>>().join("\n");
    let mut names: Vec<String> = code
        .split("crate::")
        .skip(1)
        .flat_map(|after| {
            let list =
                after.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or(after, |(list, _)| list);
            let whole = if std::ptr::eq(list, after) {
                &after[..after.find(|c: char| !is_word(c)).unwrap_or(after.len())]
            } else {
                list
            };
            whole
                .split(',')
                .map(|name| name.trim().split(|c| !is_word(c)).next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
    names
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A line without its comment. A `//` in a string is cut too, which hides no import.
fn code_of(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

#[test]
fn nothing_imports_upwards() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src").into_iter().chain(sources("harnesses")) {
        let Some(own) = module(&path) else { continue };
        let Some(own_rank) = rank(&own) else { panic!("{path}: tests/it/tidy.rs gives `{own}` no rank") };
        for name in used(&text) {
            let above = rank(&name).is_some_and(|rank| rank > own_rank);
            if above && !EXCEPTIONS.contains(&(own.as_str(), name.as_str())) {
                wrong.push(format!("{path} uses {name}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn harnesses_know_no_process_and_no_schema() {
    let allowed =
        ["error", "harness", "lowering", "reply", "request", "command", "policy", "profile", "harnesses"];
    let mut wrong = Vec::new();
    for (path, text) in sources("harnesses") {
        wrong.extend(
            used(&text)
                .into_iter()
                .filter(|name| !allowed.contains(&name.as_str()))
                .map(|name| format!("{path} uses {name}")),
        );
        for word in ["std::process", "std::fs", "std::env", "std::time", "tokio"] {
            if text.lines().map(code_of).any(|line| line.contains(word)) {
                wrong.push(format!("{path} uses {word}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn imports_are_read_in_every_form() {
    let text = "use crate::run::Runner;\nuse crate::{cli, jobs::Job, Kind};\n// use crate::mcp::X;\nlet x = crate::batch::go();";
    assert_eq!(used(text), ["run", "cli", "jobs", "batch"]);
}

#[test]
fn src_knows_no_vendor() {
    let (vendors, mut wrong) = (vendors(), Vec::new());
    assert!(names("x = pi + 1", "pi") && !names("copies", "pi") && names("claudelike", "claude"));
    for (path, text) in sources("src") {
        for (at, line) in text.lines().enumerate() {
            let code = code_of(line).to_lowercase();
            let example = path.starts_with("src/cli/") && code.contains("teamster ");
            if let Some(vendor) = vendors.iter().find(|vendor| names(&code, vendor)).filter(|_| !example) {
                wrong.push(format!("{path}:{}: {vendor}", at + 1));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_file_says_what_it_is_and_stays_small() {
    let mut wrong = Vec::new();
    for (path, text) in ["src", "harnesses", "tests", "examples", "benches"].into_iter().flat_map(sources) {
        if !text.starts_with("//!") {
            wrong.push(format!("{path} has no `//!` head"));
        }
        let lines = text.lines().count();
        if lines > 450 && !path.starts_with("tests/") {
            wrong.push(format!("{path} has {lines} lines"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
