//! Lowering by a file's templates.

use super::Declared;
use super::file::{Level, PromptBy};
use super::template::{Part, Place, Template};
use crate::command::{Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, Lowered, looks_like_flag};
use crate::policy::Permission;
use crate::profile::Profile;
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::borrow::Cow;

const PROMPT: &str = "prompt.txt";
const SYSTEM: &str = "system.txt";
const SCHEMA: &str = "schema.json";

/// The values of a request's places.
struct Values<'v> {
    payload: &'v str,
    draft: &'v Draft<'v>,
    model: Option<&'v str>,
    tools: Option<&'v str>,
}

pub(super) fn lower(declared: &Declared, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
    let mut draft = Draft::new(&declared.facts, request, profile, &[]);
    // Nobody here knows this CLI's options, so any may be one that sets rights.
    if let (false, true) = (profile.args.is_empty(), request.restricts()) {
        let why =
            format!("nobody here knows what `{}` of the profile lets the agent do", profile.args.join(" "));
        draft.unenforced(draft.restricting_field(), why)?;
    }
    let (level, tools) = rights(declared, &mut draft)?;
    let has = |place| declared.args.iter().any(|template| template.has(place));
    let model = draft.model()?;
    let folds = !has(Place::SystemPrompt) && !has(Place::SystemPromptFile);
    let payload = payload(declared, &mut draft, folds)?;
    rows(declared, &mut draft);

    draft.args.extend(profile.args.iter().cloned().map(Text::from));
    let templates = declared.args.iter();
    let mut texts = Vec::new();
    let values = Values { payload: &payload, draft: &draft, model, tools: tools.as_deref() };
    let level_args = level.iter().flat_map(|level| &level.args);
    // Rights stand before everything that holds a text.
    for template in level_args.chain(templates) {
        expand(template, &values, &mut texts)?;
    }
    draft.args.extend(texts);
    for (name, template) in &declared.env {
        let mut one = Vec::new();
        let values = Values { payload: &payload, draft: &draft, model, tools: None };
        expand(template, &values, &mut one)?;
        if let Some(text) = one.pop() {
            draft.env.to_mut().push((name.clone().into(), text));
        }
    }
    for (name, value) in level.iter().flat_map(|level| &level.env) {
        draft.env.to_mut().retain(|(own, _)| own != name);
        draft.env.to_mut().push((name.clone().into(), value.clone().into()));
    }
    files(declared, &mut draft, payload);
    Ok(draft.finish(match &*declared.reader {
        super::file::ReaderFile::Text => Output::Text,
        super::file::ReaderFile::Json { .. } => Output::Json,
        super::file::ReaderFile::Lines { .. } => Output::Stream,
    }))
}

/// The level that holds the agent to the request, or the reason why there is none.
fn rights(declared: &Declared, draft: &mut Draft<'_>) -> Result<(Option<Level>, Option<String>)> {
    let request = draft.request;
    let name = &declared.facts.id;
    let fields = [Field::Tools, Field::Permission].into_iter().filter(|field| field.is_set(request));
    if !request.restricts() {
        let level = request.permission.and_then(|_| declared.levels.full.clone());
        if request.permission.is_some() {
            match &level {
                Some(_) => draft.row(Field::Permission, Carried::Flag, "the file's `rights.full`"),
                None => draft.row(
                    Field::Permission,
                    Carried::Dropped,
                    "the file has no `rights.full`; nothing is held back",
                ),
            }
        }
        return Ok((level, None));
    }
    if request.tools.is_some() {
        if declared.facts.tools.is_empty() {
            return unheld(
                draft,
                &format!("the file of {name} has no [tools], so it cannot be held to a policy"),
            );
        }
        let rights = draft.rights()?;
        if let Some(level) = &declared.only_tools {
            let list: Vec<&str> = rights.whole().collect();
            let held = format!("the file's `rights.only-tools`: {}", list.join(", "));
            fields.for_each(|field| draft.row(field, Carried::Flag, held.clone()));
            return Ok((Some(level.clone()), Some(list.join(","))));
        }
        // A policy that denies a tool of reading is narrower than any level.
        let all_reading = declared.facts.tools.iter().all(|(tool, facts)| {
            facts.needs > Permission::ReadOnly || rights.may(tool) == crate::harness::May::Yes
        });
        if let (true, true, Some(level)) = (rights.only_reads(), all_reading, &declared.levels.read_only) {
            fields.for_each(|field| {
                draft.row(field, Carried::Flag, "nothing but reading is left: the file's `rights.read-only`")
            });
            return Ok((Some(level.clone()), None));
        }
        return unheld(draft, &format!("the file of {name} has no `rights.only-tools`"));
    }
    let permission = request.permission.unwrap_or(Permission::ReadOnly);
    if let Some(level) = declared.levels.of(permission) {
        draft.row(Field::Permission, Carried::Flag, format!("the file's `rights.{}`", permission.name()));
        return Ok((Some(level.clone()), None));
    }
    unheld(draft, &format!("the file of {name} has no `rights.{}`", permission.name()))
}

