//! What several CLIs share: shapes of output, and how they read a prompt.

pub(super) mod messages;
pub(super) mod no_rights;
pub(super) mod opencode;
pub(super) mod references;
