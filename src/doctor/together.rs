//! Several looks at the same time, on one thread.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// One of them.
pub type Look<'l, T> = Pin<Box<dyn Future<Output = T> + 'l>>;

enum Slot<'l, T> {
    Open(Look<'l, T>),
    Done(T),
}

/// Runs all on this thread, at most `at_once` of them at a time; gives what they gave, in their order.
///
/// On one thread, since the life of what they start may hang on the thread that started it.
pub async fn together<'l, T>(looks: Vec<Look<'l, T>>, at_once: usize) -> Vec<T> {
    let mut slots: Vec<Slot<'l, T>> = looks.into_iter().map(Slot::Open).collect();
    poll_fn(|context| {
        let mut open = 0;
        for slot in &mut slots {
            if open >= at_once.max(1) {
                break;
            }
            if let Slot::Open(look) = slot {
                match look.as_mut().poll(context) {
                    Poll::Ready(done) => *slot = Slot::Done(done),
                    Poll::Pending => open += 1,
                }
            }
        }
        if open == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    slots
        .into_iter()
        .filter_map(|slot| match slot {
            Slot::Done(done) => Some(done),
            Slot::Open(_) => None,
        })
        .collect()
}
