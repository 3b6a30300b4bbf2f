//! The MCP server: harnesses listed, requests lowered and dispatched, jobs, reviews, as tools over stdio.
//!
//! - A client is an agent, so that what it may ask for has a [`Ceiling`], which is the owner's: read-only, below
//!   one folder, no variables, unless the owner says more. A call over it is refused, not trimmed.
//! - Arguments that are malformed are a protocol error that names the field. Everything that goes wrong later is
//!   a result with `isError`, and a [`Failure`](crate::Failure) as its structured content.
//! - A dispatch that the client cancels ends with all its processes; so does every one when the client goes away.
//! - Everything runs on the thread that [`serve`] is called from: a CLI's life hangs on it.

mod arguments;
mod ceiling;
mod dispatch;
mod jobs;
mod list;
mod progress;
mod review;
mod schemas;
mod serve;
mod server;
mod tools;
mod transport;

pub use ceiling::{Allow, Ceiling};
pub use serve::{serve, stdio};
pub use server::{Host, StandIn};
