//! A command in the making, with its report: what every builder starts from.

use super::{Facts, Rights};
use crate::command::{Check, Command, CommandFile, EnvEntry, EnvFiles, Text};
use crate::error::{Failure, Kind, Result, cut};
use crate::lowering::{Carried, Field, Grammar, Lowered, MAX_ARGUMENT, Report, Role, payload};
use crate::profile::Profile;
use crate::request::{DispatchRequest, Output};
use indexmap::IndexMap;
use std::borrow::Cow;

/// A command in the making.
///
/// A builder adds arguments, variables, files and a row for each field that is set, and ends with
/// [`Draft::finish`], which adds the rows of what the runner carries.
#[derive(Debug)]
pub struct Draft<'r> {
    /// The harness.
    pub facts: &'r Facts,
    /// What is asked for.
    pub request: &'r DispatchRequest,
    /// How this installation runs the harness.
    pub profile: &'r Profile,
    /// The arguments so far.
    pub args: Vec<Text>,
    /// Variables that the CLI has to see with these values.
    pub env: Cow<'static, [EnvEntry]>,
    /// What stands on standard input.
    pub stdin: Option<String>,
    /// Files of the command.
    pub files: Vec<CommandFile>,
    /// Files that the CLI writes for us to read.
    pub results: Vec<Cow<'static, str>>,
    /// What the runner has to make sure of.
    pub checks: Vec<Check>,
    /// Files of variables that must have no effect.
    pub env_files: Option<EnvFiles>,
    /// The report so far.
    pub report: Report,
}

/// How a CLI reads its prompt from standard input.
#[derive(Debug, Clone, Copy)]
pub struct StdinPrompt {
    /// It has no other place for a system prompt.
    pub fold_system: bool,
    /// First characters that it takes for a command of its own. A line feed before the text keeps it text,
    /// and is the one byte that is added.
    pub guarded: &'static [char],
    /// The bytes that it reads.
    pub most: usize,
}

impl<'r> Draft<'r> {
    /// A draft with these variables and no arguments.
    pub fn new(
        facts: &'r Facts,
        request: &'r DispatchRequest,
        profile: &'r Profile,
        env: &'static [EnvEntry],
    ) -> Draft<'r> {
        Draft {
            facts,
            request,
            profile,
            args: Vec::with_capacity(profile.args.len() + 8),
            env: Cow::Borrowed(env),
            stdin: None,
            files: Vec::new(),
            results: Vec::new(),
            checks: Vec::new(),
            env_files: None,
            report: Report { rows: Vec::with_capacity(4) },
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl Into<Text>) {
        self.args.push(arg.into());
    }

    /// Adds arguments that never change.
    pub fn args(&mut self, args: impl IntoIterator<Item = &'static str>) {
        self.args.extend(args.into_iter().map(Text::from));
    }

    /// Adds a flag glued to its value, `--model=M`, and the field's row.
    ///
    /// Errors: [`Kind::ArgTooLong`] that names the field.
    pub fn glued(&mut self, field: Field, flag: &str, value: &str) -> Result<()> {
        let arg = format!("{flag}={value}");
        self.fits(field, &arg)?;
        self.row(field, Carried::Flag, cut(&arg, 200).into_owned());
        self.arg(arg);
        Ok(())
    }

    /// Adds a flag and its value as two arguments, `--model M`, and the field's row.
    ///
    /// For parsers that take any next argument for the value, or values that cannot begin with a dash.
    pub fn pair(&mut self, field: Field, flag: &'static str, value: &str) -> Result<()> {
        self.fits(field, value)?;
        self.row(field, Carried::Flag, format!("{flag} {}", cut(value, 200)));
        self.args.extend([flag.into(), value.to_owned().into()]);
        Ok(())
    }

    /// Refuses an argument that is larger than the system takes.
    pub fn fits(&self, field: Field, arg: &str) -> Result<()> {
        if arg.len() <= MAX_ARGUMENT {
            return Ok(());
        }
        Err(Failure::new(
            Kind::ArgTooLong,
            format!("{}, an argument takes {MAX_ARGUMENT}", self.size(field, arg.len())),
        )
        .hint("put the text into a file of the workspace and name it in the prompt"))
    }

    /// How large a text is, in words that begin with its field and name those that are folded into it.
    pub fn size(&self, field: Field, bytes: usize) -> String {
        let folded: Vec<&str> = match field {
            Field::Prompt => {
                let rows = self.report.rows.iter().filter(|row| row.carried == Carried::Prompt);
                rows.map(|row| row.field.name()).collect()
            }
            _ => Vec::new(),
        };
        let with = if folded.is_empty() { "" } else { " with " };
        format!("{}: {bytes} bytes{with}{}", field.name(), folded.join(" and "))
    }

