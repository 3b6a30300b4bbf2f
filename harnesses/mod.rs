//! The harnesses that ship with teamster, in the order of `teamster list`.
//!
//! Each lives in a folder of its own and knows its CLI and no process. See `README.md` beside this
//! file for how to add one.

pub mod aider;
pub mod amazonq;
pub mod amp;
pub mod auggie;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod crush;
pub mod cursor;
pub mod droid;
mod families;
pub mod gemini;
pub mod goose;
pub mod hermes;
pub mod kilo;
pub mod kimi;
pub mod kiro;
pub mod llm;
pub mod opencode;
pub mod openhands;
pub mod pi;
pub mod qwen;
pub mod vibe;

use crate::harness::AgentBuilder;
use std::sync::Arc;

/// Makes every built-in harness.
pub static ALL: &[fn() -> Arc<dyn AgentBuilder>] = &[
    || Arc::new(gemini::Gemini),
    || Arc::new(claude::Claude),
    || Arc::new(codex::Codex),
    || Arc::new(copilot::Copilot),
    || Arc::new(opencode::Opencode),
    || Arc::new(pi::Pi),
    || Arc::new(qwen::Qwen),
    || Arc::new(aider::Aider),
    || Arc::new(openhands::OpenHands),
    || Arc::new(vibe::Vibe),
    || Arc::new(kimi::Kimi),
    || Arc::new(droid::Droid),
    || Arc::new(cline::Cline),
    || Arc::new(kilo::Kilo),
    || Arc::new(hermes::Hermes),
    || Arc::new(amazonq::AmazonQ),
    || Arc::new(kiro::Kiro),
    || Arc::new(cursor::Cursor),
    || Arc::new(amp::Amp),
    || Arc::new(auggie::Auggie),
    || Arc::new(goose::Goose),
    || Arc::new(crush::Crush),
    || Arc::new(llm::Llm),
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
    "KILO",
    "KILO_PID",
    "QWEN_CODE",
    "QWEN_CODE_CLI",
    "QWEN_CODE_PROJECT_DIR",
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "PI_CODING_AGENT",
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "AI_AGENT",
    "HERMES_YOLO_MODE",
    "HERMES_ACCEPT_HOOKS",
    "HERMES_SESSION_ID",
    "CLINE_CONNECTOR_CLI_LAUNCH",
    "CLINE_RUN_AS_HUB_DAEMON",
];
