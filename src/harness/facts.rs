//! Facts about a CLI: data, no behaviour.

use crate::error::{Failure, Kind, Result};
use crate::policy::{Permission, Word};
use crate::reply::RunEnd;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// What is known of a CLI. Read from `harness.json`, or made in code by a third party.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// The platform name: lower case, no spaces.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// Other names that resolve to this harness.
    pub aliases: Vec<String>,
    /// Names of the program, the first one preferred.
    pub bins: Vec<String>,
    /// How to install it, as a command.
    pub install: String,
    /// How to sign in, in one sentence.
    pub sign_in: String,
    /// Where its documentation is.
    pub docs: String,
    /// How well its contract is known.
    pub evidence: Evidence,
    /// Versions whose contract was checked, the newest first.
    pub verified: Vec<Verified>,
    /// The oldest version that can be driven, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_version: Option<MinVersion>,
    /// Variables that sign it in. Their values are secrets.
    pub auth_env: Vec<String>,
    /// The command that says whether it is signed in, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusCommand>,
    /// Words with which it says that it has no credential, as opposed to one that is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signed_out: Vec<String>,
    /// Other variables of the caller that the CLI may see.
    pub env_pass: Vec<String>,
    /// Variables that move the CLI's home directory; the first one that is set counts, else HOME.
    pub home_env: Vec<String>,
    /// Variables that mark a process as running inside this CLI.
    pub session_env: Vec<String>,
    /// What an id of its sessions looks like, where it is no UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_example: Option<String>,
    /// A character that the CLI cuts paths at, so that no path may hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_separator: Option<char>,
    /// Exit statuses that say by themselves what went wrong: status → failure kind.
    pub exit_statuses: IndexMap<String, Kind>,
    /// The CLI's tools by their own names.
    pub tools: IndexMap<String, HarnessTool>,
    /// What may stand in parentheses after a tool's name.
    pub arguments: ArgumentStyle,
    /// The CLI's name for a tool of an MCP server, with `{server}` and `{tool}` in it. Absent: it cannot be
    /// held to single ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_tool: Option<String>,
    /// Beginnings of other names that tools have which no list can hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_prefixes: Vec<String>,
    /// What the tokens that it tells count.
    pub usage_counts: UsageCounts,
    /// Where skill, agent and command files of its formats lie.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillPlace>,
    /// What those files call tools beside the names in `tools`: name → word, or null for what no right is
    /// needed for.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub skill_tools: IndexMap<String, Option<Word>>,
    /// The harness's own model aliases. The CLI's own aliases need none here.
    pub models: IndexMap<String, String>,
    /// How each field of a request is carried: for `teamster list`, held to the reports by a test.
    pub capabilities: Capabilities,
}

/// How well a contract is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The real CLI was run, and is run again by the conformance tests.
    Run,
    /// Only documentation and source were read.
    #[default]
    Documented,
    /// A file of the user says so.
    Declared,
}

/// A version whose contract was checked, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// The version, as the CLI prints it.
    pub version: String,
    /// The day, as YYYY-MM-DD.
    pub date: String,
}

/// The oldest version of a CLI that can be driven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MinVersion {
    /// The version.
    pub version: String,
    /// What an older one lacks, and how this is known.
    #[serde(default)]
    pub source: String,
}

/// A command of a CLI that says whether there is a credential, and asks no model for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatusCommand {
    /// Its arguments.
    pub args: Vec<String>,
    /// What it writes, one of these, with exit status 0 when there is a credential.
    pub says_in: Vec<String>,
    /// What it writes, with another exit status, when there is none.
    pub says_out: String,
    /// What it looks at: when that is everything, a no is a no.
    pub covers: StatusCovers,
    /// How this is known: what was run, the version and the day.
    #[serde(default)]
    pub source: String,
}

/// What a [`StatusCommand`] looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StatusCovers {
    /// Everything that may sign the CLI in.
    All,
    /// The stored login alone: variables and settings may sign it in all the same.
    Login,
}

/// One tool of a CLI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HarnessTool {
    /// The least permission that covers what the tool does.
    pub needs: Permission,
    /// The tool gives the agent more rights than it had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalates: bool,
    /// The word that means it on every harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Word>,
    /// It does less than the other tools of its word, so that it cannot stand for the word elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub narrow: bool,
    /// Other names that the CLI takes for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

