//! The file: its keys, and what is wrong with them, by line and key.

use super::Declared;
use super::template::{Place, Template};
use crate::error::Kind;
use crate::harness::{Capabilities, Evidence, Facts, HarnessTool, MinVersion, StatusCommand, Verified};
use crate::policy::Permission;
use indexmap::IndexMap;
use serde::Deserialize;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// A `harness.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: Spanned<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    bins: Spanned<Vec<String>>,
    #[serde(default)]
    install: String,
    #[serde(default)]
    sign_in: String,
    #[serde(default)]
    docs: String,
    #[serde(default)]
    verified: Vec<Verified>,
    min_version: Option<MinVersion>,
    #[serde(default)]
    auth_env: Vec<String>,
    status: Option<Spanned<StatusCommand>>,
    signed_out: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    env_pass: Vec<String>,
    #[serde(default)]
    session_env: Vec<String>,
    #[serde(default)]
    exit_statuses: IndexMap<String, Kind>,
    #[serde(default)]
    models: IndexMap<String, String>,
    #[serde(default)]
    tools: IndexMap<String, HarnessTool>,
    command: CommandFile,
    #[serde(default)]
    rights: RightsFile,
    reader: Option<Spanned<ReaderFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandFile {
    args: Spanned<Vec<Template>>,
    #[serde(default)]
    env: IndexMap<String, Template>,
    prompt: Spanned<PromptBy>,
    /// First characters that are a command to the CLI and that a line feed before them disarms.
    #[serde(default)]
    guarded: Vec<char>,
    /// First characters that are a command to the CLI and that nothing disarms.
    #[serde(default)]
    refused: Vec<char>,
    /// The bytes of a prompt that the CLI reads.
    #[serde(default = "most")]
    max_prompt: usize,
}

fn most() -> usize {
    8 << 20
}

/// By what the prompt reaches the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PromptBy {
    Stdin,
    Argument,
    File,
}

/// What the CLI enforces. Absent is not enforced.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct RightsFile {
    read_only: Option<Level>,
    edit: Option<Level>,
    full: Option<Level>,
    only_tools: Option<Spanned<Level>>,
}

/// How a level of rights stands in the command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Level {
    pub(super) args: Vec<Template>,
    pub(super) env: IndexMap<String, String>,
}

/// The levels that the file declares.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    pub(super) read_only: Option<Level>,
    pub(super) edit: Option<Level>,
    pub(super) full: Option<Level>,
}

impl Levels {
    pub(super) fn of(&self, permission: Permission) -> Option<&Level> {
        match permission {
            Permission::ReadOnly => self.read_only.as_ref(),
            Permission::Edit => self.edit.as_ref(),
            Permission::Full => self.full.as_ref(),
        }
    }
}

/// How the output is read.
#[derive(Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ReaderFile {
    /// Standard output is the answer.
    #[default]
    Text,
    /// One JSON object, or several: the last one with an answer or an error counts.
    Json {
        /// Where its parts are.
        read: Box<Members>,
    },
    /// One JSON object a line.
    Lines {
        /// What each kind of line is.
        event: Vec<EventFile>,
    },
}

/// Members of an object, as dotted paths: `usage.input_tokens`, `content.0.text`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Members {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) error: Option<String>,
    /// The HTTP status of an error.
    pub(super) error_status: Option<String>,
    pub(super) tool_use: Option<String>,
    pub(super) tool_result: Option<String>,
    pub(super) denied: Option<String>,
    pub(super) input_tokens: Option<String>,
    pub(super) output_tokens: Option<String>,
    pub(super) cached_tokens: Option<String>,
    pub(super) total_tokens: Option<String>,
    pub(super) cost_usd: Option<String>,
}

/// One kind of line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventFile {
    /// Members and the values that they must have.
    pub(super) when: IndexMap<String, serde_json::Value>,
    /// The text is a part of a message.
    #[serde(default)]
    pub(super) delta: bool,
    /// The run is over: whether it went well.
    #[serde(default)]
    pub(super) end: Option<bool>,
    /// Where its parts are.
    #[serde(default)]
    pub(super) read: Members,
}

