//! What the tests know of each CLI, one file for each.

pub(crate) mod aider;
pub(crate) mod claude;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod droid;
pub(crate) mod gemini;
pub(crate) mod hermes;
pub(crate) mod kilo;
pub(crate) mod kimi;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod pi;
pub(crate) mod qwen;
pub(crate) mod vibe;

/// Command line words as they are.
fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}
