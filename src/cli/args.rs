//! The arguments of the command, with their help.

use super::job::{CancelArgs, JobArgs, ResultArgs, StatusArgs};
use crate::request::{Effort, Output};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Drive any coding-agent CLI the same way.
#[derive(Parser)]
#[command(
    name = "teamster",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 110
)]
#[command(after_help = "EXAMPLES
  teamster run gemini \"Summarise README.md\" --schema summary.schema.json
  git diff | teamster run gemini - --system \"Review this diff\" --permission read-only
  teamster argv gemini \"fix it\" --tools '{\"allow\": [\"replace\"], \"deny\": [\"write_file\"]}' --explain
  teamster run gemini \"hi\" --rehearse          # no CLI, no account: the stand-in answers

EXIT STATUS
  0 answered            2 the request is wrong      41 not signed in       65 no valid reply
  75 rate, quota, turns 77 not permitted            124 out of time       127 CLI not installed
  130 cancelled         1 the CLI failed otherwise")]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Sub,
    /// Write what teamster itself does to this file; TEAMSTER_LOG says how much [default: debug]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Log")]
    pub(super) log_file: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(super) enum Sub {
    /// Run a request; the final text or JSON value goes to stdout
    #[command(
        alias = "task",
        after_help = "EXAMPLES
  teamster run gemini \"What does src/lib.rs do?\" --permission read-only
  teamster run gemini - < prompt.md
  teamster run --request request.json --json
  teamster run gemini \"List the modules\" --schema modules.schema.json --rehearse=wrong-first
  teamster run gemini \"Go on\" --resume 329b0690-5f0f-4a57-a36c-5f6a3d4a37a8
  teamster run gemini \"Write the tests\" --background    # prints the id of a job; `teamster job --help`"
    )]
    Run(Box<RunArgs>),
    /// Show what `run` would spawn, without running it
    #[command(after_help = "EXAMPLES
  teamster argv gemini \"hi\"                       # gemini --output-format stream-json -p hi
  teamster argv gemini \"hi\" --output auto         # gemini -p hi
  teamster argv gemini \"hi\" --tools read_file --explain
  teamster argv gemini \"hi\" --json                # argv, env, stdin, files and report")]
    Argv(Box<ArgvArgs>),
    /// Review a git diff, read-only: the findings go to stdout
    #[command(after_help = "EXAMPLES
  teamster review gemini                            # the working tree, else the branch
  teamster review gemini --base main --json
  teamster review gemini src/api --scope working-tree --fail-on high
  teamster review gemini --sarif=review.sarif
  teamster review gemini --rehearse                 # no CLI, no account

EXIT STATUS
  0 also with findings; 3 where one reaches --fail-on; else as for run")]
    Review(Box<super::review::ReviewArgs>),
    /// Run many requests: so many at once, resumable, with a report
    #[command(
        mut_arg("first", |arg| arg.value_name("FILE").help(
            "Requests: a file of JSON lines, a folder of *.json, or `-` for stdin. With --each: the platform")),
        mut_arg("second", |arg| arg.help("With --each: the prompt, with {{column}} for a value of the row")),
        after_help = "EXAMPLES
  teamster batch requests.jsonl --concurrency 8
  teamster batch --each books.csv gemini \"Summarise {{title}} by {{author}}\" --schema summary.schema.json
  teamster batch requests.jsonl --report report.html --ordered
  teamster batch requests.jsonl                    # again: runs what has no result yet
  teamster batch requests.jsonl --retry-failed

The results go to requests.results.jsonl, one line a task, on disk before it counts.