/// Reads a file; an error says where and why.
pub(super) fn read(text: &str) -> Result<Declared, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
    let at = |span: Range<usize>, key: &str, why: String| {
        let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
        format!("line {line}, {key}: {why}")
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    if file.id.get_ref().is_empty() || !file.id.get_ref().bytes().all(plain) {
        return Err(at(file.id.span(), "id", format!("`{}` is not of a-z, 0-9, - and _", file.id.get_ref())));
    }
    if file.bins.get_ref().iter().all(|bin| bin.trim().is_empty()) {
        return Err(at(file.bins.span(), "bins", "no name of a program".to_owned()));
    }
    if let Some(status) = file.exit_statuses.keys().find(|status| status.parse::<u8>().is_err()) {
        return Err(format!("exit_statuses: `{status}` is no exit status"));
    }
    // A word that every output holds tells nothing.
    let is_blank = |words: &String| words.trim().is_empty();
    if let Some(words) = file.signed_out.as_ref().filter(|words| words.get_ref().iter().any(is_blank)) {
        return Err(at(words.span(), "signed_out", "one of them is empty".to_owned()));
    }
    if let Some(status) = &file.status {
        let StatusCommand { args, says_in, says_out, .. } = status.get_ref();
        if args.is_empty() || says_in.is_empty() || says_in.iter().chain([says_out]).any(is_blank) {
            return Err(at(
                status.span(),
                "status",
                "args, says_in and says_out may not be empty".to_owned(),
            ));
        }
    }
    let args = file.command.args.get_ref();
    let wrong = |why: &str| Err(at(file.command.args.span(), "command.args", why.to_owned()));
    let has = |place| args.iter().any(|template| template.has(place));
    let by = *file.command.prompt.get_ref();
    match by {
        PromptBy::Argument if !has(Place::Prompt) => {
            return wrong("the prompt goes by argument, and no argument has {prompt} in it");
        }
        PromptBy::File if !has(Place::PromptFile) => {
            return wrong("the prompt goes by file, and no argument has {prompt_file} in it");
        }
        PromptBy::Stdin if has(Place::Prompt) || has(Place::PromptFile) => {
            return wrong("the prompt goes by stdin, and an argument has it too");
        }
        _ => {}
    }
    if has(Place::Tools) {
        return wrong("{tools} belongs to rights.only-tools");
    }
    if let Some(only) = &file.rights.only_tools {
        if !only.get_ref().args.iter().any(|template| template.has(Place::Tools)) {
            return Err(at(only.span(), "rights.only-tools", "no argument has {tools} in it".to_owned()));
        }
        if file.tools.is_empty() {
            return Err(at(only.span(), "rights.only-tools", "the file has no [tools]".to_owned()));
        }
    }
    if let Some(reader) = &file.reader {
        let has_text = match reader.get_ref() {
            ReaderFile::Text => true,
            ReaderFile::Json { read } => read.text.is_some(),
            ReaderFile::Lines { event } => event.iter().any(|event| event.read.text.is_some()),
        };
        if !has_text {
            return Err(at(
                reader.span(),
                "reader",
                "nothing says where the text is: `read.text`".to_owned(),
            ));
        }
    }
    let capabilities = capabilities(&file);
    let id = file.id.into_inner();
    let facts = Facts {
        name: file.name.unwrap_or_else(|| id.clone()),
        id,
        aliases: file.aliases,
        bins: file.bins.into_inner(),
        install: file.install,
        sign_in: file.sign_in,
        docs: file.docs,
        evidence: Evidence::Declared,
        verified: file.verified,
        min_version: file.min_version,
        auth_env: file.auth_env,
        status: file.status.map(Spanned::into_inner),
        signed_out: file.signed_out.map(Spanned::into_inner).unwrap_or_default(),
        env_pass: file.env_pass,
        session_env: file.session_env,
        exit_statuses: file.exit_statuses,
        models: file.models,
        tools: file.tools,
        capabilities,
        ..Facts::default()
    };
    Ok(Declared {
        facts,
        args: file.command.args.into_inner(),
        env: file.command.env.into_iter().collect(),
        prompt: by,
        guarded: file.command.guarded,
        refused: file.command.refused,
        most: file.command.max_prompt,
        levels: Levels { read_only: file.rights.read_only, edit: file.rights.edit, full: file.rights.full },
        only_tools: file.rights.only_tools.map(Spanned::into_inner),
        reader: Arc::new(file.reader.map(Spanned::into_inner).unwrap_or_default()),
    })
}

/// What the arguments and the rights carry.
fn capabilities(file: &File) -> Capabilities {
    let has = |place| file.command.args.get_ref().iter().any(|template| template.has(place));
    let by = |flag: Place, file: Option<Place>, else_: &str| {
        match (has(flag), file.is_some_and(has)) {
            (true, _) => "flag",
            (_, true) => "file",
            _ => else_,
        }
        .to_owned()
    };
    let told = |read: &Members| {
        [&read.input_tokens, &read.output_tokens, &read.total_tokens].into_iter().any(Option::is_some)
    };
    let usage = match file.reader.as_ref().map(Spanned::get_ref) {
        None | Some(ReaderFile::Text) => false,
        Some(ReaderFile::Json { read }) => told(read),
        Some(ReaderFile::Lines { event }) => event.iter().any(|event| told(&event.read)),
    };
    let tools = match (&file.rights.only_tools, &file.rights.read_only) {
        (Some(_), _) => "flag",
        (None, Some(_)) if !file.tools.is_empty() => "flag",
        _ => "no",
    };
    Capabilities {
        system_prompt: by(Place::SystemPrompt, Some(Place::SystemPromptFile), "prompt"),
        model: by(Place::Model, None, "no"),
        tools: tools.to_owned(),
        tool_rules: tools.to_owned(),
        permission: if file.rights.read_only.is_some() { "flag" } else { "no" }.to_owned(),
        schema: by(Place::Schema, Some(Place::SchemaFile), "prompt"),
        effort: by(Place::Effort, None, "no"),
        session_id: by(Place::SessionId, None, "no"),
        resume: by(Place::SessionResume, None, "no"),
        add_dirs: by(Place::AddDir, None, "no"),
        max_turns: by(Place::MaxTurns, None, "no"),
        usage: if usage { "yes" } else { "no" }.to_owned(),
    }
}
