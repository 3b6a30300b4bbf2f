//! What the agent may do is at most what the request allows, whatever the model asks for.

use super::cli::{Cli, Except};
use super::lab::{Lab, kind};
use super::table;
use crate::support::model_server::{Recorded, Step};
use serde_json::{Value, json};
use std::process::Command;
use teamster::Outcome;

/// What a request allows, on disk.
#[derive(Clone, Copy, Default)]
struct Rights {
    /// Tools that write files may write in the workspace.
    write: bool,
    /// They, or commands, may write elsewhere.
    beyond: bool,
    /// Commands may run.
    shell: bool,
}

const NOTHING: Rights = Rights { write: false, beyond: false, shell: false };
const EVERYTHING: Rights = Rights { write: true, beyond: true, shell: true };

/// With no word on rights the CLI's own behaviour holds: looked at, not judged.
pub(crate) fn no_word(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { return };
    judged(lab.trusted(), "no word", json!({}), EVERYTHING);
}

pub(crate) fn list_of_reading(cli: &'static Cli) {
    case(cli, "list: read", json!({"tools": ["read"]}), NOTHING);
}

pub(crate) fn list_with_shell(cli: &'static Cli) {
    let rights = Rights { shell: true, beyond: true, write: false };
    case(cli, "list: shell", json!({"tools": ["shell"]}), rights);
}

pub(crate) fn allow_and_deny(cli: &'static Cli) {
    let rights = Rights { write: true, beyond: true, shell: false };
    let tools = json!({"allow": ["edit"], "deny": ["shell"]});
    case(cli, "allow edit, deny shell", json!({"tools": tools}), rights);
}

pub(crate) fn empty_text(cli: &'static Cli) {
    case(cli, "`\"\"`", json!({"tools": ""}), NOTHING);
}

pub(crate) fn empty_list(cli: &'static Cli) {
    case(cli, "`[]`", json!({"tools": []}), NOTHING);
}

pub(crate) fn empty_rules(cli: &'static Cli) {
    case(cli, "`{}`", json!({"tools": {}}), NOTHING);
}

pub(crate) fn read_only(cli: &'static Cli) {
    case(cli, "read-only", json!({"permission": "read-only"}), NOTHING);
}

/// To be held is not to be lame: the agent reads the workspace.
pub(crate) fn reading(cli: &'static Cli) {
    if cli.excepted(Except::NoReading).is_some() {
        return;
    }
    for request in [json!({"permission": "read-only"}), json!({"tools": ["read"]})] {
        let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { return };
        lab.place.file("notes.txt", "a word in a file\n");
        lab.server.script(vec![(cli.read)(&lab.place.inside("notes.txt")), Step::text("done")]);
        let outcome = lab.outcome(request.clone(), &[]);
        if is_refusal(kind(&outcome)) {
            continue;
        }
        let results = lab.server.main_requests().last().map(Recorded::tool_results).unwrap_or_default();
        let all: String = results.iter().map(|(_, result)| result.to_string()).collect();
        assert!(outcome.ok && all.contains("a word in a file"), "{request}: {results:?}; {outcome:?}");
    }
}

pub(crate) fn edit(cli: &'static Cli) {
    let rights = Rights { write: true, beyond: false, shell: cli.excepted(Except::EditRunsShell).is_some() };
    case(cli, "edit", json!({"permission": "edit"}), rights);
}

pub(crate) fn full(cli: &'static Cli) {
    case(cli, "full", json!({"permission": "full"}), EVERYTHING);
}

/// The rights of a resumed session are those of the request that resumes it, not more.
pub(crate) fn resumed(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("first")]) else { return };
    let first = lab.outcome(json!({"permission": "read-only"}), &[]);
    if !first.ok {
        assert!(lab.server.requests().is_empty() && is_refusal(kind(&first)), "{first:?}");
        return table::hold(cli, "read-only, resumed", "refused");
    }
    let Some(session) = first.session_id else {
        return table::hold(cli, "read-only, resumed", "no sessions");
    };
    let request = json!({"permission": "read-only", "session": {"resume": session}});
    judged(lab, "read-only, resumed", request, NOTHING);
}

pub(crate) fn hostile_repository(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { return };
    let _ = Command::new("git").args(["init", "-q"]).current_dir(lab.place.workspace()).status();
    (cli.hostile)(&lab.place);
    assert!(!lab.place.marks().is_empty(), "a hostile repository brings something");
    judged(lab, "read-only, hostile repository", json!({"permission": "read-only"}), NOTHING);
}

/// The same attack with nothing in its way, by the CLI alone: else the tests above could not fail.
pub(crate) fn control(cli: &'static Cli) {
    let Some(lab) = Lab::raw(cli, vec![Step::text("done")]) else { return };
    let lab = lab.trusted();
    let before = lab.place.marks();
    let mut said = String::new();
    let turns = played(&lab, || said += &lab.alone(cli.unbound));
    let marks = since(&before, &lab);
    let offered = lab.server.main_requests().first().map(Recorded::offered_tools);
    assert_eq!(marks, cli.reach, "{turns} turns; offered {offered:?}; it said {said}");
}

/// The hostile repository bites where nothing stops it, and what the descriptor says of a turn is so.
pub(crate) fn traps(cli: &'static Cli) {
    let Some(lab) = Lab::raw(cli, vec![Step::text("done")]) else { return };
    let lab = lab.trusted();
    let said = lab.alone(cli.unbound);
    let turn = lab.first_turn();
    assert_eq!((cli.prompt)(&turn).as_deref(), Some("hello"), "{:?}; it said {said}", turn.user_texts());
    assert_eq!(lab.server.main_requests().len(), 1, "{:?}", lab.server.requests());

    let _ = Command::new("git").args(["init", "-q"]).current_dir(lab.place.workspace()).status();
    (cli.hostile)(&lab.place);
    let before = lab.place.marks();
    lab.server.script(vec![(cli.write)(&lab.place.inside("write")), Step::text("done")]);
    let said = lab.alone(cli.careless);
    let mut left = since(&before, &lab);
    left.extend(evil(&lab));
    assert_eq!(left, cli.traps, "{said}");
}

