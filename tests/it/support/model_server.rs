//! A model server on the loopback: the Gemini API, as far as a real `gemini` needs it for a run.
//!
//! - `POST /v1beta/models/M:streamGenerateContent?alt=sse`, `:generateContent` and `:countTokens`.
//! - Each main request takes the next step; the last step repeats. Calls that ask for JSON (the CLI's
//!   own routing of models) get a fixed answer and take none.
//! - Every request is recorded before it is answered, so that a test can look at what arrived.
//! - Dropping the server ends its connections, hanging ones too, and waits for its threads.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a helper of tests")]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
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
    /// Answers with this HTTP status and Google's error object with this message.
    Status(u16, String),
    /// Takes the request and never answers.
    Hang,
    /// Begins to answer with this text, and never ends.
    Stall(String),
    /// Answers 200 with a stream that ends without content.
    Empty,
    /// Answers with a candidate that was stopped for safety, with no text.
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

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    /// Path and query.
    pub(crate) path: String,
    /// The body, null where it was no JSON.
    pub(crate) body: Value,
}

impl Recorded {
    /// Whether it is a turn of the agent, not a call for counting or routing.
    pub(crate) fn is_main(&self) -> bool {
        let asks_for_json = self.body["generationConfig"]["responseMimeType"] == "application/json";
        matches!(method(&self.path), Some("streamGenerateContent" | "generateContent")) && !asks_for_json
    }

    /// The text parts of the last content of the user: the prompt, in a first turn.
    pub(crate) fn user_texts(&self) -> Vec<String> {
        self.last_parts().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
    }

    /// Names and answers of the tools in the last content of the user.
    pub(crate) fn tool_results(&self) -> Vec<(String, Value)> {
        self.last_parts()
            .filter_map(|part| part.get("functionResponse"))
            .map(|result| {
                (result["name"].as_str().unwrap_or_default().to_owned(), result["response"].clone())
            })
            .collect()
    }

    /// The names of the tools that the agent offers to the model, in order.
    pub(crate) fn offered_tools(&self) -> Vec<String> {
        let lists = self.body["tools"].as_array().into_iter().flatten();
        let tools = lists.filter_map(|list| list["functionDeclarations"].as_array()).flatten();
        tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
    }

    fn last_parts(&self) -> impl Iterator<Item = &Value> {
        let mut contents = self.body["contents"].as_array().into_iter().flatten();
        let last = contents.rfind(|content| content["role"] == "user");
        last.and_then(|content| content["parts"].as_array()).into_iter().flatten()
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

    /// What GOOGLE_GEMINI_BASE_URL has to be.
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

    /// The text parts of the last content of the user in the first turn: the prompt as it arrived.
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
        let recorded = request.recorded;
        locked(&shared.requests).push(recorded.clone());
        let Some(method) = method(&recorded.path) else {
            send_json(stream, 404, &google_error(404, "no such path"))?;
            continue;
        };
        if method == "countTokens" {
            send_json(stream, 200, &json!({"totalTokens": 17}))?;
            continue;
        }
        let step = if recorded.is_main() { shared.next_step() } else { Step::Text(ROUTING.to_owned()) };
        let chunks = match step {
            Step::Status(code, message) => {
                send_json(stream, code, &google_error(code, &message))?;
                continue;
            }
            Step::Hang => return hang(&mut reader),
            Step::Stall(text) => {
                send_stream(stream, &answer(&recorded.path, halves(&text))[..1])?;
                return hang(&mut reader);
            }
            Step::Empty => Vec::new(),
            Step::Blocked => vec![json!({"candidates": [{"index": 0, "finishReason": "SAFETY"}]})],
            Step::Text(text) => answer(&recorded.path, halves(&text)),
            Step::Call { name, args } => answer(&recorded.path, calls(vec![(name, args)])),
            Step::Calls(list) => answer(&recorded.path, calls(list)),
        };
        if method == "streamGenerateContent" {
            return send_stream(stream, &chunks);
        }
        send_json(stream, 200, &joined(chunks))?;
        if request.closes {
            return Ok(());
        }
    }
    Ok(())
}

/// Ends when the client goes away or the server is dropped.
fn hang(reader: &mut impl Read) -> io::Result<()> {
    io::copy(reader, &mut io::sink()).map(drop)
}

/// Satisfies each of the schemas that gemini 0.61.0 asks for beside its turns.
const ROUTING: &str = r#"{"reasoning": "fixed", "model_choice": "flash", "next_speaker": "user", "complexity_score": 1, "complexity_reasoning": "fixed"}"#;

// --- HTTP ------------------------------------------------------------------------------------------

struct Request {
    recorded: Recorded,
    closes: bool,
}

