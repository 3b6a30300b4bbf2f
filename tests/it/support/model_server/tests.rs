//! The model server's own tests: no CLI needed.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use super::{ModelServer, Recorded, Step};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

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
