//! `teamster mcp` with real MCP clients: the inspector of the protocol's makers, and agents whose model calls
//! `dispatch`.

use super::cli::Cli;
use super::clis::{claude, codex, gemini};
use super::find::{installed, program};
use super::lab::{Done, Lab, done};
use super::place::{Place, text};
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
    /// Variables of its own.
    env: &'static [(&'static str, &'static str)],
    /// Its command line before the prompt, which calls the server's tools unasked and nothing else.
    run: &'static [&'static str],
    /// Its settings, so that it gives up on a call after 20 seconds.
    gives_up: fn(&Place),
}

const SERVER: &str = env!("CARGO_BIN_EXE_teamster");

static GEMINI: Agent = Agent {
    cli: &gemini::CLI,
    add: [&["mcp", "add", "--scope", "user", "--trust"], &["teamster"], &["--"]],
    variable: "-e",
    // Otherwise it is a child of its launcher, which goes on when that is killed.
    env: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
    run: &["-m", "gemini-2.5-pro", "--prompt"],
    gives_up: |place| {
        let file = place.home().join(".gemini/settings.json");
        let mut settings: Value =
            serde_json::from_slice(&std::fs::read(&file).expect("its settings")).expect("JSON");
        settings["mcpServers"]["teamster"]["timeout"] = json!(20_000);
        std::fs::write(file, settings.to_string()).expect("its settings");
    },
};

