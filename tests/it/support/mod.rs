//! What tests share.

#[cfg(feature = "run")]
pub(crate) mod fake;
#[cfg(feature = "cli")]
pub(crate) mod model_server;
