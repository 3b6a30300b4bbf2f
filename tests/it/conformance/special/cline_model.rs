//! cline makes a model that is asked for the user's default.

use crate::conformance::clis::cline;
use crate::conformance::lab::{Lab, kind};
use crate::support::model_server::Step;
use serde_json::json;
use std::fs;

#[test]
fn a_model_goes_to_settings_of_its_own_and_those_of_the_user_stay_as_they_are() {
    let Some(lab) = Lab::new(&cline::CLI, vec![Step::text("ok")]) else { return };
    let users = lab.place.home().join(".cline/data/settings/providers.json");
    let before = fs::read(&users).unwrap();
    let refused = lab.outcome(json!({"model": "other-model", "permission": "full"}), &[]);
    assert_eq!((kind(&refused), lab.server.requests().len()), (Some("unsupported"), 0), "{refused:?}");

    let own = lab.place.tmp().join("own.json");
    fs::write(&own, &before).unwrap();
    let env = json!({"CLINE_PROVIDER_SETTINGS_PATH": own});
    let asked = json!({"model": "other-model", "permission": "full", "env": env});
    assert!(lab.outcome(asked, &[]).ok);
    assert_eq!(lab.first_turn().model(), "other-model");
    assert_eq!(fs::read(&users).unwrap(), before);
    assert_ne!(fs::read(&own).unwrap(), before, "it is kept for good, where it is asked for");
}
