//! A git worktree for each task.

use super::Bench;
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args).current_dir(dir);
    let out =
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

#[test]
fn agents_that_write_do_not_meet_and_a_worktree_without_a_change_is_removed() {
    let bench = Bench::new(
        "case $P in task-1) ;; *) echo \"$P\" > made; cat kept > seen;; esac; init; say \"did $P\"; result",
    );
    let repo = bench.path("repo");
    std::fs::create_dir_all(repo.join("sub")).expect("made");
    std::fs::write(repo.join("sub/kept"), "committed\n").expect("written");
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "one"]);
    // A hook of the repository would run for each of them.
    std::fs::write(
        repo.join(".git/hooks/post-checkout"),
        "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/hooked\"\n",
    )
    .expect("written");
    Command::new("chmod")
        .args(["+x", ".git/hooks/post-checkout"])
        .current_dir(&repo)
        .status()
        .expect("chmod");
    std::fs::write(repo.join("sub/kept"), "not committed\n").expect("written");

    let file = bench.requests(3);
    let cwd = repo.join("sub").display().to_string();
    let (status, _, err) = bench.run(&[&file, "--worktrees", "--cwd", &cwd, "-j", "3"]);
    assert_eq!(status, 0, "{err}");
    let mut made = Vec::new();
    for line in bench.results() {
        let Some(path) = line["worktree"].as_str() else {
            assert_eq!(line["id"], "t1");
            continue;
        };
        let sub = Path::new(path).join("sub");
        assert_eq!(std::fs::read_to_string(sub.join("seen")).expect("there"), "committed\n");
        made.push(std::fs::read_to_string(sub.join("made")).expect("there"));
    }
    made.sort();
    assert_eq!(made, ["task-0\n", "task-2\n"]);
    assert_eq!(git(&repo, &["status", "--porcelain"]), " M sub/kept\n", "the repository itself is as it was");
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 3);
    assert!(!repo.join(".git/hooked").exists());
}

#[test]
fn outside_a_repository_it_is_said() {
    let bench = Bench::echo();
    let file = bench.requests(1);
    let (status, out, _) = bench.run(&[&file, "--worktrees"]);
    assert_eq!(status, 1);
    assert!(out.contains("1 bad_cwd"), "{out}");
    assert_eq!(bench.fake.read("asked"), "");
}
