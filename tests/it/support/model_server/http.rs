//! As much of HTTP/1.1 as the clients of a model server need.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;

/// A request, read to its end.
pub(super) struct Request {
    /// Path and query.
    pub(super) path: String,
    /// The body, null where it was no JSON.
    pub(super) body: Value,
    /// The client sends no other one on this connection.
    pub(super) closes: bool,
}

/// One server-sent event.
pub(super) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    /// An event without a name.
    pub(super) fn data(data: &Value) -> Event {
        Event { name: None, data: data.to_string() }
    }

    /// An event with the name that its data has as `type`.
    pub(super) fn named(name: &'static str, mut data: Value) -> Event {
        data["type"] = name.into();
        Event { name: Some(name), data: data.to_string() }
    }

    /// The end of a stream of OpenAI's chat completions, which is no JSON.
    pub(super) fn done() -> Event {
        Event { name: None, data: "[DONE]".to_owned() }
    }
}

/// The next request of a connection; `None` where the client is done.
pub(super) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
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
    Ok(Some(Request { path, body, closes }))
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

pub(super) fn send_json(mut stream: &TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        reason(status),
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
}

/// Server-sent events; the end of the connection is the end of the stream.
pub(super) fn send_stream(mut stream: &TcpStream, events: &[Event]) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for Event { name, data } in events {
        let name = name.map(|name| format!("event: {name}\r\n")).unwrap_or_default();
        stream.write_all(format!("{name}data: {data}\r\n\r\n").as_bytes())?;
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
