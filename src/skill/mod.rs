//! Skill, agent and command files: from a file of the user's to parts of a request.
//!
//! [`Skill::read`] tells the format from the file's place and content, [`Places`] looks names up in the usual
//! folders and says what a place may grant, and [`merge`] brings a skill into a request. A file can always hold
//! the agent back; only one in the project or the user's own folders can give it rights.

mod front;
mod meet;
mod merge;
mod native;
mod parse;
mod pattern;
mod places;
mod read;
mod rules;
mod value;

pub use meet::meet;
pub use merge::{Merge, Trust, merge};
pub use places::{Found, Places, Scope};
#[cfg(feature = "cli")]
pub(crate) use read::plain;
pub use read::{MAX_BYTES, Skill};
pub use value::Value;
