//! Every built-in harness conforms, and the suite finds each kind of fault.

#[cfg(feature = "run")]
#[path = "../../examples/third_party.rs"]
#[expect(unreachable_pub, reason = "it is a program of its own, too")]
mod third_party;

/// A harness of another crate: registered, conforming, lowered and run, in under 60 lines.
#[cfg(feature = "run")]
#[test]
fn a_third_partys_harness_runs_in_under_60_lines() {
    assert_eq!(third_party::main(), Ok(()));
    assert!(include_str!("../../examples/third_party.rs").lines().count() < 60);
}

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use teamster::command::Text;
use teamster::harness::{AgentBuilder, Facts, StandIn};
use teamster::lowering::{Carried, Field, Lowered};
use teamster::reply::{Decode, Event, LineReader, Out, Reader, Reply, RunEnd};

use teamster::testkit::{self, Suite, Transcript};
use teamster::{DispatchRequest, HarnessRegistry, Output, Permission, Profile, Result};

#[test]
fn every_built_in_harness_conforms() {
    for builder in HarnessRegistry::builtin().iter() {
        let transcripts = crate::transcripts::of(builder);
        Suite { transcripts, ..Suite::default() }.assert_conforms(builder);
    }
}

/// A built-in harness with a fault in what it lowers, reads or tells.
struct Faulty {
    inner: HarnessRegistry,
    facts: Facts,
    twist: fn(&DispatchRequest, Lowered) -> Lowered,
    bytewise: bool,
    mute: bool,
}

fn faulty(twist: fn(&DispatchRequest, Lowered) -> Lowered) -> Faulty {
    let inner = HarnessRegistry::builtin();
    let facts = inner.get("gemini").unwrap().facts().clone();
    Faulty { inner, facts, twist, bytewise: false, mute: false }
}

impl AgentBuilder for Faulty {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        Ok((self.twist)(request, self.inner.get("gemini")?.lower(request, profile)?))
    }

    fn reader(&self, output: Output) -> Box<dyn Reader> {
        if self.bytewise {
            return Box::new(PieceCounter(0));
        }
        self.inner.get("gemini").unwrap().reader(output)
    }

    fn stand_in(&self) -> Option<&dyn StandIn> {
        self.inner.get("gemini").unwrap().stand_in().filter(|_| !self.mute)
    }
}

/// Reads how often it was called, so every cut gives another reply.
struct PieceCounter(usize);

