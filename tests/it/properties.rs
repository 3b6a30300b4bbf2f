//! The laws, over requests, texts and outputs that nobody thought of.

use proptest::prelude::*;
use serde_json::Value;
use teamster::harness::{AgentBuilder, Rights};
use teamster::lowering::{Carried, Field, Row, payload};
use teamster::reply::{Documents, Found, find_value, strict_value};
use teamster::testkit::{Transcript, given};
use teamster::{
    DispatchRequest, Effort, Facts, HarnessRegistry, Output, Permission, Profile, ReplySchema, Session,
    ToolPolicy, ToolRules, Word, lower, split_tools,
};

fn each_harness(check: impl Fn(&dyn AgentBuilder)) {
    HarnessRegistry::builtin().iter().for_each(check);
}

/// Any text that a request may hold.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[-/@\"'{}\\[\\]()\\\\ \n\r\t,.;!?#a-c]{1,24}",
        "(--|---\n|/|-|@|\n|=)?\\PC{0,40}",
    ]
    .prop_map(|text| text.replace('\0', "\u{fffd}"))
}

fn prompt() -> impl Strategy<Value = String> {
    text().prop_filter("a prompt is not empty", |text| !text.is_empty())
}

/// Names of tools: those of all harnesses, the common words, and texts that are none.
fn tool() -> impl Strategy<Value = String> {
    let names: Vec<String> =
        HarnessRegistry::builtin().iter().flat_map(|b| b.facts().tools.keys().cloned()).collect();
    let word = prop::sample::select(vec!["read", "edit", "shell", "web", "mcp(server/tool)", "*"]);
    prop_oneof![
        2 => word.prop_map(str::to_owned),
        1 => prop::sample::select(names),
        1 => "(shell|bash|Bash|run_shell_command)\\([a-z]{1,6}( [a-z\"'=.-]{1,6})?\\)",
        1 => "[a-zA-Z_*()-]{1,12}",
    ]
}

fn tools() -> impl Strategy<Value = ToolPolicy> {
    policy(tool)
}

fn policy<S: Strategy<Value = String>>(tool: impl Fn() -> S) -> impl Strategy<Value = ToolPolicy> {
    let list = || prop::collection::vec(tool(), 0..4);
    prop_oneof![
        1 => list().prop_map(ToolPolicy::Flat),
        2 => (list(), list(), list()).prop_map(|(allow, deny, ask)| ToolPolicy::Structured(ToolRules { allow, deny, ask })),
    ]
}

/// Stands for one of the tools that a harness itself has, until [`own_names`] puts its name there.
const OWN: char = '\u{1}';

/// Policies in the words of every harness and in names of its own, few enough that rules meet.
fn known_tools() -> impl Strategy<Value = ToolPolicy> {
    policy(|| {
        let words = vec!["read", "edit", "shell", "shell(git)", "shell(git status)", "shell(rm)", "web", "*"];
        prop_oneof![
            3 => prop::sample::select(words).prop_map(str::to_owned),
            2 => (0_u8..40).prop_map(|at| format!("{OWN}{at}")),
            1 => "(git|rm)( status)?".prop_map(|words| format!("{OWN}0({words})")),
        ]
    })
}

/// A policy in which the places of [`known_tools`] have the names of this harness. A list of first words goes to
/// its shell.
fn own_names(policy: &ToolPolicy, facts: &Facts) -> ToolPolicy {
    let shell =
        facts.tools.iter().find(|(_, tool)| tool.word == Some(Word::Shell)).map(|(name, _)| name.as_str());
    let own = |name: &String| {
        let Some(place) = name.strip_prefix(OWN) else { return name.clone() };
        if let Some((_, words)) = place.split_once('(') {
            return format!("{}({words}", shell.unwrap_or("shell"));
        }
        let at: usize = place.parse().unwrap();
        let name = facts.tools.keys().nth(at % facts.tools.len().max(1));
        name.cloned().unwrap_or_else(|| "read".to_owned())
    };
    let all = |names: &[String]| names.iter().map(own).collect();
    match policy {
        ToolPolicy::Flat(names) => ToolPolicy::Flat(all(names)),
        ToolPolicy::Structured(rules) => ToolPolicy::Structured(ToolRules {
            allow: all(&rules.allow),
            deny: all(&rules.deny),
            ask: all(&rules.ask),
        }),
    }
}

