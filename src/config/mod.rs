//! Settings in layers: variables, the project's file, the user's file, defaults.

mod file;
mod layers;
mod lines;
mod merge;
mod trust;
mod variables;

pub use file::{CONFIG_VAR, Config, user_file};
pub use layers::{Ignored, Origin, Settings, Sources};
pub use lines::Lines;
pub use trust::{FILE_NAME, Project, Standing, Trusted};
pub use variables::VARIABLES;