EXIT STATUS
  0 every task is answered, 1 one failed, 75 a budget is spent, 130 ended; 2 a request is wrong, and nothing ran"
    )]
    Batch(Box<super::batch::BatchArgs>),
    /// What runs in the background: status, result, wait, logs, cancel, prune
    Job(JobArgs),
    /// The same as `job status`
    #[command(hide = true)]
    Status(StatusArgs),
    /// The same as `job result`
    #[command(hide = true)]
    Result(ResultArgs),
    /// The same as `job cancel`
    #[command(hide = true)]
    Cancel(CancelArgs),
    /// Serve all of this to an agent, as MCP tools on stdin and stdout
    #[command(
        after_help = "What a client may ask for has a ceiling, which is yours: read-only, in this folder, unless you say more.

EXAMPLES
  teamster mcp                                   # what an MCP client starts
  teamster mcp --permission edit --root ~/api
  teamster mcp --harness gemini,claude --rehearse
  claude mcp add teamster -- teamster mcp
  gemini mcp add teamster teamster mcp"
    )]
    Mcp(super::mcp::McpArgs),
    /// Check what is installed, which version, and whether it is signed in; and teamster itself
    #[command(
        visible_alias = "setup",
        after_help = "EXAMPLES
  teamster doctor                  # every harness that is installed; one small call to each
  teamster doctor gemini --json
  teamster doctor --skip-probe     # no call: nothing is proven, nothing is paid for

EXIT STATUS
  0 fine    41 not signed in, or the key is refused    127 not installed    1 too old, broken
  with no PLATFORM: 0 where teamster's own checks are fine and one harness at least is; else as for run"
    )]
    Doctor(super::doctor::DoctorArgs),
    /// List the harnesses: what is installed, what was verified, what each can carry
    #[command(
        after_help = "EXAMPLES\n  teamster list\n  teamster list gemini        # its tools, too\n  teamster list --json"
    )]
    List(ListArgs),
    /// List skill, agent and command files, or show one
    #[command(after_help = "EXAMPLES
  teamster skills                                   # the project's, then your own
  teamster skills code-review                       # one, whole
  teamster skills code-review --on gemini           # what it sets there
  teamster run gemini \"Review HEAD\" --skill code-review")]
    Skills(super::skills::SkillsArgs),
    /// Show and check the settings: yours, the project's, the variables
    Config(super::config::ConfigArgs),
    /// Let a project's settings count in full: its programs, arguments and variables
    #[command(
        after_help = "A project's teamster.toml that is not trusted can only make things stricter. Trust covers the
file as it is: one that changed is asked for again.

EXAMPLES
  teamster trust                # shows what the file sets, and asks
  teamster trust ../api --yes
  teamster trust --list
  teamster trust --remove"
    )]
    Trust(super::trust::TrustArgs),
    /// Print a JSON Schema of what goes in and comes out
    #[command(after_help = "EXAMPLES\n  teamster schema request > request.schema.json")]
    Schema(SchemaArgs),
    /// Print the manual page, or write all of them
    #[command(
        after_help = "EXAMPLES\n  teamster man | man -l -\n  teamster man --out ~/.local/share/man/man1"
    )]
    Man(super::man::ManArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "EXAMPLES\n  teamster completions bash > ~/.local/share/bash-completion/completions/teamster"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) request: RequestArgs,
    /// Print the whole outcome as one JSON object, also for a failure
    #[arg(long, help_heading = "Result")]
    pub(super) json: bool,
    /// Print events as JSON lines while the agent works; the last line is the outcome
    #[arg(long, help_heading = "Result", conflicts_with = "json")]
    pub(super) stream: bool,
    /// Shorten the text to this many bytes; a value is never cut
    #[arg(long, value_name = "BYTES", help_heading = "Result")]
    pub(super) max_reply: Option<usize>,
    /// Say nothing on stderr but errors
    #[arg(long, short, help_heading = "Result")]
    pub(super) quiet: bool,
    /// Say every step on stderr: the command, tools, refusals, what the CLI tries again
    #[arg(long, short, help_heading = "Result", conflicts_with = "quiet")]
    pub(super) verbose: bool,
    /// Seconds for the whole dispatch, all attempts together [default: 600]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(super) timeout: Option<f64>,
    /// Seconds until the CLI first writes something
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(super) first_output_timeout: Option<f64>,
    /// Seconds without any new output
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(super) idle_timeout: Option<f64>,
    /// Attempts for one valid reply, the first included [default: 3]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(super) attempts: Option<u32>,
    /// Ask no further attempt when so many tokens are spent, read and written together
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(super) max_tokens: Option<u64>,
    /// Ask no further attempt when so many US dollars are spent; a CLI that takes a budget is told it
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub(super) max_cost: Option<f64>,
    #[command(flatten)]
    pub(super) fallback: FallbackArgs,
    /// Run it in the background and print the id of the job at once
    #[arg(long, help_heading = "Background", conflicts_with_all = ["stream", "max_reply", "fallback"])]
    pub(super) background: bool,
    /// The id of the job: letters, digits, - and _ [default: made up, sorts by time]
    #[arg(long, value_name = "ID", help_heading = "Background", requires = "background")]
    pub(super) id: Option<String>,
    /// The folder of the jobs [default: $TEAMSTER_JOBS_DIR, then teamster/jobs in your state folder]
    #[arg(long, value_name = "DIR", help_heading = "Background", requires = "background")]
    pub(super) jobs_dir: Option<PathBuf>,
    /// Keep the folder of every run: its stdin, stdout, stderr and files
    #[arg(long, help_heading = "Where it runs")]
    pub(super) keep_files: bool,
    /// Let the built-in stand-in play the CLI: no account, no model. SCRIPT is `wrong-first`, a JSON
    /// list of answers, or a file with one
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Where it runs")]
    pub(super) rehearse: Option<String>,
}

