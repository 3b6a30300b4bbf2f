//! A short question to a CLI: its version, or whether it is signed in. No agent runs for it.

use super::Vars;
use super::cancel::Cancel;
use super::depth::own_depth;
use super::environment::{self, DEPTH_LIMIT, DEPTH_VAR, MARKER_VAR};
use super::folder::RunFolder;
use super::guard::Guard;
use super::local::{cancelled, run_id, session_and_spawn};
use super::redact::Redact;
use crate::command::Command;
use crate::error::{Failure, Kind, Result};
use crate::harness::Facts;
use crate::profile::Profile;
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

/// The most that an answer may hold, in bytes.
const MOST: u64 = 8 << 20;

/// What a CLI is asked, and how.
pub struct Question<'q> {
    /// The harness.
    pub facts: &'q Facts,
    /// How the installation runs it: its variables.
    pub profile: &'q Profile,
    /// The program.
    pub program: &'q Path,
    /// The arguments.
    pub args: &'q [&'q str],
    /// The variables that sign it in are passed on.
    pub with_keys: bool,
    /// How long it may take.
    pub patience: Duration,
    /// Ends it from outside.
    pub cancel: Option<Cancel>,
    /// Kill it when the thread that asks ends, as [`LocalRunner`](super::LocalRunner) does.
    pub end_with_thread: bool,
}

/// What a CLI said to a [`Question`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// The exit status; absent where a signal or the clock ended it.
    pub status: Option<i32>,
    /// Standard output; secrets are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
}

/// Asks, in an empty folder and with no terminal, and leaves no process behind.
///
/// Errors: it cannot be started, took longer than its patience ([`Kind::Timeout`]), wrote more than 8 MiB
/// ([`Kind::OutputLimit`]), or was cancelled.
pub async fn ask(question: Question<'_>) -> Result<Said> {
    let Question { facts, profile, program, args, with_keys, patience, mut cancel, end_with_thread } =
        question;
    let command = Command {
        harness: Cow::Owned(facts.id.clone()),
        program: Cow::Owned(program.display().to_string()),
        args: Vec::new(),
        env: Cow::Borrowed(&[]),
        stdin: None,
        files: Vec::new(),
        results: vec!["stdout".into(), "stderr".into()],
        cwd: None,
        add_dirs: Vec::new(),
        env_files: None,
        checks: Vec::new(),
        output: crate::request::Output::Text,
    };
    let vars: Vars = std::env::vars_os().collect();
    let mut env = environment::base(&command, facts, profile, &vars);
    if !with_keys {
        facts.auth_env.iter().for_each(|name| {
            env.remove(std::ffi::OsStr::new(name));
        });
    }
    let folder = RunFolder::new(&command, None)?;
    let run_id = run_id(None);
    let depth = environment::depth(&vars, own_depth()).unwrap_or(DEPTH_LIMIT);
    env.insert("PWD".into(), folder.tmp().into());
    env.insert(DEPTH_VAR.into(), depth.to_string().into());
    env.insert(MARKER_VAR.into(), run_id.clone().into());

    let redact = Redact::new(&env, facts);
    let files = folder.standard(&command)?;
    let mut child = tokio::process::Command::new(program);
    child.args(args).env_clear().envs(env).current_dir(folder.tmp());
    child.stdin(files.stdin).stdout(files.stdout).stderr(files.stderr);
    let child = session_and_spawn(child, program, end_with_thread)?;
    let mut guard = Guard::new(child, run_id);
    let stopped = |kind, what: String| Err(Failure::new(kind, format!("{}: {what}", facts.id)));
    let status = tokio::select! {
        status = guard.wait() => Ok(status.ok().and_then(|status| status.code())),
        () = tokio::time::sleep(patience) => {
            let asked = args.join(" ");
            stopped(Kind::Timeout, format!("`{asked}` gave nothing in {} s", patience.as_secs_f64()))
        }
        () = grown(&folder) => stopped(Kind::OutputLimit, format!("`{}` has no end", args.join(" "))),
        () = cancelled(&mut cancel) => stopped(Kind::Cancelled, "cancelled".to_owned()),
    };
    match status {
        Ok(_) => guard.sweep().await,
        Err(_) => drop(guard.end().await),
    }
    let status = status?;
    let mut results = folder.results(&command);
    let mut take = |name: &str| redact.text(&crate::reply::plain(&results.remove(name).unwrap_or_default()));
    Ok(Said { status, stdout: take("stdout"), stderr: take("stderr") })
}

/// Waits until the answer is too long.
async fn grown(folder: &RunFolder) {
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).map_or(0, |data| data.len());
    while size("stdout") + size("stderr") <= MOST {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