impl Reader for PieceCounter {
    fn push(&mut self, _bytes: &[u8], _emit: &mut dyn FnMut(Event<'_>)) {
        self.0 += 1;
    }
    fn finish(self: Box<Self>, _end: &RunEnd, _emit: &mut dyn FnMut(Event<'_>)) -> Reply {
        Reply { text: self.0.to_string(), ..Reply::default() }
    }
}

/// The rules that the suite finds broken, each once.
fn broken(builder: &Faulty, suite: &Suite) -> Vec<&'static str> {
    let mut rules: Vec<&str> = suite.check(builder).iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn without_flag(mut lowered: Lowered, flag: &str) -> Lowered {
    lowered.command.args.retain(|arg| !arg.shown().starts_with(flag));
    lowered
}

#[test]
fn the_suite_finds_a_lowering_that_is_not_pure() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let clock = faulty(|_, mut lowered| {
        let now = CALLS.fetch_add(1, Ordering::Relaxed);
        lowered.command.env.to_mut().push((Cow::Borrowed("NOW"), Text::from(now.to_string())));
        lowered
    });
    assert!(broken(&clock, &Suite::default()).contains(&"lowering is pure"));
    let looks_around = faulty(|_, mut lowered| {
        let here = std::env::current_dir().unwrap().to_string_lossy().into_owned();
        lowered.command.env.to_mut().push((Cow::Borrowed("HERE"), Text::from(here)));
        lowered
    });
    assert_eq!(broken(&looks_around, &Suite::default()), ["lowering is pure"]);
}

#[test]
fn the_suite_finds_a_field_without_a_row_and_a_drop_without_a_reason() {
    let silent = faulty(|_, mut lowered| {
        lowered.report.rows.retain(|row| row.field != Field::Effort);
        lowered
    });
    assert!(broken(&silent, &Suite::default()).contains(&"every field is accounted for"));
    let curt = faulty(|_, mut lowered| {
        lowered
            .report
            .rows
            .iter_mut()
            .filter(|r| r.carried == Carried::Dropped)
            .for_each(|r| r.detail = "".into());
        lowered
    });
    assert_eq!(broken(&curt, &Suite::default()), ["every field is accounted for"]);
}

#[test]
fn the_suite_finds_a_restriction_that_widens() {
    let guardless = faulty(|_, lowered| without_flag(lowered, "--admin-policy"));
    assert!(broken(&guardless, &Suite::default()).contains(&"a restriction never widens"));
    let yolo = faulty(|request, mut lowered| {
        if request.restricts() {
            lowered
                .command
                .args
                .retain(|arg| !["--approval-mode", "default", "auto_edit"].contains(&&*arg.shown()));
            lowered.command.files.clear();
            lowered.command.args.insert(0, "--yolo".into());
        }
        lowered
    });
    assert!(broken(&yolo, &Suite::default()).contains(&"a restriction never widens"));
}

#[test]
fn the_suite_finds_a_restriction_that_widens_where_nothing_plays_the_cli() {
    let mut ignores = faulty(|request, lowered| {
        let bare = DispatchRequest { permission: None, tools: None, ..request.clone() };
        let open = HarnessRegistry::builtin().get("gemini").unwrap().lower(&bare, &Profile::default());
        Lowered { command: open.unwrap().command, ..lowered }
    });
    ignores.mute = true;
    assert!(broken(&ignores, &Suite::default()).contains(&"a restriction never widens"));
    let mut full = faulty(|request, lowered| {
        let full = DispatchRequest { permission: Some(Permission::Full), tools: None, ..request.clone() };
        let open = HarnessRegistry::builtin().get("gemini").unwrap().lower(&full, &Profile::default());
        Lowered { command: open.unwrap().command, ..lowered }
    });
    full.mute = true;
    assert!(broken(&full, &Suite::default()).contains(&"a restriction never widens"));
}

#[test]
fn the_suite_finds_a_tool_that_was_granted_and_may_not_run() {
    let stingy = faulty(|_, lowered| without_flag(lowered, "--policy"));
    assert_eq!(broken(&stingy, &Suite::default()), ["what is allowed may run"]);
}

#[test]
fn the_suite_finds_a_text_that_does_not_arrive() {
    let trims = faulty(|_, mut lowered| {
        for arg in &mut lowered.command.args {
            if let Some(text) = arg.plain() {
                *arg = Text::from(text.trim().to_owned());
            }
        }
        lowered
    });
    assert_eq!(broken(&trims, &Suite::default()), ["a text arrives byte for byte, or is refused"]);
    let separate = faulty(|request, mut lowered| {
        if lowered.command.stdin.is_none() {
            lowered.command.args.pop();
            lowered.command.args.extend(["-p".into(), request.prompt.clone().into()]);
        }
        lowered
    });
    assert!(broken(&separate, &Suite::default()).contains(&"a text arrives byte for byte, or is refused"));
}

#[test]
fn the_suite_finds_a_command_that_no_system_takes() {
    let large = faulty(|_, mut lowered| {
        if let Some(stdin) = lowered.command.stdin.take() {
            lowered.command.args.extend(["-p".into(), stdin.into()]);
        }
        lowered
    });
    assert!(broken(&large, &Suite::default()).contains(&"a system takes the command"));
    let no_file = faulty(|_, mut lowered| {
        lowered.command.files.clear();
        lowered
    });
    assert!(broken(&no_file, &Suite::default()).contains(&"a system takes the command"));
}

#[test]
fn the_suite_finds_facts_that_do_not_agree() {
    let mut boasts = faulty(|_, lowered| lowered);
    boasts.facts.capabilities.effort = "flag".to_owned();
    boasts.facts.capabilities.model = "no".to_owned();
    boasts.facts.exit_statuses.insert("256".to_owned(), teamster::Kind::Auth);
    let found: Vec<String> = testkit::check(&boasts).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "the facts agree with the builder (exit_statuses): `256` is no exit status",
            "the facts agree with the builder (model): told as `no`, and no row of model says `dropped`",
            "the facts agree with the builder (effort): told as `flag`, and no row of effort says `flag`",
        ]
    );
}

#[test]
fn the_suite_finds_a_reader_that_depends_on_how_the_output_is_cut() {
    let mut counts = faulty(|_, lowered| lowered);
    counts.bytewise = true;
    let stdout = b"{\"type\":\"init\"}\n".repeat(3);
    let transcript = Transcript {
        name: "three".into(),
        output: Output::Stream,
        stdout,
        stderr: String::new(),
        files: Default::default(),
        status: 0,
    };
    let suite = Suite { transcripts: vec![transcript], ..Suite::default() };
    assert!(broken(&counts, &suite).contains(&"any cut of the output gives the same reply"));
}

/// A decoder with nothing in it, so that the names that a harness of one's own needs are all public.
#[derive(Default)]
struct Nothing;

impl Decode for Nothing {
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) {
        out.noise(line);
    }
    fn judge(self, collected: teamster::reply::Collector, _end: &RunEnd) -> Reply {
        collected.reply
    }
}

#[test]
fn a_reader_of_lines_can_be_written_outside() {
    let reader: Box<dyn Reader> = Box::new(LineReader::new(Nothing));
    assert_eq!(reader.finish(&RunEnd::default(), &mut |_| {}), Reply::default());
}
