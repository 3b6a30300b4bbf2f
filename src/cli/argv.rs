//! `teamster argv`: what `run` would spawn.

use super::args::ArgvArgs;
use super::print;
use super::request::{Prepared, prepare, settings};
use crate::dispatch::{DispatchOptions, first_command};
use crate::error::Result;
use crate::lowering::Lowered;
use comfy_table::{ContentArrangement, Table, presets};
use std::process::ExitCode;

pub(super) fn argv(args: &ArgvArgs) -> Result<ExitCode> {
    let (config, registry) = settings(args.request.config.as_deref(), args.request.cwd.as_deref(), false)?;
    let prepared = prepare(&args.request, &config, &registry, &[], false)?;
    let Prepared { builder, request, profile, output_as_asked, .. } = prepared;
    let options = DispatchOptions { strict: args.request.strict, output_as_asked, on_event: None };
    let lowered = first_command(builder, request, &profile, &options)?;
    if args.json {
        return print::json(&lowered);
    }
    let mut text = lowered.command.shell_line();
    if args.explain {
        text.push_str(&explained(&lowered));
    }
    if !args.explain {
        if let Some(stdin) = &lowered.command.stdin {
            print::note(&format!("{} bytes on stdin; --json shows them", stdin.len()));
        }
        if !lowered.command.files.is_empty() {
            let names: Vec<&str> = lowered.command.files.iter().map(|f| f.name.as_ref()).collect();
            print::note(&format!(
                "`run` writes {} and puts the paths in; --json shows them",
                names.join(", ")
            ));
        }
    }
    print::line(&text)
}

/// The report as a table, and what else the command has.
fn explained(lowered: &Lowered) -> String {
    let mut table = table(&["field", "carried", "how"]);
    for row in &lowered.report.rows {
        table.add_row([row.field.name(), row.carried.name(), &row.detail]);
    }
    let mut text = format!("\n\n{}\n", table.trim_fmt());
    if let Some(stdin) = &lowered.command.stdin {
        text.push_str(&format!("\nstdin: {} bytes\n", stdin.len()));
    }
    for file in &lowered.command.files {
        text.push_str(&format!("\n{{file:{}}}\n", file.name));
        for line in file.content.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// A plain table with this head.
pub(super) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(head.to_vec());
    if table.width().is_none() {
        table.set_width(160);
    }
    table
}
