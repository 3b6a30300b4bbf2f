//! The schemas of the tools: those of `schemas/`, put together and made small enough for a model to read.

mod answers;
mod part;
mod request;

pub(super) use answers::{harnesses, job_logs, job_result, jobs, lowered, outcome, review};
pub(super) use part::closed;
pub(super) use request::{harness, limits, request};
