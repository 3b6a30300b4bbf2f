//! Reads aider's output: notices, the answer, and the failures, all of them text on one channel.
//!
//! - Notices end with a line `Repo-map: …` and an empty one. A line `Tokens: …` follows every answer and no
//!   failure; what follows the last one is of aider again.
//! - The answer is taken from the log of the conversation, where each of its lines has `ASSISTANT` before it. By the
//!   output alone, it is what stands between the notices and the last line of tokens.
//! - Nothing that stands in an answer is taken for a word of aider.

use super::super::families::model_server::is_used_up;
use super::{FACTS, LOG};
use crate::error::{Failure, Kind};
use crate::reply::{Denied, Event, Reader, Reply, RunEnd, TextReader, Usage};

/// What it says before it waits for a sign-in.
const WAITS: &str = "Waiting up to 5 minutes for you to finish in the browser";
/// Notices that are looked at while the run goes on, in bytes.
const NOTICES: usize = 1 << 16;

type Judge = fn(String, &RunEnd) -> Reply;

/// The reader: all text at the end, but for the one line that says that aider waits for a person.
pub(super) struct AiderReader {
    text: Box<TextReader<Judge>>,
    notices: Vec<u8>,
    begun: bool,
    waits: bool,
}

impl AiderReader {
    pub(super) fn new() -> Self {
        let text: TextReader<Judge> = TextReader::new(judge);
        AiderReader { text: Box::new(text), notices: Vec::new(), begun: false, waits: false }
    }
}

impl Reader for AiderReader {
    fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Event<'_>)) {
        if !self.begun && !self.waits {
            self.notices.extend_from_slice(&bytes[..bytes.len().min(NOTICES)]);
            let has = |what: &str| memchr::memmem::find(&self.notices, what.as_bytes());
            let model = has("\nRepo-map: ");
            self.waits = has(WAITS).is_some_and(|at| model.is_none_or(|model| at < model));
            self.begun = model.is_some() || self.notices.len() > NOTICES;
        }
        self.text.push(bytes, emit);
    }

    /// Nobody will come to sign in.
    fn is_complete(&self) -> bool {
        self.waits
    }

    fn finish(self: Box<Self>, end: &RunEnd, emit: &mut dyn FnMut(Event<'_>)) -> Reply {
        self.text.finish(end, emit)
    }
}

fn judge(stdout: String, end: &RunEnd) -> Reply {
    let page = Page::read(&stdout);
    let log = end.files.get(LOG).and_then(|log| Log::read(log));
    let mut reply = Reply { model: page.model.map(str::to_owned), ..Reply::default() };
    let Some((answer, line, rest)) = page.answer else {
        reply.error = Some(failure(&page, end));
        return reply;
    };
    reply.text = match &log {
        Some(log) => log.answer.clone(),
        None => answer.to_owned(),
    };
    if log.is_none_or(|log| log.answers == 1) {
        reply.usage = usage(line);
    }
    if let Some((class, said)) = litellm(rest) {
        // The server failed when a correction was asked for.
        return Reply { text: String::new(), error: Some(FACTS.failure(kind(class, &said), &said)), ..reply };
    }
    let said = |start: &str| rest.lines().find(|line| line.starts_with(start));
    reply.denied = rest
        .lines()
        .filter(|line| line.starts_with("Skipping edits to "))
        .map(|line| Denied { tool: "edit".to_owned(), reason: line.to_owned() })
        .collect();
    reply.error =
        if let Some(line) = rest.lines().find(|line| is_over(line)) {
            let failure = FACTS.failure(Kind::HarnessError, line);
            Some(failure.hint(
                "the prompt or the answer is over the model's limit; try another model, or ask for less",
            ))
        } else if reply.text.trim().is_empty()
            || reply.text == "Empty response received from LLM. Check your provider account?"
        {
            reply.text.clear();
            Some(FACTS.empty())
        } else if let Some(line) = said("Only 3 reflections allowed").or(said("Cmd('git') failed")) {
            Some(FACTS.failure(Kind::HarnessError, &format!("an edit could not be applied: {line}")))
        } else {
            (!end.is_fine()).then(|| FACTS.no_result(end, ""))
        };
    reply
}

fn is_over(line: &str) -> bool {
    line.starts_with("Model ") && line.ends_with(" has hit a token limit!")
}

/// Why there is no answer.
fn failure(page: &Page<'_>, end: &RunEnd) -> Failure {
    if let Some(line) = page.notices.lines().find(|line| line.starts_with(WAITS)) {
        let why =
            page.notices.lines().find(|line| line.starts_with("No LLM model was specified")).unwrap_or(line);
        return FACTS.failure(Kind::Auth, why);
    }
    if let Some((class, said)) = litellm(page.body) {
        let failure = FACTS.failure(kind(class, &said), &said);
        return match said.starts_with("LLM Provider NOT provided") {
            true => failure
                .hint("aider wants the provider before the model: openai/…, anthropic/…, ollama_chat/…"),
            false => failure,
        };
    }
    let last = page.body.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let none = FACTS.no_result(end, last);
    match last {
        "" => none,
        _ if none.kind != Kind::EmptyReply => none,
        ">" => FACTS.failure(Kind::HarnessError, "it was given no prompt, and waited for one"),
        // Its own words, such as those on a command that it does not have.
        said => FACTS.failure(Kind::HarnessError, said),
    }
}

/// The last error of the library that talks to the model: its class and its words.
fn litellm(body: &str) -> Option<(&str, String)> {
    let mut found = None;
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((class, said)) = line.strip_prefix("litellm.").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        if !class.chars().all(|c| c.is_ascii_alphanumeric()) {
            continue;
        }
        let mut whole = said.to_owned();
        // On a narrow terminal it is cut.
        while let Some(more) = lines.next_if(|next| !next.is_empty() && !is_remark(next)) {
            whole.push_str(if whole.ends_with(' ') { "" } else { " " });
            whole.push_str(more);
        }
        found = Some((class, whole));
    }
    found
}

