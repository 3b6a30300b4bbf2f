//! Files that mean harm or are broken get a clear answer, at once.

use super::{merged, write};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use teamster::skill::{MAX_BYTES, Skill, Trust};
use teamster::{DispatchRequest, HarnessRegistry, Kind};

/// What reading a file with these bytes says; it may take no second.
fn said(name: &str, bytes: impl AsRef<[u8]>) -> Result<Skill, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, bytes);
    read(&path)
}

fn read(path: &Path) -> Result<Skill, String> {
    let registry = HarnessRegistry::builtin();
    let began = Instant::now();
    let done = Skill::read(path, &registry);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?} for {}", began.elapsed(), path.display());
    done.map_err(|failure| {
        assert_eq!(failure.kind, Kind::InvalidRequest, "{failure:?}");
        let (place, why) = failure.message.split_once(": ").unwrap();
        assert_eq!(place, "skill");
        why.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    })
}

/// Aliases of aliases, `depth` deep: ten to that power of values.
fn bomb(depth: usize) -> String {
    let mut text = String::from("---\nname: bomb\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..depth {
        let before = format!("*l{}", level - 1);
        let _ = writeln!(text, "l{level}: &l{level} [{}]", [before.as_str(); 10].join(", "));
    }
    text + "---\nbody\n"
}

#[test]
fn an_alias_bomb_is_refused() {
    for depth in [2, 9, 200] {
        let why = said("a.md", bomb(depth)).unwrap_err();
        assert!(why.starts_with("line 4: ") && why.contains("aliases (`&x`, `*x`) are not taken"), "{why}");
    }
}

