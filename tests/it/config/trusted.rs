//! `teamster trust`: what is recorded, and when it counts no longer.

use super::House;
use std::os::unix::fs::{PermissionsExt, symlink};

const WIDENS: &str =
    "[profiles.gemini]\nbin = \"bin/mine.sh\"\nargs = [\"--debug\"]\npermission = \"full\"\n";

fn argv(house: &House) -> (String, usize) {
    let (status, out, err) = house.teamster(&["argv", "gemini", "hi", "--output", "auto"]);
    assert_eq!(status, 0, "{err}");
    (out, err.matches(" (line ").count())
}

#[test]
fn trust_is_for_the_file_as_it_is_and_can_be_taken_back() {
    let house = House::new().project(WIDENS);
    assert_eq!(argv(&house), ("gemini -p hi\n".to_owned(), 2));
    let (status, out, _) = house.teamster(&["trust", "--yes"]);
    assert_eq!((status, out.as_str()), (0, "~/repo/teamster.toml is trusted, as it is now\n"));
    assert_eq!(argv(&house), ("~/repo/bin/mine.sh --debug -p hi\n".to_owned(), 0));
    let record = house.user_file().with_file_name("trusted.json");
    assert_eq!(record.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(house.teamster(&["trust", "--list"]).1, "~/repo/teamster.toml\n");

    let house = house.project(&format!("{WIDENS}env = {{ A = \"b\" }}\n"));
    let (out, ignored) = argv(&house);
    assert_eq!((out.as_str(), ignored), ("gemini -p hi\n", 3));
    assert!(house.teamster(&["trust", "--list"]).1.contains("changed since"));
    let house = house.project(WIDENS);
    assert_eq!(argv(&house).1, 0, "the text that was trusted is back");

    assert_eq!(house.teamster(&["trust", "--remove"]).0, 0);
    assert_eq!(argv(&house).1, 2);
    let (status, _, err) = house.teamster(&["trust", "--remove"]);
    assert_eq!(status, 2, "{err}");
}

#[test]
fn without_a_terminal_the_file_is_shown_and_nothing_is_recorded() {
    let house = House::new().project("[profiles.gemini]\nbin = \"\\u001b[2Jx\"\n");
    let (status, out, err) = house.teamster(&["trust"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("[profiles.gemini]") && err.contains("--yes"), "{err}");
    assert!(!err.contains('\u{1b}'), "nothing that a terminal obeys: {err:?}");
    assert!(!house.user_file().with_file_name("trusted.json").exists());
}

#[test]
fn a_file_that_others_may_change_cannot_be_trusted() {
    let house = House::new().project(WIDENS);
    std::fs::set_permissions(house.project_file(), std::fs::Permissions::from_mode(0o666)).expect("set");
    let (status, _, err) = house.teamster(&["trust", "--yes"]);
    assert_eq!(status, 2);
    assert!(err.contains("everybody may write the file"), "{err}");
    assert_eq!(argv(&house), ("gemini -p hi\n".to_owned(), 2));
}

#[test]
fn a_link_a_folder_and_a_file_too_large_are_refused_by_name() {
    let house = House::new();
    std::fs::write(house.root().join("elsewhere.toml"), WIDENS).expect("written");
    symlink(house.root().join("elsewhere.toml"), house.project_file()).expect("linked");
    let refused = |expected: &str| {
        let (status, out, err) = house.teamster(&["argv", "gemini", "hi"]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains("~/repo/teamster.toml: ") && err.contains(expected), "{err}");
        assert!(err.contains("TEAMSTER_NO_PROJECT=1"), "{err}");
    };
    refused("no link and no folder");
    std::fs::remove_file(house.project_file()).expect("removed");
    std::fs::create_dir(house.project_file()).expect("made");
    refused("no link and no folder");
    std::fs::remove_dir(house.project_file()).expect("removed");
    std::fs::write(house.project_file(), "#".repeat((1 << 20) + 1)).expect("written");
    refused("1048577 bytes are more than 1048576");
    std::fs::write(house.project_file(), b"a = \"\xff\"").expect("written");
    refused("UTF-8");
}

#[test]
fn a_broken_record_is_told_and_trusts_nothing() {
    let house = House::new().project(WIDENS);
    let record = house.user_file().with_file_name("trusted.json");
    std::fs::write(&record, "{\"a\":").expect("written");
    let (status, _, err) = house.teamster(&["argv", "gemini", "hi"]);
    assert_eq!(status, 2);
    assert!(err.contains("trusted.json") && err.contains("next: "), "{err}");
}

#[test]
fn the_users_own_file_is_no_projects() {
    // A repository of settings: the user's file is found on the way up, too.
    let house = House::new().user("[profiles.gemini]\nargs = [\"--debug\"]\n");
    let folder = house.root().join("config/teamster");
    std::fs::create_dir(folder.join(".git")).expect("made");
    let command = house.command(&folder, &["argv", "gemini", "hi", "--output", "auto"]).output();
    let (_, out, err) = house.told(command.expect("runs"));
    assert_eq!((out.as_str(), err.as_str()), ("gemini --debug -p hi\n", ""));
    let mut command =
        house.command(&folder, &["argv", "gemini", "hi", "--output", "auto", "--config", "teamster.toml"]);
    let (_, out, err) = house.told(command.env("XDG_CONFIG_HOME", "/nonexistent").output().expect("runs"));
    assert_eq!((out.as_str(), err.as_str()), ("gemini --debug -p hi\n", ""));
}
