//! Ids of jobs: short, sortable by time, unique in their folder.

use crate::error::{Failure, Result, cut};
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The id of a job: letters, digits, `-` and `_`, at most 64.
///
/// One that is made has 12 characters: eight of the time in milliseconds (good until 2059), so that ids sort
/// by it, and four by chance. Digits and small letters without i, l, o and u.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// January 1, 2025, in milliseconds.
const EPOCH: u64 = 1_735_689_600_000;

impl JobId {
    /// An id of this moment.
    pub fn new() -> JobId {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).saturating_sub(EPOCH);
        // The keys of a hasher are the standard library's own source of chance.
        let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
        JobId(digits(ms, 8) + &digits(chance, 4))
    }

    /// An id that the caller chose.
    ///
    /// Errors: what could not be the name of a folder everywhere.
    pub fn chosen(text: &str) -> Result<JobId> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let begins = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if begins && text.len() <= 64 && text.bytes().all(fits) {
            return Ok(JobId(text.to_owned()));
        }
        Err(Failure::invalid("id", format!("`{}` is no id of a job", cut(text, 80)))
            .hint("an id has letters, digits, - and _, begins with one of the first two, and has at most 64"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for JobId {
    fn default() -> Self {
        JobId::new()
    }
}

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for JobId {
    type Error = Failure;

    fn try_from(text: String) -> Result<JobId> {
        JobId::chosen(&text)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> String {
        id.0
    }
}

/// The last `count` digits of a number, five bits each.
fn digits(number: u64, count: u32) -> String {
    (0..count).rev().map(|at| char::from(DIGITS[(number >> (at * 5)) as usize & 31])).collect()
}
