//! JSON-RPC messages, one a line.

use crate::run::Canceller;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// The longest message; a client that never ends its line must not fill the memory.
const LONGEST: usize = 64 << 20;

/// The arguments of a call as the client wrote them: the parsed message has lost the order of their keys.
#[derive(Debug, Clone)]
pub(super) struct RawArguments(pub(super) String);

/// Messages over a pair of streams.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// What is read belongs to a line that is too long already.
    skips: bool,
    write: Arc<Mutex<W>>,
    ended: Canceller,
}

/// What is needed of a message that cannot be read as a whole.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    /// `ended` is called when the client has closed its end.
    pub(super) fn new(read: R, write: W, ended: Canceller) -> Lines<R, W> {
        let write = Arc::new(Mutex::new(write));
        Lines { read: BufReader::new(read), line: Vec::new(), skips: false, write, ended }
    }

    /// Reads on to the end of a line; false at the end of the stream. What was read stays when it is dropped.
    async fn next_line(&mut self) -> bool {
        loop {
            let Ok(read) = self.read.fill_buf().await else { return false };
            if read.is_empty() {
                return false;
            }
            let end = memchr::memchr(b'\n', read);
            let part = &read[..end.unwrap_or(read.len())];
            let used = part.len() + usize::from(end.is_some());
            self.skips = self.skips || self.line.len() + part.len() > LONGEST;
            if self.skips {
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            self.read.consume(used);
            if end.is_some() {
                return true;
            }
        }
    }

    /// The message of a line, or the error that it is answered with, if any.
    fn message(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<(ErrorData, RequestId)>> {
        let envelope = serde_json::from_slice::<Envelope<'_>>(line).ok();
        let mut message = serde_json::from_slice::<ClientJsonRpcMessage>(line).map_err(|e| {
            tracing::warn!(error = %e, "a message that cannot be read");
            let id = envelope.as_ref().filter(|e| e.method.is_some()).and_then(|e| e.id.clone());
            id.map(|id| (ErrorData::invalid_request(format!("the message cannot be read: {e}"), None), id))
        })?;
        if let JsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::CallToolRequest(call) = &mut request.request
        {
            let params = envelope.and_then(|e| serde_json::from_str::<CallParams<'_>>(e.params?.get()).ok());
            if let Some(raw) = params.and_then(|params| params.arguments) {
                call.extensions.insert(RawArguments(raw.get().to_owned()));
            }
        }
        Ok(message)
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = self.write.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if !self.next_line().await {
                self.ended.cancel();
                return None;
            }
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.skips) {
                tracing::warn!(limit = LONGEST, "a message that is too long");
                let what = format!("a message has at most {LONGEST} bytes");
                drop(tokio::spawn(
                    self.send(JsonRpcMessage::error(ErrorData::invalid_request(what, None), None)),
                ));
                continue;
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match Self::message(line) {
                Ok(message) => return Some(message),
                // By itself: this future may be dropped in the middle of a write.
                Err(Some((error, id))) => {
                    drop(tokio::spawn(self.send(JsonRpcMessage::error(error, Some(id)))))
                }
                Err(None) => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.flush().await
    }
}
