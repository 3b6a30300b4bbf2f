//! One task of a batch: a request that is settled, and the name that its result is kept under.

use crate::error::Result;
use crate::harness::HarnessRegistry;
use crate::lowering::Lowered;
use crate::profile::Profile;
use crate::request::DispatchRequest;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A harness that may do a task, with what it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The platform name.
    pub harness: String,
    /// The profile's name, where one was named.
    pub profile_name: Option<String>,
    /// How the harness is run.
    pub profile: Profile,
    /// The request.
    pub request: DispatchRequest,
}

impl Choice {
    /// What it is lowered to.
    ///
    /// Errors: those of lowering.
    pub fn lowered(&self, registry: &HarnessRegistry) -> Result<Lowered> {
        crate::harness::lower(registry.get(&self.harness)?, &self.request, &self.profile)
    }
}

/// One task of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// Its name: what the caller gave, else the key.
    pub id: String,
    /// A hash of what is asked: of the lowered request and the schema.
    pub key: String,
    /// The harness that is asked, and those that are asked after it.
    pub choices: Vec<Choice>,
}

impl Task {
    /// A hash of everything that is asked for: another request, another key.
    pub fn key_of(lowered: &Lowered, request: &DispatchRequest) -> String {
        let mut hash = Sha256::new();
        for part in [serde_json::to_vec(lowered), serde_json::to_vec(&request.schema)] {
            let part = part.unwrap_or_default();
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().iter().take(12).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The harness that is asked first.
    pub fn harness(&self) -> &str {
        self.choices.first().map_or("", |choice| &choice.harness)
    }
}
