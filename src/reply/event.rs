//! The one event model that every harness's output is read into.

use super::{Json, Usage};
use serde::Serialize;
use std::borrow::Cow;

/// One normalised step of a run. It borrows from the bytes that were read; [`Event::into_owned`]
/// keeps it.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// The session began, or was resumed.
    Session {
        /// Its id.
        id: Cow<'a, str>,
        /// The model that will answer, where the CLI names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<Cow<'a, str>>,
    },
    /// Text of the agent; `delta` when more of the same message follows.
    Text {
        /// The text.
        text: Cow<'a, str>,
        /// Whether this is a part of a message.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        delta: bool,
    },
    /// A thought of the model.
    Thinking {
        /// The text.
        text: Cow<'a, str>,
    },
    /// The agent asks for a tool.
    ToolUse {
        /// The id that its result will carry.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        /// The harness's own name for the tool.
        name: Cow<'a, str>,
        /// The arguments, as the CLI wrote them.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Json<'a>>,
    },
    /// A tool ended.
    ToolResult {
        /// The id of its use.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        /// Whether the tool itself worked, as the CLI says.
        ok: bool,
        /// What it gave, as the CLI wrote it: mostly a JSON string. It is not decoded here, since it is
        /// the largest part of most runs; [`Json::string`] does it.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Json<'a>>,
    },
    /// A tool was refused.
    Denied {
        /// The harness's own name for the tool.
        tool: Cow<'a, str>,
        /// What the CLI said.
        reason: Cow<'a, str>,
    },
    /// Something is tried again.
    Retry {
        /// Who tries again.
        by: By,
        /// Which try comes now, counted from 1, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Why.
        message: Cow<'a, str>,
    },
    /// Tokens so far, or in all.
    Usage {
        /// The tokens.
        #[serde(flatten)]
        usage: Usage,
    },
    /// The CLI reports an error; the run may go on when it is not fatal.
    Error {
        /// What it said.
        message: Cow<'a, str>,
        /// Whether this ends the run.
        fatal: bool,
    },
    /// The CLI says that the run is over.
    End {
        /// Whether it says that it went well.
        ok: bool,
    },
}

/// Who tries something again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The CLI asks its model server again by itself.
    Harness,
    /// teamster asks the agent again, since the reply was not valid.
    Teamster,
}

impl Event<'_> {
    /// The event's name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Session { .. } => "session",
            Event::Text { .. } => "text",
            Event::Thinking { .. } => "thinking",
            Event::ToolUse { .. } => "tool_use",
            Event::ToolResult { .. } => "tool_result",
            Event::Denied { .. } => "denied",
            Event::Retry { .. } => "retry",
            Event::Usage { .. } => "usage",
            Event::Error { .. } => "error",
            Event::End { .. } => "end",
        }
    }

    /// The same event, owning its texts.
    pub fn into_owned(self) -> Event<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        match self {
            Event::Session { id, model } => Event::Session { id: own(id), model: model.map(own) },
            Event::Text { text, delta } => Event::Text { text: own(text), delta },
            Event::Thinking { text } => Event::Thinking { text: own(text) },
            Event::ToolUse { id, name, input } => {
                Event::ToolUse { id: id.map(own), name: own(name), input: input.map(Json::into_owned) }
            }
            Event::ToolResult { id, ok, output } => {
                Event::ToolResult { id: id.map(own), ok, output: output.map(Json::into_owned) }
            }
            Event::Denied { tool, reason } => Event::Denied { tool: own(tool), reason: own(reason) },
            Event::Retry { by, attempt, message } => Event::Retry { by, attempt, message: own(message) },
            Event::Usage { usage } => Event::Usage { usage },
            Event::Error { message, fatal } => Event::Error { message: own(message), fatal },
            Event::End { ok } => Event::End { ok },
        }
    }
}
