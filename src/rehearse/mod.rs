//! Rehearsal: the stand-in plays the CLI, so that everything runs with no account.
//!
//! The lowering, the process and the reader are those of a real run. Only the program differs: this
//! binary itself, which takes the harness's own arguments, refuses what the CLI would refuse, and
//! answers in its shape.

mod play;
mod sample;
mod script;

pub use play::{ATTEMPT_VAR, SCRIPT_VAR, STAND_IN_VAR, play};
pub use sample::sample;
pub use script::{Script, Step};
