//! From arguments, files and variables to a request and its profile.

use super::args::RequestArgs;
use super::print;
use crate::config::{Config, Ignored, Settings, Sources};
use crate::dispatch::Candidate;
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::{AgentBuilder, Facts, HarnessRegistry};
use crate::policy::{Permission, ToolPolicy};
use crate::profile::Profile;
use crate::request::{DispatchRequest, ReplySchema, Session};
use crate::skill::{Merge, Places, Trust, merge};
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// A request with everything that it needs to be lowered.
pub(super) struct Prepared<'r> {
    pub(super) builder: &'r dyn AgentBuilder,
    pub(super) request: DispatchRequest,
    pub(super) profile: Profile,
    /// `--output` was given, so `auto` means auto.
    pub(super) output_as_asked: bool,
    /// The harnesses that are asked after it.
    pub(super) fallback: Vec<Settled<'r>>,
}

/// The configuration file that an argument or TEAMSTER_CONFIG names.
pub(super) fn config_file(named: Option<&Path>) -> Option<PathBuf> {
    Sources::of_process(named, None).named
}

/// The configuration that holds in a folder, and the harnesses that it knows. What a project's file sets
/// in vain is said, unless `quiet`.
pub(super) fn settings(
    named: Option<&Path>,
    folder: Option<&Path>,
    quiet: bool,
) -> Result<(Config, HarnessRegistry)> {
    let settings = Settings::read(&Sources::of_process(named, folder))?;
    if !quiet {
        Ignored::notices(&settings.ignored).iter().for_each(|notice| print::note(notice));
    }
    let registry = settings.registry()?;
    Ok((settings.config, registry))
}

/// A variable of this process that is set and not empty.
pub(super) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The profile for a harness: the one that an argument names, else TEAMSTER_PROFILE, else its own.
pub(super) fn profile(config: &Config, named: Option<&str>, harness: &str) -> Result<Profile> {
    config.profile(named.map(str::to_owned).or(var("TEAMSTER_PROFILE")).as_deref(), harness)
}

/// The request of the arguments. Flags win over `--request`, which wins over variables and the
/// configuration.
pub(super) fn prepare<'r>(
    args: &RequestArgs,
    config: &Config,
    registry: &'r HarnessRegistry,
    fallback: &[String],
    quiet: bool,
) -> Result<Prepared<'r>> {
    let (platform, mut request, notices) = written(args, registry)?;
    let named = platform.or(request.harness.take());
    let named = harness_of(named, config, "teamster run PLATFORM \"…\"")?;
    let asked = Asked { args, config, registry };
    let first = asked.settle(
        request.clone(),
        notices,
        &named,
        args.profile.as_deref().or(var("TEAMSTER_PROFILE").as_deref()),
    )?;
    if !quiet {
        first.notices.iter().for_each(|notice| print::note(notice));
    }
    let fallback = fallback.iter().map(|word| asked.fall_back(&request, word)).collect::<Result<_>>()?;
    let Settled { builder, request, profile, .. } = first;
    Ok(Prepared { builder, request, profile, output_as_asked: args.output.is_some(), fallback })
}

/// The request that the words, `--request` and `--prompt-file` hold, before flags and settings; and the
/// platform that is named.
pub(super) fn written(
    args: &RequestArgs,
    registry: &HarnessRegistry,
) -> Result<(Option<String>, DispatchRequest, Vec<&'static str>)> {
    let (platform, prompt) = positionals(args, registry)?;
    if let Some(word) = prompt.filter(|word| is_option(word)) {
        return Err(Failure::invalid(
            "prompt",
            format!("`{}` looks like an option, and there is none of that name", cut(word, 60)),
        )
        .hint("a prompt that looks so goes behind `--`, or comes from stdin"));
    }
    let (mut request, notices) = match &args.request {
        Some(path) => DispatchRequest::from_json(&text_of("request", path)?)?,
        None => (DispatchRequest::default(), Vec::new()),
    };
    match prompt {
        Some("-") => request.prompt = without_line_end(stdin("prompt")?),
        Some(prompt) => prompt.clone_into(&mut request.prompt),
        None => match &args.prompt_file {
            Some(path) => request.prompt = without_line_end(text_of("prompt", path)?),
            None if request.prompt.is_empty() && args.request.is_none() => {
                // A command is a prompt by itself.
                let terminal = std::io::stdin().is_terminal();
                if terminal && args.skill.is_none() {
                    return Err(Failure::invalid("prompt", "is missing")
                        .hint("teamster run gemini \"your task\", or pipe it in"));
                }
                if !terminal {
                    request.prompt = without_line_end(stdin("prompt")?);
                }
            }
            None => {}
        },
    }
    Ok((platform.map(str::to_owned), request, notices))
}

