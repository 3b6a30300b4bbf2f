//! Where skills are looked for, whose a file is, and which of one name is meant.

use super::write;
use std::path::{Path, PathBuf};
use teamster::HarnessRegistry;
use teamster::skill::{Places, Scope};

/// A home, a project in it and what lies about.
struct World {
    folder: tempfile::TempDir,
    registry: HarnessRegistry,
}

fn agent(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\ntools: Bash\n---\nbody\n")
}

impl World {
    fn new() -> World {
        let world = World { folder: tempfile::tempdir().unwrap(), registry: HarnessRegistry::builtin() };
        std::fs::create_dir_all(world.path("home/work/repo/.git")).unwrap();
        std::fs::create_dir_all(world.path("home/work/repo/sub/deep")).unwrap();
        std::fs::create_dir_all(world.path("home/config")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    fn places(&self, cwd: &str) -> Places<'_> {
        Places::new(
            &self.registry,
            &self.path(cwd),
            Some(&self.path("home")),
            Some(&self.path("home/config")),
        )
    }

    fn scopes(&self, cwd: &str, names: &[&str]) -> Vec<Scope> {
        let places = self.places(cwd);
        names.iter().map(|name| places.scope(&self.path(name))).collect()
    }
}

#[test]
fn a_name_is_looked_for_from_the_working_directory_up_and_then_at_home() {
    let world = World::new();
    for (place, name) in [
        ("home/work/repo/sub/.agents/skills/one/SKILL.md", "one"),
        ("home/work/repo/.agents/skills/one/SKILL.md", "one"),
        ("home/work/repo/.claude/agents/team/two.md", "two"),
        ("home/work/repo/.gemini/agents/two.md", "two"),
        ("home/config/skills/three/SKILL.md", "three"),
        ("home/.agents/skills/three/SKILL.md", "three"),
        ("home/.claude/agents/one.md", "one"),
        ("home/.config/opencode/agent/four.md", "four"),
        ("home/work/.agents/skills/above/SKILL.md", "above"),
        ("other/.claude/agents/elsewhere.md", "elsewhere"),
    ] {
        world.file(place, &agent(name));
    }
    world.file("home/work/repo/.gemini/commands/git/commit.toml", "prompt = 'x'\n");
    world.file("home/work/repo/.claude/commands/README.md", "no command\n");
    world.file("home/work/repo/.claude/skills/loose.md", "no skill\n");
    let all = world.places("home/work/repo/sub/deep").list().unwrap();
    let root = world.path("home");
    let told: Vec<(String, Scope, String)> = all
        .into_iter()
        .map(|found| {
            let path = found.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            (found.name, found.scope, path)
        })
        .collect();
    let wanted = [
        ("one", Scope::Project, "work/repo/sub/.agents/skills/one/SKILL.md"),
        ("one", Scope::Project, "work/repo/.agents/skills/one/SKILL.md"),
        ("two", Scope::Project, "work/repo/.gemini/agents/two.md"),
        ("git:commit", Scope::Project, "work/repo/.gemini/commands/git/commit.toml"),
        ("two", Scope::Project, "work/repo/.claude/agents/team/two.md"),
        ("three", Scope::User, "config/skills/three/SKILL.md"),
        ("three", Scope::User, ".agents/skills/three/SKILL.md"),
        ("one", Scope::User, ".claude/agents/one.md"),
        ("four", Scope::User, ".config/opencode/agent/four.md"),
    ];
    assert_eq!(told, wanted.map(|(name, scope, path)| (name.to_owned(), scope, path.to_owned())));
}

#[test]
fn whose_a_file_is_is_told_with_links_followed() {
    let world = World::new();
    world.file("outside/SKILL.md", &agent("out"));
    world.file("home/work/repo/notes/a.md", &agent("a"));
    world.file("home/.claude/agents/mine.md", &agent("mine"));
    world.file("home/stray.md", &agent("stray"));
    let link = |from: &str, to: &str| {
        std::fs::create_dir_all(world.path(from).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(world.path(to), world.path(from)).unwrap();
    };
    link("home/work/repo/.agents/skills/out", "outside");
    link("home/work/repo/linked.md", "outside/SKILL.md");
    link("elsewhere.md", "home/work/repo/notes/a.md");
    // A folder of skills that is itself a link is the user's own doing.
    world.file("dotfiles/opencode/agents/dot.md", &agent("dot"));
    link("home/.config/opencode", "dotfiles/opencode");
    let names = [
        "home/work/repo/notes/a.md",
        "home/work/repo/.agents/skills/out/SKILL.md",
        "home/work/repo/linked.md",
        "elsewhere.md",
        "home/.claude/agents/mine.md",
        "home/stray.md",
        "home/.config/opencode/agents/dot.md",
        "home/work/repo/../../stray.md",
        "missing.md",
    ];
    use Scope::{Outside, Project, User};
    let wanted = [Project, Outside, Outside, Project, User, Outside, User, Outside, Outside];
    assert_eq!(world.scopes("home/work/repo/sub", &names), wanted);
}

#[test]
fn a_home_and_what_it_lies_in_is_no_project() {
    let world = World::new();
    world.file("home/a.md", &agent("a"));
    world.file("home/plain/b.md", &agent("b"));
    use Scope::{Outside, Project};
    // Where the home is under git itself, the working directory is the project.
    std::fs::create_dir_all(world.path("home/.git")).unwrap();
    assert_eq!(world.scopes("home/plain", &["home/a.md", "home/plain/b.md"]), [Outside, Project]);
    for cwd in ["home", "", "/"] {
        assert_eq!(world.scopes(cwd, &["home/a.md", "home/plain/b.md"]), [Outside, Outside], "{cwd}");
    }
}

/// Anyone could put a `.git` and skills there.
#[test]
fn a_folder_for_everyone_s_files_is_no_project() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.file("tmp/.git/HEAD", "");
    world.file("tmp/.agents/skills/evil/SKILL.md", &agent("evil"));
    world.file("tmp/mine/a.md", &agent("a"));
    let chmod = |mode| {
        std::fs::set_permissions(world.path("tmp"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    use Scope::{Outside, Project};
    let names = ["tmp/.agents/skills/evil/SKILL.md", "tmp/mine/a.md"];
    assert_eq!(world.scopes("tmp/mine", &names), [Project, Project]);
    chmod(0o1777);
    assert_eq!(world.scopes("tmp/mine", &names), [Outside, Project]);
    assert_eq!(world.scopes("tmp", &names), [Outside, Outside]);
    assert!(world.places("tmp/mine").list().unwrap().is_empty());
    chmod(0o755);
}

#[test]
fn a_word_is_a_name_and_then_a_path() {
    let world = World::new();
    world.file("home/.claude/agents/rev.md", &agent("rev"));
    world.file("home/work/repo/rev/SKILL.md", &agent("rev"));
    world.file("home/work/repo/only/SKILL.md", &agent("only"));
    world.file("home/work/repo/.claude/agents/broken.md", "---\nname: [\n---\n");
    let places = world.places("home/work/repo");
    let base = world.path("home/work/repo");
    let found = |asked: &str| {
        places
            .find(asked, &base)
            .map(|found| (found.path, found.skill.is_ok()))
            .map_err(|failure| failure.message)
    };
    assert_eq!(found("rev"), Ok((world.path("home/.claude/agents/rev.md"), true)));
    assert_eq!(found("./rev"), Ok((base.join("./rev/SKILL.md"), true)));
    assert_eq!(found("rev/SKILL.md"), Ok((base.join("rev/SKILL.md"), true)));
    assert_eq!(found("only"), Ok((base.join("only/SKILL.md"), true)));
    assert_eq!(found("broken"), Ok((base.join(".claude/agents/broken.md"), false)));
    assert_eq!(found("revv"), Err("skill: nothing is called `revv`; did you mean `rev`?".to_owned()));
    assert!(found("").is_err() && found("..").is_err());
    assert!(places.find("x.md", Path::new("/")).unwrap_err().message.contains("/x.md: "));
}