/// Nothing holds the agent to the request: an error, or a row for each field where the caller allows that.
fn unheld(draft: &mut Draft<'_>, why: &str) -> Result<(Option<Level>, Option<String>)> {
    for field in [Field::Tools, Field::Permission].into_iter().filter(|field| field.is_set(draft.request)) {
        draft.unenforced(field, why)?;
    }
    Ok((None, None))
}

/// The text for the model, as the CLI will read it.
fn payload<'r>(declared: &Declared, draft: &mut Draft<'r>, folds: bool) -> Result<Cow<'r, str>> {
    let payload = draft.payload(folds);
    draft.refuse_blank(&payload)?;
    let first = payload.chars().next().unwrap_or_default();
    if declared.refused.contains(&first) {
        return Err(Failure::new(
            Kind::Unsupported,
            format!("prompt: {} takes a text that begins with `{first}` for a command", declared.facts.id),
        )
        .hint("begin it with a word"));
    }
    let (payload, note) = draft.guarded(payload, &declared.guarded);
    if payload.len() > declared.most {
        return Err(Failure::new(
            Kind::ArgTooLong,
            format!(
                "{}, and {} reads {}",
                draft.size(Field::Prompt, payload.len()),
                declared.facts.id,
                declared.most
            ),
        ));
    }
    let (carried, how) = match declared.prompt {
        PromptBy::Stdin => (Carried::Stdin, "on standard input"),
        PromptBy::Argument => (Carried::Flag, "an argument"),
        PromptBy::File => (Carried::File, "a file that an argument names"),
    };
    draft.row(Field::Prompt, carried, format!("{how}{note}"));
    Ok(payload)
}

/// The rows of what stands in arguments, and of what has no place there.
fn rows(declared: &Declared, draft: &mut Draft<'_>) {
    let has = |place| declared.args.iter().any(|template| template.has(place));
    let request = draft.request;
    let session = match &request.session {
        Some(Session::Resume(_)) => has(Place::SessionResume),
        Some(Session::New(Some(_))) => has(Place::SessionId),
        _ => true,
    };
    let flags = [
        (Field::Model, has(Place::Model)),
        (Field::Effort, has(Place::Effort)),
        (Field::Session, session),
        (Field::AddDirs, has(Place::AddDir)),
        (Field::MaxTurns, has(Place::MaxTurns)),
    ];
    for (field, carried) in flags.into_iter().filter(|(field, _)| field.is_set(request)) {
        match carried {
            true => draft.row(field, Carried::Flag, "an argument of the file"),
            false => draft.dropped(field, "the file has no argument for it"),
        }
    }
    for (field, flag, file) in [
        (Field::SystemPrompt, Place::SystemPrompt, Place::SystemPromptFile),
        (Field::Schema, Place::Schema, Place::SchemaFile),
    ] {
        if field.is_set(request) && has(flag) {
            draft.row(field, Carried::Flag, "an argument of the file");
        } else if field.is_set(request) && has(file) {
            draft.row(field, Carried::File, "a file that an argument names");
        }
    }
    draft.dropped(Field::Output, "the form of output is the file's");
    if request.file_references {
        draft.row(Field::FileReferences, Carried::Prompt, "the file says nothing of them");
    }
}

