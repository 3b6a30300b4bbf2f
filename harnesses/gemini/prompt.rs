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
    references(request, &payload, checks, report);
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
    for (field, set) in [(Field::SystemPrompt, request.system_prompt.is_some()), (Field::Schema, request.schema.is_some())]
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

/// Tokens that gemini replaces by a file's content. There is no way to escape them that keeps the
/// text, so where the caller does not want it the runner makes sure that there is no such file.
fn references(request: &DispatchRequest, payload: &str, checks: &mut Vec<Check>, report: &mut Report) {
    if request.file_references {
        report.row(Field::FileReferences, Carried::Prompt, "gemini replaces @path by the file");
        return;
    }
    let mut seen = std::collections::HashSet::new();
    for path in at_paths(payload) {
        if seen.insert(path.clone()) {
            checks.push(Check::NoSuchFile { field: field_of(request, &path).into(), path });
        }
    }
}

fn field_of(request: &DispatchRequest, path: &str) -> &'static str {
    let has = |text: &str| at_paths(text).any(|p| p == path);
    if has(&request.prompt) {
        "prompt"
    } else if request.system_prompt.as_deref().is_some_and(has) {
        "system_prompt"
    } else {
        "schema"
    }
}

/// The paths of `@path` tokens, as gemini 0.61.0 cuts them (read in its source):
/// `(?<!\\)@(?:"[^"]*"|\\.|[^ \t\n\r,;!?()\[\]{}.]|\.(?!$|[ \t\n\r]))+`.
fn at_paths(text: &str) -> impl Iterator<Item = String> + '_ {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr(b'@', rest)) {
            let at = from + found;
            let end = token_end(bytes, at + 1);
            from = end.max(at + 1);
            if end > at + 1 && (at == 0 || bytes[at - 1] != b'\\') {
                return Some(unescaped(&text[at + 1..end]));
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
            b'\\' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => {
                at += 2;
                while bytes.get(at).is_some_and(|b| b & 0xC0 == 0x80) {
                    at += 1;
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b';' | b'!' | b'?' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => break,
            b'.' if matches!(bytes.get(at + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r')) => break,
            _ => at += 1,
        }
    }
    at
}

fn unescaped(token: &str) -> String {
    let token = token.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(token);
    let mut path = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        path.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    path
}
