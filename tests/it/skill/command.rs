//! `--skill` and `teamster skills`, as a person or a program would use them.

use super::write;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A home with a project in it.
struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(world.path("repo/.git")).unwrap();
        std::fs::create_dir_all(world.path("home")).unwrap();
        world.file(
            "repo/.claude/agents/rev.md",
            "---\nname: rev\ndescription: Use this: always\ntools: Read, Bash(git diff:*)\nmodel: sonnet\n---\nYou review.\n",
        );
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    fn run_in(&self, cwd: &Path, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(args).stdin(Stdio::null()).current_dir(cwd);
        command.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("home/.config"));
        for name in ["TEAMSTER_HARNESS", "TEAMSTER_GEMINI_MODEL", "TEAMSTER_CONFIG"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        self.run_in(&self.path("repo"), args)
    }

    fn argv(&self, args: &[&str]) -> Value {
        let (status, out, err) = self.run(&[&["argv", "gemini", "hi", "--json"], args].concat());
        assert_eq!(status, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    }
}

fn has(lowered: &Value, arg: &str) -> bool {
    lowered["args"].as_array().unwrap().iter().any(|own| own == arg)
}

#[test]
fn a_skill_by_name_sets_system_prompt_and_tools() {
    let world = World::new();
    let lowered = world.argv(&["--skill", "rev"]);
    assert!(has(&lowered, "run_shell_command(git diff)") && has(&lowered, "You review.\n\nhi"), "{lowered}");
    // Its model is one of another harness.
    assert!(!has(&lowered, "sonnet"), "{lowered}");
    let (_, _, err) = world.run(&["argv", "gemini", "hi", "--skill", "rev"]);
    assert!(err.contains("note: skill rev: its model `sonnet` is one of claude"), "{err}");
    assert!(err.contains("(line 3: ") && err.contains("taken as plain text: description\n"), "{err}");
}

#[test]
fn flags_win_over_the_skill() {
    let world = World::new();
    let lowered = world.argv(&["--skill", "rev", "--tools", "edit", "--model", "m", "--system", "Be brief."]);
    assert!(has(&lowered, "write_file") && !has(&lowered, "run_shell_command(git diff)"), "{lowered}");
    assert!(has(&lowered, "m") && has(&lowered, "You review.\n\nBe brief.\n\nhi"), "{lowered}");
    let lowered = world.argv(&["--skill", "rev", "--permission", "read-only"]);
    assert!(!has(&lowered, "run_shell_command(git diff)"), "{lowered}");
}

#[test]
fn a_request_file_wins_over_the_skill_too() {
    let world = World::new();
    world.file("repo/request.json", &json!({"prompt": "p", "tools": ["edit"], "model": "m"}).to_string());
    let (_, out, _) = world.run(&["argv", "gemini", "--request", "request.json", "--skill", "rev", "--json"]);
    let lowered: Value = serde_json::from_str(&out).unwrap();
    assert!(
        has(&lowered, "write_file") && has(&lowered, "m") && !has(&lowered, "run_shell_command(git diff)")
    );
    assert!(has(&lowered, "You review.\n\np"), "{lowered}");
}

#[test]
fn a_skill_from_elsewhere_restricts_only_until_it_is_vouched_for() {
    let world = World::new();
    world.file("elsewhere/a.md", "---\nname: a\ntools: Bash, Edit, Read\n---\nbody\n");
    let lowered = world.argv(&["--skill", "../elsewhere/a.md"]);
    assert!(!has(&lowered, "run_shell_command") && !has(&lowered, "write_file"), "{lowered}");
    let (_, _, err) = world.run(&["argv", "gemini", "hi", "--skill", "../elsewhere/a.md"]);
    assert!(err.contains("not granted, since it lies outside the project and your skill folders: shell, edit; --trust-skill grants it"), "{err}");
    let lowered = world.argv(&["--skill", "../elsewhere/a.md", "--trust-skill"]);
    assert!(has(&lowered, "run_shell_command") && has(&lowered, "write_file"), "{lowered}");
    // A policy of the caller's stays at most what it was.
    world.file("repo/request.json", &json!({"prompt": "p", "tools": ["edit", "web"]}).to_string());
    let args = ["argv", "gemini", "--request", "request.json", "--skill", "../elsewhere/a.md", "--json"];
    let lowered: Value = serde_json::from_str(&world.run(&args).1).unwrap();
    assert!(
        has(&lowered, "write_file") && !has(&lowered, "web_fetch") && !has(&lowered, "run_shell_command")
    );
    // The same file, but through a link in the project.
    std::os::unix::fs::symlink(world.path("elsewhere/a.md"), world.path("repo/a.md")).unwrap();
    assert!(!has(&world.argv(&["--skill", "a.md"]), "run_shell_command"));
}

#[test]
fn a_profile_s_ceiling_holds_for_a_skill() {
    let world = World::new();
    world.file("home/.config/teamster/teamster.toml", "[profiles.gemini]\npermission = \"read-only\"\n");
    let lowered = world.argv(&["--skill", "rev"]);
    assert!(!has(&lowered, "run_shell_command(git diff)"), "{lowered}");
    world.file("elsewhere/a.md", "---\nname: a\ntools: Bash\npermissionMode: bypassPermissions\n---\nbody\n");
    let lowered = world.argv(&["--skill", "../elsewhere/a.md", "--trust-skill"]);
    assert!(!has(&lowered, "run_shell_command"), "{lowered}");
}