/// Folders in which files of one format lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SkillPlace {
    /// The format.
    pub format: SkillFormat,
    /// The folder below a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The folder below the user's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The formats of skill, agent and command files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SkillFormat {
    /// A folder with a `SKILL.md`.
    AgentSkills,
    /// Markdown with `tools` as a list of what may run.
    Agent,
    /// Markdown with `mode`, and `tools` and `permission` as maps of tool → verdict.
    ModeAgent,
    /// A prompt under a name: TOML, or Markdown.
    Command,
}

impl SkillFormat {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            SkillFormat::AgentSkills => "agent-skills",
            SkillFormat::Agent => "agent",
            SkillFormat::ModeAgent => "mode-agent",
            SkillFormat::Command => "command",
        }
    }
}

/// What a CLI takes in the parentheses after a tool's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ArgumentStyle {
    /// Nothing: it can be held to whole tools only.
    #[default]
    None,
    /// The first words of a command, after its shell tool.
    Words,
    /// Patterns of its own; the first words of a command can be told in them.
    Patterns,
}

/// What the tokens of a run count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UsageCounts {
    /// That run.
    #[default]
    Run,
    /// The whole session so far, earlier runs among it.
    Session,
}

/// How each field is carried: the words of the report, or `no`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of a request's fields")]
pub struct Capabilities {
    pub system_prompt: String,
    pub model: String,
    pub tools: String,
    pub tool_rules: String,
    pub permission: String,
    pub schema: String,
    pub effort: String,
    pub session_id: String,
    pub resume: String,
    pub add_dirs: String,
    pub max_turns: String,
    pub usage: String,
}

impl Capabilities {
    /// Name and value of each capability, in the order of the type.
    pub fn rows(&self) -> [(&'static str, &str); 12] {
        [
            ("system_prompt", &self.system_prompt),
            ("model", &self.model),
            ("tools", &self.tools),
            ("tool_rules", &self.tool_rules),
            ("permission", &self.permission),
            ("schema", &self.schema),
            ("effort", &self.effort),
            ("session_id", &self.session_id),
            ("resume", &self.resume),
            ("add_dirs", &self.add_dirs),
            ("max_turns", &self.max_turns),
            ("usage", &self.usage),
        ]
    }
}

impl Facts {
    /// Facts from the text of a `harness.json`.
    ///
    /// Errors: [`Kind::InvalidConfig`] with line and column.
    pub fn from_json(text: &str) -> Result<Facts> {
        serde_json::from_str(text)
            .map_err(|e| Failure::new(Kind::InvalidConfig, format!("harness.json: {e}")))
    }

    /// Facts that are compiled in: `Facts::compiled_in(include_str!("harness.json"))`.
    ///
    /// Panics where the text is none; every test that makes the harness finds that.
    pub fn compiled_in(text: &str) -> Facts {
        match Facts::from_json(text) {
            Ok(facts) => facts,
            Err(bad) => unreachable!("{bad}"),
        }
    }

    /// The variable of teamster that sets something of this harness: `TEAMSTER_<ID>_<WHAT>`.
    pub fn variable(&self, what: &str) -> String {
        format!("TEAMSTER_{}_{what}", self.id.to_uppercase().replace('-', "_"))
    }

    /// The tool of this name or alias, with the CLI's own name for it.
    pub fn tool(&self, name: &str) -> Option<(&str, &HarnessTool)> {
        let found =
            self.tools.iter().find(|(own, tool)| *own == name || tool.aliases.iter().any(|a| a == name));
        found.map(|(own, tool)| (own.as_str(), tool))
    }

    /// Whether this may be the name of a tool that the facts cannot list, such as one of an MCP server.
    pub fn is_foreign(&self, name: &str) -> bool {
        let beginning = self.mcp_tool.as_deref().and_then(|template| template.split('{').next());
        let mut beginnings = beginning.into_iter().chain(self.tool_prefixes.iter().map(String::as_str));
        beginnings.any(|b| !b.is_empty() && name.len() > b.len() && name.starts_with(b))
            && super::rights::is_plain(name)
    }

    /// The kind that the exit status stands for by itself.
    pub fn kind_of(&self, end: &RunEnd) -> Option<Kind> {
        self.exit_statuses.get(&end.status?.to_string()).copied()
    }
}
