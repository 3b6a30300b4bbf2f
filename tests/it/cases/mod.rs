//! The public cases: bug reports of people who drive coding agents from a program, each with the tests that hold
//! what is right there. Their inputs stand beside this file, or in the tests.

#[cfg(feature = "testkit")]
mod lowered;
#[cfg(all(feature = "cli", feature = "testkit"))]
mod process;
#[cfg(all(feature = "testkit", feature = "validate"))]
mod read;

use std::collections::BTreeSet;
use std::path::Path;

/// Case → the tests that hold it, each as the path of its module and its name.
///
/// - The tests of `conformance` are there for each CLI that is run: `conformance::<cli>::<name>`.
const CASES: &[(&str, &[&str])] = &[
    // A. argv and prompt delivery
    (
        "B01",
        &[
            "cases::lowered::b01_a_text_that_begins_with_a_dash_is_no_option_on_any_harness",
            "gemini::payload::b01_a_dash_in_front_makes_no_option",
            "pi::a_dash_is_never_an_option",
            "qwen::a_dash_is_never_an_option",
            "conformance::prompts::hostile_prompts",
        ],
    ),
    (
        "B02",
        &[
            "cases::lowered::b02_no_list_takes_the_prompt_on_any_harness",
            "cases::lowered::b02_neither_a_session_nor_a_list_of_the_profile_takes_the_prompt",
            "claude::no_list_option_eats_the_prompt",
        ],
    ),
    (
        "B03",
        &[
            "codex::a_resumed_run_keeps_its_sandbox_and_starts_where_it_is_told",
            "codex::a_session_that_is_no_uuid_is_refused",
            "cases::lowered::b03_a_resumed_run_is_taken_by_the_parser_and_still_reads_only",
            "conformance::widen::resumed",
        ],
    ),
    (
        "B04",
        &[
            "cases::lowered::b04_no_argument_or_variable_is_over_the_limit_on_any_harness",
            "cases::process::b04_a_large_text_arrives_through_a_process_or_is_refused_by_name",
            "process::b04_a_prompt_of_any_size_arrives_whole_or_is_refused_by_name",
            "gemini::payload::b04_large_texts_arrive_whole",
            "conformance::prompts::big_prompt",
        ],
    ),
    ("B05", &["process::b05_a_windows_shim_is_looked_through_instead_of_run_by_cmd"]),
    (
        "B06",
        &[
            "cases::process::b06_a_command_of_the_cli_is_text_or_a_failure",
            "process::b06_an_answer_that_is_no_event_is_no_answer",
            "process::b06_a_leading_slash_reaches_the_cli_as_text",
            "process::b06_a_token_that_names_a_file_is_refused_before_the_spawn",
            "cases::lowered::b06_an_address_as_long_as_no_file_name_is_text",
            "gemini::payload::b06_an_at_is_checked_before_the_spawn_and_named",
            "claude::a_command_of_the_cli_is_kept_text_by_one_line_feed",
            "conformance::prompts::hostile_prompts",
            "conformance::special::gemini_texts::a_prompt_that_the_cli_would_change_is_refused_before_the_spawn",
        ],
    ),
    // B. tools and permissions
    (
        "B07",
        &[
            "policy::b07_a_flat_list_is_split_outside_parentheses_and_quotes",
            "cases::lowered::b07_a_list_that_goes_out_to_claude_reads_as_the_same_list",
            "cases::lowered::b07_no_list_with_a_comma_in_an_element_goes_to_a_flag_that_cuts_there",
        ],
    ),
    (
        "B08",
        &[
            "claude::a_list_is_the_tools_that_are_there_and_never_an_approval_alone",
            "opencode::a_list_denies_all_else_by_name_and_never_comes_with_auto",
            "aider::edits_are_applied_where_nothing_confines_them_and_else_not_at_all",
            "vibe::a_list_is_a_limit",
            "testkit::every_built_in_harness_conforms",
            "conformance::widen::list_of_reading",
            "conformance::widen::read_only",
        ],
    ),
    (
        "B09",
        &[
            "cases::process::b09_a_question_is_never_an_answer_on_any_harness",
            "cases::process::b09_a_hang_shows_the_last_word_on_any_harness",
            "process::b09_a_question_to_a_person_is_no_answer",
            "process::b09_a_hang_shows_the_last_word_of_the_cli",
            "opencode::a_question_is_a_permission_failure_and_no_answer",
            "aider::nothing_waits_for_a_person",
        ],
    ),
    // C. environment and place
    (
        "B10",
        &[
            "cases::process::b10_no_mark_of_an_outer_session_reaches_a_child_of_any_harness",
            "cases::process::b10_claude_runs_inside_of_claude",
            "process::b10_markers_of_an_outer_session_do_not_reach_the_child",
            "codex::codex_runs_inside_of_another_agent",
        ],
    ),
    (
        "B11",
        &[
            "cases::process::b11_a_relative_place_is_the_callers_on_any_harness",
            "process::b11_the_working_directory_is_true_and_a_missing_one_is_named",
            "process::b11_a_missing_runtime_is_not_found_and_named",
            "opencode::the_working_directory_is_the_process_s_own",
        ],
    ),
    // D. process life and pipes
    (
        "B12",
        &[
            "cases::process::b12_codex_gets_an_end_of_input_while_that_of_the_caller_stays_open",
            "process::b12_the_child_never_waits_for_the_callers_stdin",
            "cli::an_open_stdin_is_not_waited_for_when_the_prompt_is_there",
        ],
    ),
    (
        "B13",
        &[
            "cases::process::b13_to_b17_claude_lives_and_ends_well",
            "process::b13_full_output_before_the_input_is_read_is_no_deadlock",
        ],
    ),
    (
        "B14",
        &[
            "cases::process::b13_to_b17_claude_lives_and_ends_well",
            "process::b14_a_grandchild_that_keeps_the_output_open_neither_hangs_nor_lives_on",
            "process::a_grandchild_that_left_the_session_is_swept_too",
        ],
    ),
    (
        "B15",
        &[
            "process::b15_a_child_that_ignores_sigterm_is_gone_when_the_call_returns",
            "process::b15_cancelling_ends_everything_before_it_returns",
            "conformance::endings::timeout_ends_tools",
        ],
    ),
    (
        "B16",
        &[
            "cases::process::b13_to_b17_claude_lives_and_ends_well",
            "process::b16_a_process_that_stays_after_its_result_is_ended_and_the_answer_counts",
        ],
    ),
    // E. decoding the stream
    (
        "B17",
        &[
            "cases::process::b13_to_b17_claude_lives_and_ends_well",
            "process::b17_a_character_split_over_writes_is_whole",
        ],
    ),
    (
        "B18",
        &[
            "cases::process::b18_claude_reads_over_a_large_line",
            "cases::process::b18_an_endless_line_takes_little_memory",
            "process::b18_a_line_of_3_mib_is_read_over",
            "process::b18_an_endless_line_reaches_the_limit_and_keeps_the_session",
        ],
    ),
    ("B19", &["replies::b19_noise_round_the_envelope_is_skipped"]),
    (
        "B20",
        &[
            "claude::an_array_is_read_by_its_last_result_and_a_decoy_in_a_tool_is_not_it",
            "cases::read::b20_the_value_usage_and_session_are_those_of_the_last_result",
        ],
    ),
    // F. what the run really was
    (
        "B21",
        &[
            "claude::an_error_that_is_called_a_success_is_an_error",
            "retry::failures_that_no_other_answer_would_change_take_one_run",
        ],
    ),
    ("B22", &["codex::reconnecting_is_not_the_end"]),
    ("B23", &["claude::words_of_the_work_classify_nothing"]),
    (
        "B24",
        &[
            "claude::the_limit_of_turns_is_told_as_what_it_is",
            "cases::read::b24_the_limit_of_turns_keeps_its_session",
            "retry::failures_that_no_other_answer_would_change_take_one_run",
        ],
    ),
    ("B25", &["opencode::nothing_said_is_told_apart_and_never_a_success"]),
    (
        "B26",
        &[
            "replies::b26_exit_statuses_have_their_kinds",
            "cases::lowered::b26_full_autonomy_trusts_the_folder_and_reading_need_not",
        ],
    ),
    // G. getting the value out of a reply
    ("B27", &["replies::b27_braces_in_prose_do_not_hide_the_value"]),
    ("B28", &["replies::b28_a_draft_in_a_reasoning_block_is_no_answer"]),
    ("B29", &["replies::b29_fence_marks_inside_the_json_are_text"]),
    (
        "B30",
        &["codex::the_last_message_is_the_answer", "cases::read::b30_the_value_is_that_of_the_last_message"],
    ),
    // H. schemas
    (
        "B31",
        &[
            "schemas::b31_no_reference_leaves_the_schema",
            "cases::process::b31_a_schema_that_refers_elsewhere_is_refused_before_any_spawn",
        ],
    ),
    (
        "B32",
        &[
            "schemas::b32_the_dialect_is_the_callers_in_every_spelling",
            "claude::a_schema_goes_to_the_native_flag_only_where_its_checker_takes_it",
            "cases::read::b32_a_schema_that_claude_refuses_is_the_schemas_fault",
        ],
    ),
    (
        "B33",
        &[
            "schemas::b33_optional_and_open_stay_as_the_caller_wrote_them",
            "codex::a_schema_goes_natively_only_as_it_is",
            "codex::a_schema_that_is_refused_is_a_schema_error",
            "cases::read::b33_replies_are_judged_by_the_callers_schema",
        ],
    ),
    ("B34", &["schemas::b34_formats_are_asserted_in_every_dialect"]),
    ("B35", &["replies::b35_what_a_number_or_key_would_lose_makes_no_value"]),
    // I. retry until valid
    (
        "B36",
        &[
            "retry::b36_a_retry_goes_on_in_the_newest_session_and_says_what_is_wrong",
            "cases::process::b36_claude_is_asked_again_in_its_newest_session",
        ],
    ),
    ("B37", &["schemas::b37_feedback_names_path_keyword_and_form_of_every_branch"]),
    (
        "B38",
        &[
            "retry::b38_an_auth_failure_is_one_spawn",
            "cases::process::b38_a_refused_key_is_one_spawn_of_claude",
            "retry::b38_one_time_budget_spans_all_attempts",
            "retry::b38_counts_and_clocks_that_are_none_are_refused_before_any_run",
            "cli::bad_counts_and_clocks_are_refused_before_any_run",
        ],
    ),
    // J. jobs and usage
    (
        "B39",
        &[
            "jobs::killed::b39_a_record_that_names_a_process_of_somebody_else_ends_nothing_of_theirs",
            "jobs::killed::a_job_whose_supervisor_was_killed_is_lost_with_what_it_had_and_leaves_nothing_running",
            "jobs::damage::a_cut_file_is_named_and_hides_no_other_job",
        ],
    ),
    ("B40", &["claude::each_message_counts_once_also_where_the_last_line_is_cut_off"]),
];

