//! The real CLIs, driven by the built `teamster`, against a model server on this machine.
//!
//! - A file of `clis/` describes each CLI; [`battery`] makes one module of tests for each.
//! - Without the CLI a test prints that it was skipped; see [`find::installed`].
//! - What holds for one CLI alone is in `special/`.

mod answers;
mod cli;
mod clis;
mod doctor;
mod endings;
mod find;
mod jobs;
mod lab;
mod mcp;
mod place;
mod prompts;
mod record;
mod review;
mod skill;
mod special;
mod table;
mod widen;

/// Every generic test, for each CLI: `conformance::<cli>::<topic>`.
macro_rules! battery {
    ($($id:ident),+ $(,)?) => {
        /// Every CLI that is described.
        const ALL: &[&cli::Cli] = &[$(&clis::$id::CLI),+];
        $( mod $id {
        use super::clis::$id::CLI;
        battery! { @tests
            answers: plain_text, wrong_then_right, explicit_resume, unknown_session, system_prompt, effort, long_reply;
            prompts: hostile_prompts, big_prompt;
            endings: refused_key, too_many_requests, broken_server, hang, timeout_ends_tools, ctrl_c;
            widen: control, traps, no_word, list_of_reading, list_with_shell, allow_and_deny, empty_text, empty_list,
                empty_rules, read_only, reading, edit, full, resumed, hostile_repository;
        }
    } )+ };
    (@tests $($topic:ident: $($test:ident),+;)+) => {
        $( $(
            #[test]
            fn $test() {
                super::$topic::$test(&CLI);
            }
        )+ )+
    };
}

battery!(
    gemini, claude, codex, copilot, opencode, pi, qwen, aider, openhands, vibe, kimi, droid, cline, kilo,
    hermes
);
