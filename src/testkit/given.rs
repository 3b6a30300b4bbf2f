//! What a command gives to its CLI, with the places filled as a runner would.

use crate::command::{Command, Listed, Piece, Text};
use crate::harness::Given;

/// The arguments, stdin and files that the CLI of this command gets, in a made-up home and run folder.
pub fn given(command: &Command) -> Given {
    Given {
        args: command.args.iter().map(filled).collect(),
        stdin: command.stdin.clone().unwrap_or_default(),
        files: command.files.iter().map(|file| (path(&file.name), file.content.clone())).collect(),
        env: command.env.iter().map(|(name, value)| (name.to_string(), filled(value))).collect(),
    }
}

/// A text with made-up values in its places.
pub(super) fn filled(text: &Text) -> String {
    let fill = |piece: &Piece| {
        Ok::<_, std::convert::Infallible>(match piece {
            Piece::Plain(text) => text.to_string(),
            Piece::File(name) => path(name),
            Piece::Home => "/home/somebody".to_owned(),
            Piece::Tmp => "/run/teamster/tmp".to_owned(),
            Piece::Env(_) => String::new(),
            Piece::Each(listed, after) => match **listed {
                Listed::Directories => format!("\"/repo\"{after}"),
                Listed::Names { .. } => String::new(),
            },
        })
    };
    match text.filled(fill) {
        Ok(whole) => whole.into_owned(),
        Err(never) => match never {},
    }
}

fn path(file: &str) -> String {
    format!("/run/teamster/{file}")
}
