//! What an agent may do, in a harness's own tools; and how parsers of arguments bind values.

use teamster::harness::{Facts, Limit, May, Rights};
use teamster::lowering::{Dashes, Dialect, Grammar, Role, Takes, opt};
use teamster::reply::http_status;
use teamster::{DispatchRequest, Kind, Permission, ToolPolicy};

const FACTS: &str = r#"{
    "id": "x", "name": "X", "bins": ["x"], "arguments": "words", "mcp_tool": "srv_{server}_{tool}",
    "tools": {
        "look": {"needs": "read-only", "word": "read"},
        "find": {"needs": "read-only", "word": "read", "aliases": ["Search"]},
        "put": {"needs": "edit", "word": "edit"},
        "sh": {"needs": "full", "word": "shell"},
        "plan": {"needs": "full", "escalates": true},
        "helper": {"needs": "full"}
    }
}"#;

fn request(tools: Option<&str>, permission: Option<Permission>) -> DispatchRequest {
    let tools = tools.map(|text| ToolPolicy::from_text(text).unwrap());
    DispatchRequest { tools, permission, ..DispatchRequest::new("go") }
}

fn whole(tools: Option<&str>, permission: Option<Permission>) -> Vec<String> {
    let facts = Facts::from_json(FACTS).unwrap();
    let request = request(tools, permission);
    let rights = Rights::of(&facts, &request).unwrap();
    rights.whole().chain(rights.foreign()).map(str::to_owned).collect()
}

