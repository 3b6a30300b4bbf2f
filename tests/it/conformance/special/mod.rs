//! What holds for one CLI alone.

mod cline_model;
mod codex_skills;
mod gemini_endings;
mod gemini_rights;
mod gemini_texts;

use super::clis::gemini;
use super::lab::Lab;
use crate::support::model_server::Step;

/// A lab for gemini; `None` where it is not installed.
fn lab(steps: Vec<Step>) -> Option<Lab> {
    Lab::new(&gemini::CLI, steps)
}
