//! The lowering report: field by field, how each was carried.

use crate::error::{Failure, Kind, Result};
use crate::request::{DispatchRequest, Output};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A field of a request that a report accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of DispatchRequest")]
pub enum Field {
    Prompt,
    SystemPrompt,
    Model,
    ModelIsExact,
    Tools,
    Permission,
    Schema,
    Effort,
    Session,
    Cwd,
    AddDirs,
    MaxTurns,
    Env,
    Output,
    FileReferences,
    AllowUnenforced,
}

impl Field {
    /// All fields, in the order of the request.
    pub const ALL: &'static [Field] = &[
        Field::Prompt,
        Field::SystemPrompt,
        Field::Model,
        Field::ModelIsExact,
        Field::Tools,
        Field::Permission,
        Field::Schema,
        Field::Effort,
        Field::Session,
        Field::Cwd,
        Field::AddDirs,
        Field::MaxTurns,
        Field::Env,
        Field::Output,
        Field::FileReferences,
        Field::AllowUnenforced,
    ];

    /// The field's name in a request.
    pub const fn name(self) -> &'static str {
        // `harness` is the first field of a request; it picks the builder and is never carried.
        crate::request::FIELDS[self as usize + 1]
    }

    /// Whether this request sets the field.
    pub fn is_set(self, request: &DispatchRequest) -> bool {
        match self {
            Field::Prompt => true,
            Field::SystemPrompt => request.system_prompt.is_some(),
            Field::Model => request.model.is_some(),
            Field::ModelIsExact => request.model_is_exact,
            Field::Tools => request.tools.is_some(),
            Field::Permission => request.permission.is_some(),
            Field::Schema => request.schema.is_some(),
            Field::Effort => request.effort.is_some(),
            Field::Session => request.session.is_some(),
            Field::Cwd => request.cwd.is_some(),
            Field::AddDirs => !request.add_dirs.is_empty(),
            Field::MaxTurns => request.max_turns.is_some(),
            Field::Env => !request.env.is_empty(),
            Field::Output => request.output != Output::Auto,
            Field::FileReferences => request.file_references,
            Field::AllowUnenforced => request.allow_unenforced,
        }
    }
}

/// By what a field reaches the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carried {
    /// Arguments.
    Flag,
    /// Environment variables.
    Env,
    /// Standard input.
    Stdin,
    /// A file of the command.
    File,
    /// Folded into the prompt.
    Prompt,
    /// The CLI's own configuration.
    Config,
    /// The runner: the process's working directory, or a check before the spawn.
    Runner,
    /// Not carried; the row says why.
    Dropped,
}

impl Carried {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Carried::Flag => "flag",
            Carried::Env => "env",
            Carried::Stdin => "stdin",
            Carried::File => "file",
            Carried::Prompt => "prompt",
            Carried::Config => "config",
            Carried::Runner => "runner",
            Carried::Dropped => "dropped",
        }
    }
}

/// One row: a field, by what it is carried, and the detail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The field.
    pub field: Field,
    /// By what it is carried.
    pub carried: Carried,
    /// How exactly, or why not.
    pub detail: Cow<'static, str>,
}

/// How each field of a request that was set is carried. A field may have several rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Report {
    /// The rows, in the order of the builder.
    pub rows: Vec<Row>,
}

impl Report {
    /// A report with one row for each field that the request sets, told by `how`.
    pub fn of(request: &DispatchRequest, how: impl Fn(Field) -> (Carried, &'static str)) -> Report {
        let set = Field::ALL.iter().copied().filter(|field| field.is_set(request));
        let row = |field| Row { field, carried: how(field).0, detail: how(field).1.into() };
        Report { rows: set.map(row).collect() }
    }

    /// Adds a row.
    pub fn row(&mut self, field: Field, carried: Carried, detail: impl Into<Cow<'static, str>>) {
        self.rows.push(Row { field, carried, detail: detail.into() });
    }

    /// The rows of fields, or parts of fields, that are not carried.
    pub fn dropped(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.carried == Carried::Dropped)
    }

    /// The first field that the request sets and no row names.
    pub fn missing(&self, request: &DispatchRequest) -> Option<Field> {
        let named = self.rows.iter().fold(0_u32, |bits, row| bits | 1 << row.field as u32);
        Field::ALL.iter().copied().find(|field| named & (1 << *field as u32) == 0 && field.is_set(request))
    }

    /// An error when anything was dropped.
    pub fn strict(&self) -> Result<()> {
        match self.dropped().next() {
            None => Ok(()),
            Some(row) => Err(Failure::new(
                Kind::Unsupported,
                format!("{}: not carried: {}", row.field.name(), row.detail),
            )
            .hint("leave the field out, or run without --strict")),
        }
    }
}
