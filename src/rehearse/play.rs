//! The stand-in's process: reads what the harness's CLI would read, answers as it would.

use super::script::{Script, Step};
use crate::config::{CONFIG_VAR, Config};
use crate::harness::{Answer, Given, Spoken};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::ExitCode;

/// Names the harness that this process plays.
pub const STAND_IN_VAR: &str = "TEAMSTER_STAND_IN";
/// Holds the script.
pub const SCRIPT_VAR: &str = "TEAMSTER_STAND_IN_SCRIPT";
/// Says which attempt this is, counted from 1.
pub const ATTEMPT_VAR: &str = "TEAMSTER_STAND_IN_ATTEMPT";

/// Plays the harness that the environment names; `None` where it names none.
pub fn play() -> Option<ExitCode> {
    let harness = std::env::var(STAND_IN_VAR).ok()?;
    let spoken = spoken(&harness).unwrap_or_else(|why| Spoken::refused(70, format!("stand-in: {why}\n")));
    let written =
        std::io::stdout().write_all(spoken.stdout.as_bytes()).and_then(|()| std::io::stdout().flush());
    let _ = std::io::stderr().write_all(spoken.stderr.as_bytes());
    Some(match written {
        Ok(()) => ExitCode::from(u8::try_from(spoken.status & 255).unwrap_or(1)),
        Err(_) => ExitCode::FAILURE,
    })
}

fn spoken(harness: &str) -> Result<Spoken, String> {
    let script = std::env::var(SCRIPT_VAR).map_err(|e| format!("{SCRIPT_VAR}: {e}"))?;
    let Script(steps) = serde_json::from_str(&script).map_err(|e| format!("{SCRIPT_VAR}: {e}"))?;
    let config = std::env::var_os(CONFIG_VAR).filter(|value| !value.is_empty()).map(std::path::PathBuf::from);
    let registry =
        Config::of_user(config.as_deref()).and_then(|config| config.registry()).map_err(|e| e.message)?;
    let builder = registry.get(harness).map_err(|e| e.message)?;
    let stand_in = builder.stand_in().ok_or_else(|| format!("{harness} has no stand-in"))?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut stdin = Vec::new();
    std::io::stdin().read_to_end(&mut stdin).map_err(|e| format!("stdin: {e}"))?;
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let named: Vec<&str> = args.iter().chain(env.values()).map(String::as_str).collect();
    let given =
        Given { files: files(&named), stdin: String::from_utf8_lossy(&stdin).into_owned(), args, env };
    let received = match stand_in.receive(&given) {
        Ok(received) => received,
        Err(refusal) => return Ok(refusal),
    };
    let attempt = std::env::var(ATTEMPT_VAR).ok().and_then(|a| a.parse::<usize>().ok()).unwrap_or(1);
    let step = steps.get(attempt.saturating_sub(1)).or(steps.last()).ok_or("the script is empty")?;
    let answer = match step {
        Step::Text(text) => Answer::Text(text.clone()),
        Step::Json(value) => Answer::Text(value.to_string()),
        Step::Status(status) => Answer::Status(*status),
        Step::Empty(_) => Answer::Empty,
        Step::Hang(seconds) => {
            std::thread::sleep(std::time::Duration::from_secs(*seconds));
            Answer::Empty
        }
    };
    let spoken = stand_in.answer(&received, &answer);
    write_results(&spoken, &given)?;
    Ok(spoken)
}

/// Writes what the CLI would write for the run, each where an argument or a variable names it.
fn write_results(spoken: &Spoken, given: &Given) -> Result<(), String> {
    let texts = || given.args.iter().chain(given.env.values());
    for (name, content) in &spoken.files {
        let ending = format!("/{name}");
        let paths =
            texts().flat_map(|text| [text.as_str(), text.split_once('=').map_or("", |(_, value)| value)]);
        let Some(path) = paths.filter(|path| path.starts_with('/')).find(|path| path.ends_with(&ending))
        else {
            continue;
        };
        std::fs::write(path, content).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// The files of the run that texts name, glued to a flag or not.
fn files(texts: &[&str]) -> BTreeMap<String, String> {
    let paths = texts.iter().flat_map(|text| [*text, text.split_once('=').map_or("", |(_, value)| value)]);
    paths
        .filter(|path| path.starts_with('/'))
        .filter_map(|path| Some((path.to_owned(), std::fs::read_to_string(path).ok()?)))
        .collect()
}
