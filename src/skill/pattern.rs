//! What stands in the parentheses after the name of a shell.

use crate::harness::ArgumentStyle;

/// Commands that a rule speaks of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pattern<'a> {
    /// Those that begin with these words.
    Words(&'a str),
    /// Those that begin with this text, inside a word too.
    Text(&'a str),
    /// This one alone.
    Exact(&'a str),
    /// Another pattern.
    Other,
}

impl<'a> Pattern<'a> {
    pub(super) fn of(argument: &'a str, style: ArgumentStyle) -> Pattern<'a> {
        if style == ArgumentStyle::Words {
            return Pattern::Words(argument);
        }
        let plain = |text: &str| !text.is_empty() && !text.contains(['*', '?', '[', '\\']);
        let words = argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *"));
        match (words, argument.strip_suffix('*')) {
            (Some(words), _) if plain(words) => Pattern::Words(words),
            (_, Some(text)) if plain(text) => Pattern::Text(text),
            _ if plain(argument) => Pattern::Exact(argument),
            _ => Pattern::Other,
        }
    }

    /// First words that mean just this.
    pub(super) fn exactly(&self) -> Option<String> {
        match self {
            Pattern::Words(words) => simple(words),
            _ => None,
        }
    }

    /// First words that cover no other command than this does.
    pub(super) fn at_most(&self) -> Option<String> {
        match self {
            Pattern::Words(words) | Pattern::Text(words) => simple(words),
            _ => None,
        }
    }

    /// First words that cover every command which this does.
    pub(super) fn at_least(&self) -> Option<String> {
        match self {
            Pattern::Words(words) | Pattern::Exact(words) => simple(words),
            _ => None,
        }
    }
}

/// Words of one command; what a shell would read as more is left to no one.
fn simple(words: &str) -> Option<String> {
    let more = |c: char| c.is_control() || ";&|`$()<>\"'#".contains(c);
    (!words.contains(more)).then(|| words.trim().to_owned()).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_told_smaller_to_allow_and_larger_to_deny() {
        let some = |words: &str| Some(words.to_owned());
        for (argument, at_most, at_least) in [
            ("git *", some("git"), some("git")),
            ("git:*", some("git"), some("git")),
            ("npm run test:*", some("npm run test"), some("npm run test")),
            ("git log*", some("git log"), None),
            ("npm test", None, some("npm test")),
            ("* --help", None, None),
            ("git * main", None, None),
            ("git && rm *", None, None),
            ("*", None, None),
            (" *", None, None),
        ] {
            let pattern = Pattern::of(argument, ArgumentStyle::Patterns);
            assert_eq!((pattern.at_most(), pattern.at_least()), (at_most, at_least), "{argument}");
        }
        assert_eq!(Pattern::of("git status", ArgumentStyle::Words).at_most(), some("git status"));
    }
}
