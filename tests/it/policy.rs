//! Tool policies and permission: their forms, and what is at most as much authority as what.

use serde::Deserialize;
use serde_json::{Value, json};
use teamster::{Permission, ToolPolicy, ToolRules, permits, split_tools, tool_argument};

fn flat(tools: &[&str]) -> ToolPolicy {
    ToolPolicy::Flat(tools.iter().map(|tool| (*tool).to_owned()).collect())
}

fn rules(allow: &[&str], deny: &[&str], ask: &[&str]) -> ToolPolicy {
    let owned = |list: &[&str]| list.iter().map(|tool| (*tool).to_owned()).collect();
    ToolPolicy::Structured(ToolRules { allow: owned(allow), deny: owned(deny), ask: owned(ask) })
}

fn policy(value: Value) -> Result<ToolPolicy, String> {
    serde_json::from_value(value).map_err(|e| e.to_string())
}

#[test]
fn b07_a_flat_list_is_split_outside_parentheses_and_quotes() {
    #[derive(Deserialize)]
    struct Case {
        rows: Vec<(String, Value)>,
    }
    let case: Case = serde_json::from_str(include_str!("cases/B07.json")).unwrap();
    assert_eq!(case.rows.len(), 12);
    for (text, wanted) in case.rows {
        match wanted {
            Value::String(_) => {
                let refused = split_tools(&text).unwrap_err();
                assert_eq!(refused.kind, teamster::Kind::InvalidRequest, "{text}");
                assert!(refused.message.starts_with("tools: unbalanced "), "{text}: {refused}");
            }
            list => assert_eq!(json!(split_tools(&text).unwrap()), list, "{text}"),
        }
    }
}

