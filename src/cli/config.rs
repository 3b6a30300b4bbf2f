//! `teamster config`: what is set, where, and what is wrong with it.

use super::argv::table;
use super::print;
use super::request::var;
use crate::config::{
    Config, FILE_NAME, Fault, Ignored, SetValue, Settings, Sources, VARIABLES, check, user_file,
};
use crate::error::{Failure, Kind, Result};
use crate::harness::HarnessRegistry;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigSub,
}

#[derive(Subcommand)]
enum ConfigSub {
    /// Show what holds; the values of variables for agents are not shown
    #[command(after_help = "EXAMPLES
  teamster config show
  teamster config show --origin            # each value and where it came from
  teamster config show gemini --origin     # what holds for one harness, with the defaults")]
    Show(ShowArgs),
    /// Check the files: file, line and key of whatever is wrong
    #[command(after_help = "EXAMPLES
  teamster config check                    # yours and the project's
  teamster config check teamster.toml

EXIT STATUS
  0 nothing is wrong, 2 something is")]
    Check(CheckArgs),
    /// Say which files and variables count here
    Path(PathArgs),
}

#[derive(Args)]
struct Where {
    /// The file of your settings [default: $TEAMSTER_CONFIG, then teamster/teamster.toml in your config folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder whose project counts [default: this one]
    #[arg(long, short = 'C', value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Where {
    fn sources(&self) -> Sources {
        Sources::of_process(self.config.as_deref(), self.cwd.as_deref())
    }
}

#[derive(Args)]
struct ShowArgs {
    /// A harness: what holds for it, with the defaults in their places
    #[arg(value_name = "PLATFORM")]
    harness: Option<String>,
    /// Where each value came from, and what a project's file sets in vain
    #[arg(long)]
    origin: bool,
    /// The profile of the harness [default: $TEAMSTER_PROFILE, then the one of its name]
    #[arg(long, value_name = "NAME", requires = "harness")]
    profile: Option<String>,
    #[command(flatten)]
    at: Where,
}

#[derive(Args)]
struct CheckArgs {
    /// A file [default: your settings and the project's]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    at: Where,
}

#[derive(Args)]
struct PathArgs {
    #[command(flatten)]
    at: Where,
}

pub(super) fn config(args: &ConfigArgs) -> Result<ExitCode> {
    let (as_json, done) = match &args.command {
        ConfigSub::Show(args) => (args.at.json, show(args)),
        ConfigSub::Check(args) => (args.at.json, checked(args)),
        ConfigSub::Path(args) => (args.at.json, path(args)),
    };
    print::told(as_json, done)
}

fn show(args: &ShowArgs) -> Result<ExitCode> {
    let mut settings = Settings::read(&args.at.sources())?;
    let registry = settings.registry()?;
    settings.add_variables(&registry, &var);
    let values = match &args.harness {
        None => settings.values(),
        Some(name) => {
            let facts = registry.get(name)?.facts();
            let profile = args.profile.clone().or_else(|| var("TEAMSTER_PROFILE"));
            settings.for_harness(profile.as_deref(), facts)?
        }
    };
    if args.at.json {
        let values: Vec<Value> = values.iter().map(entry).collect();
        return print::json(&json!({"ok": true, "values": values, "ignored": settings.ignored}));
    }
    if args.origin {
        return print::line(&origins(&values, &settings));
    }
    Ignored::notices(&settings.ignored).iter().for_each(|notice| print::note(notice));
    if args.harness.is_none() {
        if values.is_empty() {
            print::note("nothing is set; `teamster config path` says where it would be");
        }
        return print::text(&settings.to_toml());
    }
    let lines: Vec<String> = values.iter().map(|set| format!("{} = {}", set.key, set.value)).collect();
    print::line(&lines.join("\n"))
}

fn entry(set: &SetValue) -> Value {
    let origins: Vec<String> = set.origins.iter().map(ToString::to_string).collect();
    json!({"key": set.key, "value": set.value, "origins": origins})
}

fn origins(values: &[SetValue], settings: &Settings) -> String {
    let mut all = table(&["key", "value", "from"]);
    for set in values {
        let from: Vec<String> = set.origins.iter().map(ToString::to_string).collect();
        all.add_row([set.key.clone(), set.value.to_string(), from.join(", then ")]);
    }
    let mut text = all.trim_fmt();
    if !settings.ignored.is_empty() {
        text.push_str("\n\nignored\n");
        for ignored in &settings.ignored {
            text.push_str(&format!("  {ignored}\n"));
        }
    }
    text
}