#[test]
fn what_may_run_is_at_most_the_permission_and_the_policy() {
    use Permission::{Edit, Full, ReadOnly};
    for (tools, permission, wanted) in [
        (None, Some(ReadOnly), vec!["look", "find"]),
        (None, Some(Edit), vec!["look", "find", "put"]),
        (None, Some(Full), vec!["look", "find", "put", "sh", "helper"]),
        (Some(""), None, vec!["look", "find"]),
        (Some("[]"), Some(Full), vec!["look", "find"]),
        (Some("{}"), None, vec!["look", "find"]),
        (Some("edit"), None, vec!["look", "find", "put"]),
        (Some("edit shell"), Some(Edit), vec!["look", "find", "put"]),
        (Some("*"), Some(ReadOnly), vec!["look", "find"]),
        (Some("*"), None, vec!["look", "find", "put", "sh", "helper"]),
        (Some(r#"{"deny": ["*"]}"#), Some(Full), vec![]),
        (Some(r#"{"allow": ["*"], "deny": ["shell"]}"#), None, vec!["look", "find", "put", "helper"]),
        (Some(r#"{"allow": ["edit"], "ask": ["put"]}"#), None, vec!["look", "find"]),
        (Some(r#"{"deny": ["Search"]}"#), None, vec!["look"]),
        (Some("mcp(git/log)"), None, vec!["look", "find", "srv_git_log"]),
        (Some("mcp(git/log)"), Some(Edit), vec!["look", "find"]),
        (Some("plan"), None, vec!["look", "find"]),
    ] {
        assert_eq!(whole(tools, permission), wanted, "{tools:?}, {permission:?}");
    }
}

#[test]
fn a_shell_may_be_held_to_first_words() {
    let facts = Facts::from_json(FACTS).unwrap();
    let request =
        request(Some(r#"{"allow": ["shell(git status)", "sh(ls)"], "deny": ["shell(ls -R)"]}"#), None);
    let rights = Rights::of(&facts, &request).unwrap();
    let limits = [Limit::Words("git status".to_owned()), Limit::Words("ls".to_owned())];
    assert_eq!(rights.may("sh"), May::Only(limits.iter().collect()));
    let may: Vec<bool> = ["sh", "sh(git status -s)", "sh(git statusx)", "sh(ls)", "sh(ls -R /)", "sh(rm)"]
        .iter()
        .map(|used| rights.permits(used))
        .collect();
    assert_eq!(may, [false, true, false, true, false, false]);
}

#[test]
fn a_name_that_the_harness_does_not_know_is_refused_by_name() {
    let facts = Facts::from_json(FACTS).unwrap();
    for (text, wanted) in [
        ("Look", "tools: `Look`: X has no such tool and would ignore it; did you mean `look`"),
        ("[\"web\"]", "tools: `web`: X has no tool for `web`"),
        ("[\"read(src)\"]", "tools: `read(src)`: `read` takes no argument"),
        ("[\"shell(git *)\"]", "leave the * out"),
        ("[\"mcp\"]", "name the tool: mcp(server/tool)"),
        ("[\"mcp(a b/c)\"]", "write mcp(server/tool)"),
        ("[\"*(x)\"]", "`*` takes no argument"),
        ("srv_", "X has no such tool"),
    ] {
        let failure = Rights::of(&facts, &request(Some(text), None)).unwrap_err();
        assert!(
            failure.kind == Kind::Unsupported && failure.message.contains(wanted),
            "{text}: {}",
            failure.message
        );
    }
    // What is not there cannot run, so to deny it is no fault.
    assert!(Rights::of(&facts, &request(Some(r#"{"deny": ["web", "mcp"]}"#), None)).is_ok());
}

#[test]
fn each_dialect_binds_values_as_its_parser_does() {
    const OPTIONS: &[teamster::lowering::Opt] = &[
        opt("model", Some('m'), Takes::Value, Role::Free),
        opt("yes", Some('y'), Takes::Nothing, Role::Rights),
        opt("dry", Some('d'), Takes::Nothing, Role::Free),
        opt("resume", None, Takes::MaybeValue, Role::Ours),
        opt("tools", None, Takes::Values, Role::Rights),
        opt("add-dir", None, Takes::Value, Role::Free),
    ];
    let parse = |dialect: Dialect, line: &str| {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Grammar { dialect, options: OPTIONS }.parse(&args).map(|p| (p.options, p.words))
    };
    let some = |value: &str| Some(value.to_owned());
    let all = [Dialect::YARGS, Dialect::COMMANDER, Dialect::CLAP];
    for dialect in all {
        assert_eq!(parse(dialect, "--model=-x a"), Ok((vec![("model", some("-x"))], vec!["a".to_owned()])));
        assert_eq!(
            parse(dialect, "-yd -m q").unwrap().0,
            [("yes", None), ("dry", None), ("model", some("q"))]
        );
        assert_eq!(parse(dialect, "--tools a b --yes c").unwrap().1, ["c"]);
        assert_eq!(
            parse(dialect, "--resume -- --yes"),
            Ok((vec![("resume", None)], vec!["--yes".to_owned()]))
        );
        assert!(parse(dialect, "--nope").is_err() && parse(dialect, "--model").is_err());
    }
    assert_eq!(parse(Dialect::COMMANDER, "--model --yes").unwrap().0, [("model", some("--yes"))]);
    assert!(
        parse(Dialect::YARGS, "--model --yes").is_err() && parse(Dialect::CLAP, "--model --yes").is_err()
    );
    assert_eq!(parse(Dialect::YARGS, "--addDir /a").unwrap().0, [("add-dir", some("/a"))]);
    assert!(parse(Dialect::BY_HAND, "--model=x").is_err());
    let ignored = Dialect { dashes: Dashes::Ignored, ..Dialect::YARGS };
    assert_eq!(parse(ignored, "a -- b"), Ok((vec![], vec!["a".to_owned()])));
    let loose = Dialect { strict: false, ..Dialect::CLAP };
    assert_eq!(parse(loose, "--nope x y").unwrap().1, ["y"]);
}

#[test]
fn a_status_is_read_in_an_error_text_and_in_nothing_like_one() {
    for (said, status) in [
        ("401: {\"message\": \"no\"}", Some(401)),
        ("unexpected status 401 Unauthorized: no", Some(401)),
        ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
        ("API Error: Request rejected (429) · slow down", Some(429)),
        ("[API Error: 503 overloaded]", Some(503)),
        ("Error code: 404 - {'error': 1}", Some(404)),
        ("HTTP 500: boom", Some(500)),
        ("failed on line 529", None),
        ("scanned 529 files, 401 matched", None),
        ("took 4290 ms", None),
        ("code 429abc", None),
        ("version 4.401", None),
        ("status 200", None),
        ("", None),
        ("é", None),
    ] {
        assert_eq!(http_status(said), status, "{said}");
    }
}
