//! What tests share.

#[cfg(feature = "run")]
pub(crate) mod fake;
