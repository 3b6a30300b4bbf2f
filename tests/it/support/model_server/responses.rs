//! OpenAI's responses: `/v1/responses`.

use super::Recorded;
use super::api::{Api, End, Part, Reply, fresh, halves, list, names, texts};
use super::chat::openai_error;
use super::http::Event;
use serde_json::{Value, json};

pub(super) struct Responses;

impl Api for Responses {
    fn takes(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn fixed(&self, _: &Recorded) -> Option<Value> {
        None
    }

    fn beside(&self, request: &Recorded) -> Option<&'static str> {
        self.system_text(&request.body).contains("You are a title generator").then_some("A title")
    }

    fn streams(&self, request: &Recorded) -> bool {
        request.body["stream"] == true
    }

    fn events(&self, model: &str, reply: &Reply) -> Vec<Event> {
        let whole = self.whole(model, reply);
        let mut begun = whole.clone();
        begun["status"] = "in_progress".into();
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        let mut events = vec![Event::named("response.created", json!({"response": begun}))];
        for (index, item) in list(&whole["output"]).enumerate() {
            events.extend(item_events(index, item, reply.end));
        }
        let end = if reply.end == End::Blocked { "response.incomplete" } else { "response.completed" };
        if reply.end != End::Open {
            events.push(Event::named(end, json!({"response": whole})));
        }
        events
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let blocked = reply.end == End::Blocked;
        json!({
            "id": fresh("resp"),
            "object": "response",
            "created_at": 1,
            "status": if blocked { "incomplete" } else { "completed" },
            "incomplete_details": if blocked { json!({"reason": "content_filter"}) } else { Value::Null },
            "error": null,
            "model": model,
            "output": reply.parts.iter().map(item).collect::<Vec<_>>(),
            "usage": {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 400},
                // 20 tokens of answer and 30 of thinking: this API counts both as output.
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 1050,
            },
        })
    }

    fn error(&self, code: u16, message: &str) -> Value {
        openai_error(code, message)
    }

    fn user_texts(&self, body: &Value) -> Vec<String> {
        if let Value::String(text) = &body["input"] {
            return vec![text.clone()];
        }
        let last = list(&body["input"]).rfind(|item| item["role"] == "user");
        last.map(|item| texts(&item["content"])).unwrap_or_default()
    }

    fn system_text(&self, body: &Value) -> String {
        let system = list(&body["input"]).filter(|i| i["role"] == "system" || i["role"] == "developer");
        let instructions = body["instructions"].as_str().map(str::to_owned);
        let all = instructions.into_iter().chain(system.flat_map(|item| texts(&item["content"])));
        all.collect::<Vec<_>>().join("\n")
    }

    fn tool_results(&self, body: &Value) -> Vec<(String, Value)> {
        let items: Vec<&Value> = list(&body["input"]).collect();
        let is_result = |item: &Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"));
        let since = items.iter().rposition(|item| !is_result(item)).map_or(0, |last| last + 1);
        items[since..]
            .iter()
            .map(|result| {
                let is_call =
                    |item: &&&Value| item["call_id"] == result["call_id"] && item["name"].is_string();
                let name = items.iter().find(is_call).and_then(|call| call["name"].as_str());
                (name.unwrap_or_default().to_owned(), result["output"].clone())
            })
            .collect()
    }

    fn offered_tools(&self, body: &Value) -> Vec<String> {
        names(list(&body["tools"]))
    }

    fn effort(&self, body: &Value) -> Option<String> {
        body["reasoning"]["effort"].as_str().map(str::to_owned)
    }

    fn model(&self, request: &Recorded) -> String {
        request.body["model"].as_str().unwrap_or_default().to_owned()
    }
}

/// An item of the output. A call whose arguments are a text is one of a free-form tool.
fn item(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({
            "type": "message", "id": fresh("msg"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Part::Call { id, name, args: Value::String(input) } => json!({
            "type": "custom_tool_call", "id": fresh("ctc"), "call_id": id, "name": name, "input": input,
            "status": "completed",
        }),
        Part::Call { id, name, args } => {
            let mut item = json!({
                "type": "function_call", "id": fresh("fc"), "call_id": id, "name": name,
                "arguments": args.to_string(), "status": "completed",
            });
            // A tool of a namespace: `space::tool`.
            if let Some((space, tool)) = name.split_once("::") {
                (item["namespace"], item["name"]) = (space.into(), tool.into());
            }
            item
        }
    }
}

/// The events of one item; without its end where the stream stays open.
fn item_events(index: usize, item: &Value, end: End) -> Vec<Event> {
    let at = |mut more: Value| {
        more["item_id"] = item["id"].clone();
        more["output_index"] = index.into();
        more
    };
    let mut begun = item.clone();
    begun["status"] = "in_progress".into();
    let mut events = Vec::new();
    let mut done = Vec::new();
    if let Some(text) = item["content"][0]["text"].as_str() {
        begun["content"] = json!([]);
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let in_part = |more: Value| {
            let mut event = at(more);
            event["content_index"] = 0.into();
            event
        };
        events.push(Event::named("response.content_part.added", in_part(json!({"part": part("")}))));
        events.extend(
            halves(text)
                .map(|half| Event::named("response.output_text.delta", in_part(json!({"delta": half})))),
        );
        done.push(Event::named("response.output_text.done", in_part(json!({"text": text}))));
        done.push(Event::named("response.content_part.done", in_part(json!({"part": part(text)}))));
    } else if let Some(arguments) = item["arguments"].as_str() {
        begun["arguments"] = "".into();
        events.push(Event::named("response.function_call_arguments.delta", at(json!({"delta": arguments}))));
        done.push(Event::named("response.function_call_arguments.done", at(json!({"arguments": arguments}))));
    }
    events
        .insert(0, Event::named("response.output_item.added", json!({"output_index": index, "item": begun})));
    if end != End::Open {
        events.extend(done);
        events.push(Event::named("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    events
}
