//! Kimi Code: what has to hold in words.

use crate::argv::{args, lowered};
use teamster::reply::RunEnd;
use teamster::{DispatchRequest, HarnessRegistry, Kind, Output, Permission, Reply, Session};

fn read(stdout: &str, stderr: &str, status: i32) -> Reply {
    let registry = HarnessRegistry::builtin();
    let mut reader = registry.get("kimi").unwrap().reader(Output::Stream);
    reader.push(stdout.as_bytes(), &mut |_| {});
    reader.finish(&RunEnd::exited(status, stderr), &mut |_| {})
}

fn read_only() -> DispatchRequest {
    DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("x") }
}

const SESSION: &str = "session_0b7f2e6a-9d1c-4f53-8a3e-5c2d1b0a9f88";

/// The Python package of that name prints a notice and ends with 0.
#[test]
fn a_notice_is_no_answer() {
    let reply = read("kimi-cli is deprecated, use Kimi Code.\n", "", 0);
    assert_eq!(reply.error.map(|e| e.kind), Some(Kind::HarnessError));
    assert_eq!(reply.text, "");
    assert!(read("{\"role\":\"assistant\",\"content\":\"hi\"}\n", "", 0).error.is_some(), "no last line");
}

/// B08: a list is a limit: what is not in it is not there.
#[test]
fn a_list_is_a_limit() {
    let command = lowered("kimi", &read_only()).unwrap().command;
    assert_eq!(args(&command)[1..], ["--agent-file={file:agent.md}", "--prompt=x"]);
    assert!(command.files[0].content.contains("\ntools: [\"Read\",\"Grep\",\"Glob\"]\n"), "{command:?}");
    let none = DispatchRequest::from_json(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#).unwrap().0;
    assert!(lowered("kimi", &none).unwrap().command.files[0].content.contains("\ntools: []\n"));
    let edit = DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("x") };
    assert_eq!(lowered("kimi", &edit).unwrap_err().kind, Kind::Unenforceable);
}

/// A resumed session has the agent that it began with: nobody here knows which.
#[test]
fn limits_of_a_resumed_session_are_refused() {
    let session = Some(Session::Resume(SESSION.to_owned()));
    let limited = DispatchRequest { session: session.clone(), ..read_only() };
    assert_eq!(lowered("kimi", &limited).unwrap_err().kind, Kind::Unsupported);
    let system = Some("Be brief.".to_owned());
    let with =
        DispatchRequest { session: session.clone(), system_prompt: system, ..DispatchRequest::new("x") };
    assert_eq!(lowered("kimi", &with).unwrap_err().kind, Kind::Unsupported);
    let free = DispatchRequest { session, ..DispatchRequest::new("x") };
    assert_eq!(args(&lowered("kimi", &free).unwrap().command)[1], format!("--session={SESSION}"));
    // A correction goes to the session of this very request, which has its agent.
    let corrects = read_only().correcting(SESSION, "again".to_owned());
    assert_eq!(
        args(&lowered("kimi", &corrects).unwrap().command)[1..],
        [format!("--session={SESSION}"), "--prompt=again".to_owned()]
    );
}

/// An argument is the only place for a prompt, and has a limit.
#[test]
fn a_prompt_over_the_limit_is_refused() {
    let refused = lowered("kimi", &DispatchRequest::new("x".repeat(131_072))).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("prompt")), (Kind::ArgTooLong, true));
}

/// Words of kimi's own in a system prompt would be replaced: it goes ahead of the prompt.
#[test]
fn a_system_prompt_arrives_as_it_is() {
    let with = |system: &str| DispatchRequest {
        system_prompt: Some(system.to_owned()),
        ..DispatchRequest::new("go")
    };
    let command = lowered("kimi", &with("Be brief.")).unwrap().command;
    assert!(command.files[0].content.ends_with("\n---\nBe brief.\n"));
    for odd in ["In ${cwd} only.", "Be brief.\n"] {
        let command = lowered("kimi", &with(odd)).unwrap().command;
        assert!(command.files.is_empty() && args(&command)[1].contains(odd), "{command:?}");
    }
}
