//! Never widen: a skill gives at most what its place lets it, and takes whatever it says.

use super::{files, fixtures, merged};
use proptest::prelude::*;
use std::sync::LazyLock;
use teamster::harness::{Rights, SkillFormat};
use teamster::skill::{Merge, Skill, Trust, meet, merge};
use teamster::{
    AgentBuilder, DispatchRequest, Facts, HarnessRegistry, Kind, Permission, Profile, ToolPolicy, ToolRules,
    Word,
};

static REGISTRY: LazyLock<HarnessRegistry> = LazyLock::new(HarnessRegistry::builtin);

/// Every fixture that can be read.
static SKILLS: LazyLock<Vec<Skill>> = LazyLock::new(|| {
    let names = files(&fixtures(), |name| name.ends_with(".md") || name.ends_with(".toml"));
    names.iter().filter_map(|name| Skill::read(&fixtures().join(name), &REGISTRY).ok()).collect()
});

fn request(tools: Option<ToolPolicy>, permission: Option<Permission>) -> DispatchRequest {
    DispatchRequest { tools, permission, ..DispatchRequest::new("go") }
}

/// Uses of tools: every tool of the harness whole, and its shells with some commands.
fn probes(facts: &Facts) -> Vec<String> {
    let mut all: Vec<String> = facts.tools.keys().cloned().collect();
    all.extend(["mcp_other_tool", "mcp__tracker__list_issues", "unknown"].map(str::to_owned));
    for (name, tool) in &facts.tools {
        if tool.word == Some(Word::Shell) {
            let commands = [
                "git",
                "git status",
                "git status -s",
                "git log -p",
                "git diff",
                "rm -rf /",
                "npm test",
                "npm",
            ];
            all.extend(commands.map(|command| format!("{name}({command})")));
        }
    }
    all
}

/// What may run with no one there, with no word on rights: reading is all that every CLI lets.
fn bare(facts: &Facts, probe: &str) -> bool {
    facts.tools.get(probe).is_some_and(|tool| tool.needs == Permission::ReadOnly)
}

fn may(facts: &Facts, request: &DispatchRequest, probe: &str) -> bool {
    match request.restricts() || request.permission.is_some() {
        true => Rights::of(facts, request).unwrap().permits(probe),
        false => bare(facts, probe),
    }
}

fn entry() -> impl Strategy<Value = String> {
    let words = vec![
        "read",
        "edit",
        "shell",
        "shell(git)",
        "shell(git status)",
        "shell(rm)",
        "web",
        "*",
        "mcp(tracker/list_issues)",
    ];
    let natives = vec![
        "Bash(git *)",
        "Bash(git:*)",
        "Bash(git log*)",
        "Bash(npm test)",
        "Bash(*)",
        "Bash",
        "Read",
        "Read(src/**)",
        "Grep",
        "Write",
        "Edit(docs/**)",
        "WebSearch",
        "WebFetch(domain:a.b)",
        "Task",
        "NotebookEdit",
        "TodoWrite",
        "mcp__tracker__list_issues",
        "mcp__tracker",
        "run_shell_command(git status)",
        "write_file",
        "read_file",
        "glob",
        "bash",
        "apply_patch",
        "webfetch",
        "Nonsense",
        "tracker/list_issues",
        "tracker/*",
        "Bash(git && rm *)",
        "Bash(* --version)",
    ];
    prop_oneof![prop::sample::select(words), prop::sample::select(natives)].prop_map(str::to_owned)
}

fn policy<S: Strategy<Value = String>>(entry: fn() -> S) -> impl Strategy<Value = ToolPolicy> {
    let list = || prop::collection::vec(entry(), 0..5);
    prop_oneof![
        list().prop_map(ToolPolicy::Flat),
        (list(), list(), list()).prop_map(|(allow, deny, ask)| ToolPolicy::Structured(ToolRules {
            allow,
            deny,
            ask
        })),
    ]
}

/// Entries that every harness with a shell knows, few enough to meet.
fn plain_entry() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["read", "edit", "shell", "*", "web"]).prop_map(str::to_owned)
}

fn permission() -> impl Strategy<Value = Option<Permission>> {
    prop::option::of(prop::sample::select(vec![Permission::ReadOnly, Permission::Edit, Permission::Full]))
}