fn is_remark(line: &str) -> bool {
    ["The API provider", "Retrying in ", "litellm.", "https://"].iter().any(|start| line.starts_with(start))
}

fn kind(class: &str, said: &str) -> Kind {
    match class {
        "AuthenticationError" | "PermissionDeniedError" => Kind::Auth,
        "BudgetExceededError" => Kind::Quota,
        "RateLimitError" if is_used_up(said) => Kind::Quota,
        "RateLimitError" => Kind::RateLimit,
        _ => match crate::reply::http_status(said).and_then(Kind::of_http_status) {
            Some(kind) => kind,
            None => Kind::HarnessError,
        },
    }
}

/// `Tokens: 111 sent, 22 received. Cost: $0.00049 message, $0.00049 session.` Numbers from 1,000 on are rounded
/// (`2.4k`), and so are unknown.
fn usage(line: &str) -> Option<Usage> {
    let (tokens, cost) = line.strip_prefix("Tokens: ")?.split_once(" received.")?;
    let count = |what: &str| {
        let mut parts = tokens.split(", ").map(|part| part.split_once(' ').unwrap_or((part, "received")));
        parts.find(|(_, name)| *name == what)?.0.parse::<u64>().ok()
    };
    let exact = count("sent").zip(count("received"));
    let cost = cost.rsplit_once('$').and_then(|(_, dollars)| dollars.strip_suffix(" session.")?.parse().ok());
    let usage = Usage {
        input_tokens: exact.map(|(sent, _)| sent),
        output_tokens: exact.map(|(_, received)| received),
        cached_tokens: exact.and_then(|_| count("cache hit")),
        cache_write_tokens: exact.and_then(|_| count("cache write")),
        cost_usd: cost,
        ..Usage::default()
    };
    (usage != Usage::default()).then_some(usage)
}

/// The output, taken apart.
struct Page<'t> {
    notices: &'t str,
    model: Option<&'t str>,
    body: &'t str,
    /// The answer, the line of tokens, and what follows it.
    answer: Option<(&'t str, &'t str, &'t str)>,
}

impl<'t> Page<'t> {
    fn read(stdout: &'t str) -> Page<'t> {
        let begin = starts(stdout).find(|at| stdout[*at..].starts_with("Repo-map: "));
        let Some(begin) = begin else {
            return Page { notices: stdout, model: None, body: stdout, answer: None };
        };
        // More notices may stand there, up to an empty line.
        let after = stdout[begin..].find("\n\n").map_or(stdout.len(), |at| begin + at + 2);
        let (notices, body) = stdout.split_at(after);
        let named = |line: &'t str| {
            let (name, _) =
                line.strip_prefix("Main ").unwrap_or(line).split_once("odel: ")?.1.split_once(" with ")?;
            Some(name)
        };
        let mut model =
            notices.lines().filter(|line| line.starts_with("Main model: ") || line.starts_with("Model: "));
        let tokens = starts(body).filter(|at| is_tokens(line_at(body, *at))).last();
        let answer = tokens.map(|at| {
            let line = line_at(body, at);
            (bare(&body[..at]), line, body[at + line.len()..].trim_start_matches('\n'))
        });
        Page { notices, model: model.next_back().and_then(named), body, answer }
    }
}

/// Where lines begin.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
}

fn line_at(text: &str, at: usize) -> &str {
    text[at..].lines().next().unwrap_or_default()
}

fn is_tokens(line: &str) -> bool {
    line.starts_with("Tokens: ") && line.contains(" sent, ") && line.contains(" received.")
}

/// The answer without the line ends around it, and without the tries that failed before it.
fn bare(body: &str) -> &str {
    let mut answer = body;
    if body.starts_with("litellm.") {
        let retries = starts(body).filter(|at| body[*at..].starts_with("Retrying in ")).last();
        let end = retries.and_then(|at| Some(at + body[at..].find('\n')? + 1));
        answer = &body[end.unwrap_or(0)..];
    }
    let answer = answer.strip_suffix('\n').unwrap_or(answer);
    answer.strip_suffix('\n').unwrap_or(answer)
}

/// What the log of the conversation holds.
struct Log {
    answer: String,
    answers: usize,
}

impl Log {
    /// `None` where the last answer is only the end of one that was asked for in parts.
    fn read(log: &str) -> Option<Log> {
        let (mut answer, mut answers, mut inside, mut goes_on) = (None::<Vec<&str>>, 0, false, false);
        let mut sent = "";
        for line in log.split('\n') {
            if is_head(line, "LLM RESPONSE ") {
                goes_on = sent.starts_with("ASSISTANT ");
                (answer, inside) = (Some(Vec::new()), true);
            } else if is_head(line, "TO LLM ") {
                answers += usize::from(answer.as_ref().is_some_and(|lines| !lines.is_empty()));
                inside = false;
            } else if !inside {
                sent = if line.is_empty() { sent } else { line };
            } else if let (Some(lines), Some(said)) = (&mut answer, line.strip_prefix("ASSISTANT ")) {
                lines.push(said);
            }
        }
        let answer = answer.filter(|_| !goes_on)?;
        answers += usize::from(!answer.is_empty());
        Some(Log { answer: answer.join("\n"), answers })
    }
}

/// A head of the log, `TO LLM 2026-12-01T01:05:00`: no other line begins so, each has its speaker before it.
fn is_head(line: &str, what: &str) -> bool {
    line.strip_prefix(what).is_some_and(|time| time.len() == 19 && time.as_bytes()[10] == b'T')
}
