//! The child's environment: an allow-list, the harness's own variables, and what the profile adds.

use super::Vars;
use crate::command::{Command, Piece};
use crate::error::{Failure, Kind, Result};
use crate::harness::Facts;
use crate::profile::Profile;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Counts how deep agents dispatch agents.
pub const DEPTH_VAR: &str = "TEAMSTER_DEPTH";
/// How deep they may.
pub const DEPTH_LIMIT: u32 = 5;
/// Marks every process of a run, so that those which leave their group are found.
pub const MARKER_VAR: &str = "TEAMSTER_RUN";

/// Variables that programs need to find themselves, their tools, their user and the network.
const COMMON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_TTY",
    "GNUPGHOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "JAVA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "NPM_CONFIG_PREFIX",
    "HOMEBREW_PREFIX",
    "NIX_PATH",
    "NIX_PROFILES",
    "SystemRoot",
    "SYSTEMROOT",
    "ComSpec",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "ProgramFiles",
    "ProgramData",
    "CI",
];
const COMMON_PREFIXES: &[&str] = &["LC_", "XDG_", "GIT_AUTHOR_", "GIT_COMMITTER_", "TEAMSTER_"];

/// The places that only the runner can fill.
pub(super) struct Places<'p> {
    /// The run's folder, with the command's files in it.
    pub(super) folder: &'p Path,
    /// The run's temporary folder.
    pub(super) tmp: &'p Path,
    /// The home that the CLI uses.
    pub(super) home: Option<&'p str>,
    /// The working directory.
    pub(super) cwd: &'p Path,
    /// A character that no path in an argument may hold.
    pub(super) separator: Option<char>,
}

/// How deep the child will be.
///
/// `above`: how deep the caller is by other evidence than these variables.
///
/// Errors: [`Kind::Recursion`] over the limit.
pub(super) fn depth(vars: &Vars, above: u32) -> Result<u32> {
    let own = vars.get(OsStr::new(DEPTH_VAR)).and_then(|v| v.to_str()?.parse::<u32>().ok()).unwrap_or(0);
    let depth = own.max(above).saturating_add(1);
    if depth > DEPTH_LIMIT {
        return Err(Failure::new(
            Kind::Recursion,
            format!("agents dispatch agents {depth} deep, the limit is {DEPTH_LIMIT}"),
        )
        .hint(format!("end the loop; {DEPTH_VAR} counts it")));
    }
    Ok(depth)
}

/// The child's environment as far as it needs no place of the run: what may pass, then the profile's,
/// then the command's.
pub(super) fn base(command: &Command, facts: &Facts, profile: &Profile, vars: &Vars) -> Vars {
    let everything = profile.env_pass.iter().any(|name| name == "*");
    let passes = |name: &str| {
        COMMON.contains(&name)
            || COMMON_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || [&facts.auth_env, &facts.env_pass, &profile.env_pass].into_iter().flatten().any(|n| n == name)
    };
    let mut child: Vars = vars
        .iter()
        .filter(|(name, _)| match name.to_str() {
            Some(name) => {
                let marker = crate::harnesses::SESSION_MARKERS.contains(&name)
                    || facts.session_env.iter().any(|n| n == name);
                !marker && (everything || passes(name))
            }
            None => everything,
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    child.extend(profile.env.iter().map(|(name, value)| (name.into(), value.into())));
    let plain =
        command.env.iter().filter_map(|(name, value)| Some((OsString::from(&**name), value.plain()?.into())));
    child.extend(plain);
    child
}

/// The whole environment of the child, made of its [`base`].
pub(super) fn environment(
    base: &Vars,
    command: &Command,
    vars: &Vars,
    places: &Places<'_>,
    depth: u32,
    run_id: &str,
) -> Result<Vars> {
    let mut child = base.clone();
    // A pinned variable has the caller's own value, that of the profile first, and is empty without.
    let own = |name: &str| base.get(OsStr::new(name)).or(vars.get(OsStr::new(name)));
    for (name, value) in command.env.iter().filter(|(_, value)| value.plain().is_none()) {
        child.insert(OsString::from(&**name), fill(value, places, own)?.into());
    }
    // What names the working directory must be true: some CLIs believe it over the directory itself.
    if let Some(files) = &command.env_files {
        let homes = [places.home.map(str::to_owned), plain_home(vars)];
        let homes = homes.into_iter().flatten().map(PathBuf::from).collect::<Vec<_>>();
        super::env_files::take_away(files, places.cwd, &homes, &mut child)?;
    }
    child.insert("PWD".into(), places.cwd.into());
    child.remove(OsStr::new("OLDPWD"));
    child.insert(DEPTH_VAR.into(), depth.to_string().into());
    child.insert(MARKER_VAR.into(), run_id.into());
    Ok(child)
}

/// The arguments with their places filled.
pub(super) fn arguments(command: &Command, env: &Vars, places: &Places<'_>) -> Result<Vec<OsString>> {
    let value = |name: &str| env.get(OsStr::new(name));
    command.args.iter().map(|arg| Ok(fill(arg, places, value)?.into())).collect()
}

/// The home that the CLI uses: the first of its own variables that is set, else HOME.
pub(super) fn home(facts: &Facts, env: &Vars) -> Option<String> {
    let own = facts.home_env.iter().filter_map(|name| env.get(OsStr::new(name)));
    own.filter(|v| !v.is_empty()).map(|v| v.to_string_lossy().into_owned()).next().or_else(|| plain_home(env))
}

fn plain_home(env: &Vars) -> Option<String> {
    let names = ["HOME", "USERPROFILE"].into_iter().filter_map(|name| env.get(OsStr::new(name)));
    names.filter(|v| !v.is_empty()).map(|v| v.to_string_lossy().into_owned()).next()
}

fn fill<'v>(
    text: &crate::command::Text,
    places: &Places<'_>,
    value: impl Fn(&str) -> Option<&'v OsString>,
) -> Result<String> {
    let path = |path: &Path| {
        let text = path.to_string_lossy().into_owned();
        match places.separator.filter(|c| text.contains(*c)) {
            Some(c) => Err(Failure::new(
                Kind::HarnessConfig,
                format!("the path `{text}` holds `{c}`, where the CLI would cut it"),
            )
            .hint("set TMPDIR or HOME to a path without it")),
            None => Ok(text),
        }
    };
    let filled = text.filled(|piece| match piece {
        Piece::Plain(text) => Ok(text.clone().into_owned()),
        Piece::File(name) => path(&places.folder.join(&**name)),
        Piece::Tmp => path(places.tmp),
        Piece::Home => match places.home {
            Some(home) => path(Path::new(home)),
            None => Err(Failure::new(Kind::HarnessConfig, "HOME is not set, and the CLI needs it")),
        },
        Piece::Env(name) => Ok(value(name).map_or_else(String::new, |v| v.to_string_lossy().into_owned())),
        Piece::Each(listed, after) => {
            super::listed::each(listed, after, places, |name| value(name).map(PathBuf::from))
        }
    })?;
    Ok(filled.into_owned())
}