    /// Adds a row to the report.
    pub fn row(&mut self, field: Field, carried: Carried, detail: impl Into<Cow<'static, str>>) {
        self.report.row(field, carried, detail);
    }

    /// Adds a row for a field that the CLI has no place for, where the request sets it.
    pub fn dropped(&mut self, field: Field, why: &'static str) {
        if field.is_set(self.request) {
            self.row(field, Carried::Dropped, why);
        }
    }

    /// Sets a variable.
    pub fn set_env(&mut self, name: &'static str, value: impl Into<Text>) {
        let env = self.env.to_mut();
        env.retain(|(own, _)| own != name);
        env.push((name.into(), value.into()));
    }

    /// Adds a file to the command.
    pub fn file(&mut self, name: &'static str, content: impl Into<String>) {
        self.files.push(CommandFile { name: name.into(), content: content.into() });
    }

    /// An error for what the CLI cannot be held to; `allow_unenforced` turns it into a row.
    pub fn unenforced(&mut self, field: Field, why: impl Into<String>) -> Result<()> {
        let why = why.into();
        if self.request.allow_unenforced {
            self.row(field, Carried::Dropped, format!("not enforced, as allowed: {why}"));
            self.row(Field::AllowUnenforced, Carried::Runner, format!("used for {}", field.name()));
            return Ok(());
        }
        Err(Failure::new(Kind::Unenforceable, format!("{}: {why}", field.name()))
            .hint("change the policy; --allow-unenforced runs it all the same, and the report says so"))
    }

    /// Adds the row of each field that says what may run, the policy and the permission.
    pub fn rights_row(&mut self, carried: Carried, detail: impl Into<Cow<'static, str>>) {
        let detail = detail.into();
        for field in self.rights_fields() {
            self.row(field, carried, detail.clone());
        }
    }

