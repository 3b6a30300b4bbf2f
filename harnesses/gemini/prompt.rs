//! How the payload reaches gemini: as an argument, glued, or on stdin, and what it reads in it.

use crate::command::{Check, Text};
use crate::error::{Failure, Kind, Result};
use crate::lowering::{Carried, Field, MAX_ARGUMENT, Report, payload};
use crate::request::DispatchRequest;
use std::borrow::Cow;

/// Gemini 0.61.0 cuts stdin there, with a warning.
const MAX_STDIN: usize = 8 * 1024 * 1024;

/// Adds the payload to the arguments, or gives it for stdin.
///
/// - A payload that begins with `/` is a command there, on stdin too; a line feed before it keeps it
///   text, and is the one byte that is added.
/// - A payload that begins with `-` is glued to its flag: yargs refuses it as a separate value.
/// - One over the size of an argument goes to stdin, which gemini reads when there is no `-p`.
pub(super) fn lower(
    request: &DispatchRequest,
    args: &mut Vec<Text>,
    checks: &mut Vec<Check>,
    report: &mut Report,
) -> Result<Option<String>> {
    let payload = payload(request, true);
    references(request, &payload, checks, report)?;
    let slash = payload.starts_with('/');
    let payload: Cow<'_, str> = if slash { Cow::Owned(format!("\n{payload}")) } else { payload };
    let note = if slash { "; a line feed before it keeps the leading / from being a command" } else { "" };

    let (carried, detail, stdin): (_, Cow<'static, str>, _) = if payload.starts_with('-') {
        let glued = format!("--prompt={payload}");
        if glued.len() <= MAX_ARGUMENT {
            args.push(glued.into());
            (Carried::Flag, "--prompt=, glued, since it begins with a dash".into(), None)
        } else {
            on_stdin(payload, note)?
        }
    } else if payload.len() <= MAX_ARGUMENT {
        args.extend(["-p".into(), payload.into_owned().into()]);
        let detail = if slash { Cow::Owned(format!("-p{note}")) } else { Cow::Borrowed("-p") };
        (Carried::Flag, detail, None)
    } else {
        on_stdin(payload, note)?
    };
    report.row(Field::Prompt, carried, detail);
    for (field, set) in
        [(Field::SystemPrompt, request.system_prompt.is_some()), (Field::Schema, request.schema.is_some())]
    {
        if set {
            let how = match (request.is_correction(), field) {
                (true, _) => "in the session since its first turn",
                (_, Field::Schema) => "an instruction after the prompt; checked by teamster",
                _ => "ahead of the prompt",
            };
            report.row(field, Carried::Prompt, how);
        }
    }
    Ok(stdin)
}

fn on_stdin(payload: Cow<'_, str>, note: &str) -> Result<(Carried, Cow<'static, str>, Option<String>)> {
    let bytes = payload.len();
    if bytes > MAX_STDIN {
        return Err(Failure::new(
            Kind::ArgTooLong,
            format!("prompt: {bytes} bytes with system prompt and schema; gemini cuts at {MAX_STDIN}"),
        )
        .hint("put the text into a file of the workspace and name it in the prompt"));
    }
    let detail = format!("{bytes} bytes, over the {MAX_ARGUMENT} of an argument{note}");
    Ok((Carried::Stdin, detail.into(), Some(payload.into_owned())))
}

/// Tokens that gemini replaces by a file's content: the file of that path, else the first one that a
/// search for `**/*path*` finds in the workspace (read in its source). There is no way to escape them
/// that keeps the text, so where the caller does not want it the runner makes sure that there is none.
fn references(
    request: &DispatchRequest,
    payload: &str,
    checks: &mut Vec<Check>,
    report: &mut Report,
) -> Result<()> {
    if request.file_references {
        report.row(Field::FileReferences, Carried::Prompt, "gemini replaces @path by the file");
        return Ok(());
    }
    let mut seen = std::collections::HashSet::new();
    for (at, path) in at_paths(payload) {
        let field = field_at(request, at);
        if AGENTS.contains(&path.as_str()) {
            return Err(Failure::new(
                Kind::Unsupported,
                format!("{field}: gemini takes `@{path}` for an order to its agent of that name, and adds to the text"),
            )
            .hint("write it without the @, or allow it with --file-references"));
        }
        if seen.insert(path.clone()) {
            checks.push(Check::NoSuchFile { field: field.into(), path });
        }
    }
    Ok(())
}

/// Agents that every gemini 0.61.0 has (read in its source; `@cli_help` run on 2026-11-30).
const AGENTS: [&str; 4] = ["codebase_investigator", "cli_help", "generalist", "browser_agent"];

/// The field of the request that stands at this place of the payload.
fn field_at(request: &DispatchRequest, at: usize) -> &'static str {
    let before = request.system_prompt.as_deref().filter(|s| !s.is_empty() && !request.is_correction());
    let begin = before.map_or(0, |system| system.len() + 2);
    if at < begin {
        "system_prompt"
    } else if at <= begin + request.prompt.len() {
        "prompt"
    } else {
        "schema"
    }
}

/// The paths of `@path` tokens and where they stand, as gemini 0.61.0 cuts them (read in its source):
/// `(?<!\\)@(?:"[^"]*"|\\.|[^ \t\n\r,;!?()\[\]{}.]|\.(?!$|[ \t\n\r]))+`.
fn at_paths(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr(b'@', rest)) {
            let at = from + found;
            from = at + 1;
            if at > 0 && bytes[at - 1] == b'\\' {
                continue;
            }
            let end = token_end(bytes, from);
            if end > from {
                from = end;
                return Some((at, unescaped(&text[at + 1..end])));
            }
        }
        from = bytes.len();
        None
    })
}

fn token_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' => match memchr::memchr(b'"', &bytes[at + 1..]) {
                Some(close) => at += close + 2,
                // Without a second quote it is a character as any other.
                None => at += 1,
            },
            b'\\' if bytes.get(at + 1).is_some_and(|next| !matches!(next, b'\n' | b'\r')) => {
                at += 2;
                while bytes.get(at).is_some_and(|b| b & 0xC0 == 0x80) {
                    at += 1;
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b';' | b'!' | b'?' | b'(' | b')' | b'[' | b']' | b'{'
            | b'}' => break,
            b'.' if matches!(bytes.get(at + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r')) => break,
            _ => at += 1,
        }
    }
    at
}

/// The path that a token names: quotes are taken off on Windows, and backslashes elsewhere.
fn unescaped(token: &str) -> String {
    if cfg!(windows) {
        return token.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(token).to_owned();
    }
    let mut path = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        path.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    path
}
