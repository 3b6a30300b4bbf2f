//! How versions stand to each other.

use teamster::Facts;
use teamster::doctor::{Verdict, verdict};
use teamster::harness::{MinVersion, Verified};

fn facts(verified: &[&str], least: Option<&str>) -> Facts {
    let of = |version: &&str| Verified { version: (*version).to_owned(), date: "2026-12-01".to_owned() };
    let least = least.map(|v| MinVersion { version: v.to_owned(), source: "a test".to_owned() });
    Facts { verified: verified.iter().map(of).collect(), min_version: least, ..Facts::default() }
}

#[test]
fn versions_are_compared_as_numbers_and_pre_releases_come_first() {
    let facts = facts(&["2.10.0", "1.9.3"], Some("1.9.3"));
    for (version, expected) in [
        (Some("2.10.0"), Verdict::Verified),
        (Some("1.9.3"), Verdict::Verified),
        (Some("2.10"), Verdict::Newer),
        (Some("2.10.0.1"), Verdict::Newer),
        (Some("2.11.0"), Verdict::Newer),
        (Some("10.0.0"), Verdict::Newer),
        (Some("2.9.99"), Verdict::Older),
        (Some("2.10.0-rc.1"), Verdict::Older),
        (Some("1.9.4"), Verdict::Older),
        (Some("1.9.3-beta"), Verdict::TooOld),
        (Some("1.9.2"), Verdict::TooOld),
        (Some("0.99.0"), Verdict::TooOld),
        (None, Verdict::Unknown),
    ] {
        assert_eq!(verdict(&facts, version), expected, "{version:?}");
    }
}

#[test]
fn nothing_is_too_old_where_no_oldest_is_known() {
    assert_eq!(verdict(&facts(&["1.0.0"], None), Some("0.0.1")), Verdict::Older);
    assert_eq!(verdict(&facts(&[], None), Some("0.0.1")), Verdict::Unknown);
}

/// What was verified can be driven.
#[test]
fn no_verified_version_of_a_harness_is_too_old() {
    for builder in teamster::HarnessRegistry::builtin().iter() {
        let mut facts = builder.facts().clone();
        let versions: Vec<String> = facts.verified.drain(..).map(|verified| verified.version).collect();
        for version in versions {
            assert_ne!(verdict(&facts, Some(&version)), Verdict::TooOld, "{} {version}", facts.id);
        }
    }
}