#[test]
fn absent_and_empty_and_nothing_are_three_things() {
    let request = |text: &str| teamster::DispatchRequest::from_json(text).unwrap().0.tools;
    let absent = request(r#"{"prompt": "x"}"#);
    let empty = [r#""""#, "[]", "{}", r#"" , ""#]
        .map(|form| request(&format!(r#"{{"prompt": "x", "tools": {form}}}"#)));
    let nothing = request(r#"{"prompt": "x", "tools": {"deny": ["*"]}}"#);
    assert_eq!(absent, None);
    assert_eq!(empty, [Some(flat(&[])), Some(flat(&[])), Some(rules(&[], &[], &[])), Some(flat(&[]))]);
    assert_eq!(nothing, Some(rules(&[], &["*"], &[])));

    let may = |policy: &Option<ToolPolicy>| {
        [Permission::ReadOnly, Permission::Edit, Permission::Full]
            .map(|needs| permits(None, policy.as_ref(), "tool", needs))
    };
    assert_eq!(may(&absent), [true, true, true]);
    for policy in &empty {
        assert_eq!(may(policy), [true, false, false]);
    }
    assert_eq!(may(&nothing), [false, false, false]);
}

#[test]
fn every_form_comes_in_and_goes_out_as_the_same_policy() {
    let forms = [
        (json!("read, edit"), flat(&["read", "edit"]), json!(["read", "edit"])),
        (
            json!(["read", "shell(git log, --all)"]),
            flat(&["read", "shell(git log, --all)"]),
            json!(["read", "shell(git log, --all)"]),
        ),
        (
            json!({"allow": "read edit", "deny": ["shell"]}),
            rules(&["read", "edit"], &["shell"], &[]),
            json!({"allow": ["read", "edit"], "deny": ["shell"]}),
        ),
        (
            json!({"read": "allow", "edit": true, "shell": false, "fetch": "ask", "rm": "deny"}),
            rules(&["edit", "read"], &["rm", "shell"], &["fetch"]),
            json!({"allow": ["edit", "read"], "deny": ["rm", "shell"], "ask": ["fetch"]}),
        ),
        (json!({"ask": []}), rules(&[], &[], &[]), json!({})),
        (json!([" read "]), flat(&["read"]), json!(["read"])),
    ];
    for (form, wanted, out) in forms {
        let read = policy(form.clone()).unwrap();
        assert_eq!(read, wanted, "{form}");
        assert_eq!(serde_json::to_value(&read).unwrap(), out);
        assert_eq!(policy(out).unwrap(), wanted);
    }
}

#[test]
fn text_is_json_where_it_looks_like_it_and_a_flat_list_else() {
    assert_eq!(ToolPolicy::from_text(r#" {"deny": ["shell"]}"#).unwrap(), rules(&[], &["shell"], &[]));
    assert_eq!(ToolPolicy::from_text(r#"["a b(c d)"]"#).unwrap(), flat(&["a b(c d)"]));
    assert_eq!(ToolPolicy::from_text("read,edit").unwrap(), flat(&["read", "edit"]));
    assert_eq!(ToolPolicy::from_text("").unwrap(), flat(&[]));
}

#[test]
fn a_policy_that_could_be_read_in_two_ways_is_refused() {
    let refused = [
        (
            json!({"alow": ["read"]}),
            "tools: unknown key `alow` with a list, expected allow, deny or ask; did you mean `allow`?",
        ),
        (
            json!({"read": "never"}),
            "tools: `read` is `never`, expected \"allow\", \"deny\", \"ask\", true or false",
        ),
        (json!({"allow": true}), "tools: `allow` wants a list of tools"),
        (
            json!({"allow": ["read"], "shell": "deny"}),
            "tools: use {allow, deny, ask} or {tool: rule}, not both in one object",
        ),
        (json!(["read edit"]), "tools: `read edit` holds 2 names; give each its own entry"),
        (json!(["read", " "]), "tools: an entry is empty; leave it out"),
        (json!({"allow": ["shell(rm"]}), "tools: unbalanced `(` at byte 5 of `shell(rm`"),
        (json!({"read": 3}), "expected a tool list, \"allow\", \"deny\", \"ask\", true or false"),
        (
            json!(7),
            "invalid type: integer `7`, expected a tool policy: a string, a list, {allow, deny, ask} or {tool: rule}",
        ),
    ];
    for (form, message) in refused {
        assert_eq!(policy(form), Err(message.to_owned()));
    }
}

#[test]
fn a_rule_covers_whole_words_and_no_more() {
    let rows = [
        ("shell", "shell", true),
        ("shell", "shell(rm -rf /)", true),
        ("shell(git status)", "shell(git status)", true),
        ("shell(git status)", "shell(git status -s)", true),
        ("shell(git status)", "shell(git statusx)", false),
        ("shell(git status)", "shell(git)", false),
        ("shell(git status)", "shell", false),
        ("shell(git status)", "shells(git status)", false),
        ("shell()", "shell(rm)", false),
        ("*", "anything(at all)", true),
        ("she", "shell", false),
    ];
    for (rule, tool, wanted) in rows {
        assert_eq!(flat(&[rule]).allows(tool), wanted, "{rule} on {tool}");
        assert_eq!(rules(&[], &[rule], &[]).refuses(tool), wanted, "{rule} on {tool}");
    }
}

#[test]
fn deny_and_ask_beat_allow() {
    for refusing in [
        rules(&["shell"], &["shell(rm)"], &[]),
        rules(&["*"], &["shell(rm)"], &[]),
        rules(&["shell"], &[], &["shell(rm)"]),
    ] {
        let may = |tool| permits(None, Some(&refusing), tool, Permission::Full);
        assert_eq!(
            [may("shell(ls)"), may("shell(rm x)"), may("shell(rmdir x)")],
            [true, false, true],
            "{refusing:?}"
        );
    }
    assert!(!permits(None, Some(&rules(&[], &["read"], &[])), "read", Permission::ReadOnly));
}

#[test]
fn a_permission_is_a_ceiling_over_every_policy() {
    for policy in [None, Some(flat(&["*"])), Some(rules(&["*"], &[], &[]))] {
        let may = |ceiling| {
            [Permission::ReadOnly, Permission::Edit, Permission::Full]
                .map(|needs| permits(Some(ceiling), policy.as_ref(), "tool", needs))
        };
        assert_eq!(may(Permission::ReadOnly), [true, false, false]);
        assert_eq!(may(Permission::Edit), [true, true, false]);
        assert_eq!(may(Permission::Full), [true, true, true]);
    }
}

#[test]
fn permissions_take_the_names_that_people_bring() {
    let rows = [
        (Permission::ReadOnly, &["read-only", "read_only", "readonly", "plan"][..]),
        (Permission::Edit, &["edit", "acceptEdits", "accept-edits", "auto_edit", "auto-edit"]),
        (Permission::Full, &["full", "bypassPermissions", "bypass-permissions", "yolo"]),
    ];
    for (wanted, names) in rows {
        for name in names {
            assert_eq!(Permission::from_name(name).unwrap(), (wanted, None));
            assert_eq!(serde_json::from_value::<Permission>(json!(name)).unwrap(), wanted);
        }
        assert_eq!(serde_json::to_value(wanted).unwrap(), json!(wanted.name()));
    }
    let (taken, notice) = Permission::from_name("default").unwrap();
    assert_eq!((taken, notice.is_some()), (Permission::Edit, true));
    let refused = |name: &str| Permission::from_name(name).unwrap_err().message;
    assert_eq!(refused("ful"), "permission: `ful` is none of read-only, edit, full; did you mean `full`?");
    assert_eq!(refused(""), "permission: `` is none of read-only, edit, full");
    assert_eq!(refused("YOLO"), "permission: `YOLO` is none of read-only, edit, full");
}

#[test]
fn a_tool_and_its_argument_come_apart_at_the_first_parenthesis() {
    let rows = [
        ("shell(git status)", ("shell", Some("git status"))),
        ("shell(f(x))", ("shell", Some("f(x)"))),
        ("shell()", ("shell", Some(""))),
        ("shell", ("shell", None)),
        ("shell(x", ("shell(x", None)),
        (")", (")", None)),
    ];
    for (entry, wanted) in rows {
        assert_eq!(tool_argument(entry), wanted);
    }
}
