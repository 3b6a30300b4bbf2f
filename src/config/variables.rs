//! The variables that set something, in one table.

/// Name, and what it sets; `<ID>` is a harness's id in capitals, with `_` for `-`.
pub const VARIABLES: &[(&str, &str)] = &[
    ("TEAMSTER_CONFIG", "the user's settings file"),
    ("TEAMSTER_HARNESS", "the harness of a request that names none"),
    ("TEAMSTER_PROFILE", "the profile, where --profile names none"),
    ("TEAMSTER_NO_PROJECT", "anything but empty or 0: no project file is read"),
    ("TEAMSTER_<ID>_BIN", "the program of that harness"),
    ("TEAMSTER_<ID>_MODEL", "the model of a request to that harness that names none"),
];
