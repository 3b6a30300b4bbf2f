//! Jobs and their events for people.

use crate::cli::argv::table;
use crate::error::cut;
use crate::jobs::{JobView, LogLine};

/// One line a job.
pub(super) fn table_of(jobs: &[JobView]) -> String {
    let mut all = table(&["id", "state", "harness", "age", "took", "task"]);
    for job in jobs {
        all.add_row([
            job.id.as_str(),
            job.state.name(),
            job.harness.as_deref().unwrap_or("-"),
            &job.created.map_or_else(|| "-".to_owned(), age),
            &job.duration_ms.map_or_else(|| "-".to_owned(), took),
            job.title.as_deref().unwrap_or("-"),
        ]);
    }
    all.trim_fmt()
}

/// All that is known of a job.
pub(super) fn one(job: &JobView) -> String {
    let failure = job.failure.as_ref().map(|failure| format!("{} ({})", failure.message, failure.kind));
    let usage = job.usage.map(|usage| {
        let known = [(usage.input_tokens, "in"), (usage.output_tokens, "out")];
        let known: Vec<String> =
            known.iter().filter_map(|(n, what)| Some(format!("{} {what}", (*n)?))).collect();
        known.join(", ")
    });
    let rows = [
        ("id", Some(job.id.to_string())),
        ("state", Some(job.state.name().to_owned())),
        ("task", job.title.clone()),
        ("harness", job.harness.clone()),
        ("cwd", job.cwd.as_ref().map(|cwd| cwd.display().to_string())),
        ("created", job.created.map(|at| format!("{at:.0}, {} ago", age(at)))),
        ("ended", job.ended.map(|at| format!("{at:.0}"))),
        ("took", job.duration_ms.map(took)),
        ("tokens", usage.filter(|usage| !usage.is_empty())),
        ("session", job.session_id.clone()),
        ("failure", failure),
        ("log", job.log_gap.clone()),
        ("folder", Some(job.folder.display().to_string())),
    ];
    let lines = rows.into_iter().filter_map(|(name, value)| Some(format!("{name:<9}{}", value?)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Events for people, one after the other: a line each, the pieces of a text as one.
#[derive(Default)]
pub(super) struct Script {
    /// The last thing was a piece of a text.
    open: bool,
}

impl Script {
    /// What an event adds; nothing where it says nothing to people.
    pub(super) fn add(&mut self, line: &LogLine) -> String {
        let said = said(&line.event);
        if said.is_empty() {
            return said;
        }
        let is_piece = line.event["delta"] == true;
        let plain: String = said.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
        let text = plain.replace('\n', "\n         ");
        let at = format!("{:>7.1}  ", line.at_ms as f64 / 1000.0);
        let added = match (self.open, is_piece) {
            (true, true) => text,
            (true, false) => format!("\n{at}{}\n", text.trim_end()),
            (false, true) => format!("{at}{text}"),
            (false, false) => format!("{at}{}\n", text.trim_end()),
        };
        self.open = is_piece;
        added
    }

    /// What ends the last line.
    pub(super) fn end(self) -> &'static str {
        if self.open { "\n" } else { "" }
    }
}

fn said(event: &serde_json::Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let json = |key: &str| match &event[key] {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match text("type") {
        "session" => format!("session {} {}", text("id"), text("model")),
        "text" => text("text").to_owned(),
        "thinking" => format!("thinks {}", text("text")),
        "tool_use" => format!("{} {}", text("name"), cut(&json("input"), 200)),
        "tool_result" => format!("-> {}", cut(&json("output"), 200)),
        "denied" => format!("refused {}: {}", text("tool"), text("reason")),
        "retry" => format!("again: {}", text("message")),
        "error" => format!("error: {}", text("message")),
        "end" => "end".to_owned(),
        _ => String::new(),
    }
}

/// How long ago a moment is; nothing is before now by a clock that jumped.
fn age(at: jiff::Timestamp) -> String {
    span(u64::try_from(jiff::Timestamp::now().duration_since(at).as_secs()).unwrap_or(0))
}

fn took(ms: u64) -> String {
    if ms < 60_000 { format!("{:.1} s", ms as f64 / 1000.0) } else { span(ms / 1000) }
}

fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}
