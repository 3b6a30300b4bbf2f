//! How gemini 0.61.0 parses its arguments: yargs in strict mode, as run and as read in its source.

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// A value where the next argument is none of an option.
    MaybeValue,
}

use Takes::{MaybeValue, Nothing, Value};

/// Every option: long name, short name, what it takes.
const OPTIONS: &[(&str, Option<char>, Takes)] = &[
    ("model", Some('m'), Value),
    ("prompt", Some('p'), Value),
    ("prompt-interactive", Some('i'), Value),
    ("skip-trust", None, Nothing),
    ("worktree", Some('w'), MaybeValue),
    ("sandbox", Some('s'), Nothing),
    ("yolo", Some('y'), Nothing),
    ("approval-mode", None, Value),
    ("policy", None, Value),
    ("admin-policy", None, Value),
    ("acp", None, Nothing),
    ("experimental-acp", None, Nothing),
    ("allowed-mcp-server-names", None, Value),
    ("allowed-tools", None, Value),
    ("extensions", Some('e'), Value),
    ("list-extensions", Some('l'), Nothing),
    ("resume", Some('r'), MaybeValue),
    ("session-file", None, Value),
    ("session-id", None, Value),
    ("list-sessions", None, Nothing),
    ("delete-session", None, Value),
    ("include-directories", None, Value),
    ("screen-reader", None, Nothing),
    ("output-format", Some('o'), Value),
    ("fake-responses", None, Value),
    ("fake-responses-non-strict", None, Value),
    ("record-responses", None, Value),
    ("raw-output", None, Nothing),
    ("accept-raw-output-risk", None, Nothing),
    ("debug", Some('d'), Nothing),
    ("help", Some('h'), Nothing),
    ("version", Some('v'), Nothing),
];

/// Arguments, parsed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Options by their long names, in order.
    pub(super) options: Vec<(&'static str, Option<String>)>,
    /// Words that belong to no option.
    pub(super) words: Vec<String>,
}

#[cfg(feature = "stand-in")]
impl Parsed {
    /// The last value of an option.
    pub(super) fn last<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).last()
    }

    /// All values of an option.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.options
            .iter()
            .filter(move |(own, _)| *own == name)
            .map(|(_, value)| value.as_deref().unwrap_or(""))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(own, _)| *own == name)
    }
}

/// Parses arguments, or gives the message that gemini would print.
///
/// A separate value that begins with a dash is refused, a glued one is taken; what follows `--` is
/// ignored; a long name is also known in camel case and with `no-` before it.
pub(super) fn parse(args: &[String]) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut rest = args.iter().peekable();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            break;
        }
        if arg.len() < 2 || !arg.starts_with('-') {
            parsed.words.push(arg.clone());
            continue;
        }
        let (name, glued) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let Some((long, takes)) = lookup(name) else {
            if let Some(flags) = cluster(name).filter(|_| glued.is_none()) {
                parsed.options.extend(flags.into_iter().map(|flag| (flag, None)));
                continue;
            }
            return Err(format!("Unknown argument: {}", name.trim_start_matches('-')));
        };
        let value = match (takes, glued) {
            (_, Some(value)) => Some(value),
            (Nothing, None) => None,
            (Value | MaybeValue, None) => match rest.next_if(|next| !next.starts_with('-') || *next == "-") {
                Some(next) => Some(next.clone()),
                None if takes == MaybeValue => None,
                None => {
                    return Err(format!("Not enough arguments following: {}", name.trim_start_matches('-')));
                }
            },
        };
        parsed.options.push((long, value));
    }
    Ok(parsed)
}

fn lookup(name: &str) -> Option<(&'static str, Takes)> {
    if let Some(long) = name.strip_prefix("--") {
        let kebab = kebab(long);
        let plain = kebab.strip_prefix("no-").unwrap_or(&kebab);
        return OPTIONS.iter().find(|(own, ..)| *own == plain).map(|(own, _, takes)| (*own, *takes));
    }
    let mut letters = name[1..].chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    OPTIONS.iter().find(|(_, short, _)| *short == Some(letter)).map(|(own, _, takes)| (*own, *takes))
}

/// Several short switches in one argument: `-yd`.
fn cluster(name: &str) -> Option<Vec<&'static str>> {
    let letters = name.strip_prefix('-').filter(|l| l.len() > 1 && !l.starts_with('-'))?;
    letters
        .chars()
        .map(|c| OPTIONS.iter().find(|(_, short, takes)| *short == Some(c) && *takes == Nothing).map(|o| o.0))
        .collect()
}

fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