/// The harness of a request: the one that is named, else that of the variable, else the settings'.
pub(super) fn harness_of(named: Option<String>, config: &Config, usage: &str) -> Result<String> {
    named.or(var("TEAMSTER_HARNESS")).or(config.default_harness.clone()).ok_or_else(|| {
        Failure::new(Kind::UnknownHarness, "no harness is named")
            .hint(format!("{usage}; `teamster list` shows them"))
    })
}

/// A request for one harness, with nothing left open.
pub(super) struct Settled<'r> {
    pub(super) builder: &'r dyn AgentBuilder,
    pub(super) profile_name: Option<String>,
    pub(super) profile: Profile,
    pub(super) request: DispatchRequest,
    pub(super) notices: Vec<String>,
}

impl<'r> Settled<'r> {
    /// As one that may be asked.
    pub(super) fn candidate(self) -> Candidate<'r> {
        let Settled { builder, profile_name, profile, request, .. } = self;
        Candidate { builder, profile_name, profile, request }
    }
}

/// What requests are settled by: the flags and the settings.
pub(super) struct Asked<'a, 'r> {
    pub(super) args: &'a RequestArgs,
    pub(super) config: &'a Config,
    pub(super) registry: &'r HarnessRegistry,
}

impl<'r> Asked<'_, 'r> {
    /// A request for a harness: the flags over it, its profile, its skill, its model.
    pub(super) fn settle(
        &self,
        mut request: DispatchRequest,
        mut notices: Vec<&'static str>,
        harness: &str,
        profile_name: Option<&str>,
    ) -> Result<Settled<'r>> {
        let Asked { args, config, registry } = self;
        let builder = registry.get(harness)?;
        apply(args, &mut request, &mut notices)?;
        let cwd = std::env::current_dir()
            .map_err(|e| Failure::new(Kind::BadCwd, format!("the working directory cannot be read: {e}")))?;
        let mut request = request.resolved(&cwd);
        let profile = config.profile(profile_name, &builder.facts().id)?;
        let mut notices: Vec<String> = notices.into_iter().map(str::to_owned).collect();
        notices.extend(with_skill(args, &mut request, builder.facts(), registry, &profile, &cwd)?);
        if request.model.is_none() {
            request.model = var(&builder.facts().variable("MODEL"));
        }
        Ok(Settled { builder, profile_name: profile_name.map(str::to_owned), profile, request, notices })
    }

    /// The same request for `HARNESS` or `HARNESS:PROFILE`.
    pub(super) fn fall_back(&self, request: &DispatchRequest, word: &str) -> Result<Settled<'r>> {
        let (harness, profile) = match word.split_once(':') {
            Some((harness, profile)) => (harness, Some(profile)),
            None => (word, None),
        };
        let named = |e: Failure| Failure { message: format!("fallback: {}", e.message), ..e };
        self.settle(request.clone(), Vec::new(), harness, profile).map_err(named)
    }
}

/// Puts the skill of `--skill` into the request; gives the notices.
fn with_skill(
    args: &RequestArgs,
    request: &mut DispatchRequest,
    facts: &Facts,
    registry: &HarnessRegistry,
    profile: &Profile,
    here: &Path,
) -> Result<Vec<String>> {
    let Some(asked) = &args.skill else { return Ok(Vec::new()) };
    let places = Places::of_user(registry, request.cwd.as_deref().unwrap_or(here));
    let found = places.find(asked, here)?;
    let trust = if args.trust_skill { Trust::Vouched } else { found.scope.trust() };
    let how = Merge { facts, registry, profile, trust, tools_stand: args.tools.is_some() };
    merge(&found.skill?, request, &how)
}

