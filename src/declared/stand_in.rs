//! Plays a declared CLI: takes its arguments apart by the file's own templates, and answers in its form.

use super::Declared;
use super::file::{EventFile, Level, PromptBy, ReaderFile};
use super::template::{Part, Place, Template};
use crate::harness::{Answer, Given, Received, Spoken, StandIn};
use crate::policy::{Permission, tool_argument};
use crate::request::{Output, Session};
use serde_json::{Map, Value, json};

impl StandIn for Declared {
    fn receive(&self, given: &Given) -> Result<Received, Spoken> {
        let value = |place| self.args.iter().find_map(|template| found(template, place, &given.args));
        let prompt = match self.prompt {
            PromptBy::Stdin => given.stdin.clone(),
            PromptBy::Argument => value(Place::Prompt).unwrap_or_default(),
            PromptBy::File => {
                let path = value(Place::PromptFile).unwrap_or_default();
                given.file(&path).unwrap_or_default().to_owned()
            }
        };
        if prompt.is_empty() {
            return Err(Spoken::refused(2, "no prompt\n"));
        }
        let output = match &*self.reader {
            ReaderFile::Text => Output::Text,
            ReaderFile::Json { .. } => Output::Json,
            ReaderFile::Lines { .. } => Output::Stream,
        };
        let session = value(Place::SessionId).map(|id| Session::New(Some(id)));
        let session = value(Place::SessionResume).map(Session::Resume).or(session);
        let only = self.only_tools.as_ref().and_then(|level| {
            level.args.iter().find_map(|template| found(template, Place::Tools, &given.args))
        });
        let stands = |level: &Option<Level>| level.as_ref().is_some_and(|level| stands(level, given));
        let most = [
            (Permission::ReadOnly, stands(&self.levels.read_only)),
            (Permission::Edit, stands(&self.levels.edit)),
        ];
        let most = most.into_iter().find(|(_, there)| *there).map_or(Permission::Full, |(level, _)| level);
        let tools = self.facts.tools.clone();
        let may_run = move |used: &str| {
            let name = tool_argument(used).0;
            let listed = only.as_ref().is_none_or(|only| only.split(',').any(|own| own == name));
            listed && tools.get(name).map_or(Permission::Full, |tool| tool.needs) <= most
        };
        let model = value(Place::Model);
        Ok(Received { prompt, output, model, session, may_run: Box::new(may_run) })
    }

    fn answer(&self, received: &Received, answer: &Answer) -> Spoken {
        let (text, status) = match answer {
            Answer::Text(text) => (text.as_str(), None),
            Answer::Empty => ("", None),
            Answer::Status(status) => ("", Some(*status)),
        };
        let said = status.map(|status| format!("HTTP {status}: the stand-in plays it"));
        let object = |event: &EventFile| {
            let mut object = json!({});
            event.when.iter().for_each(|(path, wanted)| set(&mut object, path, wanted.clone()));
            object
        };
        let stdout = match &*self.reader {
            ReaderFile::Text if said.is_none() => format!("{text}\n"),
            ReaderFile::Text => String::new(),
            ReaderFile::Json { read: members } => {
                let mut envelope = json!({});
                match (&said, &members.error) {
                    (Some(said), Some(path)) => set(&mut envelope, path, said.clone().into()),
                    (Some(_), None) => {}
                    (None, _) => members.text.iter().for_each(|path| set(&mut envelope, path, text.into())),
                }
                if let (Some(path), Some(Session::New(Some(id)) | Session::Resume(id))) =
                    (&members.session, &received.session)
                {
                    set(&mut envelope, path, id.clone().into());
                }
                format!("{envelope}\n")
            }
            ReaderFile::Lines { event } => {
                let mut lines = String::new();
                for event in event {
                    let m = &event.read;
                    let mut line = object(event);
                    match (&said, &m.text, &m.error) {
                        (None, Some(path), _) if !text.is_empty() => set(&mut line, path, text.into()),
                        (Some(said), _, Some(path)) => set(&mut line, path, said.clone().into()),
                        (_, None, None) if event.end == Some(said.is_none()) => {}
                        _ => continue,
                    }
                    lines.push_str(&format!("{line}\n"));
                }
                lines
            }
        };
        Spoken {
            stdout,
            stderr: said.map_or_else(String::new, |said| format!("{said}\n")),
            status: status.map_or(0, |status| self.status_of(status)),
            ..Spoken::default()
        }
    }
}

impl Declared {
    /// The exit status that the file gives to what this HTTP status comes to.
    fn status_of(&self, http: u16) -> i32 {
        let kind = crate::error::Kind::of_http_status(http);
        let own = self.facts.exit_statuses.iter().find(|(_, own)| Some(**own) == kind);
        own.and_then(|(status, _)| status.parse().ok()).unwrap_or(1)
    }
}

/// The value of a place in arguments that a template made.
fn found(template: &Template, place: Place, args: &[String]) -> Option<String> {
    let at = template.words.iter().position(|word| word.contains(&Part::Place(place)))?;
    let (before, after) = around(&template.words[at], place);
    let width = template.words.len();
    args.windows(width).find_map(|window| {
        let fixed = template.words.iter().zip(window).all(|(word, arg)| match &word[..] {
            [Part::Text(text)] => text == arg,
            _ => true,
        });
        let value = window[at].strip_prefix(&before)?.strip_suffix(&after)?;
        // A bare place is the last argument, or what follows `--`.
        let bare = width == 1 && before.is_empty() && after.is_empty();
        let own = !bare || args.last().is_some_and(|last| std::ptr::eq(last, &raw const window[0]));
        (fixed && own).then(|| value.to_owned())
    })
}

fn around(word: &[Part], place: Place) -> (String, String) {
    let at = word.iter().position(|part| *part == Part::Place(place)).unwrap_or(0);
    let text = |parts: &[Part]| {
        parts
            .iter()
            .map(|part| if let Part::Text(text) = part { text.as_str() } else { "" })
            .collect::<String>()
    };
    (text(&word[..at]), text(&word[at + 1..]))
}

/// Whether everything that a level adds is there.
fn stands(level: &Level, given: &Given) -> bool {
    let fixed = level.args.iter().flat_map(|template| &template.words).filter_map(|word| match &word[..] {
        [Part::Text(text)] => Some(text),
        _ => None,
    });
    let mut all = fixed
        .map(|text| given.args.contains(text))
        .chain(level.env.iter().map(|(name, value)| given.env.get(name) == Some(value)));
    all.all(|there| there)
}

/// Sets the member of a dotted path.
fn set(value: &mut Value, path: &str, to: Value) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let next = match (key.parse::<usize>(), value) {
        (Ok(at), Value::Array(list)) => {
            list.resize(list.len().max(at + 1), Value::Null);
            &mut list[at]
        }
        (_, value) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            let Value::Object(map) = value else { return };
            let list = rest
                .is_some_and(|rest| rest.split('.').next().is_some_and(|key| key.parse::<usize>().is_ok()));
            map.entry(key).or_insert_with(|| if list { json!([]) } else { Value::Null })
        }
    };
    match rest {
        Some(rest) => set(next, rest, to),
        None => *next = to,
    }
}
