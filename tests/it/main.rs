//! The one integration binary of teamster; each module tests one thing, named after it.

#![expect(clippy::unwrap_used, reason = "a test may stop")]
#![cfg_attr(feature = "validate", expect(clippy::expect_used, reason = "a test may stop"))]

#[cfg(feature = "testkit")]
mod aider;
#[cfg(feature = "testkit")]
mod argv;
#[cfg(feature = "cli")]
mod batch;
mod cases;
#[cfg(feature = "testkit")]
mod claude;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "testkit")]
mod cline;
#[cfg(feature = "testkit")]
mod codex;
#[cfg(feature = "cli")]
mod config;
#[cfg(feature = "cli")]
mod conformance;
#[cfg(feature = "testkit")]
mod copilot;
#[cfg(all(feature = "testkit", feature = "declared"))]
mod declared;
#[cfg(feature = "cli")]
mod doctor;
#[cfg(feature = "testkit")]
mod documented;
#[cfg(feature = "testkit")]
mod droid;
#[cfg(feature = "testkit")]
mod gemini;
#[cfg(feature = "testkit")]
mod hermes;
#[cfg(feature = "cli")]
mod jobs;
#[cfg(feature = "testkit")]
mod kimi;
#[cfg(feature = "cli")]
mod mcp;
#[cfg(feature = "testkit")]
mod opencode;
#[cfg(feature = "testkit")]
mod openhands;
mod pages;
#[cfg(feature = "testkit")]
mod pi;
mod policy;
#[cfg(feature = "run")]
mod process;
#[cfg(feature = "testkit")]
mod properties;
#[cfg(feature = "testkit")]
mod qwen;
mod replies;
mod request;
#[cfg(feature = "run")]
mod retry;
#[cfg(feature = "cli")]
mod review;
mod rights;
#[cfg(feature = "validate")]
mod schemas;
#[cfg(all(feature = "cli", feature = "testkit"))]
mod skill;
#[cfg(feature = "run")]
mod spending;
mod support;
#[cfg(feature = "testkit")]
mod testkit;
mod tidy;
#[cfg(feature = "testkit")]
mod transcripts;
#[cfg(feature = "testkit")]
mod vibe;
#[cfg(feature = "cli")]
mod view;
#[cfg(feature = "typed")]
mod wire;
