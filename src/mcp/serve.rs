//! A server's life: from the client's first message until everything that it started is over.

use super::server::{Host, Server};
use super::transport::Lines;
use crate::error::{Failure, Kind, Result};
use crate::run::{Cancel, Canceller};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves one client over a pair of streams, until it closes its end or `stop` is called. Every dispatch that
/// runs then is ended, with its processes, before this returns.
///
/// It has to run on a runtime of one thread, on the thread that stays to the end: see
/// [`LocalRunner::end_with_thread`](crate::run::LocalRunner::end_with_thread).
///
/// Errors: a client that speaks no MCP.
pub async fn serve(
    host: Host,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    mut stop: Cancel,
) -> Result<()> {
    let (closer, closing) = Canceller::new();
    let server = Server::new(host, closing)?;
    let busy = server.busy();
    let lines = Lines::new(read, write, closer.clone());
    let stopped = async {
        stop.cancelled().await;
        closer.cancel();
    };
    let served = async {
        match server.serve(lines).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // It came and went.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(e) => Err(Failure::new(Kind::InvalidRequest, format!("the client speaks no MCP: {e}"))
                .hint("it has to begin with `initialize`; see docs/mcp.md")),
        }
    };
    let done = tokio::select! {
        done = served => done,
        () = stopped => Ok(()),
    };
    closer.cancel();
    // Whoever still runs holds it for reading.
    drop(busy.write().await);
    done
}

/// The standard streams of this process. Where they are no pipes, a thread may wait for stdin for ever: end the
/// runtime with `shutdown_background`.
pub fn stdio() -> (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static) {
    rmcp::transport::stdio_pipes()
}
