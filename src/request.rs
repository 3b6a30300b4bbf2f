//! The dispatch request: what the caller wants, with no CLI in it.

use crate::error::{Failure, Result, did_you_mean};
use crate::policy::{Permission, ToolPolicy};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// What the caller wants from an agent. Only `prompt` is needed.
///
/// - Every field that is set appears in the [lowering report](crate::lowering::Report).
/// - In JSON, unknown keys are refused by name ([`DispatchRequest::from_json`] adds the nearest known
///   one); absent and `null` are the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DispatchRequest {
    /// The platform name (`gemini`), where the caller did not name it elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The task, byte for byte.
    pub prompt: String,
    /// Text that sets the agent's role; a CLI without a place for it gets it ahead of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// A model name or alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Pass `model` as it is; look up no alias.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "std::ops::Not::not")]
    pub model_is_exact: bool,
    /// Which tools may run. Absent: the request restricts none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolPolicy>,
    /// How far the agent may go, whatever `tools` says. Absent: what the CLI does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The JSON Schema that the reply has to be valid against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ReplySchema>,
    /// How much the model should think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Start a session with a known id, or resume one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// The agent's working directory. Absent: the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// More directories that the agent may work in.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<PathBuf>,
    /// The most turns that the agent may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Environment variables for the agent, over what it gets anyway.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// The form of the CLI's output. `auto` is text, and JSON with a schema.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "Output::is_auto")]
    pub output: Output,
    /// May the CLI replace `@path` in the prompt by that file? When not, a prompt that names an
    /// existing file so is refused before the spawn.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "std::ops::Not::not")]
    pub file_references: bool,
    /// Run even where the harness cannot hold the agent to the restrictions; the report says which.
    #[serde(default, deserialize_with = "null_is_absent", skip_serializing_if = "std::ops::Not::not")]
    pub allow_unenforced: bool,
    /// This request corrects a reply inside a session that already holds system prompt and schema. Set by
    /// the dispatch loop; not in JSON.
    #[serde(skip)]
    pub correction: bool,
}

fn null_is_absent<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The keys of a request in JSON, in the order of the type.
pub const FIELDS: &[&str] = &[
    "harness",
    "prompt",
    "system_prompt",
    "model",
    "model_is_exact",
    "tools",
    "permission",
    "schema",
    "effort",
    "session",
    "cwd",
    "add_dirs",
    "max_turns",
    "env",
    "output",
    "file_references",
    "allow_unenforced",
];

impl DispatchRequest {
    /// A request with this prompt and nothing else.
    pub fn new(prompt: impl Into<String>) -> Self {
        DispatchRequest { prompt: prompt.into(), ..Default::default() }
    }

    /// A request from JSON text, and notices on values that mean something else here.
    ///
    /// Errors: [`Kind::InvalidRequest`](crate::Kind::InvalidRequest) that names the key, with the
    /// nearest known one where it is unknown.
    pub fn from_json(text: &str) -> Result<(DispatchRequest, Vec<&'static str>)> {
        let bad = |e: serde_json::Error| Failure::invalid("request", e);
        let keys: IndexMap<String, &RawValue> = serde_json::from_str(text).map_err(bad)?;
        known_keys("request", keys.keys(), FIELDS)?;
        let request = serde_json::from_str(text).map_err(bad)?;
        let name = keys.get("permission").and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let notice = name.and_then(|name| Permission::from_name(&name).ok()?.1);
        Ok((request, notice.into_iter().collect()))
    }

    /// The same request with relative paths made absolute against `base`.
    #[must_use]
    pub fn resolved(mut self, base: &Path) -> Self {
        let absolute = |path: &Path| if path.as_os_str() == "." { base.to_owned() } else { base.join(path) };
        self.cwd = self.cwd.map(|cwd| absolute(&cwd));
        let dirs = std::mem::take(&mut self.add_dirs);
        self.add_dirs = dirs.iter().map(|dir| absolute(dir)).collect();
        self
    }

