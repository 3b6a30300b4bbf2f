//! The harnesses that ship with teamster, in the order of `teamster list`.
//!
//! Each lives in a folder of its own and knows its CLI and no process. See `README.md` beside this
//! file for how to add one.

pub mod claude;
mod families;
pub mod gemini;
pub mod pi;
pub mod qwen;

use crate::harness::AgentBuilder;
use std::sync::Arc;

/// Makes every built-in harness.
pub static ALL: &[fn() -> Arc<dyn AgentBuilder>] =
    &[|| Arc::new(gemini::Gemini), || Arc::new(claude::Claude), || Arc::new(pi::Pi), || Arc::new(qwen::Qwen)];

/// Variables that mark a process as running inside an agent. A child with them refuses to start, or
/// behaves as a part of the outer session; they are taken out of every child's environment.
pub const SESSION_MARKERS: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PROJECT_DIR",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "GEMINI_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_PLANS_DIR",
    "OPENCODE",
    "OPENCODE_PID",
    "QWEN_CODE",
    "QWEN_CODE_CLI",
    "QWEN_CODE_PROJECT_DIR",
    "COPILOT_CLI",
    "PI_CODING_AGENT",
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "AI_AGENT",
];
