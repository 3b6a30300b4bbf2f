//! A prompt reaches the model byte for byte, or is refused by name before anything is spawned.

use super::cli::{Cli, Except};
use super::lab::Lab;
use crate::support::model_server::Step;
use serde_json::json;

/// Each would be something else to some CLI: a flag, front matter, a command, a shell, a file.
const HOSTILE: &[&str] = &[
    "- x",
    "-",
    "---\nfront: matter\n---\n",
    "--help",
    "/help",
    "/run touch pwned",
    "!touch pwned",
    "see @notes.txt",
    "$notes #notes ?notes %notes% ~ * {a,b} <notes.txt >pwned `touch pwned` $(touch pwned) ${HOME}",
    "\"quoted\" 'text' \\ \\n \\\" \ttab\u{7f}\u{1b}[31mred",
    "päivää ☕ 😀 — 日本語 \u{202e}rtl\u{200b}zero\r\nline two\n\nline four",
    "\n  blanks around\t\n\n",
    "help",
    "EOF",
];

pub(crate) fn hostile_prompts(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { return };
    lab.place.file("notes.txt", "SECRET");
    let mut wrong = Vec::new();
    for prompt in HOSTILE {
        wrong.extend(sent(&lab, prompt).err().map(|why| format!("{prompt:?}: {why}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(lab.place.marks(), ["notes.txt"], "a prompt ran");
}

/// Over every limit of an argument, and of the pipes that some CLIs cut.
pub(crate) fn big_prompt(cli: &'static Cli) {
    let Some(lab) = Lab::new(cli, vec![Step::text("ok")]) else { return };
    let lines = (0..).map(|n| format!("{n}: päivää ☕ 😀 — 日本語 {}\r\n", n * n % 7919));
    let big: String = lines.take(5_500).collect::<String>() + "end";
    assert!(big.len() > 200 << 10);
    let refused =
        [Except::OneArgument, Except::CutAtBlankLine].into_iter().any(|e| cli.excepted(e).is_some());
    assert_eq!(sent(&lab, &big), Ok(!refused));
    if cli.excepted(Except::CutAtBlankLine).is_some() {
        assert_eq!(sent(&lab, &format!("a head\n\n{big}\n\nand an end")), Ok(true));
    }
}

/// Whether the prompt arrived; `false` where it was refused before the spawn.
fn sent(lab: &Lab, prompt: &str) -> Result<bool, String> {
    let before = lab.server.main_requests().len();
    let outcome = lab.outcome(json!({"prompt": prompt, "permission": lab.cli.permission}), &[]);
    let turns = lab.server.main_requests();
    if let Some(failure) = &outcome.failure {
        let refused =
            turns.len() == before && outcome.attempts.is_empty() && failure.message.contains("prompt");
        return if refused { Ok(false) } else { Err(format!("failed after a spawn: {failure:?}")) };
    }
    let Some(turn) = turns.get(before) else { return Err(format!("no turn: {outcome:?}")) };
    if turn.body.to_string().contains("SECRET") {
        return Err("a file's content was sent".to_owned());
    }
    let seen = (lab.cli.prompt)(turn);
    let fits = |seen: &str| {
        // The one addition that the law knows: a line end ahead, so that the CLI takes it for no command.
        let bare = seen.strip_prefix('\n').filter(|_| prompt.starts_with(['/', '!', '#', '?', '-']));
        let trims = lab.cli.excepted(Except::Trims).is_some();
        seen == prompt || bare == Some(prompt) || (trims && seen.trim() == prompt.trim())
    };
    match seen {
        Some(seen) if fits(&seen) => Ok(true),
        seen => {
            let texts = seen.map_or_else(|| turn.user_texts(), |seen| vec![seen]);
            let cut: Vec<String> = texts.iter().map(|text| text.chars().take(300).collect()).collect();
            Err(format!("the model saw {cut:?}"))
        }
    }
}
