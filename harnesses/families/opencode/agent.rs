//! The private agent: system prompt, limit of turns, directories and rights, in a settings file of the command.

use super::permissions::{Permissions, permissions};
use super::{AGENT, Fork};
use crate::command::{Check, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::Draft;
use crate::lowering::{Carried, Field, MAX_ARGUMENT};
use crate::policy::Permission;
use serde::Serialize;
use std::collections::BTreeMap;

/// The file's name.
const FILE: &str = "agent.json";

#[derive(Serialize)]
struct Settings<'a> {
    /// Without it the CLI writes one into the file.
    #[serde(rename = "$schema")]
    schema: &'static str,
    /// Formatters and language servers are programs of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    formatter: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lsp: Option<bool>,
    agent: BTreeMap<&'static str, Agent<'a>>,
}

#[derive(Serialize)]
struct Agent<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Permissions::is_empty")]
    permission: Permissions,
}

/// Adds the agent where the request needs one. Without a prompt and without rights of its own it is the CLI's
/// default agent in all but the name.
pub(super) fn lower(fork: &Fork, draft: &mut Draft<'_>) -> Result<()> {
    let request = draft.request;
    let restricts = request.restricts();
    let everywhere = request.permission == Some(Permission::Full) && !restricts;
    let prompt = draft.system_prompt();
    let dirs = !request.add_dirs.is_empty();
    if everywhere && dirs {
        draft.row(Field::AddDirs, Carried::Flag, "--auto lets the agent into every directory");
    }
    if !restricts && prompt.is_none() && (!dirs || everywhere) {
        return Ok(());
    }
    let carrier = carrier(fork, draft)?;
    if prompt.is_some() {
        draft.row(
            Field::SystemPrompt,
            carrier,
            format!("the prompt of the agent {AGENT}, in place of the CLI's own"),
        );
    }
    if dirs && !everywhere {
        draft.row(Field::AddDirs, carrier, format!("allowed to the agent {AGENT} as external_directory"));
    }
    let permission = permissions(fork, draft, carrier)?;
    let settings = Settings {
        schema: "https://opencode.ai/config.json",
        formatter: restricts.then_some(false),
        lsp: restricts.then_some(false),
        agent: BTreeMap::from([(AGENT, Agent { mode: "primary", prompt, permission })]),
    };
    let text = serde_json::to_string(&settings)
        .map_err(|e| Failure::new(Kind::HarnessError, format!("the agent cannot be written: {e}")))?;
    // Both stand in strings alone, so an escape says the same and keeps them from being replaced.
    let text = text.replace("{env:", "\\u007benv:").replace("{file:", "\\u007bfile:");
    if carrier == Carried::Env {
        if text.len() + fork.content.len() + 1 > MAX_ARGUMENT {
            let why = format!(
                "system_prompt: {} bytes with its agent, and {} of the profile leaves only a variable for it",
                text.len(),
                fork.config
            );
            return Err(Failure::new(Kind::ArgTooLong, why).hint("leave that variable out"));
        }
        draft.set_env(fork.content, text);
    } else {
        draft.file(FILE, text);
        draft.set_env(fork.config, Text::file("", FILE));
        draft.checks.push(Check::NoVariable {
            name: fork.config.into(),
            why: "it names settings of your own, and the run needs it for its agent: put the variable into the \
                  profile's env"
                .into(),
        });
    }
    draft.arg(format!("--agent={AGENT}"));
    if restricts {
        draft.set_env(fork.no_project, "1");
        nothing_unheld(fork, draft)?;
    }
    Ok(())
}

/// opencode has a second loader of settings, for its tools, that heeds no variable: after the first use of most tools
/// it imports the plugins that a project's settings name into its own process, from every directory upwards. kilo
/// reads the files of its older versions.
fn nothing_unheld(fork: &Fork, draft: &mut Draft<'_>) -> Result<()> {
    let what = format!(
        "{} lets such a file of a project start programs, also where the project's settings are left out",
        draft.facts.id
    );
    if draft.request.allow_unenforced {
        return draft.unenforced(draft.restricting_field(), what);
    }
    draft.checks.push(Check::NoneUpwards { names: fork.unheld.into(), why: what.into() });
    Ok(())
}

/// The variable that is free: settings of the user's own may stand in one of the two.
fn carrier(fork: &Fork, draft: &mut Draft<'_>) -> Result<Carried> {
    let sets = |name| draft.profile.env.contains_key(name) || draft.request.env.contains_key(name);
    let carrier = match (sets(fork.config), sets(fork.content)) {
        (false, _) => Carried::File,
        (true, false) => Carried::Env,
        (true, true) => {
            let why = format!(
                "env: {} and {} are both set, and the run needs one for its agent",
                fork.config, fork.content
            );
            return Err(Failure::new(Kind::Unsupported, why).hint("put all settings into one of them"));
        }
    };
    draft.refuse_env(fork.lifting, "sets rights, or lets the project's settings set them")?;
    Ok(carrier)
}