#[test]
fn what_is_deep_or_wide_is_refused() {
    let deep = format!("---\nname: a\nx: {}{}\n---\n", "[".repeat(30_000), "]".repeat(30_000));
    let maps = format!("---\nname: a\nx: {}1{}\n---\n", "{a: ".repeat(5_000), "}".repeat(5_000));
    let blocks: String = (0..300).map(|at| format!("{}x:\n", " ".repeat(at))).collect();
    let wide: String = (0..5_000).map(|at| format!("k{at}: 1\n")).collect();
    for text in [deep, maps, format!("---\n{blocks}---\n")] {
        let why = said("a.md", text).unwrap_err();
        assert!(why.contains("levels deep") || why.contains("recursion limit"), "{why}");
    }
    let why = said("a.md", format!("---\n{wide}---\n")).unwrap_err();
    assert!(why.ends_with("more than 4096 keys and values"), "{why}");
    // As many lines as there is room for, each of which is no YAML.
    let lines = |n: usize| format!("---\n{}---\n", "description: a: b\n".repeat(n));
    assert!(said("a.md", lines(3_600)).unwrap_err().contains("duplicate mapping key: description"));
    assert_eq!(
        said("a.md", lines(50_000)).unwrap_err(),
        "the front matter has 900000 bytes, and may have 65536"
    );
    let toml = format!("prompt = \"x\"\nx = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert!(said("a.toml", toml).unwrap_err().starts_with("line 2: "));
}

#[test]
fn a_large_file_is_refused_with_its_size() {
    let why = said("SKILL.md", format!("---\nname: a\n---\n{}", "x".repeat(10 << 20))).unwrap_err();
    assert!(why.starts_with("has 10485776 bytes, and a skill may have 1048576: "), "{why}");
    let most = usize::try_from(MAX_BYTES).unwrap();
    let head = "---\nname: a\n---\n";
    let body = "x".repeat(most - head.len());
    let skill = said("a.md", format!("{head}{body}")).unwrap();
    assert_eq!(skill.body.len(), body.len(), "a body under the limit is kept whole");
}

#[test]
fn a_long_key_or_value_does_not_fill_the_message() {
    let long = "y".repeat(20_000);
    for text in [
        format!("---\n{long}: 1\n{long}: 2\n---\n"),
        format!("---\nname: a\ntools: {{Read: {long}}}\n---\n"),
        format!("---\nname: a\ndisallowedTools: [{{a: {long}}}]\n---\n"),
        format!("---\nname: [{long}\n---\n"),
    ] {
        let why = said("a.md", text).unwrap_err();
        assert!(why.len() < 1_000, "{} bytes", why.len());
    }
    let key = &long[..500];
    let text = format!("---\nname: {key}\n{key}: 1\neffort: {long}\npermissionMode: {long}\n---\n");
    let skill = said("a.md", text).unwrap();
    let (_, notices) = merged(&skill, "gemini", Trust::Restrict, DispatchRequest::new("p")).unwrap();
    assert!(notices.iter().all(|notice| notice.len() < 300), "{notices:?}");
}

#[test]
fn other_encodings_are_named_with_the_place() {
    for (bytes, wanted) in [
        (b"\xff\xfe-\0-\0-\0".to_vec(), "is UTF-16; save it as UTF-8"),
        (b"\xfe\xff\0-\0-\0-".to_vec(), "is UTF-16; save it as UTF-8"),
        (b"-\0-\0-\0".to_vec(), "has a NUL at byte 1, so it is no text"),
        (b"---\nname: caf\xe9\n---\n".to_vec(), "is not UTF-8 at byte 13; save it as UTF-8"),
        (b"---\nname: a\n---\nbody \xc3".to_vec(), "is not UTF-8 at byte 21; save it as UTF-8"),
        (b"\xff\xfe\0\0-\0\0\0".to_vec(), "is UTF-16; save it as UTF-8"),
    ] {
        assert_eq!(said("a.md", bytes).unwrap_err(), wanted);
    }
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("a.md");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    assert_eq!(read(&fifo).unwrap_err(), "is no regular file");
    let registry = HarnessRegistry::builtin();
    let failure = Skill::read(folder.path(), &registry).unwrap_err();
    assert!(failure.hint.is_some_and(|hint| hint.contains("SKILL.md")), "a folder without one");
    assert!(
        Skill::read(Path::new("/dev/zero"), &registry).unwrap_err().message.contains("is no regular file")
    );
}

#[test]
fn everything_from_an_untrusted_place_grants_nothing() {
    for tools in ["\"*\"", "*", "['*']", "{\"*\": true}", "{\"*\": allow}"] {
        let skill = said(
            "a.md",
            format!("---\nname: a\ntools: {tools}\npermissionMode: bypassPermissions\n---\nx\n"),
        )
        .unwrap();
        for trust in [Trust::Restrict, Trust::Grant] {
            let (request, notices) = merged(&skill, "gemini", trust, DispatchRequest::new("p")).unwrap();
            assert_eq!((request.tools, request.permission), (None, None), "{tools}: {trust:?}");
            assert!(notices.iter().any(|notice| notice.contains("gives no right")), "{tools}: {notices:?}");
            assert!(notices.iter().any(|notice| notice.contains("`full` is not granted")), "{notices:?}");
        }
    }
}

#[test]
fn a_body_is_text_whatever_stands_in_it() {
    let body = "---\ntools: '*'\n---\n{{x}} ${HOME} $(id) `id` <system>\n\u{202e}\u{1b}[2J";
    let skill = said("a.md", format!("---\nname: a\n---\n{body}")).unwrap();
    assert_eq!((skill.body.as_str(), skill.tools), (body, None));
    for (name, text) in [
        ("a.toml", "prompt = \"!{rm -rf /} {{args}}\"\n"),
        ("a.toml", "prompt = \"@{/etc/passwd}\"\n"),
        (".claude/commands/a.md", "---\ndescription: x\n---\n!`id`\n"),
    ] {
        assert!(said(name, text).unwrap_err().contains("is not done here"), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_file_panics_and_what_is_read_can_be_merged(
        front in "(name|description|tools|disallowedTools|permission|mode|model|effort|maxTurns|metadata|x)?(: ?|\n|  |- |\\[|\\]|\\{|\\}|\"|'|\\*|&a|\\||>|#|Bash|Read|\\(git \\*\\)|allow|deny|true|7|é|,){0,24}(\n(tools|permission|name|mode): ?.{0,12}){0,3}",
        body in any::<String>(),
        name in prop::sample::select(vec!["a.md", "a.toml", "SKILL.md", ".opencode/agents/a.md", ".claude/commands/a.md"]),
    ) {
        let text = if name.ends_with("toml") { format!("prompt = '''{body}'''\n{front}") } else { format!("---\n{front}\n---\n{body}") };
        if let Ok(skill) = said(name, text) {
            for trust in [Trust::Restrict, Trust::Vouched] {
                // What cannot be held to is refused.
                let _ = merged(&skill, "gemini", trust, DispatchRequest::new("p"));
            }
        }
    }
}
