//! The arguments of a call: JSON text in, fields out, and what is wrong with them named.

use crate::error::{Failure, Result, cut};
use crate::request::{DispatchRequest, known_keys};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Why a call has no answer.
pub(super) enum Wrong {
    /// Its arguments are malformed: a protocol error.
    Arguments(Failure),
    /// Everything else: a result that says so.
    Refused(Failure),
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Wrong {
        Wrong::Refused(failure)
    }
}

/// The arguments of one call, in the client's own bytes: a schema keeps the order of its keys, since models
/// follow it.
pub(super) struct Arguments(IndexMap<String, Box<RawValue>>);

impl Arguments {
    /// The arguments from their text; `known` are the names that there are.
    pub(super) fn read(text: &str, known: &[&str]) -> std::result::Result<Arguments, Wrong> {
        let fields: IndexMap<String, Box<RawValue>> = serde_json::from_str(text)
            .map_err(|e| Wrong::Arguments(Failure::invalid("arguments", format!("no JSON object: {e}"))))?;
        known_keys("arguments", fields.keys(), known).map_err(Wrong::Arguments)?;
        Ok(Arguments(fields))
    }

    /// A field, taken out; absent and `null` are the same.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str) -> std::result::Result<Option<T>, Wrong> {
        let Some(raw) = self.0.shift_remove(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map_err(|e| {
            let said = e.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            Wrong::Arguments(Failure::invalid(name, format!("`{}`: {said}", cut(raw.get(), 80))))
        })
    }

    /// A field that has to be there.
    pub(super) fn need<T: DeserializeOwned>(&mut self, name: &str) -> std::result::Result<T, Wrong> {
        self.take(name)?.ok_or_else(|| Wrong::Arguments(Failure::invalid(name, "is missing")))
    }

    /// What is left, as a request.
    pub(super) fn request(self) -> std::result::Result<DispatchRequest, Wrong> {
        let request = || -> Result<DispatchRequest> {
            let text = serde_json::to_string(&self.0).map_err(|e| Failure::invalid("arguments", e))?;
            Ok(DispatchRequest::from_json(&text)?.0)
        };
        // The place is one in our own text, not in the client's.
        request().map_err(|mut failure| {
            failure.message.truncate(failure.message.rfind(" at line ").unwrap_or(failure.message.len()));
            Wrong::Arguments(failure)
        })
    }
}
