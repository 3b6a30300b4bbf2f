//! One run of the built `teamster` with a real CLI, or of that CLI alone, against a model server.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a helper of tests")]

use super::cli::Cli;
use super::find::installed;
use super::place::{Place, text};
use crate::support::model_server::{ModelServer, Recorded, Step};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use teamster::{DispatchRequest, HarnessRegistry, Lowered, Outcome, Profile};

/// A CLI with a place to run in and a server with its scenario.
pub(crate) struct Lab {
    pub(crate) cli: &'static Cli,
    pub(crate) bin: PathBuf,
    pub(crate) server: ModelServer,
    pub(crate) place: Place,
    pub(crate) env: Vec<(&'static str, String)>,
}

/// How a `teamster` ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Lab {
    /// `None` where the real CLI is not installed, or teamster does not know it.
    pub(crate) fn new(cli: &'static Cli, steps: Vec<Step>) -> Option<Lab> {
        let known = HarnessRegistry::builtin().get(cli.id).is_ok();
        if !known {
            println!("skipped: there is no harness for {} yet", cli.id);
            return None;
        }
        Lab::raw(cli, steps)
    }

    /// `None` where the real CLI is not installed.
    pub(crate) fn raw(cli: &'static Cli, steps: Vec<Step>) -> Option<Lab> {
        let bin = installed(cli)?;
        let server = ModelServer::start(steps);
        let place = Place::new(server.base_url());
        let mut env = vec![("HOME", text(&place.home()))];
        env.extend((cli.home)(&place));
        Some(Lab { cli, bin, server, place, env })
    }

    /// Makes the user trust the workspace, as a run without restrictions needs it with some CLIs.
    pub(crate) fn trusted(self) -> Lab {
        (self.cli.trust)(&self.place);
        self
    }

    /// The request with what every run needs; a field that is there already wins.
    fn request(&self, request: &Value) -> Value {
        let mut whole = json!({
            "harness": self.cli.id,
            "prompt": "hello",
            "cwd": self.place.workspace(),
        });
        let fields = whole.as_object_mut().expect("an object");
        if !self.cli.model.is_empty() {
            fields.insert("model".to_owned(), self.cli.model.into());
        }
        fields.extend(request.as_object().expect("an object").clone());
        whole
    }

    /// What the request becomes, or why it is refused.
    pub(crate) fn lowered(&self, request: &Value) -> teamster::Result<Lowered> {
        let registry = HarnessRegistry::builtin();
        let (request, _) = DispatchRequest::from_json(&self.request(request).to_string())?;
        teamster::lower(registry.get(self.cli.id)?, &request, &Profile::default())
    }

    /// The forms of output that this harness has.
    pub(crate) fn forms(&self) -> Vec<&'static str> {
        let mut forms = vec!["stream", "json", "text"];
        forms.retain(|form| self.lowered(&json!({"output": form, "permission": "full"})).is_ok());
        assert!(!forms.is_empty(), "{} has no form of output", self.cli.id);
        forms
    }

    /// Starts `teamster run` with a request.
    pub(crate) fn start(&self, request: Value, flags: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(["run", "--request", "-", "--bin"]).arg(&self.bin).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !flags.contains(&"--timeout") {
            command.args(["--timeout", &self.cli.seconds.run.to_string()]);
        }
        let mut child = self.spawn(&mut command);
        let mut stdin = child.stdin.take().expect("its stdin");
        stdin.write_all(self.request(&request).to_string().as_bytes()).expect("a request that is read");
        child
    }

    /// Runs another subcommand of `teamster`, in the same place.
    pub(crate) fn teamster(&self, args: &[&str]) -> Done {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        done(self.spawn(&mut command))
    }

    /// Starts another command of teamster that runs the CLI.
    pub(crate) fn start_other(&self, name: &str, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamster"));
        command.arg(name).args(args).arg("--bin").arg(&self.bin);
        command.args(["--timeout", &self.cli.seconds.run.to_string()]);
        self.spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts the CLI itself, without teamster, with more variables.
    pub(crate) fn start_alone(&self, args: &[String], env: &[(&str, &str)]) -> Child {
        let mut command = Command::new(&self.bin);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn_with(&mut command, env)
    }

    fn spawn(&self, command: &mut Command) -> Child {
        self.spawn_with(command, &[])
    }

    fn spawn_with(&self, command: &mut Command, more: &[(&str, &str)]) -> Child {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TMPDIR", self.place.tmp()).env("LANG", "C.UTF-8");
        command.envs(self.env.iter().map(|(name, value)| (name, value))).envs(more.iter().copied());
        command.current_dir(self.place.workspace());
        command.spawn().expect("a program that starts")
    }

    pub(crate) fn run(&self, request: Value, flags: &[&str]) -> Done {
        done(self.start(request, flags))
    }

    /// Runs with `--json` and reads the outcome; its exit status must be that of the outcome.
    pub(crate) fn outcome(&self, request: Value, flags: &[&str]) -> Outcome {
        let done = self.run(request, &[&["--json"], flags].concat());
        let outcome: Outcome = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
        assert_eq!(done.status, Some(outcome.exit_status().into()), "{done:?}");
        outcome
    }

    /// Runs the CLI itself, without teamster; gives all that it said.
    pub(crate) fn alone(&self, args: fn(&str) -> Vec<String>) -> String {
        let mut command = Command::new(&self.bin);
        command.args(args("hello"));
        let said = self.place.tmp().join("said");
        fs::write(&said, "").expect("a file for its output");
        let file = || File::options().append(true).open(&said).expect("a file for its output");
        let mut child = self.spawn(command.stdin(Stdio::null()).stdout(file()).stderr(file()));
        let began = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            if began.elapsed() > Duration::from_secs(self.cli.seconds.run) {
                child.kill().expect("a child that can be killed");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        String::from_utf8_lossy(&fs::read(said).expect("its output")).into_owned()
    }

    /// The first turn of the agent.
    pub(crate) fn first_turn(&self) -> Recorded {
        self.server.main_requests().first().expect("a turn").clone()
    }
}

pub(crate) fn done(child: Child) -> Done {
    let output = child.wait_with_output().expect("the end of teamster");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The kind of an outcome's failure, by name.
pub(crate) fn kind(outcome: &Outcome) -> Option<&'static str> {
    outcome.failure.as_ref().map(|failure| failure.kind.name())
}
