//! `teamster mcp` as a client sees it: a process, and lines of JSON on its stdin and stdout.

mod ceiling;
mod ends;
mod jobs;
mod tools;

use crate::support::fake::Fake;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use teamster::ReplySchema;
use teamster::schema::Schema;

/// A server in a folder of its own, and its client.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications so far.
    told: Vec<Value>,
    /// What each tool's answers have to be valid against.
    answers: HashMap<String, Schema>,
    tools: Vec<Value>,
    next: u64,
    dir: tempfile::TempDir,
}

/// A server that rehearses, with more arguments.
fn rehearsing(args: &[&str]) -> Client {
    Client::new(&[&["--rehearse"], args].concat(), &[])
}

/// A server whose gemini is a fake.
fn with_fake(fake: &Fake, args: &[&str]) -> Client {
    Client::new(args, &[("TEAMSTER_GEMINI_BIN", &fake.bin.display().to_string())])
}

/// A `teamster mcp` in this folder, which knows no user.
fn command(dir: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .env_remove("TEAMSTER_HARNESS")
        .env_remove("TEAMSTER_DEPTH")
        .env("TEAMSTER_JOBS_DIR", dir.join("jobs"))
        .env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

impl Client {
    fn new(args: &[&str], env: &[(&str, &str)]) -> Client {
        let dir = tempfile::tempdir().expect("a folder");
        let mut command = command(dir.path(), env!("CARGO_BIN_EXE_teamster"));
        command.arg("mcp").args(args).envs(env.iter().copied());
        Client::of(dir, command)
    }

    /// Starts it, says hello, and reads its tools.
    fn of(dir: tempfile::TempDir, command: Command) -> Client {
        let mut client = Client::silent(dir, command);
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        assert_eq!(client.request("initialize", hello)["result"]["serverInfo"]["name"], "teamster");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let tools = client.request("tools/list", json!({}));
        client.tools = tools["result"]["tools"].as_array().expect("tools").clone();
        for tool in &client.tools {
            let schema = ReplySchema::from_value(&tool["outputSchema"]).expect("a schema");
            let schema = Schema::compile(&schema).expect("it compiles");
            client.answers.insert(tool["name"].as_str().expect("a name").to_owned(), schema);
        }
        client
    }

    /// Starts it, and says nothing.
    fn silent(dir: tempfile::TempDir, mut command: Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (send, messages) = channel();
        let out = BufReader::new(child.stdout.take().expect("its stdout"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let (told, answers, tools) = (Vec::new(), HashMap::new(), Vec::new());
        Client { child, stdin, messages, told, answers, tools, next: 0, dir }
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    fn send_text(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        stdin.write_all(format!("{text}\n").as_bytes()).expect("it reads");
    }

    /// Sends a request; gives its id.
    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// The answer to a request. What is told meanwhile is kept.
    fn answer(&mut self, id: u64) -> Value {
        let is_it = |message: &Value| message["id"] == id && message["method"].is_null();
        if let Some(at) = self.told.iter().position(is_it) {
            return self.told.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).expect("an answer in a minute");
            if is_it(&message) {
                return message;
            }
            self.told.push(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    fn start(&mut self, tool: &str, arguments: Value) -> u64 {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": self.next + 1}});
        self.ask("tools/call", params)
    }

    /// The result of a tool that was started: whether it failed, its data, its text.
    fn result(&mut self, tool: &str, id: u64) -> (bool, Value, String) {
        let answer = self.answer(id);
        let result = &answer["result"];
        let data = result["structuredContent"].clone();
        assert!(self.answers[tool].accepts(&data), "{tool} breaks its own schema: {answer}");
        let is_error = result["isError"].as_bool().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(data["ok"], !is_error, "{answer}");
        (is_error, data, result["content"][0]["text"].as_str().expect("a text").to_owned())
    }

    fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value, String) {
        let id = self.start(tool, arguments);
        self.result(tool, id)
    }

    /// The data of a call that has to succeed.
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, data, text) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        data
    }

    /// Kind and message of a call that has to fail, as a result.
    fn refused(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let (is_error, data, text) = self.call(tool, arguments);
        assert!(is_error, "{data}");
        let failure = &data["failure"];
        let message = failure["message"].as_str().expect("a message").to_owned();
        assert!(text.starts_with(&message), "{text}");
        (failure["kind"].as_str().expect("a kind").to_owned(), message)
    }

    /// The messages of progress so far.
    fn progress(&self) -> Vec<&str> {
        let progress = self.told.iter().filter(|told| told["method"] == "notifications/progress");
        progress.filter_map(|told| told["params"]["message"].as_str()).collect()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    }

    /// Waits for the end of the server.
    fn status(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            assert!(began.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