    /// Whether the request holds the agent back: by a tool policy, or by a permission under `full`.
    pub fn restricts(&self) -> bool {
        self.tools.is_some() || self.permission.is_some_and(|p| p < Permission::Full)
    }

    /// The follow-up that corrects a reply in the same session, with the same rights.
    #[must_use]
    pub fn correcting(&self, session_id: &str, feedback: String) -> Self {
        DispatchRequest {
            prompt: feedback,
            session: Some(Session::Resume(session_id.to_owned())),
            correction: true,
            ..self.clone()
        }
    }

    /// Whether this request only corrects a reply: the session holds system prompt and schema.
    pub fn is_correction(&self) -> bool {
        self.correction
    }
}

/// Refuses keys that are not in `known`, by name and with the nearest known one.
pub(crate) fn known_keys<'a>(
    what: &str,
    keys: impl IntoIterator<Item = &'a String>,
    known: &[&str],
) -> Result<()> {
    for key in keys {
        if !known.contains(&key.as_str()) {
            let near = did_you_mean(key, known.iter().copied());
            return Err(Failure::invalid(what, format!("unknown key `{key}`{near}"))
                .hint(format!("known keys: {}", known.join(", "))));
        }
    }
    Ok(())
}

/// A JSON Schema as the caller wrote it: the order of its keys is kept, since models follow it.
#[derive(Debug, Clone)]
pub struct ReplySchema(Box<RawValue>);

impl ReplySchema {
    /// A schema from JSON text. It is not compiled here.
    pub fn from_text(text: &str) -> Result<Self> {
        let raw = serde_json::from_str::<Box<RawValue>>(text).map_err(|e| Failure::invalid("schema", e))?;
        match raw.get().as_bytes().first() {
            Some(b'{' | b't' | b'f') => Ok(ReplySchema(raw)),
            _ => Err(Failure::invalid("schema", "a JSON Schema is an object, true or false")),
        }
    }

    /// A schema from a value; its keys come in the value's order.
    pub fn from_value(value: &serde_json::Value) -> Result<Self> {
        ReplySchema::from_text(&value.to_string())
    }

    /// The text, as it was given.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for ReplySchema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for ReplySchema {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ReplySchema {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        ReplySchema::from_text(raw.get()).map_err(|e| serde::de::Error::custom(e.message))
    }
}

/// How much the model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// The session of a request: `{}` or `{"id": "…"}` starts one, `{"resume": "…"}` goes on with one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    /// A new session, with an id that the caller chose where there is one.
    New(Option<String>),
    /// An earlier session, by its id. It keeps the rights of this request, which should be those of
    /// its first run.
    Resume(String),
}

impl Session {
    /// The id that the request names, if it names one.
    pub fn id(&self) -> Option<&str> {
        match self {
            Session::New(id) => id.as_deref(),
            Session::Resume(id) => Some(id),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let (id, resume) = match self {
            Session::New(id) => (id.clone(), None),
            Session::Resume(id) => (None, Some(id.clone())),
        };
        SessionWire { id, resume }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        match SessionWire::deserialize(from)? {
            SessionWire { id: Some(_), resume: Some(_) } => {
                Err(serde::de::Error::custom("session: give `id` for a new one or `resume`, not both"))
            }
            SessionWire { resume: Some(id), .. } => Ok(Session::Resume(id)),
            SessionWire { id, .. } => Ok(Session::New(id)),
        }
    }
}

/// The form in which the CLI is asked to answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Text, and JSON with a schema.
    #[default]
    Auto,
    /// The bare text of the answer.
    Text,
    /// One envelope at the end.
    Json,
    /// Events as they happen: usage, session and errors are there.
    Stream,
}

impl Output {
    fn is_auto(&self) -> bool {
        *self == Output::Auto
    }

    /// What `auto` comes to for this request.
    pub fn settled(self, has_schema: bool) -> Output {
        match self {
            Output::Auto if has_schema => Output::Json,
            Output::Auto => Output::Text,
            other => other,
        }
    }
}
