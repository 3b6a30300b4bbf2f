//! How the payload reaches cline as it is.
//!
//! As run on 3.0.65, 2026-12-01:
//! - It is the one argument behind `--`. A word alone is taken for a command of cline's, behind `--` too; with a line
//!   feed after it, it is none, and white space at both ends is taken away before the model sees it.
//! - What comes on stdin beside an argument is trimmed, and put behind it after a blank line.
//! - `/team` and `/NAME` of a skill or a workflow are replaced; so are `<user_input>` and `<user_command>`.
//! - `@path` with `/`, `~/`, `./` or `../` at its beginning is replaced by the file anywhere in a text. In the local
//!   mode any other word that begins with an `@` ends the run: status 0, no output, no model asked.
//! - White space at the ends of a system prompt is taken away too.

use super::super::families::references::field_at;
use crate::command::Check;
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, MAX_ARGUMENT};

/// What it puts between the argument and what comes on stdin.
pub(super) const BETWEEN: &str = "\n\n";
/// No limit is known.
const MOST: usize = 8 << 20;

/// Gives the system prompt and the payload to the arguments; a payload that is too large is cut at a blank line,
/// which cline puts there again.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let system = draft.system_prompt();
    let folded = system.is_some_and(|system| trimmed(system) != system);
    if let Some(system) = system.filter(|_| !folded) {
        draft.glued(Field::SystemPrompt, "--system", system)?;
    }
    let payload = draft.payload(folded);
    draft.refuse_blank(trimmed(&payload))?;
    if trimmed(&payload) != payload {
        let why = "prompt: cline takes the white space at the ends of a text away, and the model would see another one";
        return Err(Failure::new(Kind::Unsupported, why)
            .hint("take it away, or take another harness: `teamster list`"));
    }
    if payload.starts_with('/') {
        let why = "prompt: cline takes a leading `/` for a command of its own, or for the name of a skill or a workflow";
        return Err(Failure::new(Kind::Unsupported, why).hint("begin it with a word"));
    }
    let lower = payload.to_ascii_lowercase();
    if let Some(tag) = ["<user_input", "<user_command"].iter().find(|tag| lower.contains(**tag)) {
        let why = format!("prompt: cline takes `{tag}>` for a mark of its own, and out of the text");
        return Err(Failure::new(Kind::Unsupported, why).hint("write it with a space after the bracket"));
    }
    references(draft, &payload, folded)?;
    draft.args(["--"]);
    let newline = if payload.contains(is_space) { "" } else { "\n" };
    let arg = format!("{payload}{newline}");
    if arg.len() <= MAX_ARGUMENT {
        let note = if newline.is_empty() { "" } else { ", and a newline that cline takes away" };
        draft.row(Field::Prompt, Carried::Flag, format!("behind --, {} bytes{note}", payload.len()));
        draft.arg(arg);
        return Ok(());
    }
    let fits = |at: &usize| {
        let (word, rest) = (&payload[..*at], &payload[at + BETWEEN.len()..]);
        trimmed(word) == word && trimmed(rest) == rest && word.contains(is_space)
    };
    let cuts = payload.match_indices(BETWEEN).map(|(at, _)| at).take_while(|at| *at <= MAX_ARGUMENT);
    let Some(at) = cuts.filter(fits).last().filter(|_| payload.len() <= MOST) else {
        let why = format!(
            "prompt: {} bytes with the schema, and no blank line to cut it at: cline takes {MAX_ARGUMENT} in one piece",
            payload.len()
        );
        return Err(Failure::new(Kind::ArgTooLong, why)
            .hint("put the text into a file of the workspace and name it in the prompt"));
    };
    let how = format!("{} bytes, cut at a blank line: behind --, and the rest on stdin", payload.len());
    draft.row(Field::Prompt, Carried::Stdin, how);
    draft.arg(payload[..at].to_owned());
    draft.stdin = Some(payload[at + BETWEEN.len()..].to_owned());
    Ok(())
}

/// What JavaScript's `trim` leaves.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// White space of JavaScript.
pub(super) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Refuses words that would end the run, and makes sure that no `@path` names a file.
fn references(draft: &mut Draft<'_>, payload: &str, folds: bool) -> Result<()> {
    let allowed = draft.request.file_references;
    if allowed {
        let how = "cline replaces @/path, @./path, @../path and @~/path by the file";
        draft.row(Field::FileReferences, Carried::Prompt, how);
    }
    for (at, _) in payload.match_indices('@') {
        let rest = &payload[at + 1..];
        let word = rest.split(is_space).next().unwrap_or_default();
        let field = field_at(draft.request, folds, at);
        let path = path_of(rest);
        let begins = payload[..at].chars().next_back().is_none_or(is_space);
        if begins && is_mention(word) && !(allowed && path.is_some()) {
            let why = format!("{field}: cline ends without a word at `@{}`", cut(word, 80));
            return Err(
                Failure::new(Kind::Unsupported, why).hint("write it without the @, or in parentheses")
            );
        }
        let Some(path) = path.filter(|_| !allowed) else { continue };
        let known = |check: &Check| matches!(check, Check::NoSuchPath { path: own, .. } if own == path);
        if !draft.checks.iter().any(known) {
            draft.checks.push(Check::NoSuchPath { field: field.into(), path: path.to_owned() });
        }
    }
    Ok(())
}

/// What cline looks for in its list of files: something but marks, and no second `@`.
pub(super) fn is_mention(word: &str) -> bool {
    const BEFORE: [char; 4] = ['(', '`', '\'', '"'];
    const AFTER: [char; 10] = [')', ',', '.', ':', ';', '!', '?', '`', '\'', '"'];
    let path = word.trim_start_matches(BEFORE).trim_end_matches(AFTER);
    !path.is_empty() && !path.contains('@')
}

/// The path behind an `@` that is one by its first characters: in quotes to the end of the line, or to white space.
fn path_of(rest: &str) -> Option<&str> {
    let is_path = |text: &&str| ["/", "~/", "./", "../"].iter().any(|begin| text.starts_with(begin));
    let quoted = rest.strip_prefix('"').filter(is_path);
    let quoted = quoted.and_then(|inside| inside.find(['"', '\r', '\n']).map(|end| &inside[..end]));
    quoted.or_else(|| rest.split(is_space).next().filter(is_path))
}
