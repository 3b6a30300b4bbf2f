//! The version of a CLI, and what it is worth.

use super::report::Verdict;
use crate::error::{Failure, Kind, Result, cut};
use crate::harness::Facts;
use crate::profile::Profile;
use crate::run::{Cancel, Question, ask};
use std::cmp::Ordering;
use std::path::Path;
use std::time::Duration;

/// How long a CLI may take to say its version; the slowest one here takes 10 s on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a CLI says to `--version`, the first word that looks like one. It gets no key.
///
/// `None` where it says none, takes longer than 15 s, or does not stop writing. Errors: it cannot be started, or what it runs on is
/// not there; it was cancelled.
pub async fn ask_version(
    facts: &Facts,
    profile: &Profile,
    program: &Path,
    cancel: Option<Cancel>,
) -> Result<Option<String>> {
    let question = Question {
        facts,
        profile,
        program,
        args: &["--version"],
        with_keys: false,
        patience: PATIENCE,
        cancel,
        end_with_thread: true,
    };
    match ask(question).await {
        // 126 and 127 are a shell's and `env`'s words for a program that cannot be run.
        Ok(said) if matches!(said.status, Some(126 | 127)) => {
            let last = said.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            let what = format!("{} cannot run: {}", program.display(), cut(last.trim(), 300));
            Err(Failure::new(Kind::NotFound, what)
                .hint("install what the line names, or put its folder into PATH"))
        }
        Ok(said) => Ok(version_in(&said.stdout)),
        Err(failure) if matches!(failure.kind, Kind::Timeout | Kind::OutputLimit) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn version_in(said: &str) -> Option<String> {
    let is_plain = |word: &str| word.len() <= 64 && word.bytes().all(|b| b.is_ascii_graphic());
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()) && is_plain(word);
    said.split_whitespace()
        .map(|word| word.trim_matches(['v', ',', '(', ')']).trim_end_matches('.'))
        .find(is_version)
        .map(str::to_owned)
}

/// How a version stands to those whose contract was checked.
pub fn verdict(facts: &Facts, version: Option<&str>) -> Verdict {
    let Some(version) = version else { return Verdict::Unknown };
    let older = |other: &str| compare(version, other) == Ordering::Less;
    if facts.verified.iter().any(|verified| verified.version == version) {
        Verdict::Verified
    } else if facts.min_version.as_ref().is_some_and(|least| older(&least.version)) {
        Verdict::TooOld
    } else {
        match facts.verified.iter().map(|v| v.version.as_str()).max_by(|a, b| compare(a, b)) {
            None => Verdict::Unknown,
            Some(newest) if older(newest) => Verdict::Older,
            Some(_) => Verdict::Newer,
        }
    }
}

/// Numbers between dots as numbers; of two that are equal so far, a pre-release (`-…`) comes before the release.
fn compare(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| {
        let plain = version.split('+').next().unwrap_or_default().to_owned();
        let (release, pre) = match plain.split_once('-') {
            Some((release, pre)) => (release.to_owned(), Some(pre.to_owned())),
            None => (plain, None),
        };
        let mut numbers: Vec<u64> = release.split('.').map(|n| n.parse().unwrap_or(0)).collect();
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        (numbers, pre)
    };
    let ((a, a_pre), (b, b_pre)) = (parts(a), parts(b));
    a.cmp(&b).then_with(|| match (a_pre, b_pre) {
        (Some(a), Some(b)) => a.cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    })
}
