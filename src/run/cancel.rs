//! A word from outside that a run should end.

use tokio::sync::watch;

/// Ends every run that holds its [`Cancel`]. Dropping it ends nothing.
#[derive(Debug, Clone)]
pub struct Canceller(watch::Sender<bool>);

/// What a run listens to.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Receiver<bool>);

impl Canceller {
    /// A canceller and what it cancels.
    pub fn new() -> (Canceller, Cancel) {
        let (send, receive) = watch::channel(false);
        (Canceller(send), Cancel(receive))
    }

    /// Ends the runs. Calling it again changes nothing.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl Cancel {
    /// Whether it was called.
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is called; for ever when it never is.
    pub async fn cancelled(&mut self) {
        if self.0.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
