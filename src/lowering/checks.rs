//! Checks on values that hold for every harness.

use crate::error::{Failure, Kind, Result, cut};
use crate::policy::ToolPolicy;
use crate::profile::Profile;
use crate::request::{DispatchRequest, Session};

/// The largest argument or environment entry that Linux takes, in bytes without the final NUL
/// (MAX_ARG_STRLEN is 131,072 with it; an entry counts with its `NAME=`).
pub const MAX_ARGUMENT: usize = 131_071;

/// The longest path that any system takes: Windows, in characters; the others stop far below.
const MAX_PATH: usize = 32_767;

/// Whether a CLI could take this value for an option.
pub fn looks_like_flag(value: &str) -> bool {
    value.trim_start().starts_with('-')
}

/// Refuses a value that a CLI could take for an option, naming the field.
pub fn refuse_flag_like(field: &str, value: &str) -> Result<()> {
    if looks_like_flag(value) {
        return Err(Failure::invalid(field, format!("`{}` looks like an option of the CLI", cut(value, 80)))
            .hint("names do not begin with a dash"));
    }
    Ok(())
}

/// Refuses what is no name: empty, very long, with control characters, or like a flag.
pub(crate) fn name(field: &str, value: &str) -> Result<()> {
    refuse_flag_like(field, value)?;
    if value.trim().is_empty() {
        return Err(Failure::invalid(field, "is empty; leave the field out"));
    }
    if value.chars().any(char::is_control) {
        return Err(Failure::invalid(field, "holds a control character"));
    }
    if value.len() > 1024 {
        return Err(Failure::new(
            Kind::ArgTooLong,
            format!("{field}: {} bytes, the limit is 1024", value.len()),
        ));
    }
    Ok(())
}

fn no_nul(field: &str, value: &str) -> Result<()> {
    match memchr::memchr(0, value.as_bytes()) {
        Some(at) => {
            Err(Failure::invalid(field, format!("holds a NUL byte at byte {at}, which no CLI can be given")))
        }
        None => Ok(()),
    }
}

/// What holds for a request whatever the harness is.
pub(crate) fn request(request: &DispatchRequest) -> Result<()> {
    if request.prompt.is_empty() {
        return Err(Failure::invalid("prompt", "is empty").hint("say what the agent should do"));
    }
    no_nul("prompt", &request.prompt)?;
    if let Some(system) = &request.system_prompt {
        no_nul("system_prompt", system)?;
    }
    if let Some(model) = &request.model {
        name("model", model)?;
    }
    match &request.session {
        Some(Session::New(Some(id))) => name("session.id", id)?,
        Some(Session::Resume(id)) => name("session.resume", id)?,
        _ => {}
    }
    if let Some(policy) = &request.tools {
        tools(policy)?;
    }
    if request.max_turns == Some(0) {
        return Err(Failure::invalid("max_turns", "0 turns is no run"));
    }
    for dir in request.cwd.iter().map(|d| ("cwd", d)).chain(request.add_dirs.iter().map(|d| ("add_dirs", d)))
    {
        let Some(text) = dir.1.to_str() else {
            return Err(Failure::invalid(dir.0, "is not UTF-8"));
        };
        no_nul(dir.0, text)?;
        if text.is_empty() {
            return Err(Failure::invalid(dir.0, "is empty"));
        }
        if text.len() > MAX_PATH {
            return Err(Failure::new(
                Kind::ArgTooLong,
                format!("{}: {} bytes, and no system takes a path over {MAX_PATH}", dir.0, text.len()),
            ));
        }
        refuse_flag_like(dir.0, text)?;
    }
    for (key, value) in &request.env {
        if key.is_empty() || key.contains(['=', '\0']) {
            return Err(Failure::invalid("env", format!("`{}` is no name of a variable", cut(key, 80))));
        }
        no_nul(&format!("env.{key}"), value)?;
        if key.len() + 1 + value.len() > MAX_ARGUMENT {
            return Err(Failure::new(
                Kind::ArgTooLong,
                format!(
                    "env.{key}: {} bytes with its name, the limit is {MAX_ARGUMENT}",
                    key.len() + 1 + value.len()
                ),
            ));
        }
    }
    Ok(())
}

fn tools(policy: &ToolPolicy) -> Result<()> {
    policy.entries().try_for_each(|(_, tool)| name("tools", tool))
}

/// What holds for a profile whatever the harness is.
pub(crate) fn profile(profile: &Profile) -> Result<()> {
    for arg in profile.args.iter().chain(&profile.bin) {
        no_nul("profile", arg)?;
    }
    profile.env.iter().try_for_each(|(name, value)| {
        no_nul("profile", name)?;
        no_nul("profile", value)
    })
}
