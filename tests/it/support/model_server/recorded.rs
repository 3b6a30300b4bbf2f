//! A request as it arrived, and what it says in no API's own words.

use super::api::{self, Api};
use serde_json::Value;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    /// Path and query.
    pub(crate) path: String,
    /// The body, null where it was no JSON.
    pub(crate) body: Value,
}

impl Recorded {
    /// Whether it is a turn of the agent, not a call for counting, titles or routing.
    pub(crate) fn is_main(&self) -> bool {
        self.api().is_some_and(|api| api.fixed(self).is_none() && api.beside(self).is_none())
    }

    /// The texts of the last message of the user: the prompt, in a first turn.
    pub(crate) fn user_texts(&self) -> Vec<String> {
        self.api().map(|api| api.user_texts(&self.body)).unwrap_or_default()
    }

    /// What the agent and its user told the model about its role, all of it.
    pub(crate) fn system_text(&self) -> String {
        self.api().map(|api| api.system_text(&self.body)).unwrap_or_default()
    }

    /// Names and answers of the tools that ran since the model's last turn.
    pub(crate) fn tool_results(&self) -> Vec<(String, Value)> {
        self.api().map(|api| api.tool_results(&self.body)).unwrap_or_default()
    }

    /// The names of the tools that the agent offers to the model, in order.
    pub(crate) fn offered_tools(&self) -> Vec<String> {
        self.api().map(|api| api.offered_tools(&self.body)).unwrap_or_default()
    }

    /// How much the model is asked to think: a word, or a number of tokens.
    pub(crate) fn effort(&self) -> Option<String> {
        self.api().and_then(|api| api.effort(&self.body))
    }

    /// The model that is asked.
    pub(crate) fn model(&self) -> String {
        self.api().map(|api| api.model(self)).unwrap_or_default()
    }

    pub(super) fn api(&self) -> Option<&'static dyn Api> {
        api::of(&self.path)
    }
}
