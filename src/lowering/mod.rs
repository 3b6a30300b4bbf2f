//! What builders share: the report, folding texts into one payload, and checks on values.

pub(crate) mod checks;
mod grammar;
mod native_schema;
mod payload;
mod report;

pub use checks::{MAX_ARGUMENT, looks_like_flag, refuse_flag_like};
pub use grammar::{Dashes, Dialect, Grammar, Opt, Parsed, Role, Takes, opt};
pub use native_schema::{draft_07_object, strict_object};
pub use payload::{folded, payload, schema_instruction};
pub use report::{Carried, Field, Report, Row};

use crate::command::Command;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A request, lowered: the exact command, and how each field of the request is carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The command.
    pub command: Command,
    /// One row for each field that was set.
    pub report: Report,
}

impl Serialize for Lowered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_struct("Lowered", 13)?;
        self.command.serialize_into(&mut map)?;
        map.serialize_field("report", &self.report)?;
        map.end()
    }
}
