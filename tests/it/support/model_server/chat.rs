//! OpenAI's chat completions: `/v1/chat/completions`, and `/v1/models`.

use super::Recorded;
use super::api::{Api, End, Part, Reply, halves, known_call, list, names, texts};
use super::http::Event;
use serde_json::{Value, json};

pub(super) struct Chat;

/// What agents ask beside their turns, known by their own system prompts.
const BESIDE: &[(&str, &str)] = &[
    ("You are a title generator", "A title"),
    ("managed-auto-memory", "NOTHING"),
    ("memory extraction", "NOTHING"),
];

impl Api for Chat {
    fn takes(&self, path: &str) -> bool {
        path.ends_with("/chat/completions") || path.ends_with("/models")
    }

    fn fixed(&self, request: &Recorded) -> Option<Value> {
        let models =
            json!({"object": "list", "data": [{"id": "mock-model", "object": "model", "owned_by": "x"}]});
        (!request.path.contains("/chat/")).then_some(models)
    }

    fn beside(&self, request: &Recorded) -> Option<&'static str> {
        known_call(&self.system_text(&request.body), BESIDE)
    }

    fn streams(&self, request: &Recorded) -> bool {
        request.body["stream"] == true
    }

    fn events(&self, model: &str, reply: &Reply) -> Vec<Event> {
        let base = json!({"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": model});
        let chunk = |choices: Value| {
            let mut chunk = base.clone();
            chunk["choices"] = choices;
            chunk
        };
        let delta =
            |delta: Value| Event::data(&chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])));
        let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
        let mut calls = 0;
        for part in &reply.parts {
            match part {
                Part::Text(text) => events.extend(halves(text).map(|half| delta(json!({"content": half})))),
                Part::Call { id, name, args } => {
                    let function = json!({"name": name, "arguments": ""});
                    let call = json!({"index": calls, "id": id, "type": "function", "function": function});
                    events.push(delta(json!({"tool_calls": [call]})));
                    let rest = json!({"index": calls, "function": {"arguments": args.to_string()}});
                    events.push(delta(json!({"tool_calls": [rest]})));
                    calls += 1;
                }
            }
        }
        if reply.end != End::Open {
            let end = json!([{"index": 0, "delta": {}, "finish_reason": finish(reply)}]);
            events.push(Event::data(&chunk(end)));
            let mut last = chunk(json!([]));
            last["usage"] = usage();
            events.extend([Event::data(&last), Event::done()]);
        }
        events
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut message = json!({"role": "assistant", "content": reply.all_text()});
        let calls: Vec<Value> = reply.parts.iter().filter_map(call).collect();
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        json!({
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish(reply)}],
            "usage": usage(),
        })
    }

    fn error(&self, code: u16, message: &str) -> Value {
        openai_error(code, message)
    }

    fn user_texts(&self, body: &Value) -> Vec<String> {
        let last = list(&body["messages"]).rfind(|message| message["role"] == "user");
        last.map(|message| texts(&message["content"])).unwrap_or_default()
    }

    fn system_text(&self, body: &Value) -> String {
        let system = list(&body["messages"]).filter(|m| m["role"] == "system" || m["role"] == "developer");
        system.flat_map(|message| texts(&message["content"])).collect::<Vec<_>>().join("\n")
    }

    fn tool_results(&self, body: &Value) -> Vec<(String, Value)> {
        let calls: Vec<&Value> = list(&body["messages"]).flat_map(|m| list(&m["tool_calls"])).collect();
        let name = |id: &Value| calls.iter().find(|call| call["id"] == *id).map(|c| &c["function"]["name"]);
        let messages: Vec<&Value> = list(&body["messages"]).collect();
        let since = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or_default();
        messages[since..]
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| {
                let name = name(&message["tool_call_id"]).and_then(Value::as_str).unwrap_or_default();
                (name.to_owned(), texts(&message["content"]).concat().into())
            })
            .collect()
    }

    fn offered_tools(&self, body: &Value) -> Vec<String> {
        names(list(&body["tools"]).map(|tool| &tool["function"]))
    }

    fn effort(&self, body: &Value) -> Option<String> {
        let effort = body["reasoning_effort"].as_str().or(body["reasoning"]["effort"].as_str());
        effort.map(str::to_owned)
    }

    fn model(&self, request: &Recorded) -> String {
        request.body["model"].as_str().unwrap_or_default().to_owned()
    }
}

/// The error object of both of OpenAI's APIs.
pub(super) fn openai_error(code: u16, message: &str) -> Value {
    let (kind, name) = match code {
        401 => ("invalid_request_error", "invalid_api_key"),
        403 => ("permission_error", "forbidden"),
        404 => ("invalid_request_error", "model_not_found"),
        429 if message.contains("quota") => ("insufficient_quota", "insufficient_quota"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        400..=499 => ("invalid_request_error", "bad_request"),
        _ => ("server_error", "internal_error"),
    };
    // Some clients know a refused key by these words only.
    let words = if code == 401 { "Incorrect API key provided: " } else { "" };
    let message = format!("{words}{message}");
    json!({"error": {"message": message, "type": kind, "param": null, "code": name}})
}

fn call(part: &Part) -> Option<Value> {
    let Part::Call { id, name, args } = part else { return None };
    let function = json!({"name": name, "arguments": args.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

fn finish(reply: &Reply) -> &'static str {
    match reply.end {
        End::Blocked => "content_filter",
        _ if reply.has_calls() => "tool_calls",
        _ => "stop",
    }
}

/// 20 tokens of answer and 30 of thinking: this API counts both as completion.
fn usage() -> Value {
    json!({
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "total_tokens": 1050,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 30},
    })
}
