//! A model server on the loopback that speaks four APIs, as far as a real agent needs them for a run.
//!
//! - Gemini, OpenAI chat completions, OpenAI responses, Anthropic messages: the path says which.
//! - Each turn of the agent takes the next step; the last step repeats. What an agent asks beside its
//!   turns (titles, routes, counts) gets a fixed answer and takes none.
//! - Every request is recorded before it is answered, so that a test can look at what arrived.
//! - Dropping the server ends its connections, hanging ones too, and waits for its threads.

#![expect(clippy::expect_used, reason = "a helper of tests")]

mod api;
mod chat;
mod gemini;
mod http;
mod messages;
mod recorded;
mod responses;
mod tests;

pub(crate) use recorded::Recorded;

use api::{End, Part, Reply};
use http::{read_request, send_json, send_stream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// A running server; its scenario is a list of [`Step`]s.
pub(crate) struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<Vec<Connection>>>,
}

/// What the server does with one main request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Answers with this text, in two chunks.
    Text(String),
    /// Asks for one tool.
    Call { name: String, args: Value },
    /// Asks for several tools at once.
    Calls(Vec<(String, Value)>),
    /// Answers with this HTTP status and the API's error object with this message.
    Status(u16, String),
    /// Takes the request and never answers.
    Hang,
    /// Begins to answer with this text, and never ends.
    Stall(String),
    /// Begins to answer with this text, and goes away.
    Cut(String),
    /// Answers 200 with a stream that ends without content.
    Empty,
    /// Answers with a turn that the vendor's filter stopped, with no text.
    Blocked,
}

impl Step {
    pub(crate) fn text(text: impl Into<String>) -> Step {
        Step::Text(text.into())
    }

    pub(crate) fn call(name: &str, args: Value) -> Step {
        Step::Call { name: name.to_owned(), args }
    }
}

impl ModelServer {
    /// Listens on a free port. `steps` must not be empty.
    pub(crate) fn start(steps: Vec<Step>) -> ModelServer {
        assert!(!steps.is_empty(), "a model server needs a step");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let address = listener.local_addr().expect("the port's number");
        let shared = Arc::new(Shared {
            steps: Mutex::new(steps.into()),
            requests: Mutex::new(Vec::new()),
            stopping: AtomicBool::new(false),
        });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        ModelServer { address, shared, accepting: Some(accepting) }
    }

    /// The steps from now on; what was not taken of the earlier ones is forgotten.
    pub(crate) fn script(&self, steps: Vec<Step>) {
        assert!(!steps.is_empty(), "a model server needs a step");
        *locked(&self.shared.steps) = steps.into();
    }

    /// Where it listens, with no path: what GOOGLE_GEMINI_BASE_URL and ANTHROPIC_BASE_URL have to be.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        locked(&self.shared.requests).clone()
    }

    /// The agent's turns so far.
    pub(crate) fn main_requests(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_main).collect()
    }

    /// The texts of the last message of the user in the first turn: the prompt as it arrived.
    pub(crate) fn user_texts(&self) -> Vec<String> {
        self.main_requests().first().map(Recorded::user_texts).unwrap_or_default()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees the flag.
        let _ = TcpStream::connect(self.address);
        let open = self.accepting.take().and_then(|accepting| accepting.join().ok()).unwrap_or_default();
        for Connection { stream, thread } in open {
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }
}

struct Shared {
    steps: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<Recorded>>,
    stopping: AtomicBool,
}

impl Shared {
    fn next_step(&self) -> Step {
        let mut steps = locked(&self.steps);
        let next = if steps.len() > 1 { steps.pop_front() } else { steps.front().cloned() };
        next.expect("a last step that stays")
    }
}

/// A test that failed elsewhere must not turn into a second failure here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Connection {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) -> Vec<Connection> {
    let mut connections = Vec::new();
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let Ok(served) = stream.try_clone() else { continue };
        let shared = Arc::clone(shared);
        let thread = thread::spawn(move || {
            // A client that goes away is no error here: it was killed, or has what it wants.
            let _ = serve(&served, &shared);
            // The accepting thread holds the socket too, so that dropping ours would not close it.
            let _ = served.shutdown(Shutdown::Both);
        });
        connections.push(Connection { stream, thread });
    }
    connections
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        let recorded = Recorded { path: request.path, body: request.body };
        locked(&shared.requests).push(recorded.clone());
        let Some(api) = recorded.api() else {
            send_json(stream, 404, &json!({"error": {"code": 404, "message": "no such path"}}))?;
            continue;
        };
        if let Some(fixed) = api.fixed(&recorded) {
            send_json(stream, 200, &fixed)?;
            continue;
        }
        let step = api.beside(&recorded).map_or_else(|| shared.next_step(), Step::text);
        let reply = match step {
            Step::Status(code, message) => {
                send_json(stream, code, &api.error(code, &message))?;
                continue;
            }
            Step::Hang => return hang(&mut reader),
            Step::Stall(text) => {
                send_half(stream, api, &recorded, &text)?;
                return hang(&mut reader);
            }
            Step::Cut(text) => return send_half(stream, api, &recorded, &text),
            Step::Empty => Reply::nothing(End::Done),
            Step::Blocked => Reply::nothing(End::Blocked),
            Step::Text(text) => Reply::text(text),
            Step::Call { name, args } => Reply::calls(vec![(name, args)]),
            Step::Calls(list) => Reply::calls(list),
        };
        if api.streams(&recorded) {
            return send_stream(stream, &api.events(&recorded.model(), &reply));
        }
        send_json(stream, 200, &api.whole(&recorded.model(), &reply))?;
        if request.closes {
            return Ok(());
        }
    }
    Ok(())
}

/// The begin of an answer.
fn send_half(stream: &TcpStream, api: &dyn api::Api, asked: &Recorded, text: &str) -> io::Result<()> {
    let half = api::halves(text).next().unwrap_or_default().to_owned();
    let reply = Reply { parts: vec![Part::Text(half)], end: End::Open };
    send_stream(stream, &api.events(&asked.model(), &reply))
}

/// Ends when the client goes away or the server is dropped.
fn hang(reader: &mut impl Read) -> io::Result<()> {
    io::copy(reader, &mut io::sink()).map(drop)
}