#[test]
fn the_files_beside_a_skill_are_in_reach_and_named() {
    let world = World::new();
    let skill = "---\nname: forms\ndescription: x\n---\nRun scripts/fill.py\n";
    world.file("home/.agents/skills/forms/SKILL.md", skill);
    world.file("home/.agents/skills/forms/scripts/fill.py", "print()\n");
    let folder = world.path("home/.agents/skills/forms").display().to_string();
    let (status, out, err) = world.run(&["argv", "claude", "hi", "--skill", "forms"]);
    assert_eq!(status, 0, "{err}");
    assert!(
        out.contains(&format!("--add-dir={folder}")) || out.contains(&format!("--add-dir {folder}")),
        "{out}"
    );
    assert!(out.contains(&format!("The files that these instructions name lie in {folder}")), "{out}");
    // From elsewhere it is named, and not added.
    world.file("elsewhere/forms/SKILL.md", skill);
    world.file("elsewhere/forms/scripts/fill.py", "print()\n");
    let (_, out, err) = world.run(&["argv", "claude", "hi", "--skill", "../elsewhere/forms"]);
    assert!(!out.contains("--add-dir") && err.contains("may be out of reach"), "{out}{err}");
}

#[test]
fn a_run_with_a_skill_is_rehearsed_as_any_other() {
    let world = World::new();
    let (status, out, err) = world.run(&["run", "gemini", "hi", "--skill", "rev", "--rehearse", "--quiet"]);
    assert_eq!((status, out.is_empty(), err.as_str()), (0, false, ""));
    let (status, out, _) = world.run(&["run", "gemini", "hi", "--skill", "nope", "--rehearse", "--json"]);
    let outcome: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &outcome["failure"]["kind"]), (2, &json!("invalid_request")));
}

#[test]
fn skills_lists_what_there_is() {
    let world = World::new();
    world.file("repo/.agents/skills/rev/SKILL.md", "---\nname: rev\ndescription: First\n---\nx\n");
    world.file("home/.gemini/agents/broken.md", "---\nname: [\n---\n");
    let (status, out, _) = world.run(&["skills", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    let told: Vec<Value> = value["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            json!([
                one["name"],
                one["format"],
                one["harness"],
                one["scope"],
                one["trusted"],
                one["shadowed"],
                one["failure"]["kind"]
            ])
        })
        .collect();
    assert_eq!((status, &value["ok"]), (0, &json!(true)));
    assert_eq!(
        told,
        [
            json!(["rev", "agent-skills", null, "project", true, false, null]),
            json!(["rev", "agent", "claude", "project", true, true, null]),
            json!(["broken", null, null, "user", true, false, "invalid_request"]),
        ]
    );
    let (_, table, _) = world.run(&["skills"]);
    assert!(table.contains("project (shadowed)") && table.contains("cannot be read: "), "{table}");
    // Paths are those from here, and from the home.
    let ends = |table: &str| {
        let last = table.lines().filter_map(|line| line.split_whitespace().last());
        last.filter(|word| word.ends_with(".md")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        ends(&table),
        [".agents/skills/rev/SKILL.md", ".claude/agents/rev.md", "~/.gemini/agents/broken.md"]
    );
    let (_, table, _) = world.run_in(&world.path(""), &["skills", "-C", "repo"]);
    assert_eq!(ends(&table)[1], "repo/.claude/agents/rev.md");
    std::fs::create_dir_all(world.path("empty")).unwrap();
    std::fs::remove_dir_all(world.path("home/.gemini")).unwrap();
    let (status, out, err) = world.run_in(&world.path("empty"), &["skills"]);
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(err.starts_with("note: there is none"), "{err}");
}

#[test]
fn skills_shows_one_and_what_it_sets() {
    let world = World::new();
    let (status, out, _) = world.run(&["skills", "rev", "--on", "gemini"]);
    assert_eq!(status, 0);
    assert!(out.contains("tools       {\"allow\":[\"Read\",\"Bash(git diff:*)\"]}\n"), "{out}");
    assert!(
        out.contains("\nsets on gemini\n  tools         [\"read\",\"shell(git diff)\"]\n\nYou review.\n"),
        "{out}"
    );
    let (_, out, _) = world.run(&["skills", "rev", "--on", "gemini", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["request"]["tools"], json!(["read", "shell(git diff)"]));
    assert_eq!((&value["skill"]["model"], &value["trusted"]), (&json!("sonnet"), &json!(true)));
    let (status, out, err) = world.run(&["skills", "revs", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (status, &value["ok"], &value["failure"]["kind"]),
        (2, &json!(false), &json!("invalid_request"))
    );
    assert!(err.starts_with("error: skill: nothing is called `revs`; did you mean `rev`?"), "{err}");
}

#[test]
fn what_a_file_says_does_not_drive_the_terminal() {
    let world = World::new();
    let name = "a\u{1b}[2J\u{202e}";
    let text =
        "---\nname: \"a\\e[2J\\u202e\"\ndescription: \"d\\e]0;x\\a\"\n\"k\\e[1m\": 1\n---\nbody\u{1b}[31m\n";
    world.file("repo/.agents/skills/x/SKILL.md", text);
    for args in [&["skills"][..], &["skills", name], &["skills", name, "--on", "gemini"]] {
        let (status, out, err) = world.run(args);
        assert_eq!(status, 0, "{err}");
        assert!(
            !out.contains(['\u{1b}', '\u{7}', '\u{202e}']) && out.contains("a\\u{1b}[2J\\u{202e}"),
            "{out:?}"
        );
    }
    let (_, _, err) = world.run(&["argv", "gemini", "hi", "--skill", name]);
    assert!(err.contains("not carried: k\\u{1b}[1m") && !err.contains('\u{1b}'), "{err:?}");
    // The agent gets the body as it is.
    assert!(world.argv(&["--skill", name]).to_string().contains("body\\u001b[31m"));
}
