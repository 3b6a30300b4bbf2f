//! Restrictions: the guard, the allows, and what is refused because gemini would ignore it.

use super::{gemini, refused, tools};
use crate::argv::args;
use teamster::command::Check;
use teamster::{DispatchRequest, Kind, Permission, ToolPolicy};

fn file(request: &DispatchRequest, name: &str) -> Option<String> {
    gemini(request).command.files.into_iter().find(|file| file.name == name).map(|file| file.content)
}

/// The first rule of a guard: every tool that needs a permission, but for these.
fn denied(spared: &[&str]) -> String {
    let all = [
        "write_file",
        "replace",
        "run_shell_command",
        "list_background_processes",
        "read_background_output",
        "web_fetch",
        "invoke_agent",
        "activate_skill",
        "enter_plan_mode",
        "exit_plan_mode",
    ];
    let names: Vec<String> =
        all.iter().filter(|tool| !spared.contains(tool)).map(|tool| format!("{tool:?}")).collect();
    format!("[[rule]]\ntoolName = [{}]\ndecision = \"deny\"\npriority = 999\n", names.join(", "))
}

const HEAD: &str = "# Written by teamster for one run: denies only.\n\n";
const FOREIGN: &str = "\n[[rule]]\ntoolName = \"*\"\nmcpName = \"*\"\ndecision = \"deny\"\npriority = 999\n";

#[test]
fn flat_tools_become_repeated_flags_and_the_rest_is_denied() {
    let request = tools("read_file, run_shell_command(git status) ShellTool(ls)");
    let args = args(&gemini(&request).command);
    let wanted = [
        "--skip-trust",
        "--admin-policy={file:guard.toml}",
        "--allowed-tools",
        "read_file",
        "--allowed-tools",
        "run_shell_command(git status)",
        "--allowed-tools",
        "run_shell_command(ls)",
        "-p",
        "go",
    ];
    assert_eq!(args, wanted);
    assert_eq!(
        file(&request, "guard.toml").unwrap(),
        format!("{HEAD}{}{FOREIGN}", denied(&["run_shell_command"]))
    );
    assert_eq!(file(&request, "allow.toml"), None);
}

#[test]
fn a_structured_policy_is_a_guard_and_allows_behind_the_users_own_folder() {
    let request = tools(
        r#"{"allow": ["write_file", "run_shell_command(git status)"], "deny": ["run_shell_command(git push)", "glob"], "ask": ["web_fetch"]}"#,
    );
    let command = gemini(&request).command;
    let wanted = [
        "--skip-trust",
        "--admin-policy={file:guard.toml}",
        "--policy={home}/.gemini/policies",
        "--policy={file:allow.toml}",
        "-p",
        "go",
    ];
    assert_eq!(args(&command), wanted);
    let names =
        denied(&["write_file", "run_shell_command"]).replace("[\"replace\"", "[\"glob\", \"replace\"");
    let push = "\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git push\"\ndecision = \"deny\"\npriority = 999\n";
    assert_eq!(file(&request, "guard.toml").unwrap(), format!("{HEAD}{names}{FOREIGN}{push}"));
    assert_eq!(
        file(&request, "allow.toml").unwrap(),
        "# Written by teamster for one run: behind the user's own policies.\n\
         \n[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 0\n\
         \n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git status\"\ndecision = \"allow\"\npriority = 0\n"
    );
}

#[test]
fn a_structured_policy_never_becomes_an_allow_flag_or_an_auto_approve_flag() {
    for permission in [None, Some(Permission::ReadOnly), Some(Permission::Edit), Some(Permission::Full)] {
        for text in [
            r#"{"allow": ["*"]}"#,
            r#"{"allow": ["write_file", "run_shell_command"]}"#,
            "{}",
            r#"{"deny": ["glob"]}"#,
        ] {
            let request = DispatchRequest { permission, ..tools(text) };
            let args = args(&gemini(&request).command);
            for flag in ["--allowed-tools", "--yolo", "-y", "yolo", "auto_edit", "plan"] {
                assert!(!args.iter().any(|arg| arg == flag), "{permission:?} {text}: {args:?}");
            }
        }
    }
}

#[test]
fn an_empty_policy_means_that_nothing_may_run_unasked() {
    for text in ["", "[]", "{}", r#"{"allow": []}"#] {
        let command = gemini(&tools(text)).command;
        assert_eq!(
            args(&command),
            ["--skip-trust", "--admin-policy={file:guard.toml}", "-p", "go"],
            "{text}"
        );
        assert_eq!(command.files[0].content, format!("{HEAD}{}{FOREIGN}", denied(&[])), "{text}");
    }
}

#[test]
fn no_policy_and_no_permission_add_nothing() {
    let request = DispatchRequest { permission: Some(Permission::Full), ..DispatchRequest::new("go") };
    assert_eq!(args(&gemini(&request).command), ["--approval-mode", "yolo", "--skip-trust", "-p", "go"]);
    assert_eq!(gemini(&DispatchRequest::new("go")).command.checks, []);
}

