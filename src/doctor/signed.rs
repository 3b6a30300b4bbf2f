//! What signs a CLI in, as far as that can be told without a model.

use crate::error::Failure;
use crate::harness::{Facts, StatusCovers};
use crate::profile::Profile;
use crate::run::{Cancel, Question, ask};
use std::path::Path;
use std::time::Duration;

/// How long a status command may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Names of the variables that sign it in and have a value, in this environment or by the profile.
    pub(super) variables: Vec<String>,
    /// What the status command says; `None` where there is none, or it says neither.
    pub(super) status: Option<bool>,
    /// The status command looks at everything, so that its no is one.
    pub(super) is_whole: bool,
}

impl Found {
    pub(super) fn is_signed_out(&self) -> bool {
        self.is_whole && self.status == Some(false)
    }

    /// There is no sign of a credential.
    pub(super) fn is_nothing(&self) -> bool {
        self.status != Some(true) && self.variables.is_empty()
    }

    /// What all this says, for a message.
    pub(super) fn said(&self) -> String {
        match (self.variables.as_slice(), self.status) {
            ([], Some(true)) => "its status command says that it is signed in".to_owned(),
            ([], Some(false)) => "its status command knows no sign-in".to_owned(),
            ([], None) => "nothing says whether it is signed in".to_owned(),
            (names, _) => format!("set: {}", names.join(", ")),
        }
    }

    /// What may sign it in, for a message.
    pub(super) fn shown(&self) -> String {
        match (self.variables.as_slice(), self.status) {
            ([], _) => "the stored sign-in".to_owned(),
            (names, Some(true)) if !self.is_whole => format!("{} or the stored sign-in", names.join(", ")),
            (names, _) => names.join(", "),
        }
    }
}

/// Looks at the variables.
pub(super) fn variables(facts: &Facts, profile: &Profile) -> Vec<String> {
    let set = |name: &&String| match profile.env.get(*name) {
        Some(value) => !value.is_empty(),
        None => std::env::var_os(name).is_some_and(|value| !value.is_empty()),
    };
    facts.auth_env.iter().filter(set).cloned().collect()
}

/// Asks the status command.
pub(super) async fn look(facts: &Facts, profile: &Profile, program: &Path, cancel: Option<Cancel>) -> Found {
    let mut found = Found { variables: variables(facts, profile), status: None, is_whole: false };
    let Some(status) = &facts.status else { return found };
    let args: Vec<&str> = status.args.iter().map(String::as_str).collect();
    let question = Question {
        facts,
        profile,
        program,
        args: &args,
        with_keys: true,
        patience: PATIENCE,
        cancel,
        end_with_thread: true,
    };
    if let Ok(said) = ask(question).await {
        let says = |words: &String| said.stdout.contains(words) || said.stderr.contains(words);
        found.status = match said.status {
            Some(0) if status.says_in.iter().any(says) => Some(true),
            Some(1..) if says(&status.says_out) => Some(false),
            _ => None,
        };
        // Arguments of the profile may bring a credential along, and the command does not get them.
        found.is_whole = status.covers == StatusCovers::All && profile.args.is_empty();
    }
    found
}

/// Whether the CLI says that it has no credential.
pub(super) fn says_signed_out(facts: &Facts, failure: &Failure) -> bool {
    let texts = [Some(failure.message.as_str()), failure.stderr_tail.as_deref()];
    texts.into_iter().flatten().any(|text| facts.signed_out.iter().any(|words| text.contains(words)))
}
