//! The harnesses that ship with teamster, in the order of `teamster list`.
//!
//! Each lives in a folder of its own and knows its CLI and no process. See `README.md` beside this
//! file for how to add one.

pub mod aider;
pub mod claude;
pub mod codex;
pub mod copilot;
mod families;
pub mod gemini;
pub mod kimi;
pub mod opencode;
pub mod pi;
pub mod vibe;

use crate::harness::AgentBuilder;
use std::sync::Arc;

/// Makes every built-in harness.
#[rustfmt::skip]
pub static ALL: &[fn() -> Arc<dyn AgentBuilder>] = &[
    || Arc::new(gemini::Gemini),
    || Arc::new(claude::Claude),
    || Arc::new(codex::Codex),
    || Arc::new(copilot::Copilot),
    || Arc::new(opencode::Opencode),
    || Arc::new(pi::Pi),
    || Arc::new(aider::Aider),
    || Arc::new(vibe::Vibe),
    || Arc::new(kimi::Kimi),
];

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
    "CODEX_SESSION_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_CI",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "GEMINI_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_PLANS_DIR",
    "OPENCODE",
    "OPENCODE_PID",
    "QWEN_CODE",
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "PI_CODING_AGENT",
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "AI_AGENT",
];
