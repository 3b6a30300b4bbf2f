//! Keeps secrets out of what people read: the values of variables that sign a CLI in.

use super::Vars;
use crate::harness::Facts;

/// Replaces secrets in texts.
pub(super) struct Redact {
    secrets: Vec<String>,
}

/// Names that say that the value is a secret.
const NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

impl Redact {
    /// The secrets of this environment: values of at least 6 bytes of the variables that sign the CLI
    /// in, and of those whose names say so.
    pub(super) fn new(env: &Vars, facts: &Facts) -> Self {
        let secret = |name: &str| {
            facts.auth_env.iter().any(|n| n == name)
                || NAMES.iter().any(|part| name.to_uppercase().contains(part))
        };
        let values = env.iter().filter(|(name, _)| name.to_str().is_some_and(secret));
        let mut secrets: Vec<String> = values
            .filter_map(|(_, value)| value.to_str())
            .filter(|v| v.len() >= 6)
            .map(str::to_owned)
            .collect();
        // A secret that holds another one is replaced first.
        secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        Redact { secrets }
    }

    /// The text without the secrets.
    pub(super) fn text(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}
