//! Folding system prompt, prompt and schema into the one text that some CLIs take.

use crate::request::DispatchRequest;
use std::borrow::Cow;

/// What asks for a reply that fits a schema. The schema stands in it as the caller wrote it.
pub fn schema_instruction(schema: &str) -> String {
    format!(
        "Answer with exactly one JSON value that is valid against this JSON Schema, and with nothing else: \
         no text before or after it, no code fence.\n\n{schema}"
    )
}

/// The texts of a request that go into the prompt besides the prompt itself.
///
/// - `system`: the CLI has no other place for the system prompt.
/// - The schema's instruction is always a part: a CLI that enforces a schema itself does it more
///   often when the model was told.
/// - A correction inside a session carries neither: the session holds them.
pub fn payload(request: &DispatchRequest, system: bool) -> Cow<'_, str> {
    if request.is_correction() {
        return Cow::Borrowed(&request.prompt);
    }
    let system = request.system_prompt.as_deref().filter(|text| system && !text.is_empty());
    let instruction = request.schema.as_ref().map(|s| schema_instruction(s.text()));
    folded(system, &request.prompt, instruction.as_deref())
}

/// System prompt, prompt and instruction, a blank line between each two.
pub fn folded<'a>(system: Option<&str>, prompt: &'a str, instruction: Option<&str>) -> Cow<'a, str> {
    if system.is_none() && instruction.is_none() {
        return Cow::Borrowed(prompt);
    }
    let parts: Vec<&str> = [system, Some(prompt), instruction].into_iter().flatten().collect();
    Cow::Owned(parts.join("\n\n"))
}
