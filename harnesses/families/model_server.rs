//! What model servers say, as CLIs pass it on.

/// Whether an error of a model server says that a quota is used up, and not that it was asked too often: both
/// come with status 429. By the code and the sentence of OpenAI's API, which others took over.
///
/// For a CLI's own error texts only: what an agent says about quotas is its work.
pub(crate) fn is_used_up(said: &str) -> bool {
    ["insufficient_quota", "exceeded your current quota"].iter().any(|words| said.contains(words))
}
