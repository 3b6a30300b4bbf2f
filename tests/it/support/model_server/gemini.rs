//! The Gemini API: `/v1beta/models/M:streamGenerateContent`, `:generateContent`, `:countTokens`.

use super::Recorded;
use super::api::{Api, End, Part, Reply, halves, list, names, texts};
use super::http::Event;
use serde_json::{Value, json};

pub(super) struct Gemini;

/// Satisfies each of the schemas that gemini 0.61.0 asks for beside its turns.
const ROUTING: &str = r#"{"reasoning": "fixed", "model_choice": "flash", "next_speaker": "user", "complexity_score": 1, "complexity_reasoning": "fixed"}"#;

impl Api for Gemini {
    fn takes(&self, path: &str) -> bool {
        method(path).is_some()
    }

    fn fixed(&self, request: &Recorded) -> Option<Value> {
        (method(&request.path) == Some("countTokens")).then(|| json!({"totalTokens": 17}))
    }

    fn beside(&self, request: &Recorded) -> Option<&'static str> {
        let asks_for_json = request.body["generationConfig"]["responseMimeType"] == "application/json";
        asks_for_json.then_some(ROUTING)
    }

    fn streams(&self, request: &Recorded) -> bool {
        method(&request.path) == Some("streamGenerateContent")
    }

    fn events(&self, model: &str, reply: &Reply) -> Vec<Event> {
        chunks(model, reply).iter().map(Event::data).collect()
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut chunks = chunks(model, reply);
        let Some(mut last) = chunks.pop() else { return json!({"candidates": []}) };
        let parts: Vec<Value> =
            chunks.iter().flat_map(|c| list(&c["candidates"][0]["content"]["parts"])).cloned().collect();
        if !parts.is_empty() {
            last["candidates"][0]["content"]["parts"] = parts.into();
        }
        last
    }

    fn error(&self, code: u16, message: &str) -> Value {
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

    fn user_texts(&self, body: &Value) -> Vec<String> {
        texts(last_parts(body))
    }

    fn system_text(&self, body: &Value) -> String {
        texts(&body["systemInstruction"]["parts"]).concat()
    }

    fn tool_results(&self, body: &Value) -> Vec<(String, Value)> {
        list(last_parts(body))
            .filter_map(|part| part.get("functionResponse"))
            .map(|result| {
                (result["name"].as_str().unwrap_or_default().to_owned(), result["response"].clone())
            })
            .collect()
    }

    fn offered_tools(&self, body: &Value) -> Vec<String> {
        names(list(&body["tools"]).flat_map(|tools| list(&tools["functionDeclarations"])))
    }

    fn effort(&self, body: &Value) -> Option<String> {
        let thinking = &body["generationConfig"]["thinkingConfig"];
        match (&thinking["thinkingLevel"], &thinking["thinkingBudget"]) {
            (Value::String(level), _) => Some(level.to_lowercase()),
            (_, Value::Number(budget)) => Some(budget.to_string()),
            _ => None,
        }
    }

    fn model(&self, request: &Recorded) -> String {
        request.path.split(['/', ':']).nth(3).unwrap_or_default().to_owned()
    }
}

/// The method in `/v1beta/models/MODEL:METHOD?…`.
fn method(path: &str) -> Option<&str> {
    let path = path.split('?').next()?;
    let (model, method) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    (!model.is_empty()).then_some(method)
}

/// The parts of the last content of the user.
fn last_parts(body: &Value) -> &Value {
    list(&body["contents"]).rfind(|content| content["role"] == "user").map_or(&Value::Null, |c| &c["parts"])
}

/// A chunk for each part, and one with the end and the usage; none for an answer without content.
fn chunks(model: &str, reply: &Reply) -> Vec<Value> {
    let with = |parts: Value| {
        json!({
            "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}],
            "modelVersion": model,
            "responseId": "scripted",
        })
    };
    let mut chunks = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(text) => chunks.extend(halves(text).map(|half| with(json!([{"text": half}])))),
            Part::Call { id, name, args } => {
                let call = json!({"id": id, "name": name, "args": args});
                chunks.push(with(json!([{"functionCall": call, "thoughtSignature": "c2ln"}])));
            }
        }
    }
    match reply.end {
        End::Open => {}
        End::Blocked => chunks.push(json!({"candidates": [{"index": 0, "finishReason": "SAFETY"}]})),
        End::Done if chunks.is_empty() => {}
        End::Done => {
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
        }
    }
    chunks
}
