//! The words of feedback: what the next attempt is told. No value of the reply is quoted: it can be
//! large, and the agent has it.

use super::Invalid;
use crate::error::cut;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as K};
use serde_json::Value;
use std::fmt::Write;

/// Feedback is shorter than this, in bytes.
pub const FEEDBACK_BYTES: usize = 4096;

/// Faults of one value that are named.
const FAULTS: usize = 12;

const CLOSE: &str =
    "Answer again with the whole JSON value, corrected, and with nothing else: no text before or after it.";

/// What the agent is told when its reply held no JSON value.
pub fn feedback_for_no_value(why: &str) -> String {
    format!("Your last reply could not be read: {}.\n{CLOSE}", cut(why, 600))
}

/// What the agent is told when its reply held several valid values that differ.
pub fn feedback_for_several(count: usize) -> String {
    format!(
        "Your last reply held {count} different JSON values that fit the schema, so it is not clear which one is \
         meant.\nAnswer again with exactly one JSON value and with nothing else: no text before or after it."
    )
}

/// The faults of a value.
pub(super) fn invalid(errors: &[ValidationError<'_>]) -> Invalid {
    let mut faults = Vec::new();
    for error in errors {
        fault(error, "", 0, &mut faults);
    }
    faults.dedup();
    let summary =
        faults.first().map_or_else(|| "the value is not valid".to_owned(), |f| cut(f, 300).into_owned());
    let mut feedback = String::from("Your last reply is not valid against the JSON Schema:\n");
    let room = FEEDBACK_BYTES - CLOSE.len() - 100;
    for (at, fault) in faults.iter().enumerate() {
        let line = cut(fault, 400);
        if at >= FAULTS || feedback.len() + line.len() + 4 > room {
            let _ = writeln!(feedback, "- and {} more", faults.len() - at);
            break;
        }
        let _ = writeln!(feedback, "- {line}");
    }
    feedback.push_str(CLOSE);
    Invalid { summary, feedback }
}

fn fault(error: &ValidationError<'_>, form: &str, depth: usize, out: &mut Vec<String>) {
    let path = error.instance_path().as_str();
    let place = if path.is_empty() { "the value" } else { path };
    let mut say = |text: String| out.push(format!("{form}{place}: {text}"));
    match error.kind() {
        K::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            out.push(format!("{form}{path}/{} is missing (required)", pointer(name)));
        }
        K::AnyOf { context } | K::OneOfNotValid { context } if depth < 3 => {
            let keyword = error.kind().keyword();
            say(format!("fits none of the {} forms of {keyword}; each of them says why:", context.len()));
            for (at, branch) in context.iter().enumerate().take(8) {
                let form = format!("{form}form {}: ", at + 1);
                for error in branch.iter().take(4) {
                    fault(error, &form, depth + 1, out);
                }
            }
        }
        kind => say(expected(kind, error.instance())),
    }
}

/// What a keyword expects, without the value that failed it.
fn expected(kind: &K, found: &Value) -> String {
    let keyword = kind.keyword();
    match kind {
        K::Type { kind: TypeKind::Single(one) } => {
            format!("expected {one}, found {} (type)", type_name(found))
        }
        K::Type { kind: TypeKind::Multiple(set) } => {
            let names: Vec<String> = set.iter().map(|t| t.to_string()).collect();
            format!("expected one of {}, found {} (type)", names.join(", "), type_name(found))
        }
        K::Enum { options } => format!("expected one of {} (enum)", json(options)),
        K::Constant { expected_value } => format!("expected {} (const)", json(expected_value)),
        K::AdditionalProperties { unexpected } | K::UnevaluatedProperties { unexpected } => {
            format!("holds keys that are not allowed: {} ({keyword})", names(unexpected))
        }
        K::AdditionalItems { limit } => format!("at most {limit} items ({keyword})"),
        K::UnevaluatedItems { unexpected } => {
            format!("holds {} items that are not allowed ({keyword})", unexpected.len())
        }
        K::Format { format } => format!("expected the form of a {format} (format)"),
        K::Pattern { pattern } => format!("expected to match {} (pattern)", cut(pattern, 200)),
        K::MinLength { limit } | K::MaxLength { limit } => {
            format!("{} {limit} characters ({keyword})", bound(keyword))
        }
        K::MinItems { limit } | K::MaxItems { limit } => {
            format!("{} {limit} items ({keyword})", bound(keyword))
        }
        K::MinProperties { limit } | K::MaxProperties { limit } => {
            format!("{} {limit} keys ({keyword})", bound(keyword))
        }
        K::Minimum { limit } => format!("at least {limit} (minimum)"),
        K::Maximum { limit } => format!("at most {limit} (maximum)"),
        K::ExclusiveMinimum { limit } => format!("more than {limit} (exclusiveMinimum)"),
        K::ExclusiveMaximum { limit } => format!("less than {limit} (exclusiveMaximum)"),
        K::MultipleOf { multiple_of } => format!("a multiple of {multiple_of} (multipleOf)"),
        K::UniqueItems => "all items differ (uniqueItems)".to_owned(),
        K::Contains => "no item fits what `contains` asks for (contains)".to_owned(),
        K::Not { schema } => format!("must not fit {} (not)", json(schema)),
        K::OneOfMultipleValid { .. } => "fits more than one form; exactly one may fit (oneOf)".to_owned(),
        K::AnyOf { .. } | K::OneOfNotValid { .. } => format!("fits none of the forms ({keyword})"),
        K::PropertyNames { error } => {
            format!("a key is not allowed: {} (propertyNames)", error.masked_with("it"))
        }
        K::FalseSchema => "nothing is allowed here (false)".to_owned(),
        _ => format!("does not fit ({keyword})"),
    }
}

fn bound(keyword: &str) -> &'static str {
    if keyword.starts_with("min") { "at least" } else { "at most" }
}

fn json(value: &Value) -> String {
    cut(&value.to_string(), 200).into_owned()
}

fn names(keys: &[String]) -> String {
    let shown: Vec<String> = keys.iter().take(8).map(|k| format!("`{}`", cut(k, 60))).collect();
    shown.join(", ")
}

fn pointer(name: &str) -> String {
    cut(&name.replace('~', "~0").replace('/', "~1"), 120).into_owned()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
