//! A harness from a file: `harness.toml` says what the program is, how a request stands in its arguments, how its
//! output is read, and what it can enforce. Nothing is taken for granted: what the file does not say is refused.

mod file;
mod lower;
mod reader;
#[cfg(feature = "stand-in")]
mod stand_in;
mod template;

use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Facts};
use crate::lowering::Lowered;
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Output};
use file::{Level, Levels, PromptBy, ReaderFile};
use std::path::Path;
use std::sync::Arc;
use template::Template;

/// A harness that a file declares.
///
/// - What its rights say is enforced is carried; any other restriction is `unenforceable`.
/// - Its facts have the evidence `declared`: nobody here ran that CLI.
#[derive(Debug, Clone)]
pub struct Declared {
    facts: Facts,
    args: Vec<Template>,
    env: Vec<(String, Template)>,
    prompt: PromptBy,
    guarded: Vec<char>,
    refused: Vec<char>,
    most: usize,
    levels: Levels,
    only_tools: Option<Level>,
    reader: Arc<ReaderFile>,
}

impl Declared {
    /// A harness from the text of a `harness.toml`; `name` is what messages call the file.
    ///
    /// Errors: [`Kind::InvalidConfig`] with line and key.
    pub fn from_toml(text: &str, name: &str) -> Result<Declared> {
        file::read(text).map_err(|why| Failure::new(Kind::InvalidConfig, format!("{name}: {why}")))
    }

    /// A harness from a file.
    ///
    /// Errors: [`Kind::InvalidConfig`], also where the file cannot be read.
    pub fn read(path: &Path) -> Result<Declared> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::new(Kind::InvalidConfig, format!("{name}: {e}")))?;
        Declared::from_toml(&text, &name)
    }
}

impl AgentBuilder for Declared {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        lower::lower(self, request, profile)
    }

    fn reader(&self, _output: Output) -> Box<dyn Reader> {
        reader::reader(Arc::clone(&self.reader), self.facts.clone())
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(self)
    }
}
