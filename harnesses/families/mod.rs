//! What several CLIs share: shapes of output, and how they read a prompt.

pub(super) mod amazon_q;
pub(super) mod messages;
pub(super) mod model_server;
pub(super) mod no_rights;
pub(super) mod opencode;
pub(super) mod references;
pub(super) mod simple;
