//! codex adds the text of a skill that `$name` names.

use crate::conformance::clis::codex;
use crate::conformance::lab::{Lab, kind};
use crate::support::model_server::Step;
use serde_json::json;

/// The name is the skill's own, wherever its folder lies.
#[test]
fn a_prompt_that_names_a_skill_of_the_repository_is_refused_before_the_model_sees_it() {
    let Some(lab) = Lab::new(&codex::CLI, vec![Step::text("ok")]) else { return };
    lab.place.file(".agents/skills/some/folder/SKILL.md", "---\nname: notes\ndescription: x\n---\nSECRET\n");
    let refused = lab.outcome(json!({"prompt": "see $notes", "permission": "read-only"}), &[]);
    assert_eq!((kind(&refused), refused.attempts.len()), (Some("invalid_request"), 0), "{refused:?}");
    let other = lab.outcome(json!({"prompt": "see $folder", "permission": "read-only"}), &[]);
    assert_eq!((other.ok, lab.server.main_requests().len()), (true, 1), "{other:?}");
    assert!(!lab.first_turn().body.to_string().contains("SECRET"), "codex knows it by another name");
    let asked = json!({"prompt": "see $notes", "permission": "read-only", "file_references": true});
    let added = lab.outcome(asked, &[]);
    let turns = lab.server.main_requests();
    assert!(
        added.ok && turns[1].body.to_string().contains("SECRET"),
        "codex adds it where nothing looks: {added:?}"
    );
}
