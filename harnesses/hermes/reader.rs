//! Reads hermes' one-shot: the answer on standard output, and the report on the run.
//!
//! - The report (`--usage-file`) says whether the run failed; what stands on standard output is then the error.
//! - Without a report only status and standard error tell: a run that was ended has none.

use super::super::families::model_server::is_used_up;
use super::{FACTS, USAGE};
use crate::error::{Failure, Kind};
use crate::reply::{Denied, Reader, Reply, RunEnd, TextReader, Usage};
use serde::Deserialize;

pub(super) fn reader() -> Box<dyn Reader> {
    Box::new(TextReader::new(judge))
}

/// What stands for an answer where the model gave none; the report calls that completed.
const NO_REPLY: &str = "⚠️ No reply: the model returned empty content";

/// What it says when the model asked three times for tools that are not there.
const NO_TOOL: &str = "Model generated invalid tool call: ";

#[derive(Deserialize)]
struct Report {
    completed: Option<bool>,
    failed: Option<bool>,
    failure: Option<String>,
    model: Option<String>,
    session_id: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    total_tokens: Option<u64>,
    estimated_cost_usd: Option<f64>,
    cost_status: Option<String>,
}

fn judge(stdout: String, end: &RunEnd) -> Reply {
    let report = end.files.get(USAGE).and_then(|text| serde_json::from_str::<Report>(text).ok());
    let mut reply = FACTS.text_reply(&stdout, end);
    if reply.text.starts_with(NO_REPLY) {
        reply.text.clear();
        reply.error = Some(FACTS.empty());
    }
    let Some(report) = report else {
        reply.error = Some(match reply.error.take() {
            Some(error) if matches!(error.kind, Kind::EmptyReply | Kind::NeedsInteraction) => error,
            _ => no_report(&reply.text, end),
        });
        return reply;
    };
    reply.usage = report.usage();
    let bad = report.failed == Some(true) || report.completed != Some(true);
    if bad && report.failed != Some(true) && !is_own(&reply.text) {
        // What stands there is the agent's, as far as it came (run: a stream that breaks off).
        reply.error = Some(FACTS.failure(Kind::HarnessError, "the answer broke off before its end"));
    } else if bad {
        let said = std::mem::take(&mut reply.text);
        let said = report.failure.as_deref().filter(|_| said.trim().is_empty()).unwrap_or(&said);
        if let Some(tool) = said.trim().strip_prefix(NO_TOOL) {
            reply.denied.push(Denied {
                tool: tool.to_owned(),
                reason: "there is no such tool in this run".to_owned(),
            });
        }
        reply.error = Some(failure(said, end));
    }
    reply.session_id = report.session_id;
    reply.model = report.model;
    reply
}

/// Words of hermes itself on a run that is neither completed nor failed.
fn is_own(said: &str) -> bool {
    said.trim().is_empty() || said.starts_with(NO_TOOL) || said.contains("iteration limit")
}

impl Report {
    /// The cost is 0 where hermes has no price. The tokens that came from a cache are not among its input.
    fn usage(&self) -> Option<Usage> {
        let cached = [self.cache_read_tokens, self.cache_write_tokens].into_iter().flatten().sum::<u64>();
        let usage = Usage {
            input_tokens: self.input_tokens.map(|input| input + cached),
            output_tokens: self.output_tokens,
            cached_tokens: self.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens,
            thinking_tokens: self.reasoning_tokens,
            total_tokens: self.total_tokens,
            cost_usd: self.estimated_cost_usd.filter(|_| self.cost_status.as_deref() != Some("unknown")),
            ..Usage::default()
        };
        (usage != Usage::default()).then_some(usage)
    }
}

/// The report says that the run failed, so that the words are hermes' own: `HTTP 401: …`, `API call failed after 3
/// retries: HTTP 429: …`.
fn failure(said: &str, end: &RunEnd) -> Failure {
    let own = |text: &str| text.starts_with("HTTP ") || text.starts_with("API call failed");
    match said {
        _ if said.contains("No inference provider configured") => FACTS.failure(Kind::Auth, said),
        _ if own(said) && said.contains("429") && is_used_up(said) => FACTS.failure(Kind::Quota, said),
        _ if own(said) => FACTS.api_failure(said),
        _ if said.contains("iteration limit") => FACTS.failure(Kind::MaxTurns, said),
        _ if said.starts_with(NO_TOOL) => FACTS.failure(Kind::Permission, said),
        "" => FACTS.no_result(end, ""),
        _ => FACTS.failure(Kind::HarnessError, said),
    }
}

fn no_report(said: &str, end: &RunEnd) -> Failure {
    if let Some(line) = end.stderr.lines().find(|line| line.contains("No inference provider configured")) {
        return FACTS.failure(Kind::Auth, line);
    }
    match end.is_fine() {
        true => {
            FACTS.failure(Kind::HarnessError, &format!("it wrote no report on the run, and said: {said}"))
        }
        false => FACTS.no_result(end, ""),
    }
}