#[derive(Args)]
pub(super) struct FallbackArgs {
    /// Ask this harness where the one before it is missing, not signed in, out of quota, limited or broken; may be
    /// repeated, or a list with commas. HARNESS:PROFILE names a profile
    #[arg(long, value_name = "HARNESS", value_delimiter = ',', help_heading = "Fallback")]
    pub(super) fallback: Vec<String>,
    /// Also after the agent may have changed something
    #[arg(long, help_heading = "Fallback", requires = "fallback")]
    pub(super) fallback_after_effects: bool,
}

#[derive(Args)]
pub(super) struct ArgvArgs {
    #[command(flatten)]
    pub(super) request: RequestArgs,
    /// Print argv, environment, stdin, files and report as JSON
    #[arg(long, help_heading = "Result")]
    pub(super) json: bool,
    /// Also print how each field is carried
    #[arg(long, help_heading = "Result", conflicts_with = "json")]
    pub(super) explain: bool,
}

#[derive(Args)]
pub(super) struct RequestArgs {
    /// The harness, by name or alias; may be left out with --request, TEAMSTER_HARNESS or a default
    #[arg(value_name = "PLATFORM")]
    pub(super) first: Option<String>,
    /// The task; behind `--` where it looks like an option. `-` reads it from stdin, as does leaving it out
    /// (without --request) when stdin is no terminal
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    pub(super) second: Option<String>,

