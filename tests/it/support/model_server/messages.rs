//! Anthropic's messages: `/v1/messages` and `/v1/messages/count_tokens`.

use super::Recorded;
use super::api::{Api, End, Part, Reply, fresh, halves, known_call, list, names, texts};
use super::http::Event;
use serde_json::{Value, json};

pub(super) struct Messages;

/// What agents ask beside their turns, known by their own system prompts. The first is a classifier
/// that decides for a person, and here it always says yes: whatever hangs on it alone does not hold.
const BESIDE: &[(&str, &str)] = &[("security monitor", "<block>no"), ("title for", "A title")];

impl Api for Messages {
    fn takes(&self, path: &str) -> bool {
        path.ends_with("/messages") || path.ends_with("/count_tokens")
    }

    fn fixed(&self, request: &Recorded) -> Option<Value> {
        request.path.contains("/count_tokens").then(|| json!({"input_tokens": 17}))
    }

    fn beside(&self, request: &Recorded) -> Option<&'static str> {
        // Turns that may use no tool have the agent's own system prompt, which has neither of the marks.
        let has_tools = list(&request.body["tools"]).next().is_some();
        known_call(&self.system_text(&request.body), BESIDE).filter(|_| !has_tools)
    }

    fn streams(&self, request: &Recorded) -> bool {
        request.body["stream"] == true
    }

    fn events(&self, model: &str, reply: &Reply) -> Vec<Event> {
        let mut message = self.whole(model, reply);
        let content = message["content"].take();
        let (stop, usage) = (message["stop_reason"].take(), message["usage"].clone());
        message["content"] = json!([]);
        message["usage"]["output_tokens"] = 1.into();
        let mut events = vec![Event::named("message_start", json!({"message": message}))];
        for (index, block) in list(&content).enumerate() {
            events.extend(block_events(index, block, reply.end));
        }
        if reply.end != End::Open {
            let delta = json!({"stop_reason": stop, "stop_sequence": null});
            events.push(Event::named("message_delta", json!({"delta": delta, "usage": usage})));
            events.push(Event::named("message_stop", json!({})));
        }
        events
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let stop = match reply.end {
            End::Blocked => "refusal",
            _ if reply.has_calls() => "tool_use",
            _ => "end_turn",
        };
        json!({
            "id": fresh("msg"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": reply.parts.iter().map(block).collect::<Vec<_>>(),
            "stop_reason": stop,
            "stop_sequence": null,
            // What came from the cache is not in `input_tokens` here; thinking is in `output_tokens`.
            "usage": {
                "input_tokens": 600,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 400,
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 30},
            },
        })
    }

    fn error(&self, code: u16, message: &str) -> Value {
        let kind = match code {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
    }

    fn user_texts(&self, body: &Value) -> Vec<String> {
        texts(last_content(body))
    }

    fn system_text(&self, body: &Value) -> String {
        texts(&body["system"]).join("\n")
    }

    fn tool_results(&self, body: &Value) -> Vec<(String, Value)> {
        let blocks: Vec<&Value> = list(&body["messages"]).flat_map(|m| list(&m["content"])).collect();
        list(last_content(body))
            .filter(|block| block["type"] == "tool_result")
            .map(|result| {
                let call =
                    blocks.iter().find(|b| b["type"] == "tool_use" && b["id"] == result["tool_use_id"]);
                let name = call.and_then(|call| call["name"].as_str()).unwrap_or_default();
                (name.to_owned(), texts(&result["content"]).concat().into())
            })
            .collect()
    }

    fn offered_tools(&self, body: &Value) -> Vec<String> {
        names(list(&body["tools"]))
    }

    fn effort(&self, body: &Value) -> Option<String> {
        let budget = body["thinking"]["budget_tokens"].as_u64().map(|budget| budget.to_string());
        body["output_config"]["effort"].as_str().map(str::to_owned).or(budget)
    }

    fn model(&self, request: &Recorded) -> String {
        request.body["model"].as_str().unwrap_or_default().to_owned()
    }
}

/// The content of the last message of the user.
fn last_content(body: &Value) -> &Value {
    list(&body["messages"])
        .rfind(|message| message["role"] == "user")
        .map_or(&Value::Null, |message| &message["content"])
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call { id, name, args } => json!({"type": "tool_use", "id": id, "name": name, "input": args}),
    }
}

/// The events of one block; without its end where the stream stays open.
fn block_events(index: usize, block: &Value, end: End) -> Vec<Event> {
    let mut begun = block.clone();
    let deltas: Vec<Value> = match block["text"].as_str() {
        Some(text) => {
            begun["text"] = "".into();
            halves(text).map(|half| json!({"type": "text_delta", "text": half})).collect()
        }
        None => {
            begun["input"] = json!({});
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})]
        }
    };
    let start = json!({"index": index, "content_block": begun});
    let mut events = vec![Event::named("content_block_start", start)];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| Event::named("content_block_delta", json!({"index": index, "delta": delta}))),
    );
    if end != End::Open {
        events.push(Event::named("content_block_stop", json!({"index": index})));
    }
    events
}
