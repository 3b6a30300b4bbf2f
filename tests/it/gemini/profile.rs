//! Profile arguments: the operator's word, but never over a restriction.

use super::{gemini, tools};
use crate::argv::args;
use teamster::{
    DispatchRequest, HarnessRegistry, Kind, Lowered, Permission, Profile, Result, ToolPolicy, lower,
};

fn with_profile(request: &DispatchRequest, profile_args: &[&str]) -> Result<Lowered> {
    let profile =
        Profile { args: profile_args.iter().map(|arg| (*arg).to_owned()).collect(), ..Profile::default() };
    lower(HarnessRegistry::builtin().get("gemini")?, request, &profile)
}

#[test]
fn a_profile_argument_that_fights_the_request_is_refused() {
    let restricted = tools("read_file");
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go") };
    for request in [&restricted, &read_only] {
        for flags in [
            &["--yolo"][..],
            &["-y"],
            &["-dy"],
            &["--yolo=true"],
            &["--approval-mode", "yolo"],
            &["--approvalMode=yolo"],
            &["--policy=x.toml"],
            &["--admin-policy", "x.toml"],
            &["--no-admin-policy=x"],
            &["--allowed-tools", "*"],
            &["--allowedTools=write_file"],
            &["--allowed-mcp-server-names=x"],
        ] {
            assert_eq!(with_profile(request, flags).unwrap_err().kind, Kind::Unenforceable, "{flags:?}");
        }
    }
    let refused = with_profile(&restricted, &["--yolo"]).unwrap_err();
    assert_eq!(refused.message, "tools: --yolo of the profile sets rights of its own");
    assert_eq!(
        refused.hint.unwrap(),
        "take the flag out of the profile, or the restriction out of the request"
    );
    let allowed = DispatchRequest { allow_unenforced: true, ..restricted };
    let dropped: Vec<String> = with_profile(&allowed, &["--yolo"])
        .unwrap()
        .report
        .dropped()
        .map(|row| row.detail.to_string())
        .collect();
    assert_eq!(dropped, ["not enforced, as allowed: --yolo of the profile sets rights of its own"]);
    assert_eq!(
        args(&with_profile(&DispatchRequest::new("go"), &["--yolo"]).unwrap().command),
        ["--yolo", "-p", "go"]
    );
}

#[test]
fn a_profile_argument_that_is_not_the_profiles_to_set_is_refused() {
    let request = DispatchRequest::new("go");
    for flags in [
        &["--"][..],
        &["--model", "m", "--"],
        &["word"],
        &["-p", "x"],
        &["--prompt=x"],
        &["-i", "x"],
        &["-r"],
        &["--resume=latest"],
        &["--session-id=x"],
        &["-o", "json"],
        &["--output-format=json"],
        &["--outputFormat", "json"],
        &["--help"],
        &["-v"],
        &["--acp"],
        &["--no-such-flag"],
        &["--model"],
        &["-w"],
    ] {
        assert_eq!(with_profile(&request, flags).unwrap_err().kind, Kind::InvalidConfig, "{flags:?}");
    }
    let fine =
        with_profile(&request, &["--model=m-1", "--sandbox", "-e", "x", "--include-directories", "/lib"])
            .unwrap();
    assert_eq!(
        args(&fine.command),
        ["--model=m-1", "--sandbox", "-e", "x", "--include-directories", "/lib", "-p", "go"]
    );
    let full = DispatchRequest { permission: Some(Permission::Full), ..request };
    assert_eq!(with_profile(&full, &["--yolo"]).unwrap_err().kind, Kind::InvalidConfig);
}

#[test]
fn the_profiles_permission_is_a_ceiling() {
    let profile = Profile { permission: Some(Permission::ReadOnly), ..Profile::default() };
    let registry = HarnessRegistry::builtin();
    let under =
        |request: &DispatchRequest| lower(registry.get("gemini").unwrap(), request, &profile).unwrap();
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go") };
    for permission in [None, Some(Permission::Edit), Some(Permission::Full)] {
        let request = DispatchRequest { permission, ..read_only.clone() };
        assert_eq!(under(&request), gemini(&read_only), "{permission:?}");
    }
}

#[test]
fn a_profile_never_grants() {
    let registry = HarnessRegistry::builtin();
    let gemini_builder = registry.get("gemini").unwrap();
    let under = |permission, request: &DispatchRequest| {
        let profile = Profile { permission: Some(permission), ..Profile::default() };
        lower(gemini_builder, request, &profile).unwrap()
    };
    let bare = DispatchRequest::new("go");
    let read_only = DispatchRequest { permission: Some(Permission::ReadOnly), ..bare.clone() };
    assert_eq!(under(Permission::Full, &bare), gemini(&bare));
    assert_eq!(under(Permission::Edit, &bare), gemini(&read_only));
    let tools = Some(ToolPolicy::Flat(vec!["write_file".into()]));
    let listed = DispatchRequest { tools, ..bare.clone() };
    let edit = DispatchRequest { permission: Some(Permission::Edit), ..listed.clone() };
    assert_eq!(under(Permission::Edit, &listed), gemini(&edit));
}