    /// Read the request from a JSON file, or from stdin with `-`. Flags win over it; --add-dir and --env add
    /// to it
    #[arg(long, value_name = "FILE|-", help_heading = "Request")]
    pub(super) request: Option<PathBuf>,
    /// Read the prompt from a file
    #[arg(long, value_name = "FILE", help_heading = "Request", conflicts_with = "second")]
    pub(super) prompt_file: Option<PathBuf>,
    /// Text that sets the agent's role
    #[arg(long, value_name = "TEXT", help_heading = "Request", allow_hyphen_values = true)]
    pub(super) system: Option<String>,
    /// The same, from a file
    #[arg(long, value_name = "FILE", help_heading = "Request", conflicts_with = "system")]
    pub(super) system_file: Option<PathBuf>,
    /// A skill, agent or command file, or the name of one (`teamster skills`). Flags and --request win over it
    #[arg(long, value_name = "PATH|NAME", help_heading = "Request")]
    pub(super) skill: Option<String>,
    /// Let the skill grant what it names, wherever it lies
    #[arg(long, help_heading = "Request", requires = "skill")]
    pub(super) trust_skill: bool,
    /// A model name or alias
    #[arg(long, short, value_name = "MODEL", help_heading = "Request")]
    pub(super) model: Option<String>,
    /// Pass the model as it is; look up no alias
    #[arg(long, help_heading = "Request")]
    pub(super) exact_model: bool,
    /// Tools that may run unasked ("read_file, glob"), or rules ({"allow": [..], "deny": [..]}); "" is nothing
    #[arg(long, value_name = "TOOLS", help_heading = "Request", allow_hyphen_values = true)]
    pub(super) tools: Option<String>,
    /// How far the agent may go: read-only, edit or full; also plan, acceptEdits, bypassPermissions
    #[arg(long, value_name = "PERMISSION", help_heading = "Request")]
    pub(super) permission: Option<String>,
    /// A JSON Schema for the reply: a file, or the JSON itself
    #[arg(long, value_name = "FILE|JSON", help_heading = "Request")]
    pub(super) schema: Option<String>,
    /// How much the model should think
    #[arg(long, value_enum, help_heading = "Request")]
    pub(super) effort: Option<Effort>,
    /// Go on with an earlier session
    #[arg(long, value_name = "ID", help_heading = "Request")]
    pub(super) resume: Option<String>,
    /// Start a session with this id
    #[arg(long, value_name = "ID", help_heading = "Request", conflicts_with = "resume")]
    pub(super) session_id: Option<String>,
    /// The agent's working directory
    #[arg(long, short = 'C', value_name = "DIR", help_heading = "Request")]
    pub(super) cwd: Option<PathBuf>,
    /// One more directory for the agent; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Request")]
    pub(super) add_dir: Vec<PathBuf>,
    /// The most turns that the agent may take
    #[arg(long, value_name = "N", help_heading = "Request")]
    pub(super) max_turns: Option<u32>,
    /// A variable for the agent; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Request")]
    pub(super) env: Vec<String>,
    /// The form of the CLI's output [default: stream]
    #[arg(long, value_enum, help_heading = "Request")]
    pub(super) output: Option<Output>,
    /// Let the CLI replace @path in the prompt by that file
    #[arg(long, help_heading = "Request")]
    pub(super) file_references: bool,
    /// Run even where the harness cannot hold the agent to the restrictions
    #[arg(long, help_heading = "Request")]
    pub(super) allow_unenforced: bool,
    /// Fail where the harness cannot carry a field, instead of dropping it
    #[arg(long, help_heading = "Request")]
    pub(super) strict: bool,

    /// The CLI's program
    #[arg(long, value_name = "PROGRAM", help_heading = "Where it runs")]
    pub(super) bin: Option<std::ffi::OsString>,
    /// A profile of the configuration
    #[arg(long, value_name = "NAME", help_heading = "Where it runs")]
    pub(super) profile: Option<String>,
    /// The file of your settings [default: $TEAMSTER_CONFIG, then teamster/teamster.toml in your config folder]
    #[arg(long, value_name = "FILE", help_heading = "Where it runs")]
    pub(super) config: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct ListArgs {
    /// One harness, with its tools
    pub(super) harness: Option<String>,
    /// The configuration file, which may declare harnesses
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args)]
pub(super) struct SchemaArgs {
    /// Which schema
    #[arg(value_enum)]
    pub(super) name: SchemaName,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum SchemaName {
    /// A dispatch request
    Request,
    /// The configuration file
    Config,
    /// The facts of a harness
    Harness,
    /// An event of --stream
    Event,
    /// The outcome of --json
    Outcome,
    /// The findings of a review
    Review,
    /// A job, as `job` of `job status ID --json` has it
    Job,
    /// The report of `doctor --json`
    Doctor,
    /// What a skill, agent or command file says
    Skill,
}
