//! Shell scripts that play a CLI badly, in the ways that real ones were seen to.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use teamster::dispatch::{DispatchOptions, until_valid};
use teamster::run::LocalRunner;
use teamster::{DispatchRequest, HarnessRegistry, Limits, Outcome, Profile};

/// A folder with a fake CLI in it, `gemini` if nothing else is said. The script finds the folder in `$DIR`.
pub(crate) struct Fake {
    pub(crate) harness: String,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) bin: PathBuf,
}

/// The lines that gemini's stream-json has around an answer.
pub(crate) const PRELUDE: &str = r#"
init() { printf '{"type":"init","session_id":"%s","model":"m-1"}\n' "${1:-s-1}"; }
say() { printf '{"type":"message","role":"assistant","content":"%s","delta":true}\n' "$1"; }
result() { printf '{"type":"result","status":"success","stats":{"total_tokens":12,"input_tokens":10,"output_tokens":2,"cached":4}}\n'; }
"#;

impl Fake {
    /// A fake with this body, after [`PRELUDE`].
    pub(crate) fn new(body: &str) -> Fake {
        Fake::raw(&format!("#!/bin/sh\nDIR='{{DIR}}'\n{PRELUDE}\n{body}\n"))
    }

    /// A fake with this text; `{DIR}` is its folder.
    pub(crate) fn raw(text: &str) -> Fake {
        Fake::installed("gemini", text)
    }

    /// A fake of this harness, with this body.
    #[cfg(all(feature = "cli", feature = "testkit"))]
    pub(crate) fn of(harness: &str, body: &str) -> Fake {
        Fake::installed(harness, &format!("#!/bin/sh\nDIR='{{DIR}}'\n{body}\n"))
    }

    fn installed(harness: &str, text: &str) -> Fake {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let bin = dir.path().join(harness);
        let text = text.replace("{DIR}", &dir.path().display().to_string());
        std::fs::write(&bin, text).expect("the fake is written");
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755))
            .expect("the fake is made executable");
        Fake { harness: harness.to_owned(), dir, bin }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }

    pub(crate) fn runner(&self) -> LocalRunner {
        LocalRunner { bin: Some(self.bin.clone().into()), ..LocalRunner::default() }
    }

    /// Dispatches a request to the fake, with a time budget in seconds.
    pub(crate) fn dispatch(&self, request: DispatchRequest, timeout_s: f64) -> Outcome {
        let limits = Limits { timeout_s: Some(timeout_s), ..Limits::default() };
        self.dispatch_with(request, Profile { limits, ..Profile::default() }, self.runner())
    }

    pub(crate) fn dispatch_with(
        &self,
        request: DispatchRequest,
        profile: Profile,
        mut runner: LocalRunner,
    ) -> Outcome {
        let registry = HarnessRegistry::builtin();
        let builder = registry.get(&self.harness).expect("it is built in");
        block_on(until_valid(builder, request, &profile, &mut runner, DispatchOptions::default()))
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

/// Whether a process of this id is alive; one that waits to be reaped is not.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// How long something took, and what it gave.
pub(crate) fn timed<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let done = what();
    (began.elapsed(), done)
}
