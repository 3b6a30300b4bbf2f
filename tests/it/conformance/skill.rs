//! `--skill` with the real CLIs: a file of another CLI's format brings its text, and holds the agent to its tools.

use super::cli::Cli;
use super::clis::{claude, codex, copilot, gemini, opencode, qwen};
use super::lab::{Done, Lab, done};
use super::place::text;
use crate::support::model_server::Step;

const BODY: &str = "You are a heron, and you stand still.";

/// An agent file for other CLIs than this one: its path below a project, and its text.
fn foreign(cli: &Cli, claude_tools: &str, gemini_tools: &str) -> (&'static str, String) {
    let file = |tools: &str| format!("---\nname: heron\ndescription: Waits: always\n{tools}\n---\n{BODY}\n");
    match cli.id {
        "claude" => (".gemini/agents/heron.md", file(gemini_tools)),
        _ => (".claude/agents/heron.md", file(claude_tools)),
    }
}

/// The model asks to write a file and to run a command.
fn attack(lab: &Lab) -> Vec<Step> {
    vec![
        (lab.cli.write)(&lab.place.inside("written")),
        (lab.cli.shell)(&format!("touch '{}'", lab.place.inside("touched"))),
        Step::text("done"),
    ]
}

/// Runs it with a skill; gives what it made in the workspace beside the skill.
fn made(lab: &Lab, skill: &str, flags: &[&str]) -> (Done, Vec<String>) {
    lab.server.script(attack(lab));
    let before = lab.place.marks();
    let args =
        [&[lab.cli.id, "hello", "--json", "--skill", skill, "--model", lab.cli.model][..], flags].concat();
    let done = done(lab.start_other("run", &args));
    let mut marks = lab.place.marks();
    marks.retain(|mark| !before.contains(mark));
    assert!(!lab.server.main_requests().is_empty(), "{}: no turn; {done:?}", lab.cli.id);
    (done, marks)
}

/// What the model saw in its first turn, wherever the CLI puts it.
fn seen(lab: &Lab) -> String {
    let turn = lab.first_turn();
    turn.system_text() + &turn.user_texts().concat() + &(lab.cli.prompt)(&turn).unwrap_or_default()
}

#[test]
fn a_skill_of_another_format_is_heard_and_holds_the_agent_to_reading() {
    for cli in [&gemini::CLI, &claude::CLI, &codex::CLI, &copilot::CLI, &opencode::CLI, &qwen::CLI] {
        let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { continue };
        let (name, file) = foreign(cli, "tools: Read, Grep", "tools: [read_file, grep_search]");
        lab.place.file(name, &file);
        // By its name: the workspace is the project.
        let (done, marks) = made(&lab, "heron", &[]);
        assert_eq!(marks, Vec::<String>::new(), "{}: {done:?}", cli.id);
        assert!(seen(&lab).contains(BODY), "{}: {}", cli.id, seen(&lab));
    }
}

#[test]
fn what_a_skill_of_the_project_grants_runs_and_nothing_else() {
    for cli in [&gemini::CLI, &claude::CLI, &opencode::CLI, &qwen::CLI] {
        let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { continue };
        let (name, file) =
            foreign(cli, "tools: Read, Write, Edit", "tools: [read_file, write_file, replace]");
        lab.place.file(name, &file);
        let (done, marks) = made(&lab, "heron", &[]);
        assert_eq!(marks, ["written"], "{}: {done:?}", cli.id);
        // A flag wins.
        std::fs::remove_file(lab.place.inside("written")).unwrap();
        let (done, marks) = made(&lab, "heron", &["--permission", "read-only"]);
        assert_eq!(marks, Vec::<String>::new(), "{}: {done:?}", cli.id);
    }
}

#[test]
fn a_skill_from_elsewhere_grants_nothing_until_it_is_vouched_for() {
    for cli in [&gemini::CLI, &claude::CLI] {
        let Some(lab) = Lab::new(cli, vec![Step::text("done")]) else { continue };
        let tools = ("tools: Read, Write, Bash", "tools: [read_file, write_file, run_shell_command]");
        let (name, file) = foreign(cli, tools.0, tools.1);
        let path = lab.place.outside().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, file).unwrap();
        let (done, marks) = made(&lab, &text(&path), &[]);
        assert_eq!(marks, Vec::<String>::new(), "{}: {done:?}", cli.id);
        assert!(done.stderr.contains("--trust-skill grants it"), "{done:?}");
        assert!(seen(&lab).contains(BODY), "{}", cli.id);
        let (done, mut marks) = made(&lab, &text(&path), &["--trust-skill"]);
        marks.sort();
        assert_eq!(marks, ["touched", "written"], "{}: {done:?}", cli.id);
    }
}
