//! The one integration binary of teamster; each module tests one thing, named after it.

#[cfg(feature = "testkit")]
mod argv;
#[cfg(feature = "testkit")]
mod gemini;
mod policy;
#[cfg(feature = "run")]
mod process;
#[cfg(feature = "testkit")]
mod properties;
mod replies;
mod request;
#[cfg(feature = "run")]
mod retry;
#[cfg(feature = "validate")]
mod schemas;
#[cfg(feature = "cli")]
mod cli;
mod support;
#[cfg(feature = "testkit")]
mod testkit;
mod tidy;
#[cfg(feature = "testkit")]
mod transcripts;
#[cfg(feature = "typed")]
mod wire;
