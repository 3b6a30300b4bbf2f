//! Tokens of a run. What a CLI did not tell is absent, never 0.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Tokens, in the words of no vendor. Absent fields are unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens that the model read, those from its cache among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, without the model's thoughts where the CLI counts them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Those of `input_tokens` that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Tokens of tool prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_tokens: Option<u64>,
    /// The CLI's own total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// US dollars, as the CLI said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// All tokens together: read, answered and thought; else the CLI's own total. Absent where it told none.
    pub fn tokens(&self) -> Option<u64> {
        match (self.input_tokens, self.output_tokens) {
            (None, None) => self.total_tokens,
            (input, output) => {
                let parts = [input, output, self.thinking_tokens];
                Some(parts.into_iter().flatten().fold(0, u64::saturating_add))
            }
        }
    }
}

impl AddAssign for Usage {
    /// Sums what is known; a field that neither side knows stays unknown.
    fn add_assign(&mut self, other: Usage) {
        fn add(a: &mut Option<u64>, b: Option<u64>) {
            *a = match (*a, b) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            };
        }
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.thinking_tokens, other.thinking_tokens);
        add(&mut self.tool_tokens, other.tool_tokens);
        add(&mut self.total_tokens, other.total_tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}