/// Adds the arguments of a template, once for each directory where it names one, none where a field is not
/// set.
fn expand(template: &Template, values: &Values<'_>, to: &mut Vec<Text>) -> Result<()> {
    let dirs = &values.draft.request.add_dirs;
    let rounds = if template.has(Place::AddDir) { dirs.len() } else { 1 };
    for round in 0..rounds {
        let mut texts = Vec::new();
        for word in &template.words {
            match text(word, values, round)? {
                Some(text) => texts.push(text),
                None => return Ok(()),
            }
        }
        to.append(&mut texts);
    }
    Ok(())
}

/// One argument; `None` where one of its fields is not set.
fn text(word: &[Part], values: &Values<'_>, round: usize) -> Result<Option<Text>> {
    let request = values.draft.request;
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, part) in word.iter().enumerate() {
        let place = match part {
            Part::Text(text) => {
                pieces.push(Piece::Plain(text.clone().into()));
                continue;
            }
            Part::Place(place) => *place,
        };
        let (field, value): (Field, Option<Cow<'_, str>>) = match place {
            Place::Prompt => (Field::Prompt, Some(values.payload.into())),
            Place::SystemPrompt => (Field::SystemPrompt, request.system_prompt.as_deref().map(Into::into)),
            Place::Model => (Field::Model, values.model.map(Into::into)),
            Place::Effort => (Field::Effort, request.effort.map(|effort| name(effort).into())),
            Place::SessionId => match &request.session {
                Some(Session::New(Some(id))) => (Field::Session, Some(id.as_str().into())),
                _ => (Field::Session, None),
            },
            Place::SessionResume => match &request.session {
                Some(Session::Resume(id)) => (Field::Session, Some(id.as_str().into())),
                _ => (Field::Session, None),
            },
            Place::Schema => (Field::Schema, request.schema.as_ref().map(|schema| schema.text().into())),
            Place::AddDir => (Field::AddDirs, request.add_dirs.get(round).map(|dir| dir.to_string_lossy())),
            Place::MaxTurns => (Field::MaxTurns, request.max_turns.map(|turns| turns.to_string().into())),
            Place::Tools => (Field::Tools, values.tools.map(Into::into)),
            Place::PromptFile => {
                pieces.push(Piece::File(PROMPT.into()));
                continue;
            }
            Place::SystemPromptFile if request.system_prompt.is_some() => {
                pieces.push(Piece::File(SYSTEM.into()));
                continue;
            }
            Place::SchemaFile if request.schema.is_some() => {
                pieces.push(Piece::File(SCHEMA.into()));
                continue;
            }
            Place::SystemPromptFile | Place::SchemaFile => return Ok(None),
            Place::Tmp => {
                pieces.push(Piece::Tmp);
                continue;
            }
            Place::Home => {
                pieces.push(Piece::Home);
                continue;
            }
        };
        let Some(value) = value else { return Ok(None) };
        // How this parser binds a separate value is not known, so one with a dash is not risked.
        if at == 0 && looks_like_flag(&value) {
            let why =
                format!("{}: a value that begins with a dash could be taken for an option", field.name());
            return Err(Failure::new(Kind::Unsupported, why).hint(
                "the file can glue it to its flag (`--prompt={prompt}`), or send the prompt on stdin",
            ));
        }
        values.draft.fits(field, &value)?;
        pieces.push(Piece::Plain(value.into_owned().into()));
    }
    let whole = |piece: &Piece| match piece {
        Piece::Plain(text) => Some(text.to_string()),
        _ => None,
    };
    Ok(Some(match pieces.iter().map(whole).collect::<Option<Vec<String>>>() {
        Some(texts) => {
            let text = texts.concat();
            values.draft.fits(Field::Prompt, &text)?;
            Text::from(text)
        }
        None => Text::Pieces(pieces.into()),
    }))
}

fn name(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

fn files(declared: &Declared, draft: &mut Draft<'_>, payload: Cow<'_, str>) {
    let has = |place| declared.args.iter().any(|template| template.has(place));
    if let (Some(system), true) = (&draft.request.system_prompt, has(Place::SystemPromptFile)) {
        draft.file(SYSTEM, system.clone());
    }
    if let (Some(schema), true) = (&draft.request.schema, has(Place::SchemaFile)) {
        draft.file(SCHEMA, schema.text());
    }
    match declared.prompt {
        PromptBy::Stdin => draft.stdin = Some(payload.into_owned()),
        PromptBy::File => draft.file(PROMPT, payload.into_owned()),
        PromptBy::Argument => {}
    }
}
