//! The dispatch request and the profile: in and out of JSON, and what is refused by name.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamster::{
    Budget, DispatchRequest, Effort, FIELDS, HarnessRegistry, Kind, Limits, Output, Permission, Profile,
    ReplySchema, Session, SettledLimits, ToolPolicy,
};

const EVERYTHING: &str = r#"{"harness":"gemini","prompt":"Fix it","system_prompt":"Be brief.","model":"fast","model_is_exact":true,"tools":{"allow":["edit"]},"permission":"edit","schema":{"z":1,"a":2},"effort":"xhigh","session":{"resume":"s-1"},"cwd":"/repo","add_dirs":["/other"],"max_turns":7,"env":{"B":"2","A":"1"},"output":"stream","file_references":true,"allow_unenforced":true}"#;

fn everything() -> DispatchRequest {
    let mut request = DispatchRequest::new("Fix it");
    request.harness = Some("gemini".into());
    request.system_prompt = Some("Be brief.".into());
    request.model = Some("fast".into());
    request.model_is_exact = true;
    request.tools = Some(ToolPolicy::from_text(r#"{"allow":["edit"]}"#).unwrap());
    request.permission = Some(Permission::Edit);
    request.schema = Some(ReplySchema::from_text(r#"{"z":1,"a":2}"#).unwrap());
    request.effort = Some(Effort::Xhigh);
    request.session = Some(Session::Resume("s-1".into()));
    request.cwd = Some("/repo".into());
    request.add_dirs = vec!["/other".into()];
    request.max_turns = Some(7);
    request.env.extend([("B".to_owned(), "2".to_owned()), ("A".to_owned(), "1".to_owned())]);
    request.output = Output::Stream;
    request.file_references = true;
    request.allow_unenforced = true;
    request
}

#[test]
fn every_field_comes_in_and_goes_out_byte_for_byte() {
    let (read, notices) = DispatchRequest::from_json(EVERYTHING).unwrap();
    assert_eq!((&read, notices), (&everything(), Vec::new()));
    assert_eq!(serde_json::to_string(&read).unwrap(), EVERYTHING);
    let keys: Vec<String> =
        serde_json::from_str::<indexmap::IndexMap<String, Value>>(EVERYTHING).unwrap().into_keys().collect();
    assert_eq!(keys, FIELDS);
}

#[test]
fn what_is_not_set_is_not_written() {
    assert_eq!(serde_json::to_value(DispatchRequest::new("hi")).unwrap(), json!({"prompt": "hi"}));
}

#[test]
fn absent_and_null_are_the_same_in_every_field_but_the_prompt() {
    for field in FIELDS.iter().filter(|field| **field != "prompt") {
        let text = json!({"prompt": "hi", (*field): null}).to_string();
        assert_eq!(DispatchRequest::from_json(&text).unwrap().0, DispatchRequest::new("hi"), "{field}");
    }
    assert!(DispatchRequest::from_json(r#"{"prompt": null}"#).is_err());
}

#[test]
fn an_unknown_key_is_refused_by_name_with_the_nearest_one() {
    let rows = [
        (
            r#"{"prompt":"x","systemPrompt":"y"}"#,
            "request: unknown key `systemPrompt`; did you mean `system_prompt`?",
        ),
        (
            r#"{"prompt":"x","permisson":"edit"}"#,
            "request: unknown key `permisson`; did you mean `permission` or `session`?",
        ),
        (r#"{"prompt":"x","qqq":1}"#, "request: unknown key `qqq`"),
        (r#"{"prompt":"x","correction":true}"#, "request: unknown key `correction`"),
    ];
    for (text, message) in rows {
        let refused = DispatchRequest::from_json(text).unwrap_err();
        assert_eq!((refused.kind, refused.message.as_str()), (Kind::InvalidRequest, message));
        assert!(refused.hint.unwrap().starts_with("known keys: harness, prompt, "));
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_and_never_taken_for_a_default() {
    let rows = [
        json!({}),
        json!({"prompt": "x", "tools": 1}),
        json!({"prompt": "x", "permission": "root"}),
        json!({"prompt": "x", "permission": true}),
        json!({"prompt": "x", "schema": "object"}),
        json!({"prompt": "x", "schema": []}),
        json!({"prompt": "x", "effort": "huge"}),
        json!({"prompt": "x", "max_turns": -1}),
        json!({"prompt": "x", "output": "yaml"}),
        json!({"prompt": "x", "session": "s-1"}),
        json!({"prompt": "x", "session": {"id": "a", "resume": "b"}}),
        json!({"prompt": "x", "session": {"resum": "b"}}),
        json!({"prompt": "x", "add_dirs": "/other"}),
        json!({"prompt": "x", "env": {"A": 1}}),
        json!(["x"]),
    ];
    for row in rows {
        let refused = DispatchRequest::from_json(&row.to_string()).unwrap_err();
        assert_eq!(refused.kind, Kind::InvalidRequest, "{row}");
        assert!(refused.message.starts_with("request: "), "{row}: {refused}");
    }
    assert!(DispatchRequest::from_json(r#"{"prompt":"a","prompt":"b"}"#).is_err());
}

#[test]
fn a_permission_that_means_something_else_here_brings_a_notice() {
    let (request, notices) = DispatchRequest::from_json(r#"{"prompt":"x","permission":"default"}"#).unwrap();
    assert_eq!(request.permission, Some(Permission::Edit));
    assert_eq!(
        notices,
        ["permission `default` asks a person, and there is none in a headless run: taken as `edit`"]
    );
}

#[test]
fn a_schema_keeps_the_order_and_the_spelling_of_its_text() {
    let text = "{\"z\": 1,\n \"a\": 1.0, \"n\": 123456789012345678901234567890}";
    assert_eq!(ReplySchema::from_text(&format!("  {text}\n")).unwrap().text(), text);
    let (request, _) =
        DispatchRequest::from_json(&format!("{{\"prompt\":\"x\",\"schema\":{text}}}")).unwrap();
    assert_eq!(request.schema.unwrap().text(), text);
    for bad in ["", "[]", "1", "\"x\"", "null", "{", "{} {}"] {
        assert_eq!(ReplySchema::from_text(bad).unwrap_err().kind, Kind::InvalidRequest, "{bad}");
    }
}

#[test]
fn sessions_have_three_forms() {
    let rows = [
        (json!({}), Session::New(None)),
        (json!({"id": "s-1"}), Session::New(Some("s-1".into()))),
        (json!({"resume": "s-1"}), Session::Resume("s-1".into())),
    ];
    for (form, wanted) in rows {
        assert_eq!(serde_json::from_value::<Session>(form.clone()).unwrap(), wanted);
        assert_eq!(serde_json::to_value(wanted).unwrap(), form);
    }
}

#[test]
fn relative_paths_are_of_the_callers_directory() {
    let mut request = DispatchRequest::new("x");
    request.cwd = Some(".".into());
    request.add_dirs = vec!["lib".into(), "/abs".into()];
    let resolved = request.resolved(Path::new("/repo"));
    assert_eq!(resolved.cwd, Some(PathBuf::from("/repo")));
    assert_eq!(resolved.add_dirs, [PathBuf::from("/repo/lib"), PathBuf::from("/abs")]);
}

#[test]
fn a_correction_keeps_the_rights_and_resumes_the_session() {
    let first = everything();
    let second = first.correcting("s-9", "the value at /n is missing".to_owned());
    assert!(second.is_correction() && !first.is_correction());
    assert_eq!(second.session, Some(Session::Resume("s-9".into())));
    assert_eq!(second.prompt, "the value at /n is missing");
    assert_eq!((&second.tools, second.permission, &second.cwd), (&first.tools, first.permission, &first.cwd));
}

#[test]
fn a_model_alias_is_looked_up_most_specific_first() {
    let table =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let own = table(&[("fast", "own"), ("deep", "own-deep")]);
    let mut profile = Profile::default();
    let ask =
        |profile: &Profile, name: &str, exact: bool| profile.model("gemini", &own, name, exact).to_owned();
    assert_eq!(ask(&profile, "fast", false), "own");
    profile.shared_models.insert("fast".into(), table(&[("*", "any")]));
    assert_eq!(ask(&profile, "fast", false), "any");
    profile.shared_models.insert("fast".into(), table(&[("*", "any"), ("gemini", "shared")]));
    assert_eq!(ask(&profile, "fast", false), "shared");
    profile.models = table(&[("fast", "profile")]);
    assert_eq!(ask(&profile, "fast", false), "profile");
    assert_eq!(ask(&profile, "fast", true), "fast");
    assert_eq!(ask(&profile, "deep", false), "own-deep");
    assert_eq!(ask(&profile, "m-1", false), "m-1");
    profile.shared_models.insert("deep".into(), table(&[("other", "theirs")]));
    assert_eq!(ask(&profile, "deep", false), "own-deep");
}

#[test]
fn an_alias_that_stands_for_no_model_name_is_refused() {
    let registry = HarnessRegistry::builtin();
    let request = DispatchRequest { model: Some("fast".into()), ..DispatchRequest::new("x") };
    for bad in ["--yolo", "", " ", "a\0b", "a\nb"] {
        let profile = Profile {
            models: [("fast".to_owned(), bad.to_owned())].into_iter().collect(),
            ..Profile::default()
        };
        let refused = teamster::lower(registry.get("gemini").unwrap(), &request, &profile).unwrap_err();
        assert_eq!(refused.kind, Kind::InvalidRequest, "{bad:?}");
        assert!(refused.message.starts_with("model: "), "{bad:?}: {refused}");
    }
}

#[test]
fn limits_have_defaults_and_refuse_what_is_no_limit() {
    let wanted = SettledLimits {
        timeout: Duration::from_secs(600),
        first_output: None,
        idle: None,
        attempts: 3,
        max_output_bytes: 256 << 20,
        max_events: 1_000_000,
        budget: Budget::default(),
    };
    assert_eq!(Limits::default().settled().unwrap(), wanted);
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let limits = Limits { timeout_s: Some(seconds), ..Limits::default() };
        assert_eq!(limits.settled().unwrap_err().kind, Kind::InvalidRequest, "{seconds}");
    }
    for attempts in [0, 101, u32::MAX] {
        let limits = Limits { attempts: Some(attempts), ..Limits::default() };
        assert_eq!(limits.settled().unwrap_err().kind, Kind::InvalidRequest, "{attempts}");
    }
    let mine = Limits { attempts: Some(5), ..Limits::default() };
    let theirs = Limits { attempts: Some(1), idle_timeout_s: Some(9.0), ..Limits::default() };
    assert_eq!(
        mine.or(&theirs),
        Limits { attempts: Some(5), idle_timeout_s: Some(9.0), ..Limits::default() }
    );
}

#[test]
fn a_name_is_registered_once_and_unknown_names_get_near_ones() {
    let mut registry = HarnessRegistry::builtin();
    let again = std::sync::Arc::new(teamster::harnesses::gemini::Gemini);
    assert_eq!(registry.register(again).unwrap_err().message, "the harness name `gemini` is taken");
    let unknown = registry.get("gemni").err().unwrap();
    assert_eq!(
        (unknown.kind, unknown.message.contains("did you mean `gemini`")),
        (Kind::UnknownHarness, true),
        "{unknown}"
    );
    assert_eq!(registry.get("gemini-cli").unwrap().facts().id, "gemini");
    let names: Vec<&str> = registry.iter().map(|builder| builder.facts().id.as_str()).collect();
    assert_eq!(names.len(), teamster::harnesses::ALL.len());
}