fn case(cli: &'static Cli, column: &str, request: Value, rights: Rights) {
    let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { return };
    judged(lab, column, request, rights);
}

/// Plays the attack under a request, and holds what is on disk then to the rights and to the table.
fn judged(lab: Lab, column: &str, request: Value, rights: Rights) {
    let before = lab.place.marks();
    let mut outcomes: Vec<Outcome> = Vec::new();
    let turns = played(&lab, || outcomes.push(lab.outcome(request.clone(), &[])));
    let marks = since(&before, &lab);
    let over: Vec<&String> = marks.iter().filter(|mark| !within(mark, rights)).collect();
    assert!(over.is_empty(), "{request}: {over:?} of {marks:?}; {outcomes:?}");
    assert_eq!(evil(&lab), None, "a workspace sent the request elsewhere");

    let kinds: Vec<Option<&str>> = outcomes.iter().map(kind).collect();
    let cell = if turns == 0 {
        let refused = outcomes.iter().all(|outcome| outcome.attempts.is_empty());
        let known = kinds.iter().all(|kind| is_refusal(*kind));
        assert!(refused && known, "{request}: {outcomes:?}");
        "refused".to_owned()
    } else {
        // Some CLIs end a run at the first tool that they refuse.
        let ended = |kind: &Option<&str>| matches!(kind, None | Some("permission" | "empty_reply"));
        assert!(kinds.iter().all(ended), "{request}: {outcomes:?}");
        told(&marks)
    };
    table::hold(lab.cli, column, &cell);
}

/// Whether a harness said that it cannot hold the agent to a request, or not do what it asks.
fn is_refusal(kind: Option<&str>) -> bool {
    matches!(kind, Some("unenforceable" | "unsupported"))
}

/// Plays the whole attack and gives the number of turns that the model had. Each list of turns is played
/// to its end, or to where the CLI gave up: then a new run goes on with the next one.
fn played(lab: &Lab, mut run: impl FnMut()) -> usize {
    let mut left = attack(lab);
    let begun = lab.server.main_requests().len();
    while !left.is_empty() {
        let before = lab.server.main_requests().len();
        let steps = left.iter().flatten().cloned().chain([Step::text("done")]).collect();
        lab.server.script(steps);
        run();
        let mut taken = lab.server.main_requests().len() - before;
        if taken == 0 {
            break;
        }
        while taken > 0 && !left.is_empty() {
            taken = taken.saturating_sub(left.remove(0).len());
        }
    }
    lab.server.main_requests().len() - begun
}

/// Lists of turns in which the model asks for what it must not have. A file's name says what made it.
fn attack(lab: &Lab) -> Vec<Vec<Step>> {
    let (cli, place) = (lab.cli, &lab.place);
    let mut all = vec![
        both((cli.write)(&place.inside("write-with")), (cli.shell)("touch shell-with")),
        vec![(cli.write)(&place.inside("write-alone"))],
        vec![(cli.shell)("touch shell-alone")],
        vec![(cli.write)(&place.beyond("write"))],
        vec![(cli.shell)(&format!("touch {}", place.beyond("shell")))],
    ];
    all.extend((cli.escapes)(place));
    all
}

/// Two calls in one turn, where both are calls.
fn both(first: Step, second: Step) -> Vec<Step> {
    match (first, second) {
        (Step::Call { name, args }, Step::Call { name: other, args: with }) => {
            vec![Step::Calls(vec![(name, args), (other, with)])]
        }
        (first, second) => vec![first, second],
    }
}

fn since(before: &[String], lab: &Lab) -> Vec<String> {
    let mut marks = lab.place.marks();
    marks.retain(|mark| !before.contains(mark));
    // A home that a workspace brings fills with files that have names of chance.
    let evil = |mark: String| if mark.starts_with("evil/") { "evil/".to_owned() } else { mark };
    let mut marks: Vec<String> = marks.into_iter().map(evil).collect();
    marks.dedup();
    marks
}

/// Whether a hostile workspace made requests go elsewhere, or to a model of its own.
fn evil(lab: &Lab) -> Option<String> {
    let turns = lab.server.main_requests();
    let is_evil = |turn: &Recorded| turn.path.contains("evil") || turn.model().contains("evil");
    turns.iter().any(is_evil).then(|| "evil request".to_owned())
}

/// Whether a file that is there now is one that the rights let be made.
fn within(mark: &str, rights: Rights) -> bool {
    let (beyond, name) = mark.strip_prefix("outside/").map_or((false, mark), |name| (true, name));
    let made = (name.starts_with("write") && rights.write) || (name.starts_with("shell") && rights.shell);
    made && (!beyond || rights.beyond) || (rights.write && rights.shell && rights.beyond)
}

/// What happened, in a few words for the table.
fn told(marks: &[String]) -> String {
    let kinds = [
        ("write", "writes"),
        ("shell", "shell"),
        ("outside/write", "writes outside"),
        ("outside/shell", "shell outside"),
    ];
    let happened = kinds.iter().filter(|(start, _)| marks.iter().any(|mark| mark.starts_with(start)));
    let happened: Vec<&str> = happened.map(|(_, word)| *word).collect();
    if happened.is_empty() { "held".to_owned() } else { happened.join(", ") }
}
