//! The caller's JSON Schema: compiled once a dispatch, with no network and no files, and its verdict.

mod feedback;

pub use feedback::{FEEDBACK_BYTES, feedback_for_no_value, feedback_for_several};

use crate::error::{Failure, Kind, Result, cut};
use crate::reply::strict_value;
use crate::request::ReplySchema;
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

/// A schema that compiled.
///
/// - Full JSON Schema, by the dialect that `$schema` names (also with the other spelling of
///   `http`/`https` and of the final `#`), 2020-12 without one.
/// - `format` is asserted in every dialect; a format that is unknown is not.
/// - A `$ref` may go to a place in the schema itself, and nowhere else.
#[derive(Debug, Clone)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// Why a value is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// One line: the first fault, with its path.
    pub summary: String,
    /// For the agent: every fault with path, keyword and expected form, under 4 KiB.
    pub feedback: String,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// Errors: [`Kind::SchemaError`] where it is no valid schema, names a dialect that is not known, or
    /// refers to something outside itself. Nothing is fetched or opened.
    pub fn compile(schema: &ReplySchema) -> Result<Schema> {
        let fault = |what: String| {
            Failure::new(Kind::SchemaError, format!("schema: {}", cut(&what, 600))).hint(
                "the schema must be valid by itself: every $ref inside it, a dialect of json-schema.org",
            )
        };
        let mut value = strict_value(schema.text()).map_err(fault)?;
        let draft = dialect(&mut value).map_err(fault)?;
        let options = jsonschema::options().with_draft(draft).should_validate_formats(true).offline();
        let validator = options.build(&value).map_err(|e| fault(describe(&e)))?;
        Ok(Schema { validator })
    }

    /// Whether the value is valid, without a reason. A value that the schema cannot be held against is
    /// not.
    pub fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// The verdict on a value: what is wrong with it, where something is.
    ///
    /// Errors: [`Kind::SchemaError`] where a `pattern` runs into the limit of its regular expression:
    /// that is the schema's fault, and no other answer would help.
    pub fn verdict(&self, value: &Value) -> Result<Option<Invalid>> {
        if self.validator.is_valid(value) {
            return Ok(None);
        }
        let errors: Vec<ValidationError<'_>> = self.validator.iter_errors(value).take(64).collect();
        if let Some(limit) = errors.iter().find_map(runs_into_limit) {
            return Err(Failure::new(Kind::SchemaError, format!("schema: {limit}"))
                .hint("a simpler `pattern` has no nested repetitions"));
        }
        Ok(Some(feedback::invalid(&errors)))
    }
}

/// The dialect of a schema; its `$schema` is replaced by the spelling that the validator knows.
fn dialect(schema: &mut Value) -> std::result::Result<Draft, String> {
    const KNOWN: [(&str, Draft, &str); 5] = [
        (
            "json-schema.org/draft/2020-12/schema",
            Draft::Draft202012,
            "https://json-schema.org/draft/2020-12/schema",
        ),
        (
            "json-schema.org/draft/2019-09/schema",
            Draft::Draft201909,
            "https://json-schema.org/draft/2019-09/schema",
        ),
        ("json-schema.org/draft-07/schema", Draft::Draft7, "http://json-schema.org/draft-07/schema#"),
        ("json-schema.org/draft-06/schema", Draft::Draft6, "http://json-schema.org/draft-06/schema#"),
        ("json-schema.org/draft-04/schema", Draft::Draft4, "http://json-schema.org/draft-04/schema#"),
    ];
    let Some(named) = schema.as_object_mut().and_then(|object| object.get_mut("$schema")) else {
        return Ok(Draft::Draft202012);
    };
    let Some(url) = named.as_str() else { return Err("$schema is no string".to_owned()) };
    let plain = url.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('#');
    match KNOWN.iter().find(|(known, ..)| *known == plain) {
        Some((_, draft, spelling)) => {
            *named = Value::from(*spelling);
            Ok(*draft)
        }
        None => Err(format!("the dialect `{}` of $schema is not known here", cut(url, 200))),
    }
}

fn describe(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let place = if path.is_empty() { String::new() } else { format!("at {path}: ") };
    format!("{place}{}", error.masked())
}

fn runs_into_limit(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::BacktrackLimitExceeded { .. } => Some(format!(
            "the pattern at {} runs into the limit of its regular expression",
            error.schema_path()
        )),
        ValidationErrorKind::RegexEngineFailure { message } => {
            Some(format!("the pattern at {} cannot be evaluated: {}", error.schema_path(), cut(message, 200)))
        }
        ValidationErrorKind::AnyOf { context }
        | ValidationErrorKind::OneOfNotValid { context }
        | ValidationErrorKind::OneOfMultipleValid { context } => {
            context.iter().flatten().find_map(runs_into_limit)
        }
        ValidationErrorKind::PropertyNames { error } => runs_into_limit(error),
        _ => None,
    }
}