/// A skill with these rights, of some harness's format or of none.
fn skill() -> impl Strategy<Value = Skill> {
    let harness = prop::option::of(prop::sample::select(vec![
        "claude", "gemini", "opencode", "codex", "copilot", "qwen",
    ]));
    (
        prop::sample::select(SKILLS.clone()),
        prop::option::of(policy(entry)),
        permission(),
        any::<bool>(),
        harness,
    )
        .prop_map(|(skill, tools, permission, closed, harness)| Skill {
            tools,
            permission,
            closed,
            harness: harness.map(str::to_owned),
            ..skill
        })
}

fn merge_with(
    skill: &Skill,
    facts: &Facts,
    trust: Trust,
    stand: bool,
    mut request: DispatchRequest,
) -> Option<DispatchRequest> {
    let how = Merge { facts, registry: &REGISTRY, profile: &Profile::default(), trust, tools_stand: stand };
    // What cannot be held to is refused; that is no widening.
    merge(skill, &mut request, &how).ok().map(|_| request)
}

const COMMANDS: &[&str] = &[
    "git",
    "git status",
    "git status -s",
    "git log -p",
    "gitk",
    "rm -rf /",
    "npm test",
    "npm test x",
    "npm",
    "ls",
];

/// Entries as a file of one harness has them.
const FOREIGN: &[&str] = &[
    "Bash(git *)",
    "Bash(git:*)",
    "Bash(git log*)",
    "Bash(npm test)",
    "Bash(git * -s)",
    "Bash(*)",
    "Bash",
    "Read",
    "Read(src/**)",
    "Write",
    "Edit",
    "Edit(docs/**)",
    "WebSearch",
    "WebFetch",
    "WebFetch(domain:a.b)",
    "Task",
    "NotebookEdit",
    "TodoWrite",
];

/// Whether a file with these rules lets a command run, by the rules of the harness whose names it has.
fn lets(rules: &ToolRules, command: &str) -> bool {
    let names = |list: &[String]| {
        list.iter().any(|entry| match entry.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')) {
            Some(pattern) => glob(&pattern.replace(":*", " *"), command),
            None => entry == "Bash" || entry == "*",
        })
    };
    names(&rules.allow) && !names(&rules.deny)
}

