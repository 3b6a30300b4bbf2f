//! Typed: the schema comes from a Rust type, and the value goes back into it.

use super::{DispatchOptions, until_valid};
use crate::error::{Failure, Kind, Result};
use crate::harness::AgentBuilder;
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::request::{DispatchRequest, ReplySchema};
use crate::run::Runner;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A value of the caller's type, with the whole outcome.
#[derive(Debug, Clone)]
pub struct Completed<T> {
    /// The value.
    pub value: T,
    /// How it came about: attempts, usage, session.
    pub outcome: Outcome,
}

/// Dispatches a request whose reply is a `T`.
///
/// ```no_run
/// # async fn example() -> Result<(), teamster::Failure> {
/// use teamster::{DispatchRequest, HarnessRegistry, Profile, dispatch, run::LocalRunner};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Summary { summary: String }
///
/// let registry = HarnessRegistry::builtin();
/// let request = DispatchRequest::new("Summarise README.md");
/// let gemini = registry.get("gemini")?;
/// let done = dispatch::complete::<Summary, _>(gemini, request, &Profile::default(), &mut LocalRunner::default()).await?;
/// println!("{}", done.value.summary);
/// # Ok(())
/// # }
/// ```
///
/// - The schema is `T`'s, by schemars (2020-12); one in the request is an error.
/// - Errors: the dispatch's failure; [`Kind::SchemaError`] where a value fits the schema and `T` still
///   refuses it (a `TryFrom` with rules of its own).
pub async fn complete<T: JsonSchema + DeserializeOwned, R: Runner>(
    builder: &dyn AgentBuilder,
    mut request: DispatchRequest,
    profile: &Profile,
    runner: &mut R,
) -> Result<Completed<T>> {
    if request.schema.is_some() {
        return Err(Failure::invalid("schema", "is set, and the type gives another one"));
    }
    let schema = schemars::schema_for!(T);
    request.schema = Some(ReplySchema::from_value(schema.as_value())?);
    let outcome = until_valid(builder, request, profile, runner, DispatchOptions::default()).await;
    match (&outcome.value, &outcome.failure) {
        (Some(value), _) => match T::deserialize(value) {
            Ok(value) => Ok(Completed { value, outcome }),
            Err(e) => {
                Err(Failure::new(Kind::SchemaError, format!("a valid value does not fit the type: {e}")))
            }
        },
        (None, Some(failure)) => Err(failure.clone()),
        (None, None) => {
            Err(Failure::new(Kind::HarnessError, "the dispatch gave neither a value nor a failure"))
        }
    }
}
