//! How the payload reaches gemini: as an argument, glued, or on stdin, and what it reads in it.

use super::super::families::references::{Cut, at_paths, field_at};
use crate::command::Check;
use crate::error::{Failure, Kind, Result};
use crate::harness::{Draft, StdinPrompt};
use crate::lowering::{Carried, Field, MAX_ARGUMENT, payload};

/// Gemini 0.61.0 cuts stdin at 8 MiB, with a warning.
const STDIN: StdinPrompt = StdinPrompt { fold_system: true, guarded: &['/'], most: 8 << 20 };

/// Adds the payload to the arguments, or gives it to stdin.
///
/// - A payload that begins with `/` is a command there, on stdin too; a line feed before it keeps it
///   text, and is the one byte that is added.
/// - A payload that begins with `-` is glued to its flag: yargs refuses it as a separate value.
/// - One over the size of an argument goes to stdin, which gemini reads when there is no `-p`.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<()> {
    let whole = payload(draft.request, true);
    references(draft, &whole)?;
    let glued = whole.starts_with('-');
    let flag = if glued { "--prompt=".len() } else { 0 };
    if !fits(&whole, flag) {
        return draft.payload_on_stdin(&STDIN);
    }
    let text = draft.payload(true);
    let (text, note) = draft.guarded(text, &['/']);
    if glued {
        draft.row(Field::Prompt, Carried::Flag, "--prompt=, glued, since it begins with a dash");
        draft.arg(format!("--prompt={text}"));
    } else {
        draft.row(Field::Prompt, Carried::Flag, format!("-p{note}"));
        draft.args.extend(["-p".into(), text.into_owned().into()]);
    }
    Ok(())
}

/// Whether an argument takes the payload, with its flag and what guards it.
fn fits(payload: &str, flag: usize) -> bool {
    flag + usize::from(payload.starts_with('/')) + payload.len() <= MAX_ARGUMENT
}

/// Tokens that gemini replaces by a file's content: the file of that path, else the first one that a
/// search for `**/*path*` finds in the workspace (read in its source). There is no way to escape them
/// that keeps the text, so where the caller does not want it the runner makes sure that there is none.
fn references(draft: &mut Draft<'_>, payload: &str) -> Result<()> {
    let request = draft.request;
    if request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, "gemini replaces @path by the file");
        return Ok(());
    }
    let mut seen = std::collections::HashSet::new();
    for (at, path) in at_paths(payload, Cut::QUOTED) {
        let field = field_at(request, true, at);
        if AGENTS.contains(&path.as_str()) {
            return Err(Failure::new(
                Kind::Unsupported,
                format!("{field}: gemini takes `@{path}` for an order to its agent of that name, and adds to the text"),
            )
            .hint("write it without the @, or allow it with --file-references"));
        }
        if seen.insert(path.clone()) {
            draft.checks.push(Check::NoSuchFile { field: field.into(), path });
        }
    }
    Ok(())
}

/// Agents that every gemini 0.61.0 has (read in its source; `@cli_help` run on 2026-11-30).
const AGENTS: [&str; 4] = ["codebase_investigator", "cli_help", "generalist", "browser_agent"];