/// `*` is any text, and a ` *` at the end none as well.
fn glob(pattern: &str, text: &str) -> bool {
    if pattern.strip_suffix(" *").is_some_and(|words| words == text) {
        return true;
    }
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            text.strip_prefix(before).is_some_and(|rest| (0..=rest.len()).any(|at| glob(after, &rest[at..])))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_untrusted_skill_gives_nothing(
        skill in skill(),
        tools in prop::option::of(policy(plain_entry)),
        permission in permission(),
        stand in any::<bool>(),
    ) {
        for facts in REGISTRY.iter().map(AgentBuilder::facts).filter(|facts| !facts.tools.is_empty()) {
            let own = request(tools.clone(), permission);
            if Rights::of(facts, &own).is_err() {
                continue;
            }
            let Some(merged) = merge_with(&skill, facts, Trust::Restrict, stand, own.clone()) else { continue };
            for probe in probes(facts) {
                prop_assert!(
                    may(facts, &own, &probe) || !may(facts, &merged, &probe),
                    "{} lets {probe} run: {:?} and {own:?} became {merged:?}", facts.id, skill.tools
                );
            }
        }
    }

    #[test]
    fn a_trusted_skill_gives_no_more_than_the_request_s_permission_and_replaces_no_policy(
        skill in skill(),
        tools in prop::option::of(policy(plain_entry)),
        permission in permission(),
        vouched in any::<bool>(),
    ) {
        let trust = if vouched { Trust::Vouched } else { Trust::Grant };
        for facts in REGISTRY.iter().map(AgentBuilder::facts).filter(|facts| !facts.tools.is_empty()) {
            let own = request(tools.clone(), permission);
            if Rights::of(facts, &own).is_err() {
                continue;
            }
            let Some(merged) = merge_with(&skill, facts, trust, false, own.clone()) else { continue };
            prop_assert!(tools.is_none() || merged.tools == tools);
            prop_assert!(permission.is_none() || merged.permission == permission);
            if permission.is_none() && !vouched {
                prop_assert!(merged.permission < Some(Permission::Full));
            }
        }
    }

    /// Read as the harness of its format reads it, and read as it is told to another one.
    #[test]
    fn a_policy_in_other_words_lets_at_most_the_same(
        list in prop::collection::vec(prop::sample::select(FOREIGN.to_vec()), 0..5),
        denied in prop::collection::vec(prop::sample::select(FOREIGN.to_vec()), 0..3),
        everything in any::<bool>(),
    ) {
        let own = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>();
        let mut rules = ToolRules { allow: own(&list), deny: own(&denied), ask: vec![] };
        rules.allow.extend(everything.then(|| "*".to_owned()));
        let skill = Skill {
            tools: Some(ToolPolicy::Structured(rules.clone())),
            harness: Some("claude".to_owned()),
            format: SkillFormat::ModeAgent,
            closed: false,
            permission: None,
            ..SKILLS[0].clone()
        };
        let whole = |list: &[String], names: &[&str]| list.iter().any(|entry| names.contains(&entry.as_str()));
        for facts in REGISTRY.iter().map(AgentBuilder::facts).filter(|facts| !facts.tools.is_empty() && facts.id != "claude") {
            let Some(merged) = merge_with(&skill, facts, Trust::Vouched, false, request(None, None)) else { continue };
            let rights = Rights::of(facts, &merged).unwrap();
            for (name, tool) in facts.tools.iter().filter(|(_, tool)| tool.needs > Permission::ReadOnly) {
                let id = &facts.id;
                match tool.word {
                    Some(Word::Shell) => for command in COMMANDS {
                        prop_assert!(
                            !rights.permits(&format!("{name}({command})")) || lets(&rules, command),
                            "{id}: {command}: {rules:?} became {merged:?}"
                        );
                    },
                    Some(Word::Edit) => prop_assert!(
                        !rights.permits(name) || (whole(&rules.allow, &["*", "Edit", "Write", "NotebookEdit"]) && !whole(&rules.deny, &["*"])),
                        "{id}: {name}: {rules:?} became {merged:?}"
                    ),
                    Some(Word::Web) => prop_assert!(
                        !rights.permits(name) || (whole(&rules.allow, &["*", "WebFetch", "WebSearch"]) && !whole(&rules.deny, &["*", "WebFetch"])),
                        "{id}: {name}: {rules:?} became {merged:?}"
                    ),
                    _ => {}
                }
            }
            let reads = facts.tools.iter().filter(|(_, tool)| tool.word == Some(Word::Read));
            for (name, _) in reads {
                let denied = whole(&rules.deny, &["*", "Read"]);
                prop_assert!(!rights.permits(name) || !denied || name == "Grep" || name == "Glob", "{}: {name}: {rules:?}", facts.id);
            }
        }
    }

    #[test]
    fn a_meet_lets_at_most_what_both_let(one in policy(entry), other in policy(entry)) {
        for facts in REGISTRY.iter().map(AgentBuilder::facts) {
            let known = |policy: &ToolPolicy| Rights::of(facts, &request(Some(policy.clone()), None)).is_ok();
            if !known(&one) || !known(&other) {
                continue;
            }
            let both = request(Some(meet(facts, &one, &other).unwrap()), None);
            let both = Rights::of(facts, &both).unwrap();
            for policy in [&one, &other] {
                let own = request(Some(policy.clone()), None);
                let own = Rights::of(facts, &own).unwrap();
                for probe in probes(facts) {
                    prop_assert!(own.permits(&probe) || !both.permits(&probe), "{}: {probe}: {one:?} and {other:?}", facts.id);
                }
            }
        }
    }
}

