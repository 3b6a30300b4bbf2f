//! `--report`: the page is whole in itself, and nothing of an answer is markup; a real browser sorts and filters it.

use super::Bench;
use std::path::{Path, PathBuf};
use std::process::Command;

const HOSTILE: &str =
    "<script>document.title='pwned'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>{{rows}}";

fn report() -> (Bench, PathBuf) {
    let bench = Bench::new(&format!(
        "init; case $P in task-2) exit 1;; task-3) say \"{HOSTILE}\"; result;; *) say \"did $P\"; result;; esac"
    ));
    let file = bench.requests(12);
    let (status, _, err) = bench.run(&[&file, "--report", "page.html", "--ordered"]);
    assert_eq!(status, 1, "{err}");
    let page = bench.path("page.html");
    (bench, page)
}

#[test]
fn the_page_has_every_task_and_nothing_of_the_network() {
    let (_bench, page) = report();
    let text = std::fs::read_to_string(&page).expect("there");
    assert_eq!(text.matches("<tr data-state=").count(), 12);
    assert_eq!(text.matches("data-state=\"ok\"").count(), 11);
    assert!(!text.contains("<script>document") && !text.contains("<img"), "an answer is text");
    assert!(!text.contains("src=\"") && !text.contains("href=") && !text.contains("url("), "no network");
    assert!(text.contains("{{rows}}"), "what looks like a place in an answer is text");
    assert!(text.contains("default-src 'none'"));
}

/// Node and the browser, where CI or somebody installed them.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn browser() -> Option<PathBuf> {
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cli/bin/browser");
    if node.exists() && Command::new("chromium").arg("--version").output().is_ok() {
        return Some(node);
    }
    let required = |name| std::env::var_os(name).is_some();
    assert!(
        !required("CI") && !required("TEAMSTER_TEST_REQUIRE_CLI"),
        "`.ci/install-clis browser` installs it"
    );
    eprintln!("skipped: `.ci/install-clis browser` installs the browser");
    None
}

#[test]
fn a_browser_filters_and_sorts_the_page() {
    let Some(node) = browser() else { return };
    let (_bench, page) = report();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/batch/page.mjs");
    let mut command = Command::new(node);
    command.arg(script).arg(&page).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(".cli/browser"));
    let out = command.output().expect("node runs");
    assert!(
        out.status.success(),
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "the page is right");
}
