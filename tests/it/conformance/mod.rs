//! The real gemini, driven by the built `teamster`, against a model server on this machine.
//!
//! Without the CLI each of these prints that it was skipped; see [`real_gemini`].

#![expect(clippy::expect_used, reason = "a helper of tests")]

mod answers;
mod endings;
mod rights;
mod texts;

use crate::support::gemini_home::{GeminiHome, real_gemini};
use crate::support::model_server::{ModelServer, Step};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use teamster::Outcome;
use tempfile::TempDir;

/// A place to run in: a server with its scenario, a home without an account, an empty workspace.
struct Lab {
    gemini: PathBuf,
    server: ModelServer,
    home: GeminiHome,
    workspace: TempDir,
    tmp: TempDir,
    env: Vec<(&'static str, String)>,
}

/// How a `teamster` ended.
#[derive(Debug)]
struct Done {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Lab {
    /// `None` where the real CLI is not installed.
    fn new(steps: Vec<Step>) -> Option<Lab> {
        let gemini = real_gemini()?;
        let (server, home) = (ModelServer::start(steps), GeminiHome::new());
        let env = home.env(&server).to_vec();
        let folder = || tempfile::tempdir().expect("a temporary folder");
        Some(Lab { gemini, server, home, workspace: folder(), tmp: folder(), env })
    }

    /// Makes the user trust the workspace, as a run without `--skip-trust` needs it.
    fn trusted(self) -> Lab {
        let workspace = self.workspace.path().canonicalize().expect("the workspace");
        let trust = json!({(workspace.to_str().expect("a path in UTF-8")): "TRUST_FOLDER"});
        self.home.write(".gemini/trustedFolders.json", &trust.to_string());
        self
    }

    /// Writes a file into the workspace.
    fn file(&self, name: &str, content: &str) {
        let path = self.workspace.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the file's folder");
        fs::write(path, content).expect("the file");
    }

    /// Starts `teamster run` with a request; a field that is there wins over the ones set here.
    fn start(&self, request: Value, flags: &[&str]) -> Child {
        let mut whole = json!({
            "harness": "gemini",
            "prompt": "hi",
            "model": "gemini-2.5-pro",
            "cwd": self.workspace.path(),
        });
        let fields = whole.as_object_mut().expect("an object");
        fields.extend(request.as_object().expect("an object").clone());
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(["run", "--request", "-", "--bin"]).arg(&self.gemini).args(flags).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TMPDIR", self.tmp.path());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.workspace.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the built teamster");
        let mut stdin = child.stdin.take().expect("its stdin");
        stdin.write_all(whole.to_string().as_bytes()).expect("a request that is read");
        child
    }

    fn run(&self, request: Value, flags: &[&str]) -> Done {
        done(self.start(request, flags))
    }

    /// Runs with `--json` and reads the outcome; its exit status must be that of the outcome.
    fn outcome(&self, request: Value, flags: &[&str]) -> Outcome {
        let done = self.run(request, &[&["--json"], flags].concat());
        let outcome: Outcome = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
        assert_eq!(done.status, Some(outcome.exit_status().into()), "{done:?}");
        outcome
    }

    /// The files of the workspace, sorted, what git keeps left out.
    fn files(&self) -> Vec<String> {
        files_under(self.workspace.path())
    }

    /// Command lines of processes that have this lab's home in their environment; Linux only.
    fn processes(&self) -> Vec<String> {
        let home = self.home.path().to_str().expect("a path in UTF-8");
        let own = fs::read_dir("/proc").into_iter().flatten().flatten();
        own.filter_map(|process| {
            let environ = fs::read(process.path().join("environ")).ok()?;
            let line = fs::read(process.path().join("cmdline")).ok()?;
            let is_ours = environ.windows(home.len()).any(|window| window == home.as_bytes());
            is_ours.then(|| String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
    }
}

fn done(child: Child) -> Done {
    let output = child.wait_with_output().expect("the end of teamster");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn files_under(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name() != ".git" {
                    open.push(path);
                }
            } else {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// The kind of an outcome's failure, by name.
fn kind(outcome: &Outcome) -> Option<&'static str> {
    outcome.failure.as_ref().map(|failure| failure.kind.name())
}
