//! Generated pages: `docs/harnesses.md` is what the facts say. `UPDATE_DOCS=1 cargo test pages::` writes it.

use std::fmt::Write;
use std::path::Path;
use teamster::harness::{Evidence, Facts};
use teamster::policy::Word;
use teamster::{AgentBuilder, HarnessRegistry, Permission};

const PAGE: &str = "docs/harnesses.md";

#[test]
fn the_page_of_harnesses_is_what_the_facts_say() {
    let page = page();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "{PAGE} is not what the facts say; UPDATE_DOCS=1 writes it");
}

fn page() -> String {
    let registry = HarnessRegistry::builtin();
    let all: Vec<&Facts> = registry.iter().map(AgentBuilder::facts).collect();
    let mut page = String::from(
        "# Harnesses\n\nThis page is written by a test from the facts in `harnesses/*/harness.json`; `teamster list` shows the \
         same, with what is installed here.\n\n\
         - **run**: the real CLI of that version was run, and its conformance tests run it again.\n\
         - **documented**: only its documentation and source were read; nothing is verified.\n\n",
    );
    page.push_str("| id | name | also called | evidence | verified | install |\n| --- | --- | --- | --- | --- | --- |\n");
    for facts in &all {
        let evidence = match facts.evidence {
            Evidence::Run => "run",
            _ => "documented",
        };
        let verified =
            facts.verified.iter().map(|v| format!("{} ({})", v.version, v.date)).collect::<Vec<_>>();
        let verified = if verified.is_empty() { "-".to_owned() } else { verified.join("<br>") };
        let aliases = facts.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            page,
            "| `{}` | [{}]({}) | {aliases} | {evidence} | {verified} | `{}` |",
            facts.id, facts.name, facts.docs, facts.install
        );
    }
    page.push_str("\n## How each field is carried\n\nThe words of the lowering report; `no`: dropped with a reason, or refused.\n\n");
    let names = all[0].capabilities.rows().map(|(name, _)| name.replace('_', " "));
    let _ = writeln!(page, "| id | {} |", names.join(" | "));
    let _ = writeln!(page, "|{}", " --- |".repeat(names.len() + 1));
    for facts in &all {
        let carried = facts.capabilities.rows().map(|(_, how)| if how.is_empty() { "no" } else { how });
        let _ = writeln!(page, "| `{}` | {} |", facts.id, carried.join(" | "));
    }
    page.push_str(
        "\n## Words for tools\n\nA policy may say `read`, `edit`, `shell`, `shell(first words)`, `web` and \
         `mcp(server/tool)` on every harness, or name a tool as the CLI does. What a harness cannot be held to is refused.\n\n\
         | id | `read` | `edit` | `shell` | `shell(words)` | `web` | `mcp(server/tool)` |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for facts in &all {
        let of = |word: Word| {
            let own = facts.tools.iter().filter(|(_, tool)| tool.word == Some(word));
            let own: Vec<String> = own.map(|(name, _)| format!("`{name}`")).collect();
            if own.is_empty() { "-".to_owned() } else { own.join(" ") }
        };
        let words = facts.arguments != teamster::harness::ArgumentStyle::None
            && facts.tools.values().any(|tool| tool.word == Some(Word::Shell));
        let mcp = facts.mcp_tool.as_ref().map_or("-".to_owned(), |template| format!("`{template}`"));
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} | {mcp} |",
            facts.id,
            of(Word::Read),
            of(Word::Edit),
            of(Word::Shell),
            if words { "yes" } else { "no" },
            of(Word::Web),
        );
    }
    page.push_str(
        "\n## Skills, agents and commands\n\nWhere their files lie, below a project and below your home: [skills.md](skills.md).\n\n\
         | id | format | project | home |\n| --- | --- | --- | --- |\n",
    );
    for (facts, place) in all.iter().flat_map(|facts| facts.skills.iter().map(move |place| (facts, place))) {
        let of =
            |folder: &Option<String>| folder.as_ref().map_or("-".to_owned(), |folder| format!("`{folder}`"));
        let (project, user) = (of(&place.project), of(&place.user));
        let _ = writeln!(page, "| `{}` | {} | {project} | {user} |", facts.id, place.format.name());
    }
    page.push_str("\n## Tools\n\nThe least permission that covers each.\n");
    for facts in &all {
        let _ = writeln!(page, "\n### {}\n", facts.id);
        if facts.tools.is_empty() {
            page.push_str("It has no tools that a request could name.\n");
        }
        for permission in [Permission::ReadOnly, Permission::Edit, Permission::Full] {
            let own = facts.tools.iter().filter(|(_, tool)| tool.needs == permission && !tool.escalates);
            let own: Vec<String> = own.map(|(name, _)| format!("`{name}`")).collect();
            if !own.is_empty() {
                let _ = writeln!(page, "- {}: {}", permission.name(), own.join(", "));
            }
        }
        let lifts: Vec<String> = facts
            .tools
            .iter()
            .filter(|(_, tool)| tool.escalates)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if !lifts.is_empty() {
            let _ = writeln!(page, "- never, since they lift every limit: {}", lifts.join(", "));
        }
        let _ = writeln!(page, "- sign in: {}", facts.sign_in);
    }
    page
}
