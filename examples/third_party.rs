//! A harness outside teamster's own list, as another crate would write it: registered, lowered, checked.

use teamster::command::Command;
use teamster::dispatch::dispatch;
use teamster::harness::{AgentBuilder, Facts};
use teamster::lowering::{Carried, Field, Lowered, Report, payload};
use teamster::reply::{Reader, Reply, RunEnd, TextReader};
use teamster::{DispatchRequest, Failure, HarnessRegistry, Kind, Output, Profile, Result, lower, testkit};

/// `parrot`: reads the prompt from stdin, prints the answer as text, and has no option and no limits.
struct Parrot(Facts);

impl AgentBuilder for Parrot {
    fn facts(&self) -> &Facts {
        &self.0
    }

    fn lower(&self, request: &DispatchRequest, profile: &Profile) -> Result<Lowered> {
        if request.restricts() && !request.allow_unenforced {
            return Err(Failure::new(Kind::Unenforceable, "parrot cannot be held to tools or a permission"));
        }
        let mut command = Command::new("parrot", profile.bin.clone().unwrap_or_else(|| "parrot".to_owned()));
        command.args.extend(profile.args.iter().cloned().map(Into::into));
        command.stdin = Some(payload(request, true).into_owned());
        command.cwd = request.cwd.clone();
        let report = Report::of(request, |field| match field {
            Field::Prompt => (Carried::Stdin, "read as it is"),
            Field::SystemPrompt | Field::Schema => (Carried::Prompt, "round the prompt"),
            Field::Cwd => (Carried::Runner, "the process's working directory"),
            _ => (Carried::Dropped, "parrot has nothing for it"),
        });
        Ok(Lowered { command, report })
    }

    fn reader(&self, _output: Output) -> Box<dyn Reader> {
        Box::new(TextReader::new(|text: String, end: &RunEnd| {
            let error = (!end.is_fine()).then(|| Failure::new(Kind::HarnessError, "parrot flew away"));
            Reply { text: text.trim_end().to_owned(), error, ..Reply::default() }
        }))
    }
}

/// Registers the parrot, holds it to the conformance suite, lowers a request and runs it.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<()> {
    let facts = r#"{"id": "parrot", "bins": ["parrot"], "capabilities": {"system_prompt": "prompt", "schema": "prompt"}}"#;
    let mut registry = HarnessRegistry::builtin();
    registry.register(std::sync::Arc::new(Parrot(Facts::from_json(facts)?)))?;
    let parrot = registry.get("parrot")?;
    testkit::assert_conforms(parrot);
    let lowered = lower(parrot, &DispatchRequest::new("Say hi"), &Profile::default())?;
    assert_eq!(lowered.command.stdin.as_deref(), Some("Say hi"));
    // A shell plays the parrot.
    let args = vec!["-c".to_owned(), "sed 's/^/You said: /'".to_owned()];
    let profile = Profile { bin: Some("sh".to_owned()), args, ..Profile::default() };
    let outcome = dispatch(parrot, DispatchRequest::new("Say hi"), &profile).await;
    assert_eq!(outcome.text.as_deref(), Some("You said: Say hi"));
    Ok(())
}
