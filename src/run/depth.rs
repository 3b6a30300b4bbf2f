//! How deep this process is in agents that dispatch agents.

use super::environment::{self, DEPTH_VAR};
use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// How deep this process is: by its own environment, or by that of a process above it, whichever is more.
///
/// A CLI may start what it calls (an MCP server, a tool) with an environment of its own, in which the count is
/// lost; the run above it still has it. Where the system shows no environments (macOS), only the own one counts.
pub fn own_depth() -> u32 {
    static DEPTH: OnceLock<u32> = OnceLock::new();
    *DEPTH.get_or_init(|| {
        let own = std::env::var(DEPTH_VAR).ok().and_then(|value| value.parse().ok());
        own.into_iter().chain(os::above()).max().unwrap_or(0)
    })
}

/// How deep a run of this process would be.
///
/// Errors: [`Kind::Recursion`](crate::Kind::Recursion) where that is over the limit.
pub fn allowed_depth() -> Result<u32> {
    environment::depth(&BTreeMap::new(), own_depth())
}

#[cfg(target_os = "linux")]
mod os {
    use super::DEPTH_VAR;
    use std::fs;

    /// The counts of the processes above this one. One of another user is not to be read, and is passed by.
    pub(super) fn above() -> Vec<u32> {
        let (mut found, mut id) = (Vec::new(), std::process::id());
        // As many as a chain can have before it is none.
        for _ in 0..256 {
            let Some(parent) = parent(id).filter(|parent| *parent > 1) else { break };
            found.extend(count(parent));
            id = parent;
        }
        found
    }

    fn parent(id: u32) -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    fn count(id: u32) -> Option<u32> {
        let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
        let mut entries = environment.split(|b| *b == 0);
        let value = entries.find_map(|entry| entry.strip_prefix(DEPTH_VAR.as_bytes())?.strip_prefix(b"="))?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    pub(super) fn above() -> Vec<u32> {
        Vec::new()
    }
}
