//! What a supervisor dispatches: everything settled, so that it reads no settings of its own.

use crate::error::{Failure, Kind, Result};
use crate::profile::Profile;
use crate::request::DispatchRequest;
use crate::run::Rehearse;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A dispatch for a supervisor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobSpec {
    /// The platform name.
    pub harness: String,
    /// What is asked for.
    pub request: DispatchRequest,
    /// How the harness is run.
    pub profile: Profile,
    /// The configuration's model aliases, which are no part of a profile's own file.
    pub models: IndexMap<String, IndexMap<String, String>>,
    /// A field that cannot be carried is an error.
    pub strict: bool,
    /// `auto` output stays what the request says.
    pub output_as_asked: bool,
    /// The CLI's program, over everything else that names one.
    pub bin: Option<PathBuf>,
    /// Files that declare harnesses.
    pub harness_files: Vec<PathBuf>,
    /// The stand-in instead of the CLI.
    pub rehearse: Option<Rehearsed>,
    /// What the job is, in one line for people; absent is the beginning of the prompt.
    pub title: Option<String>,
}

/// A rehearsal, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of Rehearse")]
pub struct Rehearsed {
    pub program: PathBuf,
    pub env: Vec<(String, String)>,
    pub attempt_var: String,
}

impl From<Rehearse> for Rehearsed {
    fn from(Rehearse { program, env, attempt_var }: Rehearse) -> Rehearsed {
        Rehearsed { program, env, attempt_var }
    }
}

impl From<Rehearsed> for Rehearse {
    fn from(Rehearsed { program, env, attempt_var }: Rehearsed) -> Rehearse {
        Rehearse { program, env, attempt_var }
    }
}

impl JobSpec {
    /// The same spec for keeping: the values of variables are taken out, since they may be secrets.
    #[must_use]
    pub fn without_values(mut self) -> JobSpec {
        for value in self.request.env.values_mut().chain(self.profile.env.values_mut()) {
            value.clear();
        }
        self
    }

    /// What the job is, in one line.
    pub fn title(&self) -> String {
        let whole = self.title.as_deref().unwrap_or(&self.request.prompt);
        let line = whole.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let plain: String = line.chars().filter(|c| !c.is_control()).collect();
        crate::error::cut(&plain, 80).into_owned()
    }

    pub(super) fn read(text: &str) -> Result<JobSpec> {
        let mut spec: JobSpec = serde_json::from_str(text)
            .map_err(|e| Failure::new(Kind::InvalidConfig, format!("spec.json of the job: {e}")))?;
        spec.profile.shared_models = spec.models.clone();
        Ok(spec)
    }
}
