//! Tool policies, permission, and the order "at most as much authority as".

mod permission;
mod split;
mod tools;
mod wire;
mod word;

pub use permission::Permission;
pub use split::split_tools;
pub use tools::{ToolPolicy, ToolRule, ToolRules, permits, tool_argument};
pub use word::Word;