fn permission() -> impl Strategy<Value = Option<Permission>> {
    prop::option::of(prop::sample::select(vec![Permission::ReadOnly, Permission::Edit, Permission::Full]))
}

prop_compose! {
    fn request()(
        prompt in prompt(),
        system_prompt in prop::option::of(text()),
        model in prop::option::of("[a-z0-9.-]{1,8}"),
        tools in prop::option::of(tools()),
        permission in permission(),
        schema in prop::option::of(prop::sample::select(vec!["true", "{\"type\": \"object\"}"])),
        session in prop::option::of(prop_oneof![
            Just(Session::New(None)),
            "[a-z0-9-]{1,8}".prop_map(|id| Session::New(Some(id))),
            "[a-z0-9-]{1,8}".prop_map(Session::Resume),
        ]),
        (cwd, add_dirs, max_turns) in (prop::option::of("/[a-z ,]{1,8}"), prop::collection::vec("/[a-z ,]{1,8}", 0..3), prop::option::of(0_u32..3)),
        (exact, references, unenforced, high) in any::<(bool, bool, bool, bool)>(),
        output in prop::sample::select(vec![Output::Auto, Output::Text, Output::Json, Output::Stream]),
    ) -> DispatchRequest {
        let mut request = DispatchRequest::new(prompt);
        request.system_prompt = system_prompt;
        request.model = model;
        request.model_is_exact = exact;
        request.tools = tools;
        request.permission = permission;
        request.schema = schema.map(|text| ReplySchema::from_text(text).unwrap());
        request.effort = high.then_some(Effort::High);
        request.session = session;
        request.cwd = cwd.map(Into::into);
        request.add_dirs = add_dirs.into_iter().map(Into::into).collect();
        request.max_turns = max_turns;
        request.output = output;
        request.file_references = references;
        request.allow_unenforced = unenforced;
        request
    }
}

/// A transcript of some harness and some sizes to cut it in.
fn cut_transcript() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (any::<prop::sample::Index>(), prop::collection::vec(1_usize..200, 1..6))
        .prop_map(|(at, sizes)| (at.index(all_transcripts().len()), sizes))
}

fn all_transcripts() -> &'static [(String, Transcript)] {
    static ALL: std::sync::LazyLock<Vec<(String, Transcript)>> = std::sync::LazyLock::new(|| {
        let registry = HarnessRegistry::builtin();
        let of = |builder: &dyn AgentBuilder| {
            let id = builder.facts().id.clone();
            crate::transcripts::of(builder).into_iter().map(move |transcript| (id.clone(), transcript))
        };
        registry.iter().flat_map(of).collect()
    });
    &ALL
}

fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[{}\\[\\]\"`<>/\\\\thinkjso\n]{0,12}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z{\"]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// Prose with no bracket, no tag and no quote in it, which alone could make another value of the text.
fn prose() -> impl Strategy<Value = String> {
    "[^\\[\\]{}<\"\0]{0,60}"
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_1_lowering_is_pure(request in request()) {
        each_harness(|builder| {
            let lowered = lower(builder, &request, &Profile::default());
            assert_eq!(lowered, lower(builder, &request.clone(), &Profile::default()));
        });
    }

    #[test]
    fn law_2_every_field_is_accounted_for(request in request()) {
        each_harness(|builder| {
            let Ok(lowered) = builder.lower(&request, &Profile::default()) else { return };
            assert_eq!(lowered.report.missing(&request), None, "{}", builder.facts().id);
            for row in &lowered.report.rows {
                assert!(!row.detail.is_empty() && row.field.is_set(&request), "{}: {row:?}", builder.facts().id);
            }
        });
    }

    #[test]
    fn law_3_a_restriction_never_widens(
        tools in prop::option::of(known_tools()),
        permission in permission(),
        unenforced in any::<bool>(),
        words in "(git|rm|ls|echo)( (status|-rf|-l|x)){0,2}",
    ) {
        let asked = DispatchRequest { tools, permission, allow_unenforced: unenforced, ..DispatchRequest::new("go") };
        if !asked.restricts() {
            return Ok(());
        }
        each_harness(|builder| {
            let tools = asked.tools.as_ref().map(|tools| own_names(tools, builder.facts()));
            let request = DispatchRequest { tools, ..asked.clone() };
            let Ok(lowered) = lower(builder, &request, &Profile::default()) else { return };
            // The caller may overrule, and then the report says what for.
            let overruled = |row: &Row| row.field == Field::AllowUnenforced && row.detail.starts_with("used for");
            if lowered.report.rows.iter().any(overruled) {
                return;
            }
            let Some(stand_in) = builder.stand_in() else { return };
            let id = &builder.facts().id;
            let received = stand_in.receive(&given(&lowered.command)).map_err(|spoken| (id, spoken.stderr)).unwrap();
            // What the caller allowed to go unenforced is told in a row.
            let told = |row: &Row| matches!(row.field, Field::Tools | Field::Permission);
            if request.allow_unenforced && lowered.report.dropped().any(told) {
                return;
            }
            let facts = builder.facts();
            let rights = Rights::of(facts, &request).unwrap();
            let shell = facts.tools.iter().filter(|(_, tool)| tool.word == Some(Word::Shell));
            let probes = shell.map(|(name, _)| format!("{name}({words})"));
            let unknown = ["mcp_other_tool", "unknown"].map(str::to_owned);
            for probe in facts.tools.keys().cloned().chain(probes).chain(unknown) {
                assert!(rights.permits(&probe) || !(received.may_run)(&probe), "{} lets {probe} run under {request:?}", facts.id);
            }
        });
    }

    #[test]
    fn law_4_any_text_arrives_byte_for_byte_or_is_refused(prompt in prompt(), system_prompt in prop::option::of(text()), schema in any::<bool>()) {
        let schema = schema.then(|| ReplySchema::from_text("{\"enum\": [\"@x\", \"/y\"]}").unwrap());
        let request = DispatchRequest { system_prompt, schema, ..DispatchRequest::new(prompt) };
        each_harness(|builder| {
            let Ok(lowered) = lower(builder, &request, &Profile::default()) else { return };
            let Some(stand_in) = builder.stand_in() else { return };
            let folded = lowered.report.rows.iter().any(|row| row.field.name() == "system_prompt" && row.carried == Carried::Prompt);
            let sent = payload(&request, folded);
            let id = &builder.facts().id;
            let received = stand_in.receive(&given(&lowered.command)).map_err(|spoken| (id, spoken.stderr)).unwrap().prompt;
            let with_line_feed = lowered.report.rows.iter().any(|row| row.detail.contains("line feed"));
            assert_eq!(received, if with_line_feed { format!("\n{sent}") } else { sent.into_owned() }, "{id}");
        });
    }

    #[test]
    fn law_5_any_cut_of_any_transcript_gives_the_same_reply((at, sizes) in cut_transcript()) {
        let (harness, transcript) = &all_transcripts()[at];
        let registry = HarnessRegistry::builtin();
        let builder = registry.get(harness).unwrap();
        prop_assert_eq!(transcript.read(builder, &sizes), transcript.read(builder, &[]), "{}", transcript.name);
    }

    #[test]
    fn law_5_no_reader_panics_and_noise_is_skipped(
        noise in prop::collection::vec(any::<u8>(), 0..400),
        (at, sizes) in cut_transcript(),
    ) {
        let (harness, transcript) = &all_transcripts()[at];
        let registry = HarnessRegistry::builtin();
        let builder = registry.get(harness).unwrap();
        let mut noisy = transcript.clone();
        noisy.stdout.splice(transcript.stdout.len() / 2..transcript.stdout.len() / 2, noise.clone());
        let stderr = String::from_utf8_lossy(&noise);
        noisy.stderr = format!("{stderr}{}{stderr}", transcript.stderr);
        prop_assert_eq!(noisy.read(builder, &sizes), noisy.read(builder, &[]));
    }

    #[test]
    fn law_8_a_value_in_prose_is_found(value in object(), before in prose(), after in prose(), pretty in any::<bool>()) {
        let json = if pretty { format!("{value:#}") } else { value.to_string() };
        let text = format!("{before}{json}{after}");
        prop_assert_eq!(find_value(&text, |_| Ok(())), Found::One(value), "{}", text);
    }

    #[test]
    fn law_8_a_value_in_a_fence_is_found(value in object(), before in prose(), after in prose(), long in 3_usize..6) {
        let fence = "`".repeat(long);
        let text = format!("{before}\n\n{fence}json\n{value:#}\n{fence}\n{after}");
        prop_assert_eq!(find_value(&text, |_| Ok(())), Found::One(value), "{}", text);
    }

    #[test]
    fn law_8_values_that_differ_are_ambiguous(one in object(), other in object(), between in prose()) {
        let found = find_value(&format!("a {one}{between}{other} b"), |_| Ok(()));
        prop_assert_eq!(found, if one == other { Found::One(one) } else { Found::Ambiguous(2) });
    }

    #[test]
    fn law_8_no_text_panics_and_every_value_stands_in_it(text in prop_oneof![
        any::<String>(),
        "[\\[\\]{}\",:\\\\0-9a-eE.+ \n`~<>/think-]{0,120}",
        "(<think>|</think>|```json\n|```\n|\\{\"a\":|\\[1,|\\}|\\]|\"|\\\\|1e5|tru|\\{\\}| ){0,30}",
    ]) {
        match find_value(&text, |_| Ok(())) {
            Found::One(value) if value.is_object() || value.is_array() => {
                let mut starts = text.match_indices(['{', '[']).map(|(at, _)| &text[at..]);
                let begins = |rest: &str| serde_json::Deserializer::from_str(rest).into_iter::<Value>().next();
                prop_assert!(starts.any(|rest| matches!(begins(rest), Some(Ok(v)) if v == value)), "{}", text);
            }
            // A scalar is the whole text, or the whole of a fence.
            Found::One(_) => {}
            Found::Ambiguous(n) => prop_assert!(n > 1),
            Found::Nothing(why) => prop_assert!(!why.is_empty()),
            Found::Invalid(..) => prop_assert!(false, "nothing is refused here"),
        }
        for document in Documents::new(&text) {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(document).is_ok());
        }
    }

    #[test]
    fn a_strict_value_is_what_any_reader_of_json_reads(value in object()) {
        prop_assert_eq!(strict_value(&value.to_string()), Ok(value));
    }

    #[test]
    fn a_policy_goes_out_and_comes_in_as_the_same(tools in tools()) {
        let text = serde_json::to_string(&tools).unwrap();
        if let Ok(read) = serde_json::from_str::<ToolPolicy>(&text) {
            prop_assert_eq!(read, tools);
        }
    }

    #[test]
    fn a_request_goes_out_and_comes_in_as_the_same(request in request()) {
        let text = serde_json::to_string(&request).unwrap();
        if let Ok((read, _)) = DispatchRequest::from_json(&text) {
            prop_assert_eq!(read, request);
        } else {
            prop_assert!(request.tools.is_some(), "{}", text);
        }
    }

    #[test]
    fn splitting_a_list_loses_no_byte_but_what_separates(text in "[a-c(){}\\[\\]\"', \n]{0,40}") {
        if let Ok(entries) = split_tools(&text) {
            let kept = |text: &str| text.replace([',', ' ', '\n'], "");
            prop_assert_eq!(kept(&entries.concat()), kept(&text));
            prop_assert!(entries.iter().all(|entry| text.contains(entry.as_str()) && !entry.is_empty()));
        }
    }
}
