//! Sessions, corrections, directories and variables.

use super::{gemini, refused, tools};
use crate::argv::{args, lowered};
use teamster::{DispatchRequest, Kind, Lowered, ReplySchema, Session};

#[test]
fn a_session_is_named_by_its_id_alone() {
    let session = |session| DispatchRequest { session: Some(session), ..DispatchRequest::new("go") };
    let id = "0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88";
    assert_eq!(
        args(&gemini(&session(Session::New(Some(id.into())))).command),
        ["--session-id", id, "-p", "go"]
    );
    assert_eq!(
        args(&gemini(&session(Session::Resume(id.into()))).command),
        [&format!("--resume={id}"), "-p", "go"]
    );
    assert_eq!(args(&gemini(&session(Session::New(None))).command), ["-p", "go"]);
    for bad in ["a/b", "../x", "a b", "é", "", "-x", "--last", "a\nb"] {
        assert_eq!(refused(&session(Session::New(Some(bad.into())))).0, Kind::InvalidRequest, "{bad:?}");
        assert_eq!(refused(&session(Session::Resume(bad.into()))).0, Kind::InvalidRequest, "{bad:?}");
    }
    for index in ["latest", "0", "12"] {
        for (field, named) in
            [("id", Session::New(Some(index.into()))), ("resume", Session::Resume(index.into()))]
        {
            let message = format!("session.{field}: `{index}` is an index, not an id");
            assert_eq!(refused(&session(named)), (Kind::InvalidRequest, message));
        }
    }
}

#[test]
fn a_correction_sends_the_feedback_alone_with_the_rights_of_the_first_run() {
    let first = DispatchRequest {
        system_prompt: Some("Be brief.".into()),
        schema: Some(ReplySchema::from_text("true").unwrap()),
        ..tools(r#"{"allow": ["write_file"]}"#)
    };
    let (one, two) = (gemini(&first), gemini(&first.correcting("s-1", "/n is missing".into())));
    let rights = |lowered: &Lowered| {
        let flags =
            args(&lowered.command).into_iter().filter(|arg| arg.contains("policy") || arg == "--skip-trust");
        (flags.collect::<Vec<_>>(), lowered.command.files.clone(), lowered.command.checks.clone())
    };
    assert_eq!(rights(&one), rights(&two));
    assert_eq!(
        args(&two.command)[4..],
        ["--resume=s-1", "--output-format", "json", "-p", "\n/n is missing"].map(str::to_owned)
    );
}

#[test]
fn directories_and_variables_that_would_be_read_as_something_else_are_refused() {
    let with_dir = |dir: &str| DispatchRequest { add_dirs: vec![dir.into()], ..DispatchRequest::new("go") };
    assert_eq!(args(&gemini(&with_dir("/a b")).command), ["--include-directories=/a b", "-p", "go"]);
    for (dir, kind) in [
        ("/a,b", Kind::InvalidRequest),
        ("-x", Kind::InvalidRequest),
        ("", Kind::InvalidRequest),
        ("/a\0b", Kind::InvalidRequest),
    ] {
        assert_eq!(refused(&with_dir(dir)).0, kind, "{dir:?}");
    }
    assert_eq!(refused(&with_dir(&"/a".repeat(70_000))).0, Kind::ArgTooLong);
    let with_env = |name: &str, value: &str| {
        let env = [(name.to_owned(), value.to_owned())].into_iter().collect();
        DispatchRequest { env, ..DispatchRequest::new("go") }
    };
    assert_eq!(refused(&with_env("A=B", "x")).0, Kind::InvalidRequest);
    assert_eq!(refused(&with_env("A", "x\0")).0, Kind::InvalidRequest);
    assert_eq!(refused(&with_env("A", &"x".repeat(131_070))).0, Kind::ArgTooLong);
    assert!(lowered("gemini", &with_env("A", &"x".repeat(131_069))).is_ok());
}

#[test]
fn the_requests_own_variable_wins_over_a_pinned_one() {
    let env = [("GEMINI_MODEL".to_owned(), "m-2".to_owned())].into_iter().collect();
    let command = gemini(&DispatchRequest { env, ..DispatchRequest::new("go") }).command;
    let values: Vec<_> = command
        .env
        .iter()
        .filter(|(name, _)| name == "GEMINI_MODEL")
        .map(|(_, v)| v.shown().into_owned())
        .collect();
    assert_eq!(values, ["m-2"]);
}
