//! Speed of what runs in memory: lowering, reading, finding, validating.
//!
//! `cargo bench --bench core`; figures and aims are in docs/performance.md.

#![expect(clippy::expect_used, reason = "a bench may stop")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::hint::black_box;
use teamster::reply::{RunEnd, find_value};
use teamster::schema::Schema;
use teamster::{DispatchRequest, HarnessRegistry, Output, Profile, ReplySchema, ToolPolicy, lower};

fn lowering(c: &mut Criterion) {
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let profile = Profile::default();
    let plain = DispatchRequest::new("Summarise README.md");
    let full = DispatchRequest {
        system_prompt: Some("You review code.".into()),
        model: Some("gemini-2.5-pro".into()),
        tools: Some(
            ToolPolicy::from_text("read_file, glob, run_shell_command(git status)").expect("a policy"),
        ),
        schema: Some(ReplySchema::from_value(&findings_schema()).expect("a schema")),
        ..plain.clone()
    };
    let mut group = c.benchmark_group("lowering");
    group.throughput(Throughput::Elements(1));
    group.bench_function("plain", |b| b.iter(|| lower(gemini, black_box(&plain), &profile)));
    group.bench_function("system, model, tools, schema", |b| {
        b.iter(|| lower(gemini, black_box(&full), &profile))
    });
    group.finish();
}

/// A run of about 50 MB: tool results of 4 KB with this text in them, and an answer in pieces of 160 bytes.
fn stream(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(51 << 20);
    let mut line = |value: Value| {
        out.extend_from_slice(value.to_string().as_bytes());
        out.push(b'\n');
        out.len()
    };
    line(
        json!({"type": "init", "timestamp": "2026-11-30T20:11:19.398Z", "session_id": "s-1", "model": "m-1"}),
    );
    line(
        json!({"type": "message", "timestamp": "2026-11-30T20:11:19.398Z", "role": "user", "content": "go"}),
    );
    let output = text.repeat(4000 / text.len());
    let mut at = 0;
    while line(
        json!({"type": "tool_use", "timestamp": "2026-11-30T20:11:19.398Z", "tool_name": "read_file", "tool_id": format!("read_file__{at}"), "parameters": {"file_path": "src/main.rs"}}),
    ) < 44 << 20
    {
        line(
            json!({"type": "tool_result", "timestamp": "2026-11-30T20:11:19.398Z", "tool_id": format!("read_file__{at}"), "status": "success", "output": output}),
        );
        at += 1;
    }
    line(
        json!({"type": "tool_result", "timestamp": "2026-11-30T20:11:19.398Z", "tool_id": format!("read_file__{at}"), "status": "success", "output": output}),
    );
    let piece = "The quick brown fox jumps over the lazy dog and goes on to write a long answer. ".repeat(2);
    while line(
        json!({"type": "message", "timestamp": "2026-11-30T20:11:19.398Z", "role": "assistant", "content": piece, "delta": true}),
    ) < 50 << 20
    {}
    line(
        json!({"type": "result", "timestamp": "2026-11-30T20:11:19.398Z", "status": "success", "stats": {"total_tokens": 3, "input_tokens": 2, "output_tokens": 1, "cached": 0}}),
    );
    out
}

/// Source code has an escape every 10 bytes, prose has next to none.
const CODE: &str = "fn main() {\n    println!(\"hello\");\n}\n";
const PROSE: &str =
    "The quick brown fox jumps over the lazy dog, and then it goes on to the next paragraph of text. ";

fn reading(c: &mut Criterion) {
    let registry = HarnessRegistry::builtin();
    let gemini = registry.get("gemini").expect("built in");
    let end = RunEnd::exited(0, "");
    let read = |bytes: &[u8]| {
        let mut reader = gemini.reader(Output::Stream);
        let mut events = 0_u64;
        for part in bytes.chunks(256 << 10) {
            reader.push(part, &mut |_| events += 1);
        }
        let reply = reader.finish(&end, &mut |_| {});
        assert!(reply.error.is_none() && events > 10_000);
        reply.text.len()
    };
    for (name, text) in [("code", CODE), ("prose", PROSE)] {
        let bytes = stream(text);
        let mut group = c.benchmark_group(format!("reading 50 MB of stream-json, {name}"));
        group.throughput(Throughput::BytesDecimal(bytes.len() as u64)).sample_size(10);
        group.bench_function("into a reply", |b| b.iter(|| read(&bytes)));
        group.bench_function("only finding the line ends", |b| {
            b.iter(|| memchr::memchr_iter(b'\n', black_box(&bytes)).count());
        });
        group.bench_function("serde_json::Value of each line", |b| {
            b.iter(|| {
                let lines = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty());
                lines.map(|line| serde_json::from_slice::<Value>(line).map_or(0, |_| 1)).sum::<u64>()
            });
        });
        group.finish();
    }
}

fn finding(c: &mut Criterion) {
    let schema =
        Schema::compile(&ReplySchema::from_value(&findings_schema()).expect("a schema")).expect("compiles");
    let check = |value: &Value| if schema.accepts(value) { Ok(()) } else { Err(String::new()) };
    let fenced = format!("Here is what I found.\n\n```json\n{}\n```\nThat is all.", findings());
    let mut group = c.benchmark_group("finding JSON");
    for (name, text) in [
        ("40 KiB of {", "{".repeat(40 << 10)),
        ("80 KiB of {", "{".repeat(80 << 10)),
        ("40 KiB of [", "[".repeat(40 << 10)),
        ("40 KiB of {\"a\":", "{\"a\":".repeat((40 << 10) / 5)),
        ("20 findings in a fence", fenced),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| find_value(black_box(&text), check)));
    }
    group.finish();
}

fn validating(c: &mut Criterion) {
    let source = ReplySchema::from_value(&findings_schema()).expect("a schema");
    let schema = Schema::compile(&source).expect("compiles");
    let value = findings();
    assert!(schema.accepts(&value));
    let mut group = c.benchmark_group("validating 20 findings");
    group.throughput(Throughput::Elements(1));
    group.bench_function("accepts", |b| b.iter(|| schema.accepts(black_box(&value))));
    group.bench_function("compile", |b| {
        b.iter_batched(|| source.clone(), |s| Schema::compile(&s), BatchSize::SmallInput)
    });
    group.finish();
}

fn findings_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "findings": {"type": "array", "maxItems": 100, "items": {
                "type": "object",
                "properties": {
                    "severity": {"enum": ["low", "medium", "high"]},
                    "file": {"type": "string", "minLength": 1},
                    "line": {"type": "integer", "minimum": 1},
                    "title": {"type": "string", "maxLength": 200},
                    "detail": {"type": "string"}
                },
                "required": ["severity", "file", "line", "title"],
                "additionalProperties": false
            }}
        },
        "required": ["findings"],
        "additionalProperties": false
    })
}

fn findings() -> Value {
    let finding = json!({"severity": "high", "file": "src/lib.rs", "line": 12, "title": "an index is off by one", "detail": "the loop runs once too often"});
    json!({"findings": vec![finding; 20]})
}

criterion_group!(benches, lowering, reading, finding, validating);
criterion_main!(benches);
