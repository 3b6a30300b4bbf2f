//! Codex (`@openai/codex`), as verified by running 0.171.0 on 2026-12-01, and 0.98.0.
//!
//! ```text
//! codex exec --json --skip-git-repo-check <rights> -c features={…} … <profile args> [--model=M]
//!       [-c model_reasoning_effort="E"] [-c developer_instructions="S"] [--output-schema=F] [--add-dir=D]…
//!       [resume UUID] -                                                               (payload on stdin)
//! ```
//!
//! - Every flag stands before `resume`, where all are taken: behind it `--sandbox` is refused, and without
//!   one a session goes on with the sandbox of the user's settings, not with its own.
//! - An id that is no UUID silently begins a new thread with status 0, so only UUIDs are taken.
//! - `--json` alone tells failures from answers. `{"type":"error"}` may pass; `turn.failed`, or no
//!   `turn.completed`, is the failure.
//! - The prompt goes to stdin, which is read as it is: UTF-8, up to 1,048,576 characters, but for a mark of
//!   byte order at its start, which is cut. `$name` adds the text of a skill of that name.
//! - A prompt argument with an open stdin hangs, and so does a server that cannot be reached, for ever,
//!   with `unbounded_connection_retries`, which is on by itself.
//! - Commands run in a sandbox of the CLI's own. See `rights.rs` for what gets out of it.

mod reader;
mod rights;
#[cfg(feature = "stand-in")]
mod stand_in;

use crate::command::{Check, EnvEntry, Named, Piece, Text};
use crate::error::{Failure, Kind, Result};
use crate::harness::{AgentBuilder, Draft, Facts, Flag, SessionIds, Sessions, StdinPrompt};
use crate::lowering::{Carried, Field, Lowered, MAX_ARGUMENT, payload, strict_object};
use crate::profile::Profile;
use crate::reply::Reader;
use crate::request::{DispatchRequest, Effort, Output, Session};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The harness of Codex.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::compiled_in(include_str!("harness.json")));

/// It counts characters (run), of which there are never more than bytes.
const STDIN: StdinPrompt = StdinPrompt { fold_system: false, guarded: &[], most: 1_048_576 };
const MAX_SCHEMA: usize = 100_000;

/// The sandbox leaves a folder there.
static ENV: [EnvEntry; 1] = [(Cow::Borrowed("TMPDIR"), Text::Pieces(Cow::Borrowed(&[Piece::Tmp])))];

/// The levels that its models know. The CLI passes any word on (run).
const EFFORT: &[(Effort, &str)] = &[
    (Effort::None, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::Xhigh, "xhigh"),
];

const SESSIONS: Sessions = Sessions { ids: SessionIds::Uuid, begin: None, resume: Flag::Pair("resume") };

impl AgentBuilder for Codex {
    fn facts(&self) -> &Facts {
        &FACTS
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        let mut draft = Draft::new(&FACTS, request, profile, &ENV);
        draft.args(["exec", "--json", "--skip-git-repo-check"]);
        draft.output_row("--json", "the text form has no session, usage or failure in it");
        rights::lower(&mut draft)?;
        draft.args(["-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false"]);
        draft.profile_args(&rights::GRAMMAR)?;
        draft.model_flag(Flag::Glued("--model"))?;
        if let Some(word) = draft.effort(EFFORT) {
            setting(&mut draft, Field::Effort, "model_reasoning_effort", word)?;
        }
        let folds = system_prompt(&mut draft)?;
        schema(&mut draft);
        draft.add_dirs(Flag::Glued("--add-dir"))?;
        draft.dropped(Field::MaxTurns, "codex has no limit on turns");
        draft.session(&SESSIONS)?;
        draft.arg("-");
        skills(&mut draft, folds)?;
        draft.payload_on_stdin(&StdinPrompt { fold_system: folds, ..STDIN })?;
        if draft.stdin.as_ref().is_some_and(|text| text.starts_with('\u{feff}')) {
            let why = "prompt: begins with a byte order mark, which codex would cut";
            return Err(Failure::new(Kind::Unsupported, why).hint("leave out the character U+FEFF"));
        }
        Ok(draft.finish(Output::Stream))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        reader::reader(output)
    }

    #[cfg(feature = "stand-in")]
    fn stand_in(&self) -> Option<&dyn crate::harness::StandIn> {
        Some(&stand_in::CodexStandIn)
    }
}