/// The names of the functions in a file that are tests, or that `conformance::battery!` makes tests of.
fn tests_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        let of_battery = line.starts_with("pub(crate) fn ") && line.contains("cli: &'static Cli)");
        if let Some(at) = line.find("fn ").filter(|_| marked || of_battery) {
            let name = &line[at + 3..];
            names.insert(name[..name.find(['(', '<']).unwrap_or(name.len())].to_owned());
        }
        marked = line == "#[test]" || (marked && (line.starts_with("#[") || line.starts_with("///")));
    }
    names
}

#[test]
fn every_case_is_held_by_tests_that_are_there() {
    let wanted: Vec<String> = (1..=40).map(|n| format!("B{n:02}")).collect();
    assert_eq!(CASES.iter().map(|(id, _)| *id).collect::<Vec<_>>(), wanted);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut missing = Vec::new();
    for (id, tests) in CASES {
        assert!(!tests.is_empty(), "{id}");
        for test in *tests {
            let (module, name) = test.rsplit_once("::").unwrap();
            let path = root.join(module.replace("::", "/"));
            let text = std::fs::read_to_string(path.with_extension("rs"))
                .or_else(|_| std::fs::read_to_string(path.join("mod.rs")));
            let battery = std::fs::read_to_string(root.join("conformance/mod.rs")).unwrap();
            let is_run = match module.strip_prefix("conformance::").filter(|rest| !rest.contains("::")) {
                Some(_) => battery.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|word| word == name),
                None => true,
            };
            if !is_run || !text.is_ok_and(|text| tests_in(&text).contains(name)) {
                missing.push(format!("{id}: {test}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn an_index_of_tests_takes_nothing_else_for_one() {
    let text = "fn helper() {}\n#[test]\nfn one() {}\n/// `fn no()`\n    #[cfg(x)]\n    #[test]\n    #[expect(y)]\n    fn two() {}\n\
                pub(crate) fn three(cli: &'static Cli) {}\npub(crate) fn four(lab: &Lab) {}\n";
    assert_eq!(tests_in(text).into_iter().collect::<Vec<_>>(), ["one", "three", "two"]);
}
