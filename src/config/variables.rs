//! The variables that set something, in one table.

/// Name, and what it sets; `<ID>` is a harness's id in capitals, with `_` for `-`. An empty one is not set.
pub const VARIABLES: &[(&str, &str)] = &[
    ("TEAMSTER_HARNESS", "the harness of a request that names none"),
    ("TEAMSTER_PROFILE", "the profile, where --profile names none"),
    ("TEAMSTER_<ID>_BIN", "the program of that harness"),
    ("TEAMSTER_<ID>_MODEL", "the model of a request to that harness that names none"),
    ("TEAMSTER_CONFIG", "the file of your settings"),
    ("TEAMSTER_NO_PROJECT", "1: a project's settings are not read"),
    ("TEAMSTER_JOBS_DIR", "the folder of jobs"),
    ("TEAMSTER_LOG", "what goes into the log: `debug`, or a filter as in docs/cli.md"),
];