static CLAUDE: Agent = Agent {
    cli: &claude::CLI,
    add: [&["mcp", "add", "--scope", "user", "teamster"], &["--"], &[]],
    variable: "-e",
    env: &[],
    run: &["--print", "--model=claude-opus-5-5", "--allowedTools=mcp__teamster", "--"],
    gives_up: |place| {
        place.home_file(".claude/settings.json", r#"{"env": {"MCP_TOOL_TIMEOUT": "20000"}}"#);
    },
};

static CODEX: Agent = Agent {
    cli: &codex::CLI,
    add: [&["mcp", "add", "teamster"], &["--"], &[]],
    variable: "--env",
    env: &[],
    run: &[
        "exec",
        "--skip-git-repo-check",
        "--config=mcp_servers.teamster.default_tools_approval_mode=\"approve\"",
        "--model=gpt-5.5",
        "--",
    ],
    gives_up: |place| {
        let file = place.home().join(".codex/config.toml");
        let config = std::fs::read_to_string(&file).expect("its settings");
        let section = "[mcp_servers.teamster]\n";
        let config = config.replace(section, &format!("{section}tool_timeout_sec = 20\n"));
        std::fs::write(file, config).expect("its settings");
    },
};

impl Agent {
    /// The agent with teamster as its server, which rehearses.
    fn lab(&self, options: &[&str], steps: Vec<Step>) -> Option<Lab> {
        let lab = Lab::new(self.cli, steps)?.trusted();
        self.add(&lab, options, &[]);
        Some(lab)
    }

    /// The same, with what a real agent below it needs.
    fn inner_lab(&self, options: &[&str], steps: Vec<Step>) -> Option<Lab> {
        let lab = Lab::new(self.cli, steps)?.trusted();
        let variables = inner(&lab)?;
        self.add(&lab, options, &variables);
        Some(lab)
    }

    /// Adds the server by the agent's own command.
    fn add(&self, lab: &Lab, options: &[&str], variables: &[(&str, String)]) {
        let [first, then, last] = self.add;
        let mut args: Vec<String> = first.iter().map(|&word| word.to_owned()).collect();
        for (name, value) in variables {
            args.extend([self.variable.to_owned(), format!("{name}={value}")]);
        }
        let rest = [then, &[SERVER, "mcp"], last, options].concat();
        args.extend(rest.iter().map(|&word| word.to_owned()));
        let added = done(lab.start_alone(&args, &[]));
        assert_eq!(added.status, Some(0), "{args:?}: {added:?}");
    }

    fn start(&self, lab: &Lab, env: &[(&str, &str)]) -> Child {
        let words = [self.run, &["hello"]].concat();
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        lab.start_alone(&words, &[self.env, env].concat())
    }

    fn run(&self, lab: &Lab, env: &[(&str, &str)]) -> Done {
        done(self.start(lab, env))
    }

    /// The model's call of a tool of teamster.
    fn calls(&self, tool: &str, arguments: Value) -> Step {
        let registry = HarnessRegistry::builtin();
        let name = registry.get(self.cli.id).expect("a harness").facts().mcp_tool.clone();
        let name = name.unwrap_or_else(|| "mcp__{server}::{tool}".to_owned());
        Step::call(&name.replace("{server}", "teamster").replace("{tool}", tool), arguments)
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
    let Some(lab) = agent.lab(&["--rehearse=wrong-first"], steps) else { return };
    let done = agent.run(&lab, &[]);
    let answer = answer(&lab, &done).replace('\\', "");
    assert!(answer.contains(r#"{"n":1}"#), "{answer} {done:?}");
    assert!(done.stdout.contains("the answer"), "{done:?}");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

/// What the inner agent needs, where the client gives its servers an environment of their own.
fn inner(lab: &Lab) -> Option<Vec<(&'static str, String)>> {
    let bin = installed(&gemini::CLI)?;
    let home = text(&lab.place.home());
    let own = (gemini::CLI.home)(&lab.place);
    (gemini::CLI.trust)(&lab.place);
    let mut all = vec![("TEAMSTER_GEMINI_BIN", text(&bin)), ("HOME", home)];
    all.extend(own);
    Some(all)
}

/// An agent calls teamster, which calls an agent: all of them real, with one model.
fn an_agent_gets_the_answer_of_another_agent(agent: &Agent) {
    let steps = vec![agent.calls("dispatch", ask()), Step::text(r#"{"n": 7}"#), Step::text("the answer")];
    let Some(lab) = agent.inner_lab(&[], steps) else { return };
    let done = agent.run(&lab, &[]);
    let answer = answer(&lab, &done).replace('\\', "");
    assert!(answer.contains(r#"{"n":7}"#), "{answer} {done:?}");
    assert_eq!(lab.place.processes(), Vec::<String>::new());
}

/// Whatever environment the client gives its servers, the count above it holds.
fn an_agent_that_is_too_deep_dispatches_none(agent: &Agent) {
    let steps = vec![agent.calls("dispatch", ask()), Step::text("the answer")];
    let Some(lab) = agent.lab(&["--rehearse"], steps) else { return };
    let done = agent.run(&lab, &[("TEAMSTER_DEPTH", "5")]);
    let answer = answer(&lab, &done);
    assert!(answer.contains("agents dispatch agents 6 deep, the limit is 5"), "{answer} {done:?}");
}

/// An agent with a tool that sleeps: in the group, in a session of its own, in its wait.
fn working(agent: &Agent) -> Option<Lab> {
    const SLEEPS: &str = "true; sleep 300 & setsid sleep 301 & touch started; sleep 302";
    let ask = json!({"harness": "gemini", "prompt": "work", "permission": "full"});
    let steps = vec![agent.calls("dispatch", ask), (gemini::CLI.shell)(SLEEPS), Step::Hang];
    agent.inner_lab(&["--permission", "full"], steps)
}

fn until(lab: &Lab, what: &str, is: &dyn Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(90), "{what}: {:?}", lab.place.processes());
        sleep(Duration::from_millis(50));
    }
}

fn kill(client: &mut Child) {
    let killed = Command::new("kill").args(["-9", &client.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    client.wait().expect("its end");
}

fn a_client_that_is_killed_leaves_nothing(agent: &Agent) {
    let Some(lab) = working(agent) else { return };
    let mut client = agent.start(&lab, &[]);
    until(&lab, "the tool runs", &|| lab.place.marks().contains(&"started".to_owned()));
    kill(&mut client);
    until(&lab, "nothing is left", &|| lab.place.processes().is_empty());
}

/// It cancels the call, and goes on itself.
fn a_client_that_gives_up_leaves_nothing_of_the_dispatch(agent: &Agent) {
    let Some(lab) = working(agent) else { return };
    (agent.gives_up)(&lab.place);
    let mut client = agent.start(&lab, &[]);
    until(&lab, "the tool runs", &|| lab.place.marks().contains(&"started".to_owned()));
    let is_inner = |line: &String| line.contains("sleep 30") || line.contains("-p work");
    until(&lab, "the agent is gone", &|| !lab.place.processes().iter().any(is_inner));
    assert!(client.try_wait().expect("a child").is_none(), "the client lives");
    // Its turn after the call, with what it makes of its own end.
    until(&lab, "the model hears of it", &|| lab.server.main_requests().len() > 2);
    kill(&mut client);
    until(&lab, "nothing is left", &|| lab.place.processes().is_empty());
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
    an_agent_gets_the_answer_of_another_agent: gemini = GEMINI, claude = CLAUDE, codex = CODEX;
    an_agent_that_is_too_deep_dispatches_none: gemini = GEMINI, claude = CLAUDE, codex = CODEX;
    a_client_that_is_killed_leaves_nothing: gemini = GEMINI, claude = CLAUDE, codex = CODEX;
    a_client_that_gives_up_leaves_nothing_of_the_dispatch: gemini = GEMINI, claude = CLAUDE, codex = CODEX;
);

/// A tool, its arguments, and what its data has to be.
type Call = (&'static str, &'static [&'static str], fn(&Value) -> bool);

/// The inspector lists the tools, with no complaint about a schema, and calls each of them.
#[test]
fn the_inspector_lists_and_calls_each_tool() {
    let Some(inspector) = program("inspector", "2.12.0", true) else { return };
    let place = tempfile::tempdir().expect("a folder");
    let work = place.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.test"]).args(args).current_dir(&work);
        assert!(git.output().expect("git").status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    std::fs::write(work.join("a.txt"), "one\n").expect("a file");
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "one"]);
    std::fs::write(work.join("a.txt"), "two\n").expect("a file");
    let inspect = |args: &[&str]| {
        let mut command = Command::new(&inspector);
        command.args(["--cli", SERVER, "mcp", "--rehearse"]).args(args).current_dir(&work).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", place.path());
        // It gives its servers a short list of variables: the folder of the jobs is below HOME.
        command.output().expect("the inspector runs")
    };
    let listed = inspect(&["--method", "tools/list", "--strict"]);
    let said = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert_eq!(listed.status.code(), Some(0), "{said}");
    // The value of an outcome may be anything.
    let complaints = said.lines().filter_map(|line| line.trim().strip_prefix("Path: "));
    let open = |path: &&str| !path.ends_with(".properties.value");
    assert_eq!(complaints.filter(open).collect::<Vec<_>>(), Vec::<&str>::new(), "{said}");
    let list: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let names = list["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str());
    const SCHEMA: &str = r#"schema={"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let calls: [Call; 10] = [
        ("list_harnesses", &[], |data| data["harnesses"][0]["id"] == "gemini"),
        ("lower", &["harness=gemini", "prompt=hi"], |data| data["program"] == "gemini"),
        ("dispatch", &["harness=claude", "prompt=hi", SCHEMA], |data| data["value"] == json!({"n": 1})),
        ("job_start", &["harness=codex", "prompt=hi", "id=one"], |data| data["jobs"][0]["id"] == "one"),
        ("job_status", &["id=one"], |data| data["jobs"][0]["harness"] == "codex"),
        ("job_wait", &[r#"ids=["one"]"#], |data| data["jobs"][0]["state"] == "done"),
        ("job_result", &["id=one"], |data| data["outcome"]["ok"] == true),
        ("job_logs", &["id=one"], |data| data["over"] == true),
        ("job_cancel", &[r#"ids=["one"]"#], |data| data["jobs"][0]["state"] == "done"),
        ("review", &["harness=gemini"], |data| data["files"][0]["path"] == "a.txt"),
    ];
    assert_eq!(names.collect::<Vec<_>>(), calls.map(|(name, ..)| name));
    for (name, arguments, is) in calls {
        let mut args = vec!["--method", "tools/call", "--tool-name", name];
        if !arguments.is_empty() {
            args.push("--tool-arg");
        }
        let called = inspect(&[&args[..], arguments].concat());
        let result: Value =
            serde_json::from_slice(&called.stdout).unwrap_or_else(|e| panic!("{name}: {e}: {called:?}"));
        assert!(is(&result["structuredContent"]), "{name}: {result}");
        assert_eq!(called.status.code(), Some(0), "{called:?}");
    }
}
