//! A home for the real `gemini` that knows no account, and where the real one is.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a helper of tests")]

use super::model_server::ModelServer;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The version that the conformance tests were made for, and that `.ci/run` installs.
pub(crate) const PINNED: &str = "0.61.0";

/// A fresh HOME with the settings that a run against a model server needs.
///
/// - The kind of sign-in is fixed: with a base URL and no kind gemini ends with 41.
/// - No usage statistics and no look for updates: nothing leaves this machine.
/// - One try for each request: by itself gemini goes on for four minutes.
pub(crate) struct GeminiHome {
    dir: TempDir,
}

impl GeminiHome {
    pub(crate) fn new() -> GeminiHome {
        let home = GeminiHome { dir: tempfile::tempdir().expect("a temporary folder") };
        home.write(".gemini/settings.json", &settings().to_string());
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file under the home, folders and all: `.gemini/policies/mine.toml`.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the file's folder");
        fs::write(path, content).expect("the file");
    }

    /// What the environment of a run needs over PATH, with a key that is none.
    pub(crate) fn env(&self, server: &ModelServer) -> [(&'static str, String); 3] {
        [
            ("HOME", self.path().to_str().expect("a path in UTF-8").to_owned()),
            ("GEMINI_API_KEY", "no-real-key".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", server.base_url()),
        ]
    }
}

fn settings() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
    })
}

/// The real gemini, of the pinned version: `TEAMSTER_TEST_GEMINI`, else the one that `.ci/run` installs.
///
/// Without one the test is skipped and says so; with `CI` or `TEAMSTER_TEST_REQUIRE_CLI` set it fails.
pub(crate) fn real_gemini() -> Option<PathBuf> {
    let bin = match std::env::var_os("TEAMSTER_TEST_GEMINI") {
        Some(given) => PathBuf::from(given),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".cli/node_modules/.bin/gemini"),
    };
    let Some(version) = version(&bin) else {
        let why = format!(
            "no gemini {PINNED} at {}; `.ci/run` installs it, TEAMSTER_TEST_GEMINI names another place",
            bin.display()
        );
        assert!(!is_required(), "{why}");
        println!("skipped: {why}");
        return None;
    };
    assert_eq!(version, PINNED, "{} is not the version that these tests were made for", bin.display());
    Some(bin)
}

/// Read from the package, since starting it costs two seconds.
fn version(bin: &Path) -> Option<String> {
    let script = bin.canonicalize().ok()?;
    let package = script.ancestors().find_map(|dir| fs::read(dir.join("package.json")).ok())?;
    let package: Value = serde_json::from_slice(&package).ok()?;
    package["version"].as_str().map(str::to_owned)
}

fn is_required() -> bool {
    let set =
        |name: &str| std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    set("CI") || set("TEAMSTER_TEST_REQUIRE_CLI")
}
