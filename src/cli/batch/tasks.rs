//! From the requests of a batch to tasks with nothing left open. All of them are looked at before any runs.

use super::args::BatchArgs;
use crate::batch::{Choice, Item, Task, filled, read_items, read_lines, rows};
use crate::cli::print;
use crate::cli::request::{Asked, Settled, harness_of, text_of, var, written};
use crate::config::Config;
use crate::error::{Failure, Kind, Result};
use crate::harness::HarnessRegistry;
use crate::request::Session;
use crate::schema::Schema;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// How many faults are told at once.
const TOLD: usize = 20;

pub(super) fn tasks(args: &BatchArgs, config: &Config, registry: &HarnessRegistry) -> Result<Vec<Task>> {
    let items = items(args, registry)?;
    let asked = Asked { args: &args.request, config, registry };
    let (mut tasks, mut faults, mut notices) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut schemas = HashSet::new();
    for item in items {
        let place = item.place.clone();
        let task = task(args, &asked, item, tasks.len(), &mut schemas, &mut notices);
        match task {
            Ok(mut task) => {
                // The same request twice is two tasks.
                let count = seen.entry(task.id.clone()).or_insert(0);
                *count += 1;
                if *count > 1 && task.id != task.key {
                    faults.push(Failure::invalid("id", format!("{place}: `{}` is there twice", task.id)));
                } else if *count > 1 {
                    task.id = format!("{}.{count}", task.id);
                }
                tasks.push(task);
            }
            Err(e) => faults.push(Failure { message: format!("{place}: {}", e.message), ..e }),
        }
    }
    if !args.quiet {
        notices.iter().for_each(|notice: &String| print::note(notice));
    }
    match faults.len() {
        0 => Ok(tasks),
        1 => Err(faults.remove(0)),
        many => {
            let told: Vec<&str> = faults.iter().take(TOLD).map(|e| e.message.as_str()).collect();
            let more = if many > TOLD { format!("\n  … and {} more", many - TOLD) } else { String::new() };
            let message =
                format!("{many} requests are wrong, and none was run:\n  {}{more}", told.join("\n  "));
            Err(Failure::new(faults[0].kind, message))
        }
    }
}

fn items(args: &BatchArgs, registry: &HarnessRegistry) -> Result<Vec<Item>> {
    if let Some(data) = &args.each {
        let (platform, mut template, notices) = written(&args.request, registry)?;
        template.harness = platform.or(template.harness);
        notices.iter().for_each(|notice| print::note(notice));
        return rows(data)?.iter().map(|row| filled(&template, row)).collect();
    }
    let source = match (&args.request.first, &args.request.second) {
        (Some(source), None) => source,
        (None, _) => {
            return Err(Failure::invalid("batch", "no requests are named")
                .hint("teamster batch requests.jsonl, or --each data.csv PLATFORM PROMPT"));
        }
        (Some(_), Some(word)) => {
            return Err(Failure::invalid("batch", format!("`{word}` is one word too many"))
                .hint("a prompt for each row of a file goes with --each DATA"));
        }
    };
    match source.as_str() {
        "-" => read_lines("stdin", &text_of("batch", Path::new("-"))?),
        path => read_items(Path::new(path)),
    }
}

fn task(
    args: &BatchArgs,
    asked: &Asked<'_, '_>,
    item: Item,
    index: usize,
    schemas: &mut HashSet<String>,
    notices: &mut Vec<String>,
) -> Result<Task> {
    let Item { id, place, mut request, notices: own } = item;
    let named = request.harness.take().or(args.harness.clone());
    let named = harness_of(named, asked.config, "\"harness\": \"…\" in the request, or --harness")?;
    let profile = args.request.profile.clone().or(var("TEAMSTER_PROFILE"));
    let first = asked.settle(request.clone(), own, &named, profile.as_deref())?;
    notices.extend(first.notices.iter().map(|notice| format!("{place}: {notice}")));
    let mut choices = vec![choice(args, first)];
    for word in &args.fallback.fallback {
        choices.push(choice(args, asked.fall_back(&request, word)?));
    }
    let first = &choices[0];
    if matches!(first.request.session, Some(Session::Resume(_))) && choices.len() > 1 {
        return Err(Failure::invalid("session", "a session belongs to one harness: no fallback"));
    }
    first.profile.limits.settled()?;
    let lowered = first.lowered(asked.registry)?;
    if args.request.strict {
        lowered.report.strict()?;
    }
    if let Some(schema) = &first.request.schema
        && schemas.insert(schema.text().to_owned())
    {
        Schema::compile(schema)?;
    }
    if args.worktrees.is_some() && first.request.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) {
        return Err(Failure::new(Kind::BadCwd, "cwd: is no directory"));
    }
    let key = Task::key_of(&lowered, &first.request);
    Ok(Task { index, id: id.unwrap_or_else(|| key.clone()), key, choices })
}

fn choice(args: &BatchArgs, settled: Settled<'_>) -> Choice {
    let Settled { builder, profile_name, mut profile, request, .. } = settled;
    profile.limits = args.limits().or(&profile.limits);
    Choice { harness: builder.facts().id.clone(), profile_name, profile, request }
}