/// The next request of a connection; `None` where the client is done.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked, mut closes) = (0, false, false);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(io::Error::other)?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => closes = value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        read_chunks(reader, &mut body)?;
    } else {
        reader.take(length).read_to_end(&mut body)?;
    }
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request { recorded: Recorded { path, body }, closes }))
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
        reader.take(size).read_to_end(body)?;
        line.clear();
        // The line end after a chunk, or after the last one, since no client here sends trailers.
        reader.read_line(&mut line)?;
        if size == 0 {
            return Ok(());
        }
    }
}

fn send_json(mut stream: &TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        reason(status),
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
}

/// Server-sent events; the end of the connection is the end of the stream.
fn send_stream(mut stream: &TcpStream, chunks: &[Value]) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for chunk in chunks {
        stream.write_all(format!("data: {chunk}\r\n\r\n").as_bytes())?;
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}

// --- the Gemini API --------------------------------------------------------------------------------

/// The method in `/v1beta/models/MODEL:METHOD?…`.
fn method(path: &str) -> Option<&str> {
    let path = path.split('?').next()?;
    let (model, method) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    (!model.is_empty()).then_some(method)
}

fn google_error(code: u16, message: &str) -> Value {
    let status = match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    };
    json!({"error": {"code": code, "message": message, "status": status}})
}

/// Two parts, so that whoever reads the reply has to join deltas.
fn halves(text: &str) -> Vec<Value> {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second].into_iter().filter(|part| !part.is_empty()).map(|part| json!({"text": part})).collect()
}

fn calls(list: Vec<(String, Value)>) -> Vec<Value> {
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(n, (name, args))| {
            let call = json!({"id": format!("call-{n}"), "name": name, "args": args});
            json!({"functionCall": call, "thoughtSignature": "c2ln"})
        })
        .collect()
}

/// A chunk for each part, and one with the end and the usage.
fn answer(path: &str, parts: Vec<Value>) -> Vec<Value> {
    let model = path.split(['/', ':']).nth(3).unwrap_or_default();
    let with = |parts: Value| {
        json!({
            "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}],
            "modelVersion": model,
            "responseId": "scripted",
        })
    };
    let mut chunks: Vec<Value> = parts.into_iter().map(|part| with(json!([part]))).collect();
    let mut last = with(json!([]));
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["usageMetadata"] = json!({
        "promptTokenCount": 1000,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "cachedContentTokenCount": 400,
        "totalTokenCount": 1050,
    });
    chunks.push(last);
    chunks
}

/// The chunks of a stream as one answer.
fn joined(mut chunks: Vec<Value>) -> Value {
    let Some(mut last) = chunks.pop() else { return json!({"candidates": []}) };
    let parts =
        chunks.iter_mut().filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array_mut());
    let parts: Vec<Value> = parts.flat_map(std::mem::take).collect();
    if !parts.is_empty() {
        last["candidates"][0]["content"]["parts"] = parts.into();
    }
    last
}

// --- its own tests: no CLI needed ------------------------------------------------------------------

const TURN: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

/// Sends raw bytes and reads until the server closes.
fn exchange(server: &ModelServer, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn with_length(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn a_body_is_read_alike_whole_and_in_chunks() {
    let server = ModelServer::start(vec![Step::text("x")]);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "ä\r\nb"}]}]});
    exchange(&server, &with_length(TURN, &body));
    let text = body.to_string();
    let (first, second) = text.split_at(11);
    let chunked = format!(
        "POST {TURN} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:X};a=b\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    exchange(&server, chunked.as_bytes());
    let expected = Recorded { path: TURN.to_owned(), body };
    assert_eq!(server.requests(), [expected.clone(), expected]);
    assert_eq!(server.user_texts(), ["ä\r\nb"]);
}

#[test]
fn routing_takes_no_step_and_the_last_step_repeats() {
    let server = ModelServer::start(vec![Step::Status(429, "slow down".to_owned()), Step::text("done")]);
    let routing = with_length(
        "/v1beta/models/m:generateContent",
        &json!({"generationConfig": {"responseMimeType": "application/json"}}),
    );
    let turn = with_length(TURN, &json!({"contents": []}));
    let replies = exchange(&server, &[routing, turn.clone(), turn.clone()].concat());
    let statuses: Vec<&str> = replies.split("HTTP/1.1 ").skip(1).map(|reply| &reply[..3]).collect();
    assert_eq!(statuses, ["200", "429", "200"]);
    assert!(
        replies.contains(r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#)
    );
    assert!(exchange(&server, &turn).contains(r#"{"text":"do"}"#));
}

#[test]
fn a_dropped_server_ends_what_hangs_and_frees_its_port() {
    let server = ModelServer::start(vec![Step::Hang]);
    let address = server.address;
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(&with_length(TURN, &json!({}))).unwrap();
    while server.requests().is_empty() {
        thread::yield_now();
    }
    drop(server);
    let mut reply = Vec::new();
    assert_eq!(client.read_to_end(&mut reply).ok(), Some(0));
    assert!(TcpListener::bind(address).is_ok());
}
