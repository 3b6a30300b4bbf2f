//! `teamster doctor`: what is installed, which version, signed in or not; and teamster itself.

use super::diagnosis::shown;
use super::dispatch::{Signals, runtime};
use super::print;
use super::request::{profile, settings, var};
use crate::config::{Config, Sources};
use crate::doctor::{Examination, HarnessReport, Look, Report, check_teamster, examine, together};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, HarnessRegistry};
use crate::profile::{Limits, Profile};
use crate::run::{Cancel, Canceller};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How many harnesses are looked at at the same time: each starts a program or two.
const AT_ONCE: usize = 3;

#[derive(Args)]
pub(super) struct DoctorArgs {
    /// The harnesses, by name or alias [default: all that are installed]
    #[arg(value_name = "PLATFORM")]
    platforms: Vec<String>,
    /// Make no call: look at the program, its version, its variables and its own status command
    #[arg(long, help_heading = "Call")]
    skip_probe: bool,
    /// Seconds for the call to one harness
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, help_heading = "Call")]
    timeout: f64,
    /// A model name or alias for the call
    #[arg(long, short, value_name = "MODEL", help_heading = "Call")]
    model: Option<String>,
    /// Print the report as one JSON object
    #[arg(long, help_heading = "Result")]
    json: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short, help_heading = "Result")]
    quiet: bool,
    /// The CLI's program
    #[arg(long, value_name = "PROGRAM", help_heading = "Where it runs")]
    bin: Option<std::ffi::OsString>,
    /// A profile of the configuration
    #[arg(long, value_name = "NAME", help_heading = "Where it runs")]
    profile: Option<String>,
    /// The configuration file
    #[arg(long, value_name = "FILE", help_heading = "Where it runs")]
    config: Option<PathBuf>,
    /// The folder whose project's settings count [default: this one]
    #[arg(long, short = 'C', value_name = "DIR", help_heading = "Where it runs")]
    cwd: Option<PathBuf>,
}

pub(super) fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let report = match examined(args) {
        Err(failure) if args.json => {
            print::failure(&failure);
            Report::failed(failure)
        }
        report => report?,
    };
    if args.json {
        print::json(&report)?;
    } else {
        print::line(&shown(&report, args.platforms.is_empty()))?;
    }
    Ok(report.kind().map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.exit_status())))
}

fn examined(args: &DoctorArgs) -> Result<Report> {
    let named = !args.platforms.is_empty();
    let one =
        [("bin", args.bin.is_some()), ("model", args.model.is_some()), ("profile", args.profile.is_some())];
    if let Some((flag, _)) = one.into_iter().find(|(_, given)| *given && args.platforms.len() != 1) {
        return Err(Failure::invalid(flag, "is for one harness, and not one is named")
            .hint(format!("teamster doctor PLATFORM --{flag} …")));
    }
    let limits = Limits { timeout_s: Some(args.timeout), ..Limits::default() };
    let timeout = limits.settled()?.timeout;
    let settings = settings(args.config.as_deref(), args.cwd.as_deref(), args.quiet);
    // With settings that are broken nothing else is looked at: a call would be made in another way than theirs.
    let (told, looks) = match &settings {
        Ok((config, registry)) => match chosen(args, config, registry) {
            Ok(looks) => (Ok(source(args)), looks),
            Err(failure) if failure.kind == Kind::InvalidConfig && args.profile.is_none() => {
                (Err(failure), Vec::new())
            }
            Err(failure) => return Err(failure),
        },
        Err(failure) => (Err(failure.clone()), Vec::new()),
    };
    runtime()?.block_on(async {
        // Before anything is spawned: an early signal must not leave a child behind.
        let signals = Signals::caught()?;
        let (canceller, cancel) = Canceller::new();
        let all = async {
            let checks = check_teamster(told).await;
            let harnesses = all(args, looks, timeout, &cancel).await;
            Report::new(checks, harnesses, named)
        };
        tokio::select! {
            report = all => Ok(report),
            () = signals.cancel(canceller) => {
                Err(Failure::new(Kind::Cancelled, "cancelled, without waiting"))
            }
        }
    })
}

/// Where the settings are from.
fn source(args: &DoctorArgs) -> String {
    let sources = Sources::of_process(args.config.as_deref(), args.cwd.as_deref());
    let project = sources.project().ok().flatten().map(|project| project.path);
    let files: Vec<String> =
        sources.user().into_iter().chain(project).map(|path| path.display().to_string()).collect();
    if files.is_empty() { "no file, so the defaults".to_owned() } else { files.join(", ") }
}

/// The harnesses that are asked for, each once, with their profiles.
fn chosen<'r>(
    args: &DoctorArgs,
    config: &Config,
    registry: &'r HarnessRegistry,
) -> Result<Vec<(&'r dyn AgentBuilder, Profile)>> {
    let mut builders: Vec<&dyn AgentBuilder> = match args.platforms.as_slice() {
        [] => registry.iter().collect(),
        names => names.iter().map(|name| registry.get(name)).collect::<Result<_>>()?,
    };
    let mut seen = Vec::new();
    builders.retain(|builder| {
        let is_new = !seen.contains(&builder.facts().id);
        seen.push(builder.facts().id.clone());
        is_new
    });
    let one = builders.len() == 1;
    let with_profile = |builder: &'r dyn AgentBuilder| {
        let id = &builder.facts().id;
        let named = profile(config, args.profile.as_deref(), id);
        // Of several, the profile that a variable names is for some.
        let profile = if one { named? } else { named.or_else(|_| config.profile(None, id))? };
        Ok((builder, profile))
    };
    builders.into_iter().map(with_profile).collect()
}

/// Looks at all of them, some at the same time.
async fn all(
    args: &DoctorArgs,
    chosen: Vec<(&dyn AgentBuilder, Profile)>,
    timeout: Duration,
    cancel: &Cancel,
) -> Vec<HarnessReport> {
    let waiting = Waiting::new(args.quiet);
    let look = async |builder: &dyn AgentBuilder, profile: Profile| {
        let id = builder.facts().id.clone();
        let how = Examination {
            call: !args.skip_probe,
            timeout,
            bin: args.bin.clone(),
            model: args.model.clone().or_else(|| var(&builder.facts().variable("MODEL"))),
            cancel: Some(cancel.clone()),
        };
        waiting.begin(&id);
        let report = examine(builder, &profile, &how).await;
        waiting.end(&id);
        report
    };
    let looks: Vec<Look<'_, HarnessReport>> =
        chosen.into_iter().map(|(builder, profile)| Box::pin(look(builder, profile)) as _).collect();
    let reports = together(looks, AT_ONCE).await;
    waiting.finish();
    reports
}

/// A live line with the names of those that are being looked at, where stderr is a terminal.
struct Waiting {
    bar: Option<ProgressBar>,
    names: RefCell<Vec<String>>,
}

impl Waiting {
    fn new(quiet: bool) -> Waiting {
        let live = !quiet && std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let bar = live.then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {wide_msg}  {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Waiting { bar, names: RefCell::new(Vec::new()) }
    }

    fn begin(&self, name: &str) {
        self.names.borrow_mut().push(name.to_owned());
        self.show();
    }

    fn end(&self, name: &str) {
        self.names.borrow_mut().retain(|other| other != name);
        self.show();
    }

    fn show(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.names.borrow().join(", "));
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
