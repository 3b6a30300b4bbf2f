//! Settings in layers: variables, the project's file, the user's file, defaults.

mod check;
mod file;
mod holds;
mod layers;
mod lines;
mod merge;
mod trust;
mod variables;

pub use check::{Fault, check};
pub use file::{CONFIG_VAR, Config, user_file};
pub use layers::{Ignored, Origin, SetValue, Settings, Sources};
pub use lines::Lines;
pub use trust::{FILE_NAME, Project, Standing, Trusted};
pub use variables::VARIABLES;
