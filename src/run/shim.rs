//! Windows `.cmd` shims: what they start, so that no cmd.exe comes between and cuts the arguments.
//!
//! cmd.exe ends a command line at the first line feed of any argument and replaces `%NAME%`, so a
//! prompt through a shim is lost. The target is read from the shim's text instead.

use crate::error::{Failure, Kind, Result};

/// How to start what a shim starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimPlan {
    /// The program: a path, or `node` to look for beside the shim and then in PATH.
    pub program: String,
    /// Arguments before the command's own.
    pub args_prefix: Vec<String>,
}

/// The plan for a shim, from its text and its folder. A pure function: it works on any system.
///
/// Errors: [`Kind::Unsupported`] where the shim is of a kind that is not known, and an argument holds
/// what cmd.exe would change. Then `Ok(None)` means: start the shim itself.
pub fn plan_shim(text: &str, folder: &str, args: &[&str]) -> Result<Option<ShimPlan>> {
    let Some(line) = text.lines().rfind(|line| line.contains("%*")) else {
        return unknown(args);
    };
    let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    let Some(target) = quoted.iter().rev().find_map(|part| beside(part, folder)) else {
        return unknown(args);
    };
    let lower = target.to_lowercase();
    if [".js", ".mjs", ".cjs"].iter().any(|end| lower.ends_with(end)) {
        return Ok(Some(ShimPlan { program: "node".to_owned(), args_prefix: vec![target] }));
    }
    if lower.ends_with(".exe") {
        return Ok(Some(ShimPlan { program: target, args_prefix: Vec::new() }));
    }
    unknown(args)
}

/// A path that the shim names relative to its own folder.
fn beside(part: &str, folder: &str) -> Option<String> {
    let folder = folder.trim_end_matches('\\');
    ["%~dp0", "%dp0%", "%here%"].iter().find_map(|prefix| {
        let rest = part.strip_prefix(prefix)?.trim_start_matches('\\');
        Some(format!("{folder}\\{rest}"))
    })
}

fn unknown(args: &[&str]) -> Result<Option<ShimPlan>> {
    match args.iter().find(|arg| arg.contains(['\r', '\n', '%', '"', '!'])) {
        None => Ok(None),
        Some(arg) => Err(Failure::new(
            Kind::Unsupported,
            format!(
                "the .cmd shim is of an unknown kind, and cmd.exe would change the argument `{}`",
                crate::error::cut(arg, 80)
            ),
        )
        .hint("name the program itself with --bin")),
    }
}
