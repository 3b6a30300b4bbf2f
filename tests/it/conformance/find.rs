//! The real CLIs on this machine, of the pinned versions.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a helper of tests")]

use super::cli::Cli;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The CLI, of the pinned version: `TEAMSTER_TEST_<ID>`, else the one that `.ci/install-clis` installs.
///
/// Without one the test is skipped and says so. With `CI` or `TEAMSTER_TEST_REQUIRE_CLI` set it fails,
/// where the CLI is of the set that CI installs.
pub(crate) fn installed(cli: &Cli) -> Option<PathBuf> {
    program(cli.id, cli.version, cli.in_ci)
}

/// The same of any program that `.ci/install-clis` installs.
pub(crate) fn program(id: &str, pinned: &str, in_ci: bool) -> Option<PathBuf> {
    let variable = format!("TEAMSTER_TEST_{}", id.to_uppercase());
    let bin = match std::env::var_os(&variable) {
        Some(given) => PathBuf::from(given),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".cli/bin").join(id),
    };
    let Some(version) = version(&bin) else {
        let why = format!(
            "no {id} {pinned} at {}; `.ci/install-clis {id}` installs it, {variable} names another place",
            bin.display()
        );
        assert!(!(in_ci && is_required()), "{why}");
        println!("skipped: {why}");
        return None;
    };
    assert_eq!(version, pinned, "{} is not the version that these tests were made for", bin.display());
    Some(bin)
}

/// What it says to `--version`, asked once: a start can take seconds.
fn version(bin: &Path) -> Option<String> {
    static KNOWN: Mutex<Option<HashMap<PathBuf, Option<String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    known.entry(bin.to_owned()).or_insert_with(|| asked(bin)).clone()
}

fn asked(bin: &Path) -> Option<String> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(bin);
    command.arg("--version").env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let said = command.env("HOME", home.path()).stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    said.split(|c: char| c.is_whitespace() || c == ',').find_map(|word| {
        let word = word.trim_start_matches('v').trim_end_matches('.');
        let is_version = word.split('.').count() == 3 && word.starts_with(|c: char| c.is_ascii_digit());
        is_version.then(|| word.to_owned())
    })
}

fn is_required() -> bool {
    let set =
        |name: &str| std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    set("CI") || set("TEAMSTER_TEST_REQUIRE_CLI")
}
