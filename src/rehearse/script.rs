//! What a rehearsal answers, attempt by attempt.

use super::sample::sample;
use super::{ATTEMPT_VAR, SCRIPT_VAR, STAND_IN_VAR};
use crate::error::{Failure, Result};
use crate::request::ReplySchema;
use crate::run::Rehearse;
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// One answer of the stand-in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The agent answers with this text.
    Text(String),
    /// The agent answers with this value, as JSON.
    Json(Value),
    /// The model server answers with this HTTP status.
    Status(u16),
    /// The agent gives no answer.
    Empty(bool),
    /// Nothing happens for so many seconds.
    Hang(u64),
}

/// The answers of a rehearsal; the last one is repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Script(pub Vec<Step>);

impl Script {
    /// A script from the text of `--rehearse=…`:
    ///
    /// - empty: one good answer (with a schema, a value that is valid against it);
    /// - `wrong-first`: an answer that is not valid, then the good one;
    /// - a JSON list of steps, or the path of a file with one: `{"text": "…"}`, `{"json": …}`,
    ///   `{"status": 429}`, `{"empty": true}`, `{"hang": 30}`.
    pub fn from_text(text: &str, schema: Option<&ReplySchema>) -> Result<Script> {
        let good = || good(schema);
        match text {
            "" => Ok(Script(vec![good()?])),
            "wrong-first" => Ok(Script(vec![wrong(schema)?, good()?])),
            list if list.trim_start().starts_with('[') => steps(list),
            path => {
                let text = std::fs::read_to_string(path).map_err(|e| {
                    Failure::invalid(
                        "rehearse",
                        format!("`{path}` is no step list, not wrong-first, and no file: {e}"),
                    )
                    .hint("give --rehearse, --rehearse=wrong-first, or --rehearse='[{\"text\": \"…\"}]'")
                })?;
                steps(&text)
            }
        }
    }

    /// How the runner starts the stand-in with this script.
    pub fn rehearse(&self, harness: &str, program: PathBuf) -> Rehearse {
        let script = serde_json::to_string(self).unwrap_or_default();
        let env = vec![(STAND_IN_VAR.into(), harness.into()), (SCRIPT_VAR.into(), script)];
        Rehearse { program, env, attempt_var: ATTEMPT_VAR.into() }
    }
}

fn steps(text: &str) -> Result<Script> {
    let script: Script = serde_json::from_str(text).map_err(|e| Failure::invalid("rehearse", e))?;
    if script.0.is_empty() {
        return Err(Failure::invalid("rehearse", "the list of steps is empty"));
    }
    Ok(script)
}

fn good(schema: Option<&ReplySchema>) -> Result<Step> {
    let Some(schema) = schema else {
        return Ok(Step::Text("This is a rehearsal: the stand-in answered, no model was asked.".to_owned()));
    };
    sample(schema)?.map(Step::Json).ok_or_else(|| {
        Failure::invalid("rehearse", "no value that fits the schema could be made up")
            .hint("give one: --rehearse='[{\"json\": …}]'")
    })
}

/// An answer that the schema refuses.
fn wrong(schema: Option<&ReplySchema>) -> Result<Step> {
    let schema = schema.map(Schema::compile).ok_or_else(|| {
        Failure::invalid("rehearse", "wrong-first needs a schema: without one no answer is wrong")
    })??;
    let refused = [json!({}), json!([]), json!("wrong")].into_iter().find(|value| !schema.accepts(value));
    Ok(refused.map_or_else(|| Step::Text("An answer without any JSON in it.".to_owned()), Step::Json))
}
