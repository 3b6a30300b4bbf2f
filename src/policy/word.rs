//! The words for tools that every harness understands.

use serde::{Deserialize, Serialize};

/// A word for a kind of tool, the same on every harness; its facts say which of its tools it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Looking at the workspace: `read`.
    Read,
    /// Changing files of the workspace: `edit`.
    Edit,
    /// Running commands: `shell`, or `shell(first words)`.
    Shell,
    /// Fetching from the network and searching in it: `web`.
    Web,
    /// A tool of an MCP server: `mcp(server/tool)`.
    Mcp,
}

impl Word {
    /// Every word.
    pub const ALL: &'static [Word] = &[Word::Read, Word::Edit, Word::Shell, Word::Web, Word::Mcp];

    /// The word as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Word::Read => "read",
            Word::Edit => "edit",
            Word::Shell => "shell",
            Word::Web => "web",
            Word::Mcp => "mcp",
        }
    }

    /// The word of this name; case counts, since CLIs have tools called `Read` and `Edit`.
    pub fn from_name(name: &str) -> Option<Word> {
        Word::ALL.iter().copied().find(|word| word.name() == name)
    }
}
