//! What simple CLIs share, most of them only read about: rights that no flag holds, texts as words, plain failures, and what
//! plays them.

use crate::error::{Failure, Kind, Result};
use crate::harness::{Draft, Facts};
use crate::lowering::Carried;
use crate::policy::ToolRule;
use crate::reply::{Reply, RunEnd};

/// The rights of a CLI that no documented flag holds to less than it does by itself.
///
/// A request that lets everything run gets the flags for it, with `how` in its rows; every other one that restricts
/// is unenforceable, for the reason `why`, and never gets them. Says whether full autonomy is what is asked for.
pub(crate) fn unheld(
    draft: &mut Draft<'_>,
    full: (Carried, &[&'static str]),
    how: &'static str,
    why: &'static str,
) -> Result<bool> {
    if !allows_everything(draft)? {
        draft.rights_fields().try_for_each(|field| draft.unenforced(field, why))?;
        return Ok(false);
    }
    let is_asked_for = draft.rights_fields().next().is_some();
    if is_asked_for {
        draft.args(full.1.iter().copied());
    }
    draft.rights_row(full.0, how);
    Ok(is_asked_for)
}

/// Whether nothing is asked to be held back: names that nobody knows are refused on the way.
fn allows_everything(draft: &mut Draft<'_>) -> Result<bool> {
    if !draft.request.restricts() {
        return Ok(true);
    }
    let rights = draft.rights()?;
    Ok(rights.everything() && rights.rules().iter().all(|rule| rule.rule == ToolRule::Allow))
}

/// Refuses a text that begins with what the CLI takes for a command of its own; leading white space does not keep it
/// from that.
pub(crate) fn refuse_commands(draft: &Draft<'_>, text: &str, commands: &[char]) -> Result<()> {
    match text.trim_start().chars().next().filter(|first| commands.contains(first)) {
        None => Ok(()),
        Some(first) => {
            let name = &draft.facts.name;
            let why =
                format!("prompt: {name} takes a text that begins with {first} for a command of its own");
            Err(Failure::new(Kind::Unsupported, why).hint(format!("put a word before the {first}")))
        }
    }
}

/// Refuses a text with white space around it that the CLI cuts off.
pub(crate) fn refuse_trimmed(draft: &Draft<'_>, text: &str) -> Result<()> {
    if text.trim() == text {
        return Ok(());
    }
    let why = format!("prompt: {} cuts white space at its start and its end", draft.facts.name);
    Err(Failure::new(Kind::Unsupported, why).hint("cut it off yourself"))
}

/// The first line on standard error that holds one of these, escape sequences left out.
pub(crate) fn told(end: &RunEnd, words: &[&str]) -> Option<String> {
    let plain = crate::reply::plain(&end.stderr);
    let line = plain.lines().find(|line| words.iter().any(|words| line.contains(words)));
    line.map(|line| line.trim().to_owned())
}

/// How a run ended that gave no result: its last line on standard error is the CLI's own word.
pub(crate) fn failed(facts: &Facts, end: &RunEnd, last_output: &str) -> Failure {
    match end.last_line() {
        Some(line) if !end.is_fine() && crate::reply::http_status(line).is_some() => facts.api_failure(line),
        _ => facts.no_result(end, last_output),
    }
}

/// A reply whose output is nothing but the answer, its failures told on standard error.
pub(crate) fn text(facts: &Facts, stdout: &str, end: &RunEnd) -> Reply {
    let mut reply = facts.text_reply(stdout, end);
    if reply.error.is_some() && !end.is_fine() {
        reply.error = Some(failed(facts, end, reply.text.lines().next_back().unwrap_or_default()));
    }
    reply
}

/// The kind of a result that is an error: its HTTP status, where it has one.
pub(crate) fn kind(result: &super::messages::ResultMessage) -> Kind {
    let status = result.api_error_status.or_else(|| crate::reply::http_status(&result.said()));
    status.and_then(Kind::of_http_status).unwrap_or(Kind::HarnessError)
}

#[cfg(feature = "stand-in")]
pub(crate) use played::{Prompt, Simple};

#[cfg(feature = "stand-in")]
mod played {
    use crate::harness::{Answer, Given, Received, Spoken, StandIn};
    use crate::lowering::{Grammar, Parsed};
    use crate::request::Output;
    use serde_json::json;

    /// Whether a tool may run, by what was given.
    pub(crate) type MayRun = Box<dyn Fn(&str) -> bool + Send + Sync>;

    /// Where the prompt stands.
    pub(crate) enum Prompt {
        /// The one word after those of the sub-command.
        Word,
        /// Standard input.
        Stdin,
        /// The value of this option as it is, else standard input without the white space at its end.
        OptionOrStdin(&'static str),
        /// The file that this option names.
        File(&'static str),
    }

    /// Plays a CLI by what its documentation says.
    pub(crate) struct Simple {
        pub(crate) grammar: &'static Grammar,
        /// How many words belong to a sub-command; none where it is not one.
        pub(crate) head: fn(&[String]) -> Option<usize>,
        pub(crate) prompt: Prompt,
        /// First characters of a command of its own.
        pub(crate) commands: &'static [char],
        /// White space around the prompt is cut.
        pub(crate) trims: bool,
        /// The option or the variable that names the model.
        pub(crate) model: &'static str,
        /// What stands before an answer in its text form.
        pub(crate) lead: &'static str,
        pub(crate) form: fn(&Parsed) -> Output,
        pub(crate) may_run: fn(&Given, &Parsed) -> MayRun,
    }

    impl StandIn for Simple {
        fn receive(&self, given: &Given) -> Result<Received, Spoken> {
            let refused = |said: String| Spoken::refused(2, format!("error: {said}\n"));
            let parsed = self.grammar.parse(&given.args).map_err(refused)?;
            if let Some(unknown) = parsed.unknown.first() {
                return Err(refused(format!("unexpected argument '{unknown}'")));
            }
            let Some(head) = (self.head)(&parsed.words) else {
                return Err(refused("unrecognized subcommand".to_owned()));
            };
            let words = &parsed.words[head.min(parsed.words.len())..];
            let prompt = match (&self.prompt, words) {
                (Prompt::Word, [word]) => word.clone(),
                (Prompt::Stdin, []) => given.stdin.clone(),
                (Prompt::OptionOrStdin(option), []) => match parsed.last(option) {
                    Some(value) if !value.is_empty() => value.to_owned(),
                    _ => given.stdin.trim_end().to_owned(),
                },
                (Prompt::File(option), []) => {
                    let file = parsed.last(option).and_then(|path| given.file(path));
                    file.ok_or_else(|| refused(format!("no file for --{option}")))?.to_owned()
                }
                _ => return Err(refused("unexpected words".to_owned())),
            };
            let prompt = if self.trims { prompt.trim().to_owned() } else { prompt };
            let first = prompt.trim_start().chars().next();
            if first.is_none_or(|first| self.commands.contains(&first)) {
                // Nothing goes to the model.
                return Err(Spoken::default());
            }
            Ok(Received {
                prompt,
                output: (self.form)(&parsed),
                model: parsed.last(self.model).or_else(|| given.var(self.model)).map(str::to_owned),
                session: None,
                may_run: (self.may_run)(given, &parsed),
            })
        }

        fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
            let text = match answer {
                Answer::Text(text) => text.as_str(),
                Answer::Empty => "",
                Answer::Status(status) => {
                    return Spoken::refused(1, format!("Error: status {status}: the stand-in plays it\n"));
                }
            };
            let end = json!({
                "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "stand-in",
            });
            match received.output {
                Output::Json => Spoken::said(format!("{end}\n")),
                Output::Stream => {
                    let init = json!({"type": "system", "subtype": "init", "session_id": "stand-in"});
                    let content = json!([{"type": "text", "text": text}]);
                    let said =
                        json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
                    Spoken::said(format!("{init}\n{said}\n{end}\n"))
                }
                _ if text.is_empty() => Spoken::default(),
                _ => Spoken::said(format!("{}{text}\n", self.lead)),
            }
        }
    }
}