#[test]
fn a_meet_keeps_what_both_let() {
    let facts = REGISTRY.get("gemini").unwrap().facts();
    let policy = |text: &str| ToolPolicy::from_text(text).unwrap();
    for (one, other, wanted) in [
        ("edit shell", "edit", "edit"),
        ("edit", "write_file web", "write_file"),
        ("*", "edit shell(git)", "edit shell(git)"),
        ("shell(git)", "shell(git status) shell(rm)", "shell(git status)"),
        ("shell(git)", "shell(gitk)", ""),
        ("", "*", ""),
        (
            "edit",
            r#"{"deny": ["web"], "ask": ["shell"], "allow": ["edit"]}"#,
            r#"{"allow": ["edit"], "deny": ["web"], "ask": ["shell"]}"#,
        ),
    ] {
        let (one, other) = (policy(one), policy(other));
        assert_eq!(meet(facts, &one, &other).unwrap(), policy(wanted), "{one:?} and {other:?}");
        assert_eq!(meet(facts, &other, &one).unwrap(), policy(wanted), "{other:?} and {one:?}");
    }
}

fn agent(front: &str) -> Skill {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".claude/agents/a.md");
    super::write(&path, format!("---\nname: a\n{front}\n---\nbody\n"));
    Skill::read(&path, &REGISTRY).unwrap()
}

