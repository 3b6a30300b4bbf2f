//! Mistral Vibe: what has to hold in words.

use crate::argv::{args, lowered};
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Profile, Reply, lower};

fn words(request: &str) -> Vec<String> {
    let (request, _) = DispatchRequest::from_json(request).unwrap();
    args(&lowered("vibe", &request).unwrap().command)[2..].to_vec()
}

fn read(stdout: &str, stderr: &str, status: i32, export: Option<&str>) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("vibe").unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    let mut end = RunEnd::exited(status, stderr);
    end.files.extend(export.map(|text| ("export.json".to_owned(), text.to_owned())));
    reader.finish(&end, &mut |_| {})
}

/// B08: a list is a limit, one flag for each name: a list of names in one flag matches nothing.
#[test]
fn a_list_is_a_limit() {
    let held = words(r#"{"prompt": "x", "permission": "read-only"}"#);
    assert_eq!(held[..3], ["--agent=ask", "--enabled-tools=read_file", "--enabled-tools=grep"]);
    assert!(held.contains(&"--disabled-tools=bash".to_owned()), "{held:?}");
    assert_eq!(words(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#)[1], "--enabled-tools=no-tool");
    assert_eq!(words(r#"{"prompt": "x", "permission": "edit"}"#)[0], "--agent=accept-edits");
    assert_eq!(words(r#"{"prompt": "x", "permission": "full"}"#), ["--auto-approve", "-p"]);
}

/// The arguments of a profile raise nothing under a restriction.
#[test]
fn a_profile_cannot_raise_rights() {
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") };
    let kind = |list: &[&str]| {
        let profile =
            Profile { args: list.iter().map(|arg| (*arg).to_owned()).collect(), ..Profile::default() };
        lower(HarnessRegistry::builtin().get("vibe").unwrap(), &read_only, &profile).map_err(|e| e.kind).err()
    };
    for raises in [&["--yolo"][..], &["--auto-approve"], &["--trust"], &["--agent", "auto-approve"]] {
        assert_eq!(kind(raises), Some(Kind::Unenforceable), "{raises:?}");
    }
    for fights in [&["-p", "x"][..], &["--output", "text"], &["a prompt"]] {
        assert_eq!(kind(fights), Some(Kind::InvalidConfig), "{fights:?}");
    }
}

/// B25: one blank is what it writes for an answer of nothing.
#[test]
fn a_blank_is_no_answer() {
    let said = |text: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"generationStatus\":\"completed\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n"
        )
    };
    assert_eq!(read(&said(" "), "", 0, None).error.map(|e| e.kind), Some(Kind::EmptyReply));
    assert_eq!(read(&said("hi"), "", 0, Some(r#"{"outcome":"finished"}"#)).error, None);
    assert!(read(&said("hi"), "", 0, Some(r#"{"outcome":"terminated"}"#)).error.is_some());
    assert!(read(&said("hi"), "", 3, None).error.is_some());
    let turns = read(&said("hi"), "Stopped: turn_limit\n", 3, None);
    assert_eq!(turns.error.map(|e| e.kind), Some(Kind::MaxTurns));
}

/// B06: a file that an `@path` names would go to the model: the run is refused where there is one.
#[test]
fn an_at_sign_pulls_in_no_file() {
    let paths = |prompt: &str| {
        let lowered = lowered("vibe", &DispatchRequest::new(prompt)).unwrap();
        let checks = lowered.command.checks.into_iter();
        let paths = checks.filter_map(|check| match check {
            teamster::command::Check::NoSuchPath { path, .. } => Some(path),
            _ => None,
        });
        paths.collect::<Vec<_>>()
    };
    assert_eq!(paths("see @notes.txt"), ["notes.txt"]);
    assert_eq!(paths("see (@a/b.md, or '@'c d'"), ["a/b.md", "c d"]);
    assert_eq!(paths("jane@example.test"), [""; 0]);
    let user = lowered("vibe", &DispatchRequest::new("see @~root/x")).unwrap_err();
    assert_eq!(user.kind, Kind::Unsupported);
}

/// Stdin is trimmed: white space around a prompt goes by argument, byte for byte.
#[test]
fn white_space_around_a_prompt_arrives() {
    let command = lowered("vibe", &DispatchRequest::new("\n Fix it \n")).unwrap().command;
    assert_eq!(args(&command)[2..], ["--prompt=\n Fix it \n"]);
    assert_eq!(command.stdin, None);
    let command = lowered("vibe", &DispatchRequest::new("--help")).unwrap().command;
    assert_eq!((args(&command)[2].as_str(), command.stdin.as_deref()), ("-p", Some("--help")));
}
