//! The tool `list_harnesses`.

use super::arguments::{Arguments, Wrong};
use super::server::{Answer, Server};
use crate::harness::AgentBuilder;
use crate::run::find;
use serde_json::{Value, json};

impl Server {
    pub(super) fn list_harnesses(&self, arguments: &str) -> Result<Answer, Wrong> {
        let named: Option<String> = Arguments::read(arguments, &["harness"])?.take("harness")?;
        let ceiling = &self.host.ceiling;
        let chosen = match &named {
            Some(name) => vec![self.host.registry.get(name)?],
            None => self.host.registry.iter().filter(|builder| ceiling.has(builder.facts())).collect(),
        };
        let entry = |builder: &&dyn AgentBuilder| self.entry(*builder, named.is_some());
        let harnesses: Vec<Value> = chosen.iter().map(entry).collect();
        let allow: Vec<&str> = ceiling.allow.iter().map(|field| field.name()).collect();
        Ok(Answer::of(json!({
            "ok": true,
            "harnesses": harnesses,
            "default": self.default_harness(),
            "ceiling": {"permission": ceiling.permission, "root": ceiling.root(), "allow": allow},
        })))
    }

    /// What a caller needs to choose a harness, and with `whole` the names of its tools.
    fn entry(&self, builder: &dyn AgentBuilder, whole: bool) -> Value {
        let facts = builder.facts();
        let profile = self.host.config.profiles.get(&facts.id).and_then(|profile| profile.bin.as_deref());
        let installed = find(facts, None, profile, &|name| std::env::var_os(name)).is_ok();
        let mut entry = json!({
            "id": facts.id,
            "name": facts.name,
            "aliases": facts.aliases,
            "installed": installed,
            "may_be_used": self.host.ceiling.has(facts),
            "evidence": facts.evidence,
            "capabilities": facts.capabilities,
        });
        if !installed {
            entry["install"] = json!(facts.install);
        }
        if whole {
            entry["tools"] = json!(facts.tools);
            entry["models"] = json!(facts.models);
            entry["sign_in"] = json!(facts.sign_in);
            entry["verified"] = json!(facts.verified);
        }
        entry
    }
}
