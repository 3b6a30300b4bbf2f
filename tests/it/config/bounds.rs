//! Whatever a project's file says: it never allows more than the user's settings alone.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use teamster::config::{Config, Lines, Project, Settings, Standing};
use teamster::{Limits, Permission, Profile};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("gemini".to_owned()), Just("claude".to_owned()), "[a-d]".prop_map(String::from)]
}

fn map() -> impl Strategy<Value = indexmap::IndexMap<String, String>> {
    prop::collection::vec((text(), text()), 0..3).prop_map(|all| all.into_iter().collect())
}

fn permission() -> impl Strategy<Value = Option<Permission>> {
    prop::option::of(prop_oneof![Just(Permission::ReadOnly), Just(Permission::Edit), Just(Permission::Full)])
}

fn limits() -> impl Strategy<Value = Limits> {
    let seconds = || prop::option::of(prop_oneof![1.0f64..2000.0, Just(600.0)]);
    let wide = || prop::option::of(prop_oneof![1u64..2_000_000_000, Just(u64::MAX), Just(0)]);
    let clocks = (seconds(), seconds(), seconds());
    let budget = (prop::option::of(1u64..1_000_000), prop::option::of(0.01f64..100.0));
    (clocks, prop::option::of(1u32..101), wide(), wide(), budget).prop_map(
        |(clocks, attempts, max_output_bytes, max_events, budget)| Limits {
            timeout_s: clocks.0,
            first_output_timeout_s: clocks.1,
            idle_timeout_s: clocks.2,
            attempts,
            max_output_bytes,
            max_events,
            max_tokens: budget.0,
            max_cost_usd: budget.1,
        },
    )
}

fn profile() -> impl Strategy<Value = Profile> {
    let list = || prop::collection::vec(text(), 0..3);
    (prop::option::of(text()), prop::option::of(text()), list(), map(), list(), map(), permission(), limits())
        .prop_map(|(platform, bin, args, env, env_pass, models, permission, limits)| Profile {
            platform,
            bin,
            args,
            env,
            env_pass,
            models,
            permission,
            limits,
            ..Profile::default()
        })
}

fn config() -> impl Strategy<Value = Config> {
    let models = prop::collection::vec((text(), map()), 0..3);
    let profiles = prop::collection::vec((text(), profile()), 0..4);
    let files = prop::collection::vec(text().prop_map(PathBuf::from), 0..2);
    (prop::option::of(text()), models, profiles, map(), files).prop_map(
        |(default_harness, models, profiles, aliases, harness_files)| Config {
            default_harness,
            models: models.into_iter().collect(),
            profiles: profiles.into_iter().collect(),
            aliases,
            harness_files,
        },
    )
}

fn merged(user: &Config, project: &Config, standing: Standing) -> Settings {
    let text = toml::to_string(user).expect("TOML");
    let mut settings = Settings::of_user(user.clone(), Path::new("user.toml"), &Lines::of(&text));
    let text = toml::to_string(project).expect("TOML");
    settings.merge(project.clone(), Project { path: "teamster.toml".into(), text, standing });
    settings
}

/// The profile of the user's that holds where a merged one is used.
fn base(user: &Config, merged: &Profile, name: &str) -> Profile {
    let platform = merged.platform.as_deref().unwrap_or(name);
    user.profiles.get(name).or_else(|| user.profiles.get(platform)).cloned().unwrap_or_default()
}

fn at_most(own: &Limits, most: &Limits) -> bool {
    let (own, most) = (own.settled().expect("settled"), most.settled().expect("settled"));
    let clock = |own: Option<std::time::Duration>, most: Option<std::time::Duration>| match (own, most) {
        (_, None) => true,
        (Some(own), Some(most)) => own <= most,
        (None, Some(_)) => false,
    };
    own.timeout <= most.timeout
        && clock(own.first_output, most.first_output)
        && clock(own.idle, most.idle)
        && own.attempts <= most.attempts
        && own.max_output_bytes <= most.max_output_bytes
        && own.max_events <= most.max_events
        && own.budget.max_tokens.unwrap_or(u64::MAX) <= most.budget.max_tokens.unwrap_or(u64::MAX)
        && own.budget.max_cost_usd.unwrap_or(f64::MAX) <= most.budget.max_cost_usd.unwrap_or(f64::MAX)
}

fn may(profile: &Profile) -> Permission {
    profile.permission.unwrap_or(Permission::Full)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_project_that_is_not_trusted_only_ever_tightens(user in config(), project in config()) {
        for standing in [Standing::Unknown, Standing::Changed, Standing::Unsafe("why")] {
            let settings = merged(&user, &project, standing);
            let config = &settings.config;
            prop_assert_eq!(&config.default_harness, &user.default_harness);
            prop_assert_eq!(&config.aliases, &user.aliases);
            prop_assert_eq!(&config.models, &user.models);
            prop_assert_eq!(&config.harness_files, &user.harness_files);
            for (name, own) in &config.profiles {
                let most = base(&user, own, name);
                prop_assert_eq!((&own.bin, &own.args, &own.env, &own.env_pass, &own.models),
                    (&most.bin, &most.args, &most.env, &most.env_pass, &most.models));
                prop_assert!(may(own) <= may(&most) && at_most(&own.limits, &most.limits), "{name}: {own:?} over {most:?}");
            }
            for (name, most) in &user.profiles {
                prop_assert_eq!(&config.profiles[name].platform, &most.platform);
            }
        }
    }

    #[test]
    fn a_project_that_is_trusted_stays_under_the_users_bounds(user in config(), project in config()) {
        let config = merged(&user, &project, Standing::Trusted).config;
        prop_assert_eq!(&config.harness_files, &user.harness_files);
        for (name, own) in &config.profiles {
            let most = base(&user, own, name);
            prop_assert!(may(own) <= may(&most));
            let within = at_most(&own.limits, &most.limits.clone().or(&own.limits));
            prop_assert!(within);
            prop_assert!(own.args.starts_with(&most.args) && own.env_pass.starts_with(&most.env_pass));
        }
    }

    /// What the project's file asks for either holds or is named.
    #[test]
    fn nothing_of_a_project_is_lost_in_silence(user in config(), project in config()) {
        let settings = merged(&user, &project, Standing::Unknown);
        let named = |key: &str| settings.ignored.iter().any(|ignored| ignored.key == key);
        for (name, theirs) in &project.profiles {
            let own = &settings.config.profiles[name];
            let named = |field: &str| named(&format!("profiles.{name}.{field}"));
            let told = [
                theirs.bin.is_none() || named("bin"),
                theirs.args.is_empty() || named("args"),
                theirs.permission.is_none_or(|asked| own.permission == Some(asked)) || named("permission"),
                theirs.limits.attempts.is_none_or(|asked| own.limits.attempts == Some(asked))
                    || named("limits.attempts"),
            ];
            prop_assert_eq!(told, [true; 4]);
        }
    }
}