/// A value of its settings: `-c key="value"`, with the row.
fn setting(draft: &mut Draft<'_>, field: Field, key: &'static str, value: &str) -> Result<()> {
    let setting = format!("{key}={}", quoted(value));
    draft.pair(field, "-c", &setting)
}

/// A string of TOML. As in JSON, but that TOML wants one more character escaped; what is no TOML is taken as
/// it stands, quotes and all (run).
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// As a developer's message, beside the CLI's own instructions. A thread keeps that of its first turn and
/// ignores another (run), so a resumed one gets it in the prompt. Gives whether it goes there.
fn system_prompt(draft: &mut Draft<'_>) -> Result<bool> {
    let resumes = matches!(draft.request.session, Some(Session::Resume(_)));
    if draft.request.is_correction() || (resumes && draft.request.system_prompt.is_some()) {
        return Ok(true);
    }
    let Some(system) = draft.system_prompt() else { return Ok(false) };
    if quoted(system).len() > MAX_ARGUMENT - 64 {
        return Ok(true);
    }
    setting(draft, Field::SystemPrompt, "developer_instructions", system)?;
    Ok(false)
}

/// The model server takes a schema only in its strict subset, and refuses the run else; there the
/// instruction in the prompt is all.
fn schema(draft: &mut Draft<'_>) {
    let Some(schema) = &draft.request.schema else { return };
    match strict_object(schema.text(), MAX_SCHEMA) {
        Some(own) => {
            draft.file("schema.json", own);
            draft.arg(Text::file("--output-schema=", "schema.json"));
            draft.row(Field::Schema, Carried::File, "--output-schema: it is in the strict subset as it is");
        }
        None => draft.row(
            Field::Schema,
            Carried::Prompt,
            "no --output-schema: the model server takes only closed objects with every property required",
        ),
    }
}

/// Folders of skills, in every directory from the working directory to the root of the repository (run).
const SKILLS_ABOVE: &[Cow<'static, str>] = &[Cow::Borrowed(".agents/skills"), Cow::Borrowed(".codex/skills")];
/// Folders of skills elsewhere: of the user (run), of plugins and of the machine (read).
static SKILLS: [Text; 6] = [
    Text::Pieces(Cow::Borrowed(&[Piece::Home, Piece::Plain(Cow::Borrowed("/.codex/skills"))])),
    Text::Pieces(Cow::Borrowed(&[Piece::Home, Piece::Plain(Cow::Borrowed("/.codex/plugins"))])),
    Text::Pieces(Cow::Borrowed(&[Piece::Home, Piece::Plain(Cow::Borrowed("/.agents/skills"))])),
    Text::Pieces(Cow::Borrowed(&[
        Piece::Env(Cow::Borrowed("CODEX_HOME")),
        Piece::Plain(Cow::Borrowed("/skills")),
    ])),
    Text::Pieces(Cow::Borrowed(&[
        Piece::Env(Cow::Borrowed("CODEX_HOME")),
        Piece::Plain(Cow::Borrowed("/plugins")),
    ])),
    Text::Plain(Cow::Borrowed("/etc/codex/skills")),
];

/// `$name` adds the text of the skill of that name, after the prompt; nothing turns it off. A skill's name is what its
/// file says, its folder may have another one and lie in others (run).
fn skills(draft: &mut Draft<'_>, folds: bool) -> Result<()> {
    let payload = payload(draft.request, folds);
    if draft.request.file_references {
        draft.row(
            Field::FileReferences,
            Carried::Prompt,
            "codex adds the skill that $name names; it reads no @path",
        );
        return Ok(());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    let mut named: Vec<Named> = Vec::new();
    for (at, _) in payload.match_indices('$') {
        let after = &payload[at + 1..];
        let name = &after[..after.find(|c| !plain(c)).unwrap_or(after.len())];
        if name.is_empty() {
            continue;
        }
        let field = super::families::references::field_at(draft.request, folds, at);
        match named.iter_mut().find(|named| named.field == field) {
            Some(named) if named.names.iter().any(|known| known == name) => {}
            Some(named) => named.names.push(name.to_owned()),
            None => named.push(Named {
                field: field.into(),
                names: vec![name.to_owned()],
                file: "SKILL.md".into(),
                above: SKILLS_ABOVE.into(),
                places: Cow::Borrowed(&SKILLS),
                why: "codex would add its text to the prompt".into(),
            }),
        }
    }
    draft.checks.extend(named.into_iter().map(Check::NoneNamed));
    Ok(())
}
