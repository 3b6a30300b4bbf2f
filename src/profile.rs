//! The profile: how this installation runs a harness.

use crate::error::{Failure, Result};
use crate::policy::Permission;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How this installation runs one harness: data from a config file, or made in code.
///
/// The default profile changes nothing: the harness's own binary name, no extra arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The platform name that the profile is for. Absent: the profile's own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The program: a path, or a name to look up in PATH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<String>,
    /// Arguments that come before teamster's own. They are the operator's word, but an argument that
    /// would give an agent more than a restricting request allows is an error. A string is split as a
    /// shell would split it.
    #[cfg_attr(feature = "typed", schemars(with = "ArgsForm"))]
    #[serde(deserialize_with = "args", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables for the CLI.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// Names of variables of the caller that the CLI may see, over the common set; `"*"` for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_pass: Vec<String>,
    /// Model aliases of this profile: alias → model.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub models: IndexMap<String, String>,
    /// Model aliases of the configuration, for all profiles: alias → platform or `"*"` → model.
    #[serde(skip)]
    pub shared_models: IndexMap<String, IndexMap<String, String>>,
    /// The most that any request under this profile may ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// Clocks and caps.
    pub limits: Limits,
}

/// A list of arguments, or one line that is split as a shell would.
#[cfg(feature = "typed")]
#[derive(Serialize, schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a mirror of what `args` takes")]
enum ArgsForm {
    List(Vec<String>),
    Line(String),
}

/// A list of arguments, or a line that is split into them.
fn args<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Vec<String>, D::Error> {
    struct Forms;
    impl<'de> serde::de::Visitor<'de> for Forms {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of arguments, or one string that is split as a shell would")
        }
        fn visit_str<E: serde::de::Error>(self, line: &str) -> std::result::Result<Self::Value, E> {
            shell_words::split(line).map_err(|e| E::custom(format!("args: {e}")))
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut list: A,
        ) -> std::result::Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(arg) = list.next_element()? {
                all.push(arg);
            }
            Ok(all)
        }
    }
    from.deserialize_any(Forms)
}

/// Clocks and caps of a dispatch. Absent: the default, or none where it says so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Seconds for the whole dispatch, all attempts together. Default 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// Seconds until the CLI first writes something. Default: no such clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_output_timeout_s: Option<f64>,
    /// Seconds without any new output. Default: no such clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_s: Option<f64>,
    /// Attempts for one valid reply, the first included. Default 3, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Bytes that one run may write to stdout and stderr together. Default 268,435,456.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// Events that one run may give. Default 1,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_events: Option<u64>,
    /// Tokens, those of the model's input and output together, after which nothing more is asked. Looked at
    /// between attempts: an attempt that runs is not ended. Default: no such budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// US dollars after which nothing more is asked, as the CLI tells its cost; a CLI that has a flag for it is
    /// told, too, what is left. Default: no such budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

impl Limits {
    /// These limits where they are set, else the other's.
    #[must_use]
    pub fn or(self, other: &Limits) -> Limits {
        Limits {
            timeout_s: self.timeout_s.or(other.timeout_s),
            first_output_timeout_s: self.first_output_timeout_s.or(other.first_output_timeout_s),
            idle_timeout_s: self.idle_timeout_s.or(other.idle_timeout_s),
            attempts: self.attempts.or(other.attempts),
            max_output_bytes: self.max_output_bytes.or(other.max_output_bytes),
            max_events: self.max_events.or(other.max_events),
            max_tokens: self.max_tokens.or(other.max_tokens),
            max_cost_usd: self.max_cost_usd.or(other.max_cost_usd),
        }
    }

    /// The limits checked, with the defaults in their places.
    ///
    /// Errors: a clock or a sum that is not a finite number above 0, attempts that are 0 or above 100.
    pub fn settled(&self) -> Result<SettledLimits> {
        let attempts = self.attempts.unwrap_or(3);
        if !(1..=100).contains(&attempts) {
            return Err(Failure::invalid("attempts", format!("{attempts} is not between 1 and 100")));
        }
        if let Some(cost) = self.max_cost_usd.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return Err(Failure::invalid("max_cost_usd", format!("{cost} is no sum above 0")));
        }
        if self.max_tokens == Some(0) {
            return Err(Failure::invalid("max_tokens", "0 leaves nothing to ask with"));
        }
        Ok(SettledLimits {
            budget: Budget { max_tokens: self.max_tokens, max_cost_usd: self.max_cost_usd },
            timeout: clock("timeout", self.timeout_s)?.unwrap_or(Duration::from_secs(600)),
            first_output: clock("first_output_timeout", self.first_output_timeout_s)?,
            idle: clock("idle_timeout", self.idle_timeout_s)?,
            attempts,
            max_output_bytes: self.max_output_bytes.unwrap_or(256 << 20),
            max_events: self.max_events.unwrap_or(1_000_000),
        })
    }
}

/// [`Limits`] with every default in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of Limits")]
pub struct SettledLimits {
    pub timeout: Duration,
    pub first_output: Option<Duration>,
    pub idle: Option<Duration>,
    pub attempts: u32,
    pub max_output_bytes: u64,
    pub max_events: u64,
    pub budget: Budget,
}

/// What may be spent. Absent: any amount.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Tokens, input and output together.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_cost_usd: Option<f64>,
}

fn clock(field: &str, seconds: Option<f64>) -> Result<Option<Duration>> {
    let Some(seconds) = seconds else { return Ok(None) };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() && seconds <= 31_536_000.0 => Ok(Some(duration)),
        _ => Err(Failure::invalid(field, format!("{seconds} is no time between 0 and 31536000 seconds"))),
    }
}

impl Profile {
    /// The model to ask the CLI for, most specific alias first: the profile's, the configuration's
    /// for this platform, the configuration's `"*"`, the harness's own, else the name as it is.
    pub fn model<'a>(
        &'a self,
        platform: &str,
        own: &'a IndexMap<String, String>,
        name: &'a str,
        exact: bool,
    ) -> &'a str {
        if exact {
            return name;
        }
        let shared = self.shared_models.get(name);
        self.models
            .get(name)
            .or_else(|| shared.and_then(|by| by.get(platform).or_else(|| by.get("*"))))
            .or_else(|| own.get(name))
            .map_or(name, String::as_str)
    }

    /// The permission that holds for a request under this profile: the smaller of the two.
    ///
    /// A profile never grants: a request that asks for none gets none from it. Where the profile stays
    /// under `full`, such a request is held to reading, or, with a tool policy, to what the policy and
    /// the profile both let.
    pub fn ceiling(&self, asked: Option<Permission>, has_policy: bool) -> Option<Permission> {
        match (self.permission, asked) {
            (Some(own), Some(asked)) => Some(own.min(asked)),
            (Some(Permission::Full) | None, asked) => asked,
            (Some(own), None) if has_policy => Some(own),
            (Some(_), None) => Some(Permission::ReadOnly),
        }
    }
}
