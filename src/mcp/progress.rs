//! Who called: how it is told of progress, and how it cancels.

use crate::reply::{By, Event, Step, Steps, one_line};
use crate::run::{Cancel, Canceller};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::convert::Infallible;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often a client hears that something still runs: most of them give up after a minute of silence.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Steps that wait for a slow client; more are left out.
const WAITING: usize = 64;

/// The client of one call.
pub(super) struct Caller {
    context: RequestContext<RoleServer>,
    closing: Cancel,
}

/// Tells the client what happens, where it asked for that.
pub(super) struct Teller {
    to: Option<mpsc::Sender<String>>,
    steps: Steps,
    last: String,
}

impl Teller {
    /// An event, in a few words. The same words twice are told once.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if self.to.is_none() {
            return;
        }
        let text = match event {
            Event::Retry { by: By::Teamster, message, .. } => {
                Some(format!("asking again: {}", one_line(message)))
            }
            other => self.steps.of(other).map(|step| match step {
                Step::Brief(text) | Step::Worth(text) => text,
            }),
        };
        if let Some(text) = text {
            self.say(text);
        }
    }

    pub(super) fn say(&mut self, text: String) {
        if let Some(to) = self.to.as_ref().filter(|_| text != self.last) {
            let _ = to.try_send(text.clone());
            self.last = text;
        }
    }
}

impl Caller {
    /// The client of a call. `closing` cancels, too.
    pub(super) fn of(context: &RequestContext<RoleServer>, closing: Cancel) -> Caller {
        Caller { context: context.clone(), closing }
    }

    /// Works, and meanwhile tells the client of it and listens to it. The work ends by itself when it is
    /// cancelled: it has processes to end.
    pub(super) async fn follow<T, F: Future<Output = T>>(&self, work: impl FnOnce(Teller, Cancel) -> F) -> T {
        let (canceller, cancel) = Canceller::new();
        let (to, from) = mpsc::channel(WAITING);
        let token = self.context.meta.get_progress_token();
        let teller =
            Teller { to: token.is_some().then_some(to), steps: Steps::default(), last: String::new() };
        let mut told = Told { peer: &self.context.peer, token, from, count: 0.0 };
        let mut closing = self.closing.clone();
        let listen = async {
            tokio::select! {
                () = self.context.ct.cancelled() => {}
                () = closing.cancelled() => {}
            }
            canceller.cancel();
            std::future::pending::<()>().await;
        };
        let done = tokio::select! {
            biased;
            done = work(teller, cancel) => done,
            // Neither of the two ever ends.
            never = async { tokio::join!(listen, told.on()).1 } => match never {},
        };
        told.rest().await;
        done
    }
}

/// What is told on its way to the client.
struct Told<'c> {
    peer: &'c Peer<RoleServer>,
    token: Option<ProgressToken>,
    from: mpsc::Receiver<String>,
    count: f64,
}

impl Told<'_> {
    /// Sends what is told, and a sign of life where nothing is.
    async fn on(&mut self) -> Infallible {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        let began = Instant::now();
        loop {
            let message = tokio::select! {
                Some(message) = self.from.recv() => message,
                () = tokio::time::sleep(HEARTBEAT) => format!("still at it after {} s", began.elapsed().as_secs()),
            };
            self.send(message).await;
        }
    }

    /// Sends what was told last.
    async fn rest(&mut self) {
        while let Ok(message) = self.from.try_recv() {
            self.send(message).await;
        }
    }

    async fn send(&mut self, message: String) {
        let Some(token) = self.token.clone() else { return };
        self.count += 1.0;
        let progress = ProgressNotificationParam::new(token, self.count).with_message(message);
        let _ = self.peer.notify_progress(progress).await;
    }
}
