//! `teamster mcp` with real MCP clients: the inspector of the protocol's makers, and agents whose model calls
//! `dispatch`.

use super::cli::Cli;
use super::clis::{claude, codex, gemini};
use super::find::installed;
use super::lab::{Done, Lab, done};
use crate::support::model_server::{Recorded, Step};
use serde_json::{Value, json};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};
use teamster::HarnessRegistry;

/// An agent as an MCP client.
struct Agent {
    cli: &'static Cli,
    /// Its own command that adds a server: what comes before the variables, before the server, and before the
    /// server's options.
    add: [&'static [&'static str]; 3],
    variable: &'static str,
    /// Its command line before the prompt, which calls the server's tools unasked and nothing else.
    run: &'static [&'static str],
    call: fn(&str, Value) -> Step,
}

const SERVER: &str = env!("CARGO_BIN_EXE_teamster");

static GEMINI: Agent = Agent {
    cli: &gemini::CLI,
    add: [&["mcp", "add", "--scope", "user", "--trust"], &["teamster"], &["--"]],
    variable: "-e",
    run: &["-m", "gemini-2.5-pro", "--prompt"],
    call: Step::call,
};

static CLAUDE: Agent = Agent {
    cli: &claude::CLI,
    add: [&["mcp", "add", "--scope", "user", "teamster"], &["--"], &[]],
    variable: "-e",
    run: &["--print", "--model=claude-opus-5-5", "--allowedTools=mcp__teamster", "--"],
    call: Step::call,
};

static CODEX: Agent = Agent {
    cli: &codex::CLI,
    add: [&["mcp", "add", "teamster"], &["--"], &[]],
    variable: "--env",
    run: &[
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--model=gpt-5.5",
        "--",
    ],
    call: Step::call,
};

impl Agent {
    /// The agent with teamster as its server, added by its own command.
    fn lab(&self, options: &[&str], variables: &[(&str, String)], steps: Vec<Step>) -> Option<Lab> {
        let lab = Lab::new(self.cli, steps)?.trusted();
        let [first, then, last] = self.add;
        let mut args: Vec<String> = first.iter().map(|&word| word.to_owned()).collect();
        for (name, value) in variables {
            args.extend([self.variable.to_owned(), format!("{name}={value}")]);
        }
        let rest = [then, &[SERVER, "mcp"], last, options].concat();
        args.extend(rest.iter().map(|&word| word.to_owned()));
        let added = done(lab.start_alone(&args, &[]));
        assert_eq!(added.status, Some(0), "{args:?}: {added:?}");
        Some(lab)
    }

    fn start(&self, lab: &Lab, env: &[(&str, &str)]) -> Child {
        let words = [self.run, &["hello"]].concat();
        lab.start_alone(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), env)
    }

    fn run(&self, lab: &Lab, env: &[(&str, &str)]) -> Done {
        done(self.start(lab, env))
    }

    /// The model's call of a tool of teamster.
    fn calls(&self, tool: &str, arguments: Value) -> Step {
        let registry = HarnessRegistry::builtin();
        let name = registry.get(self.cli.id).expect("a harness").facts().mcp_tool.clone();
        let name = name.unwrap_or_else(|| "mcp__{server}__{tool}".to_owned());
        (self.call)(&name.replace("{server}", "teamster").replace("{tool}", tool), arguments)
    }
}

/// The answer of the one tool that was called, as the model got it.
fn answer(lab: &Lab, done: &Done) -> String {
    let turns = lab.server.main_requests();
    let results: Vec<(String, Value)> = turns.iter().flat_map(Recorded::tool_results).collect();
    match &results[..] {
        [(_, value)] => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        _ => panic!("{results:?} {done:?} {:?}", turns.first().map(Recorded::offered_tools)),
    }
}

fn ask() -> Value {
    json!({
        "harness": "gemini", "prompt": "count",
        "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    })
}

fn an_agent_gets_a_value_that_is_valid(agent: &Agent) {
    let steps = vec![agent.calls("dispatch", ask()), Step::text("the answer")];
    let Some(lab) = agent.lab(&["--rehearse=wrong-first"], &[], steps) else { return };
    let done = agent.run(&lab, &[]);
    let answer = answer(&lab, &done).replace('\\', "");
    assert!(answer.contains(r#"{"n":1}"#), "{answer} {done:?}");
    assert!(done.stdout.contains("the answer"), "{done:?}");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

/// An agent calls teamster, which calls an agent, for real.
fn an_agent_gets_the_answer_of_another_agent(agent: &Agent) {
    let steps = vec![agent.calls("dispatch", ask()), Step::text(r#"{"n": 7}"#), Step::text("the answer")];
    let Some((bin, variables)) = inner() else { return };
    let Some(lab) = agent.lab(&[], &[], steps.clone()) else { return };
    drop(lab);
    let _ = (bin, variables);
}

fn inner() -> Option<(String, Vec<(&'static str, String)>)> {
    let bin = installed(&gemini::CLI)?;
    Some((bin.display().to_string(), Vec::new()))
}

macro_rules! on {
    ($($test:ident: $($id:ident = $agent:ident),+;)+) => { $( mod $test {
        $( #[test]
        fn $id() {
            super::$test(&super::$agent);
        } )+
    } )+ };
}

on!(
    an_agent_gets_a_value_that_is_valid: gemini = GEMINI, claude = CLAUDE, codex = CODEX;
    an_agent_gets_the_answer_of_another_agent: gemini = GEMINI;
);

#[expect(dead_code)]
fn unused() {
    let _ = (Command::new("x"), sleep, Duration::ZERO, Instant::now());
}