/// A file that counts, and what it is to its owner.
struct Counted {
    path: PathBuf,
    layer: &'static str,
    faults: Vec<Fault>,
    /// Why a project's file is not trusted.
    untrusted: Option<&'static str>,
}

fn checked(args: &CheckArgs) -> Result<ExitCode> {
    let sources = args.at.sources();
    let mut all = Vec::new();
    let text = |path: &Path| {
        let no = |e| Failure::new(Kind::InvalidConfig, format!("{}: {e}", path.display()));
        std::fs::read_to_string(path).map_err(no)
    };
    match &args.file {
        Some(path) => {
            let faults = check(path, &text(path)?, HarnessRegistry::builtin());
            all.push(Counted { path: path.clone(), layer: "file", faults, untrusted: None });
        }
        None => {
            let mut known = HarnessRegistry::builtin();
            if let Some(path) = sources.user() {
                let text = text(&path)?;
                let faults = check(&path, &text, known.clone());
                let own = Config::parse(&path, &text).and_then(|config| config.registry());
                known = own.unwrap_or(known);
                all.push(Counted { path, layer: "yours", faults, untrusted: None });
            }
            if let Some(project) = sources.project()? {
                let faults = check(&project.path, &project.text, known);
                let untrusted = project.untrusted_because();
                all.push(Counted { path: project.path, layer: "project", faults, untrusted });
            }
        }
    }
    let ok = all.iter().all(|counted| counted.faults.is_empty());
    if args.at.json {
        let files: Vec<Value> = all.iter().map(counted_entry).collect();
        print::json(&json!({"ok": ok, "files": files}))?;
    } else if all.is_empty() {
        print::note("there is no settings file here; `teamster config path` says where one would be");
    } else {
        print::line(&report(&all))?;
    }
    Ok(ExitCode::from(if ok { 0 } else { Kind::InvalidConfig.exit_status() }))
}

fn counted_entry(counted: &Counted) -> Value {
    let ok = counted.faults.is_empty();
    json!({"path": counted.path, "layer": counted.layer, "ok": ok, "faults": counted.faults, "untrusted": counted.untrusted})
}

fn report(all: &[Counted]) -> String {
    let mut text = String::new();
    for counted in all {
        if counted.faults.is_empty() {
            let trust = counted.untrusted.map_or(String::new(), |why| format!("; {why}"));
            text.push_str(&format!("ok    {} ({}{trust})\n", counted.path.display(), counted.layer));
        }
        for fault in &counted.faults {
            text.push_str(&format!("wrong {fault}\n"));
            fault.hint.iter().for_each(|hint| text.push_str(&format!("      next: {hint}\n")));
        }
    }
    text
}

fn path(args: &PathArgs) -> Result<ExitCode> {
    let sources = args.at.sources();
    let user = sources.named.clone().or_else(user_file);
    let project = sources.project()?;
    let registry = HarnessRegistry::builtin();
    let names = VARIABLES.iter().flat_map(|(name, _)| names(name, &registry));
    let set: Vec<(String, String)> = names.filter_map(|name| var(&name).map(|value| (name, value))).collect();
    if args.at.json {
        let project =
            project.as_ref().map(|p| json!({"path": p.path, "trusted": p.untrusted_because().is_none()}));
        let user = user.map(|path| json!({"exists": path.is_file(), "path": path}));
        let set: serde_json::Map<String, Value> =
            set.into_iter().map(|(name, value)| (name, value.into())).collect();
        return print::json(&json!({"ok": true, "yours": user, "project": project, "variables": set}));
    }
    let mut text = String::new();
    let there = |path: &Path| if path.is_file() { "" } else { " (there is none)" };
    if let Some(path) = &user {
        text.push_str(&format!("yours    {}{}\n", path.display(), there(path)));
    }
    text.push_str(&match project {
        Some(project) => {
            let trust = project.untrusted_because().unwrap_or("trusted");
            format!("project  {} ({trust})\n", project.path.display())
        }
        None => format!("project  no {FILE_NAME} here or above\n"),
    });
    for (name, value) in set {
        text.push_str(&format!("{name}={value}\n"));
    }
    print::line(&text)
}

/// The variables of a row of the table: one, or one for every harness.
fn names(name: &str, registry: &HarnessRegistry) -> Vec<String> {
    match name.split_once("<ID>_") {
        Some((_, what)) => registry.iter().map(|builder| builder.facts().variable(what)).collect(),
        None => vec![name.to_owned()],
    }
}
