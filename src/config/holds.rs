//! What holds for one harness, with the defaults in their places.

use super::layers::{Origin, SetValue, Settings, flatten};
use super::lines::dotted;
use crate::error::Result;
use crate::harness::Facts;
use crate::profile::Limits;

impl Settings {
    /// Every value of the profile for a harness, in the order of [`Profile`](crate::Profile), with what is
    /// built in where nobody set one. Model aliases are those that this harness has.
    ///
    /// Errors: as [`Config::profile`](super::Config::profile).
    pub fn for_harness(&self, profile: Option<&str>, facts: &Facts) -> Result<Vec<SetValue>> {
        let mut own = self.config.profile(profile, &facts.id)?;
        let above = dotted("profiles", profile.unwrap_or(&facts.id));
        own.platform = Some(facts.id.clone());
        own.bin.get_or_insert_with(|| facts.bins.first().cloned().unwrap_or_default());
        own.env.values_mut().for_each(|value| "…".clone_into(value));
        let of_limits = own.limits.settled()?;
        own.limits = Limits {
            timeout_s: Some(of_limits.timeout.as_secs_f64()),
            attempts: Some(of_limits.attempts),
            max_output_bytes: Some(of_limits.max_output_bytes),
            max_events: Some(of_limits.max_events),
            ..own.limits
        };
        let by_profile = own.models.clone();
        for (alias, by) in &self.config.models {
            if let Some(model) = by.get(&facts.id).or_else(|| by.get("*")) {
                own.models.entry(alias.clone()).or_insert_with(|| model.clone());
            }
        }
        for (alias, model) in &facts.models {
            own.models.entry(alias.clone()).or_insert_with(|| model.clone());
        }
        let from = |key: &str| -> Vec<Origin> {
            let shared = key
                .strip_prefix("models.")
                .filter(|alias| !by_profile.keys().any(|known| dotted("", known) == **alias));
            let keys = match shared {
                Some(alias) => vec![
                    dotted(&format!("models.{alias}"), &facts.id),
                    format!("models.{alias}.{}", dotted("", "*")),
                ],
                None => vec![format!("{above}.{key}")],
            };
            let set = keys.iter().find_map(|key| self.origins.get(key).cloned());
            set.unwrap_or_else(|| vec![Origin::BuiltIn])
        };
        let mut values = Vec::new();
        flatten("", &toml::Table::try_from(&own).unwrap_or_default(), &mut values);
        Ok(values.into_iter().map(|(key, value)| SetValue { origins: from(&key), key, value }).collect())
    }
}
