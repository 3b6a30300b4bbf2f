//! Gemini CLI: what its builder has to do, in words, over and above the snapshots.

mod payload;
mod policy;
mod profile;
mod session;

use crate::argv::lowered;
use teamster::{DispatchRequest, Kind, Lowered, ToolPolicy};

fn tools(text: &str) -> DispatchRequest {
    DispatchRequest { tools: Some(ToolPolicy::from_text(text).unwrap()), ..DispatchRequest::new("go") }
}

fn gemini(request: &DispatchRequest) -> Lowered {
    lowered("gemini", request).unwrap()
}

fn refused(request: &DispatchRequest) -> (Kind, String) {
    let refused = lowered("gemini", request).unwrap_err();
    (refused.kind, refused.message)
}