#[test]
fn names_of_one_harness_come_to_the_words_of_another() {
    for (front, harness, wanted) in [
        ("tools: Read, Grep", "gemini", r#"["read"]"#),
        ("tools: Bash(git diff:*), Write", "gemini", r#"["shell(git diff)","edit"]"#),
        ("tools: Bash(git diff:*), Write", "claude", r#"["shell(git diff)","Write"]"#),
        ("tools: Bash(npm test)", "claude", r#"["Bash(npm test)"]"#),
        // The first words of a command cover more than that command.
        ("tools: Bash(npm test)", "gemini", "[]"),
        ("tools: Bash(git diff:*)", "codex", "[]"),
        ("tools: Bash", "codex", r#"["shell"]"#),
        ("tools: WebSearch, NotebookEdit, Task, mcp__git__log, mcp__git", "gemini", r#"["mcp(git/log)"]"#),
        ("tools: TodoWrite, LS, MultiEdit", "opencode", r#"["read","edit"]"#),
        ("disallowedTools: Bash(npm test)", "gemini", r#"{"deny":["shell(npm test)"]}"#),
        ("disallowedTools: Bash(* --force), Edit(src/**), Task", "gemini", r#"{"deny":["shell","edit"]}"#),
        ("tools: Bash\ndisallowedTools: Bash(rm:*)", "codex", r#"{"allow":["shell"],"deny":["shell"]}"#),
    ] {
        let (request, _) = merged(&agent(front), harness, Trust::Grant, DispatchRequest::new("p")).unwrap();
        assert_eq!(serde_json::to_string(&request.tools.unwrap()).unwrap(), wanted, "{front} on {harness}");
    }
}

/// As the format has it: `permission` over the map in `tools`, a later pattern over an earlier one; and what is
/// denied in a list stays denied.
#[test]
fn which_rule_wins_does_not_hang_on_the_order_of_the_keys() {
    let permission = "permission:\n  bash:\n    \"*\": deny\n    \"git *\": allow";
    let (tools, list) = ("tools:\n  bash: true\n  write: true", "disallowedTools: [bash]");
    for (fronts, harness, wanted) in [
        (vec![tools, permission], "gemini", r#"["edit","shell(git)"]"#),
        (vec![tools, permission, list], "gemini", r#"{"allow":["edit","shell(git)"],"deny":["shell"]}"#),
        (vec!["permission: {bash: allow, \"*\": deny}"], "gemini", r#"{"deny":["*"]}"#),
        (
            vec!["permission: {\"*\": deny, bash: allow}", "tools: {edit: true}"],
            "pi",
            r#"{"allow":["bash"],"deny":["read","grep","find","ls"]}"#,
        ),
    ] {
        let mut backwards = fronts.clone();
        backwards.reverse();
        for fronts in [fronts, backwards] {
            let skill = agent(&format!("mode: all\n{}", fronts.join("\n")));
            let skill = Skill { format: SkillFormat::ModeAgent, ..skill };
            let (request, _) = merged(&skill, harness, Trust::Grant, DispatchRequest::new("p")).unwrap();
            let told = serde_json::to_string(&request.tools.unwrap()).unwrap();
            assert_eq!(told, wanted, "{fronts:?}");
        }
    }
}

#[test]
fn a_deny_that_cannot_be_kept_is_refused_by_name() {
    for front in ["disallowedTools: FlyToTheMoon", "disallowedTools: FlyToTheMoon\ntools: Read"] {
        for harness in ["gemini", "claude", "codex"] {
            let failure =
                merged(&agent(front), harness, Trust::Restrict, DispatchRequest::new("p")).unwrap_err();
            assert_eq!(failure.kind, Kind::Unsupported);
            assert!(failure.message.contains("`FlyToTheMoon` is denied"), "{}", failure.message);
        }
    }
}

#[test]
fn the_caller_s_word_wins_field_by_field() {
    let skill = agent("tools: Bash\nmodel: sonnet\neffort: low\nmaxTurns: 3\npermissionMode: acceptEdits");
    let own = DispatchRequest {
        system_prompt: Some("own".to_owned()),
        model: Some("m".to_owned()),
        tools: Some(ToolPolicy::Flat(vec!["edit".to_owned()])),
        permission: Some(Permission::Full),
        effort: Some(teamster::Effort::High),
        max_turns: Some(9),
        ..DispatchRequest::new("p")
    };
    let (request, _) = merged(&skill, "claude", Trust::Grant, own.clone()).unwrap();
    assert_eq!(request, DispatchRequest { system_prompt: Some("body\n\nown".to_owned()), ..own.clone() });
    // From elsewhere it still holds the agent back, but for a policy that is to stand.
    let (request, _) = merged(&skill, "claude", Trust::Restrict, own.clone()).unwrap();
    assert_eq!((request.tools, request.permission), (Some(ToolPolicy::Flat(vec![])), Some(Permission::Edit)));
    let facts = REGISTRY.get("claude").unwrap().facts();
    let stood = merge_with(&skill, facts, Trust::Restrict, true, own.clone()).unwrap();
    assert_eq!((stood.tools, stood.permission), (own.tools, Some(Permission::Edit)));
}

#[test]
fn a_model_stays_with_its_harness_unless_it_is_an_alias_here() {
    let skill = agent("model: sonnet");
    let model = |harness: &str, profile: &Profile| {
        let facts = REGISTRY.get(harness).unwrap().facts();
        let how = Merge { facts, registry: &REGISTRY, profile, trust: Trust::Grant, tools_stand: false };
        let mut request = DispatchRequest::new("p");
        let notices = merge(&skill, &mut request, &how).unwrap();
        (request.model, notices.len())
    };
    let mut profile = Profile::default();
    assert_eq!(model("claude", &profile), (Some("sonnet".to_owned()), 0));
    assert_eq!(model("gemini", &profile), (None, 1));
    profile.models.insert("sonnet".to_owned(), "gemini-2.5-pro".to_owned());
    assert_eq!(model("gemini", &profile), (Some("sonnet".to_owned()), 0));
}

#[test]
fn a_command_takes_the_prompt_in_at_its_place() {
    let registry = HarnessRegistry::builtin();
    let read = |name: &str| Skill::read(&fixtures().join(name), &registry).unwrap();
    let prompt = "say {{args}} and $ARGUMENTS";
    let (request, _) = merged(
        &read(".gemini/commands/git/commit.toml"),
        "claude",
        Trust::Grant,
        DispatchRequest::new(prompt),
    )
    .unwrap();
    assert_eq!(request.prompt, format!("Write a commit message for this change:\n\n{prompt}"));
    assert_eq!(request.system_prompt, None);
    let (request, _) =
        merged(&read(".gemini/commands/plan.toml"), "claude", Trust::Grant, DispatchRequest::new(prompt))
            .unwrap();
    assert_eq!(
        (request.prompt.as_str(), request.system_prompt.as_deref()),
        (prompt, Some("You are a planner. Change nothing."))
    );
    let (request, _) =
        merged(&read(".gemini/commands/plan.toml"), "claude", Trust::Grant, DispatchRequest::default())
            .unwrap();
    assert_eq!(
        (request.prompt.as_str(), request.system_prompt),
        ("You are a planner. Change nothing.", None)
    );
    let failure =
        merged(&read(".gemini/commands/git/commit.toml"), "claude", Trust::Grant, DispatchRequest::default())
            .unwrap_err();
    assert!(failure.message.starts_with("prompt: is missing"), "{}", failure.message);
}
