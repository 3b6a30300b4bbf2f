//! Drive any coding-agent CLI the same way.
//!
//! One platform-agnostic [dispatch request](DispatchRequest) in; the exact headless command of that CLI
//! out ([`lower`]); the CLI run without hang or orphan (`run`); its output read into one event model
//! ([`reply`]); a reply back that is valid against the caller's JSON Schema, asked again with feedback
//! until it is (`dispatch`).
//!
//! ```
//! use teamster::{DispatchRequest, HarnessRegistry, Profile, lower};
//!
//! let registry = HarnessRegistry::builtin();
//! let request = DispatchRequest { tools: Some(teamster::ToolPolicy::from_text("read_file,glob")?), ..DispatchRequest::new("What is here?") };
//! let lowered = lower(registry.get("gemini")?, &request, &Profile::default())?;
//! assert!(lowered.command.shell_line().ends_with("-p 'What is here?'"));
//! # Ok::<(), teamster::Failure>(())
//! ```
//!
//! # Features
//!
//! | feature | adds | brings |
//! | --- | --- | --- |
//! | none | request, profile, policy, lowering, readers | no tokio, no jsonschema |
//! | `validate` | `schema` | jsonschema |
//! | `run` | `run`, `dispatch`; `validate` | tokio |
//! | `typed` | `complete::<T>()`; `run` | schemars |
//! | `declared` | `declared`: harnesses from a file | toml |
//! | `testkit` | `testkit` for harnesses of your own | toml |
//! | `review` | `review`: a git diff and its findings; `run` | git, as a program |
//! | `batch` | `batch`: many dispatches, resumable; `run` | csv, sha2 |
//! | `skill` | `skill`: skill and agent files | serde-saphyr, toml |
//! | `config` | `config`: settings in layers, and trust; `run`, `declared` | etcetera |
//! | `doctor` | `doctor`: what is installed, verified and signed in; `config` | |
//! | `jobs` | `jobs`: dispatches in the background; `config` | jiff |
//! | `mcp` | `mcp`: an MCP server over all of that; `jobs`, `review` | rmcp |
//! | `cli` (default) | the command; all of the above but `typed` and `testkit` | clap and friends |
//!
//! A harness is one implementation of [`AgentBuilder`], here under `harnesses/` or in your crate.

pub mod command;
#[cfg(feature = "declared")]
pub mod declared;
#[cfg(feature = "run")]
pub mod dispatch;
mod error;
pub mod harness;
#[path = "../harnesses/mod.rs"]
pub mod harnesses;
pub mod lowering;
#[cfg(feature = "run")]
mod outcome;
pub mod policy;
mod profile;
pub mod reply;
mod request;
#[cfg(feature = "review")]
pub mod review;
#[cfg(feature = "run")]
pub mod run;
#[cfg(feature = "validate")]
pub mod schema;
#[cfg(feature = "skill")]
pub mod skill;
#[cfg(feature = "testkit")]
pub mod testkit;
#[cfg(feature = "typed")]
pub mod wire;

#[cfg(feature = "batch")]
pub mod batch;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "config")]
pub mod config;
#[cfg(feature = "doctor")]
pub mod doctor;
#[cfg(feature = "jobs")]
pub mod jobs;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "cli")]
pub mod rehearse;

pub use command::{Command, Text};
pub use error::{Failure, Kind, Result};
pub use harness::{AgentBuilder, Facts, HarnessRegistry, lower};
pub use lowering::Lowered;
#[cfg(feature = "run")]
pub use outcome::{Attempt, Outcome};
pub use policy::{Permission, ToolPolicy, ToolRule, ToolRules, Word, permits, split_tools, tool_argument};
pub use profile::{Budget, Limits, Profile, SettledLimits};
pub use reply::{Event, Reply};
pub use request::{DispatchRequest, Effort, FIELDS, Output, ReplySchema, Session};
