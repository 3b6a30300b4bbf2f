//! How CLIs parse their arguments: the dialects of the parsers that they are built with, over a table of options.
//!
//! One model serves twice: a profile's arguments are read by it before anything is run, and a stand-in
//! takes its invocation apart with it.

/// The options of one CLI, and the parser that it is built with.
#[derive(Debug, Clone, Copy)]
pub struct Grammar {
    /// The parser.
    pub dialect: Dialect,
    /// Every option.
    pub options: &'static [Opt],
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt {
    /// Its long name, without dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// What follows it.
    pub takes: Takes,
    /// Whose it is to set.
    pub role: Role,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: a switch.
    Nothing,
    /// One value.
    Value,
    /// A value where the next argument is none of an option.
    MaybeValue,
    /// Every argument up to the next option.
    Values,
}

/// Whose an option is to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A profile may set it.
    Free,
    /// The builder sets it: a profile that does fights with it.
    Ours,
    /// It sets what the agent may do: with a request that restricts, a profile may not.
    Rights,
}

/// An option of a table.
pub const fn opt(long: &'static str, short: Option<char>, takes: Takes, role: Role) -> Opt {
    Opt { long, short, takes, role }
}

/// How a parser binds values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// `--name=value` binds a value.
    pub glued: bool,
    /// A separate value may begin with a dash.
    pub dash_value: bool,
    /// What `--` does.
    pub dashes: Dashes,
    /// A long name is also known in camel case, and with `no-` before it.
    pub loose_names: bool,
    /// An option that is in no table is an error.
    pub strict: bool,
}

/// What a bare `--` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dashes {
    /// What follows are words, whatever they look like.
    Words,
    /// What follows is ignored.
    Ignored,
    /// It is no argument that the parser knows.
    Unknown,
}

impl Dialect {
    /// yargs 17 in strict mode: a separate value that begins with a dash is refused, a glued one taken
    /// (run with gemini 0.61.0).
    pub const YARGS: Dialect =
        Dialect { glued: true, dash_value: false, dashes: Dashes::Words, loose_names: true, strict: true };
    /// commander 12: the value that an option requires is taken whatever it looks like (run with claude
    /// 2.1.332: `--model --foo` takes `--foo`).
    pub const COMMANDER: Dialect =
        Dialect { glued: true, dash_value: true, dashes: Dashes::Words, loose_names: false, strict: true };
    /// clap 4: as yargs, without loose names (run with codex 0.171.0: `--model --foo` ends with 2).
    pub const CLAP: Dialect =
        Dialect { glued: true, dash_value: false, dashes: Dashes::Words, loose_names: false, strict: true };
    /// Python's argparse: as clap (run with aider 0.86.2: `--message --help` ends with 2).
    pub const ARGPARSE: Dialect = Dialect::CLAP;
    /// A loop over the arguments, written by hand: the next argument is the value, and there is no `=`
    /// (run with pi 1.6.0).
    pub const BY_HAND: Dialect =
        Dialect { glued: false, dash_value: true, dashes: Dashes::Words, loose_names: false, strict: true };
}

/// Arguments, parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Options by their long names, in order; an option with several values stands once for each.
    pub options: Vec<(&'static str, Option<String>)>,
    /// Words that belong to no option.
    pub words: Vec<String>,
    /// Options that are in no table, where the dialect is not strict.
    pub unknown: Vec<String>,
}

impl Parsed {
    /// The last value of an option.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// All values of an option.
    pub fn all<'p>(&'p self, name: &str) -> impl Iterator<Item = &'p str> {
        let own = self.options.iter().filter(move |(own, _)| *own == name);
        own.map(|(_, value)| value.as_deref().unwrap_or("")).collect::<Vec<_>>().into_iter()
    }

    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(own, _)| *own == name)
    }
}

impl Grammar {
    /// The option of a long name.
    pub fn option(&self, long: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.long == long)
    }

    /// Parses arguments, or gives the message that the CLI would print.
    pub fn parse(&self, args: &[String]) -> Result<Parsed, String> {
        let mut parsed = Parsed::default();
        let mut rest = args.iter().map(String::as_str).peekable();
        while let Some(arg) = rest.next() {
            if arg == "--" && self.dialect.dashes != Dashes::Unknown {
                if self.dialect.dashes == Dashes::Words {
                    parsed.words.extend(rest.map(str::to_owned));
                }
                break;
            }
            if arg.len() < 2 || !arg.starts_with('-') {
                parsed.words.push(arg.to_owned());
                continue;
            }
            let (name, glued) = match arg.split_once('=').filter(|_| self.dialect.glued) {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg, None),
            };
            let Some(option) = self.lookup(name) else {
                if let Some(switches) = self.cluster(name).filter(|_| glued.is_none()) {
                    parsed.options.extend(switches.into_iter().map(|switch| (switch, None)));
                } else if self.dialect.strict {
                    return Err(format!("unknown option: {name}"));
                } else {
                    parsed.unknown.push(name.to_owned());
                    if glued.is_none() {
                        // It may take a value; a word here would be read as a prompt else.
                        rest.next_if(|next| !next.starts_with('-'));
                    }
                }
                continue;
            };
            let takes_it = |next: &&str| self.dialect.dash_value || !next.starts_with('-') || *next == "-";
            let value = match (option.takes, glued) {
                (_, Some(value)) => Some(value),
                (Takes::Nothing, None) => None,
                (Takes::MaybeValue, None) => {
                    rest.next_if(|next| !next.starts_with('-') || *next == "-").map(str::to_owned)
                }
                (Takes::Value | Takes::Values, None) => match rest.next_if(takes_it) {
                    Some(next) => Some(next.to_owned()),
                    None => return Err(format!("no value for {name}")),
                },
            };
            let separate = option.takes == Takes::Values;
            parsed.options.push((option.long, value));
            while let Some(next) = rest.next_if(|next| separate && !next.starts_with('-')) {
                parsed.options.push((option.long, Some(next.to_owned())));
            }
        }
        Ok(parsed)
    }

    fn lookup(&self, name: &str) -> Option<&'static Opt> {
        if let Some(long) = name.strip_prefix("--") {
            if let Some(found) = self.option(long) {
                return Some(found);
            }
            let kebab = kebab(long);
            return self
                .option(kebab.strip_prefix("no-").unwrap_or(&kebab))
                .filter(|_| self.dialect.loose_names);
        }
        let mut letters = name[1..].chars();
        let letter = letters.next().filter(|_| letters.next().is_none())?;
        self.options.iter().find(|option| option.short == Some(letter))
    }

    /// Several short switches in one argument: `-yd`.
    fn cluster(&self, name: &str) -> Option<Vec<&'static str>> {
        let letters = name.strip_prefix('-').filter(|l| l.len() > 1 && !l.starts_with('-'))?;
        let switch = |c| self.options.iter().find(|o| o.short == Some(c) && o.takes == Takes::Nothing);
        letters.chars().map(|c| switch(c).map(|option| option.long)).collect()
    }
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