#[test]
fn every_restriction_closes_the_way_to_full_autonomy() {
    let restricting = [
        DispatchRequest { permission: Some(Permission::ReadOnly), ..DispatchRequest::new("go") },
        DispatchRequest { permission: Some(Permission::Edit), ..DispatchRequest::new("go") },
        tools("*"),
        tools(""),
        tools(r#"{"allow": ["*"]}"#),
        DispatchRequest { permission: Some(Permission::Full), ..tools("*") },
    ];
    for request in restricting {
        let guard = file(&request, "guard.toml").unwrap();
        assert!(
            guard.contains("\"enter_plan_mode\", \"exit_plan_mode\"]\ndecision = \"deny\"\npriority = 999"),
            "{guard}"
        );
        let dropped_for = gemini(&request).command.checks;
        assert!(matches!(&dropped_for[0], Check::NoFilesIn { suffix, .. } if suffix == ".toml"));
    }
}

#[test]
fn what_gemini_would_ignore_in_a_policy_is_refused_by_name() {
    let rows = [
        ("Bash", "tools: `Bash`: Gemini CLI has no such tool and would ignore it"),
        (
            "write_fil",
            "tools: `write_fil`: Gemini CLI has no such tool and would ignore it; did you mean `write_file` or `write_todos`?",
        ),
        ("read_file(src)", "tools: `read_file(src)`: only a shell takes an argument"),
        (
            r#"["run_shell_command(git:*)"]"#,
            "tools: `run_shell_command(git:*)`: these are the first words of a command, and no pattern: leave the * out",
        ),
        (
            r#"["run_shell_command()"]"#,
            "tools: `run_shell_command()`: the argument is the first words of a command, on one line",
        ),
        (
            r#"["run_shell_command( ls)"]"#,
            "tools: `run_shell_command( ls)`: the argument is the first words of a command, on one line",
        ),
        (
            r#"["run_shell_command(cut -d, -f1)"]"#,
            "tools: `run_shell_command(cut -d, -f1)`: gemini cuts --allowed-tools at every comma",
        ),
        (r#"["mcp_a b"]"#, "tools: `mcp_a b` holds 2 names; give each its own entry"),
        (r#"["mcp_a/b"]"#, "tools: `mcp_a/b`: Gemini CLI has no such tool and would ignore it"),
    ];
    for (text, message) in rows {
        let refused = match ToolPolicy::from_text(text) {
            Ok(tools) => refused(&DispatchRequest { tools: Some(tools), ..DispatchRequest::new("go") }).1,
            Err(refused) => refused.message,
        };
        assert!(refused.starts_with(message), "{refused}");
    }
    let comma = r#"{"allow": ["run_shell_command(cut -d, -f1)"]}"#;
    assert!(file(&tools(comma), "allow.toml").unwrap().contains("commandPrefix = \"cut -d, -f1\""));
}

#[test]
fn a_first_word_with_quotes_is_the_same_text_in_the_policy_file() {
    let hostile = [r#"echo "a" 'b' \ $x é"#, "printf '%s\\n' [x] {y}", "a = b # c"];
    for words in hostile {
        let entry = format!("run_shell_command({words})");
        let policy =
            serde_json::json!({"allow": [entry], "deny": [format!("run_shell_command({words} no)")]});
        let request = DispatchRequest {
            tools: Some(serde_json::from_value(policy).unwrap()),
            ..DispatchRequest::new("go")
        };
        for (name, wanted) in [("allow.toml", words.to_owned()), ("guard.toml", format!("{words} no"))] {
            let read: toml::Table = file(&request, name).unwrap().parse().unwrap();
            let rules = read["rule"].as_array().unwrap();
            let prefixes: Vec<&str> =
                rules.iter().filter_map(|rule| rule.get("commandPrefix")?.as_str()).collect();
            assert_eq!(prefixes, [wanted]);
        }
    }
}

#[test]
fn a_list_with_a_tool_that_hands_over_full_autonomy_is_no_limit() {
    let (kind, message) = refused(&tools("exit_plan_mode"));
    assert_eq!(kind, Kind::Unenforceable);
    assert_eq!(
        message,
        "tools: `exit_plan_mode` hands the agent full autonomy, so no list with it is a limit"
    );
}

#[test]
fn a_grant_over_the_permission_is_dropped_with_a_row() {
    let request =
        DispatchRequest { permission: Some(Permission::Edit), ..tools("write_file,run_shell_command") };
    let lowered = gemini(&request);
    assert!(!args(&lowered.command).contains(&"run_shell_command".to_owned()));
    let dropped: Vec<&str> = lowered.report.dropped().map(|row| &*row.detail).collect();
    assert_eq!(dropped, ["`run_shell_command` is not granted: it needs permission full"]);
}
