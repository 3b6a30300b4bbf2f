//! The harnesses that ship with teamster, in the order of `teamster list`.
//!
//! Each lives in a folder of its own and knows its CLI and no process. See `README.md` beside this
//! file for how to add one.

pub mod gemini;

use crate::harness::AgentBuilder;
use std::sync::Arc;

/// Makes every built-in harness.
pub static ALL: &[fn() -> Arc<dyn AgentBuilder>] = &[|| Arc::new(gemini::Gemini)];