/// Two words are platform and prompt. One word is the platform when a harness has this name and the
/// prompt comes from elsewhere, else the prompt.
fn positionals<'a>(
    args: &'a RequestArgs,
    registry: &HarnessRegistry,
) -> Result<(Option<&'a str>, Option<&'a str>)> {
    match (args.first.as_deref(), args.second.as_deref()) {
        (Some(first), None) if registry.get(first).is_ok() => Ok((Some(first), None)),
        (Some(first), None) if args.prompt_file.is_some() || args.request.is_some() => {
            registry.get(first)?;
            Ok((Some(first), None))
        }
        (Some(first), None) => Ok((None, Some(first))),
        (first, second) => Ok((first, second)),
    }
}

/// Whether a prompt is a mistyped option: one word with dashes before it, and no `--` that says otherwise.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    word.starts_with('-')
        && plain
        && !word.contains(char::is_whitespace)
        && !std::env::args().any(|arg| arg == "--")
}

fn apply(args: &RequestArgs, request: &mut DispatchRequest, notices: &mut Vec<&'static str>) -> Result<()> {
    if let Some(system) = &args.system {
        request.system_prompt = Some(system.clone());
    }
    if let Some(path) = &args.system_file {
        request.system_prompt = Some(text_of("system", path)?);
    }
    if let Some(model) = &args.model {
        request.model = Some(model.clone());
    }
    if let Some(tools) = &args.tools {
        request.tools = Some(ToolPolicy::from_text(tools)?);
    }
    if let Some(name) = &args.permission {
        let (permission, notice) = Permission::from_name(name)?;
        request.permission = Some(permission);
        notices.extend(notice);
    }
    if let Some(schema) = &args.schema {
        request.schema = Some(schema_of(schema)?);
    }
    request.effort = args.effort.or(request.effort);
    match (&args.resume, &args.session_id) {
        (Some(id), _) => request.session = Some(Session::Resume(id.clone())),
        (None, Some(id)) => request.session = Some(Session::New(Some(id.clone()))),
        (None, None) => {}
    }
    if let Some(cwd) = &args.cwd {
        request.cwd = Some(cwd.clone());
    }
    request.add_dirs.extend(args.add_dir.iter().cloned());
    if args.max_turns.is_some() {
        request.max_turns = args.max_turns;
    }
    for pair in &args.env {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::invalid(
                "env",
                format!("`{}` is not of the form NAME=VALUE", cut(pair, 40)),
            ));
        };
        request.env.insert(name.to_owned(), value.to_owned());
    }
    if let Some(output) = args.output {
        request.output = output;
    }
    request.model_is_exact |= args.exact_model;
    request.file_references |= args.file_references;
    request.allow_unenforced |= args.allow_unenforced;
    Ok(())
}

/// A schema that is JSON itself, or the path of a file with one.
fn schema_of(text: &str) -> Result<ReplySchema> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('{') || matches!(trimmed.trim_end(), "true" | "false") {
        return ReplySchema::from_text(text);
    }
    ReplySchema::from_text(&text_of("schema", Path::new(text))?)
}

pub(super) fn text_of(field: &str, path: &Path) -> Result<String> {
    if path == Path::new("-") {
        return stdin(field);
    }
    let bytes =
        std::fs::read(path).map_err(|e| Failure::invalid(field, format!("{}: {e}", path.display())))?;
    utf8(field, bytes)
}

/// A text without the line end that files and pipes end with, as a shell takes it from `$(…)`: some CLIs
/// cut it themselves, and a text that would be cut is refused.
fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        text.truncate(text.strip_suffix('\r').unwrap_or(&text).len());
    }
    text
}

fn stdin(field: &str) -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|e| Failure::invalid(field, format!("stdin: {e}")))?;
    utf8(field, bytes)
}

fn utf8(field: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        Failure::invalid(field, format!("is not UTF-8 at byte {}", e.utf8_error().valid_up_to()))
    })
}