    /// Those of the request's fields that say what may run.
    pub fn rights_fields(&self) -> impl Iterator<Item = Field> + use<'r> {
        let request = self.request;
        [Field::Tools, Field::Permission].into_iter().filter(move |field| field.is_set(request))
    }

    /// The field that restricts: the policy where there is one, else the permission.
    pub fn restricting_field(&self) -> Field {
        if self.request.tools.is_some() { Field::Tools } else { Field::Permission }
    }

    /// What the agent may do. What the policy allows and the permission does not gets a row, and so does a
    /// tool that would lift every limit and is allowed by name.
    pub fn rights(&mut self) -> Result<Rights<'r>> {
        let rights = Rights::of(self.facts, self.request)?;
        for rule in rights.rules() {
            let lifts = self.facts.tools.get(&rule.tool).is_some_and(|tool| tool.escalates);
            if lifts && rule.rule == crate::policy::ToolRule::Allow {
                let why =
                    format!("`{}` hands the agent full autonomy, so no list with it is a limit", rule.tool);
                self.unenforced(Field::Tools, why)?;
            }
        }
        for (rule, needs) in rights.over() {
            let why = format!("`{}` is not granted: it needs permission {}", rule.tool, needs.name());
            self.row(Field::Tools, Carried::Dropped, why);
        }
        Ok(rights)
    }

    /// Adds the profile's arguments, checked against the options that the CLI has.
    ///
    /// - An option that the builder sets, or a word that would be read as a prompt, is an error.
    /// - An option that sets rights, or one that nobody knows, is unenforceable with a request that
    ///   restricts.
    pub fn profile_args(&mut self, grammar: &Grammar) -> Result<()> {
        if self.profile.args.is_empty() {
            return Ok(());
        }
        let bad = |why: String| Failure::new(Kind::InvalidConfig, format!("profile args: {why}"));
        if self.profile.args.iter().any(|arg| arg == "--") {
            return Err(bad(format!(
                "{} reads what follows `--` as a prompt, or not at all",
                self.facts.name
            )));
        }
        let parsed = grammar
            .parse(&self.profile.args)
            .map_err(|said| bad(format!("{} would say: {said}", self.facts.name)))?;
        if let Some(word) = parsed.words.first() {
            return Err(bad(format!("`{}` would be read as a prompt", cut(word, 80))));
        }
        for (name, _) in &parsed.options {
            match grammar.option(name).map(|option| option.role) {
                Some(Role::Ours) => {
                    return Err(
                        bad(format!("--{name} is teamster's to set")).hint("take it out of the profile")
                    );
                }
                Some(Role::Rights) if self.request.restricts() => {
                    let why = format!("--{name} of the profile sets rights of its own");
                    self.unenforced(self.restricting_field(), why).map_err(|e| {
                        e.hint("take the flag out of the profile, or the restriction out of the request")
                    })?;
                }
                _ => {}
            }
        }
        if let (Some(name), true) = (parsed.unknown.first(), self.request.restricts()) {
            let why = format!("nobody here knows what {name} of the profile does");
            self.unenforced(self.restricting_field(), why)?;
        }
        self.args.extend(self.profile.args.iter().cloned().map(Text::from));
        Ok(())
    }

    /// Refuses variables of the profile or the request that would lift a restriction.
    pub fn refuse_env(&mut self, names: &[&str], what: &str) -> Result<()> {
        if !self.request.restricts() {
            return Ok(());
        }
        let sets =
            |env: &IndexMap<String, String>| names.iter().copied().find(|name| env.contains_key(*name));
        if let Some(name) = sets(&self.profile.env).or_else(|| sets(&self.request.env)) {
            self.unenforced(self.restricting_field(), format!("{name} in env {what}"))
                .map_err(|e| e.hint("leave the variable out"))?;
        }
        Ok(())
    }

    /// The text for the model: the prompt with the schema's instruction, and with the system prompt where
    /// the CLI has no other place for it. Adds the rows of what is folded in.
    pub fn payload(&mut self, fold_system: bool) -> Cow<'r, str> {
        let folds = [
            (Field::SystemPrompt, fold_system && self.request.system_prompt.is_some()),
            (Field::Schema, self.request.schema.is_some()),
        ];
        for (field, _) in folds.into_iter().filter(|(_, folded)| *folded) {
            let how = match (self.request.is_correction(), field) {
                (true, _) => "in the session since its first turn",
                (_, Field::Schema) => "an instruction after the prompt; checked by teamster",
                _ => "ahead of the prompt",
            };
            self.row(field, Carried::Prompt, how);
        }
        payload(self.request, fold_system)
    }

    /// Puts the payload on standard input, the prompt's row with it.
    ///
    /// Errors: [`Kind::ArgTooLong`] and [`Kind::Unsupported`] for what the CLI would cut or refuse there.
    pub fn payload_on_stdin(&mut self, how: &StdinPrompt) -> Result<()> {
        let payload = self.payload(how.fold_system);
        if payload.len() > how.most {
            return Err(Failure::new(
                Kind::ArgTooLong,
                format!(
                    "{}; {} reads {}",
                    self.size(Field::Prompt, payload.len()),
                    self.facts.name,
                    how.most
                ),
            )
            .hint("put the text into a file of the workspace and name it in the prompt"));
        }
        self.refuse_blank(&payload)?;
        let (text, note) = self.guarded(payload, how.guarded);
        self.row(Field::Prompt, Carried::Stdin, format!("{} bytes, read as they are{note}", text.len()));
        self.stdin = Some(text.into_owned());
        Ok(())
    }

    /// Refuses a payload of nothing but white space, which most CLIs take for none.
    pub fn refuse_blank(&self, payload: &str) -> Result<()> {
        match payload.trim().is_empty() {
            true => Err(Failure::invalid("prompt", "is blank").hint("say what the agent should do")),
            false => Ok(()),
        }
    }

    /// The payload with a line feed before a first character that the CLI takes for a command, and the
    /// note on it for the report.
    pub fn guarded<'t>(&self, payload: Cow<'t, str>, guarded: &[char]) -> (Cow<'t, str>, String) {
        match payload.chars().next().filter(|c| guarded.contains(c)) {
            Some(c) => {
                let note = format!("; a line feed before it keeps the leading {c} from being a command");
                (Cow::Owned(format!("\n{payload}")), note)
            }
            None => (payload, String::new()),
        }
    }

    /// Adds the rows of what the runner carries, and makes the command.
    pub fn finish(mut self, output: Output) -> Lowered {
        let request = self.request;
        if request.cwd.is_some() {
            self.row(Field::Cwd, Carried::Runner, "the process's working directory");
        }
        if !request.env.is_empty() {
            self.row(Field::Env, Carried::Env, "set for the process");
            let env = self.env.to_mut();
            env.retain(|(name, _)| !request.env.contains_key(&**name));
            env.extend(request.env.iter().map(|(name, value)| (name.clone().into(), value.clone().into())));
        }
        if request.allow_unenforced && !self.report.rows.iter().any(|row| row.field == Field::AllowUnenforced)
        {
            self.row(Field::AllowUnenforced, Carried::Runner, "not needed: nothing was left unenforced");
        }
        let program = self.profile.bin.clone().or_else(|| self.facts.bins.first().cloned());
        Lowered {
            command: Command {
                harness: self.facts.id.clone().into(),
                program: program.unwrap_or_else(|| self.facts.id.clone()).into(),
                args: self.args,
                env: self.env,
                stdin: self.stdin,
                files: self.files,
                results: self.results,
                cwd: request.cwd.clone(),
                add_dirs: request.add_dirs.clone(),
                env_files: self.env_files,
                checks: self.checks,
                output,
            },
            report: self.report,
        }
    }
}
