//! What several CLIs share: shapes of output, words of model servers, and how they read a prompt.

pub(super) mod amazon_q;
pub(super) mod messages;
pub(super) mod model_server;
pub(super) mod opencode;
pub(super) mod references;
pub(super) mod simple;
