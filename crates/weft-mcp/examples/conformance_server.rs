//! Weft's server with the things on offer that the official conformance suite asks for. It prints
//! its address and serves until its input ends. For tests only.
#![allow(
    deprecated,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::print_stdout,
    clippy::print_stderr
)]

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolResult, CreateMessageRequestParams, GetPromptResult, JsonObject, LoggingLevel, Prompt, Resource,
    ResourceContents, ResourceTemplate, SamplingMessage, SamplingMessageContentBlock, Tool,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_mcp::server::http::HttpServer;
use weft_mcp::server::{Offer, Talk};

/// The smallest picture and the smallest sound.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

struct Fixtures;

fn tool(name: &'static str, schema: Value) -> Tool {
    Tool::new(name, format!("The suite's {name}"), schema.as_object().cloned().unwrap())
}

fn result(value: Value) -> CallToolResult {
    serde_json::from_value(value).unwrap()
}

fn text(text: &str) -> CallToolResult {
    result(json!({"content": [{"type": "text", "text": text}]}))
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

impl Fixtures {
    async fn elicit(talk: &Talk, message: &str, schema: Value) -> CallToolResult {
        match talk.elicit(message, schema).await {
            Ok(answer) => {
                let answer = serde_json::to_value(answer).unwrap();
                text(&format!("Elicitation completed: action={}, content={}", answer["action"], answer["content"]))
            }
            Err(reason) => result(json!({"content": [{"type": "text", "text": reason}], "isError": true})),
        }
    }
}

impl Offer for Fixtures {
    fn about(&self) -> String {
        "What the conformance suite asks for.".to_owned()
    }

    fn tools(&self) -> Vec<Tool> {
        let nothing = || json!({"type": "object"});
        let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
        let mut tools: Vec<Tool> = [
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_tool_with_logging",
            "test_error_handling",
            "test_tool_with_progress",
            "test_elicitation_sep1034_defaults",
            "test_elicitation_sep1330_enums",
        ]
        .into_iter()
        .map(|name| tool(name, nothing()))
        .collect();
        tools.push(tool("test_sampling", text("prompt")));
        tools.push(tool("test_elicitation", text("message")));
        tools.push(tool(
            "json_schema_2020_12_tool",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
                "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
                "additionalProperties": false,
            }),
        ));
        tools
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: JsonObject,
        talk: &'a Talk,
    ) -> BoxFuture<'a, Result<CallToolResult, String>> {
        Box::pin(async move {
            let pause = || tokio::time::sleep(Duration::from_millis(50));
            let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(match tool {
                "test_simple_text" => text("This is a simple text response for testing."),
                "test_image_content" => result(json!({"content": [image()]})),
                "test_audio_content" => {
                    result(json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}))
                }
                "test_embedded_resource" => result(json!({"content": [{"type": "resource", "resource": {
                    "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."}}]})),
                "test_multiple_content_types" => result(json!({"content": [
                    {"type": "text", "text": "Multiple content types test:"}, image(),
                    {"type": "resource", "resource": {"uri": "test://mixed-content-resource",
                        "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}"}}]})),
                "test_tool_with_logging" => {
                    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                        talk.log(LoggingLevel::Info, line).await;
                        pause().await;
                    }
                    text("Tool with logging executed successfully")
                }
                "test_error_handling" => result(json!({"isError": true, "content": [
                    {"type": "text", "text": "This tool intentionally returns an error for testing"}]})),
                "test_tool_with_progress" => {
                    for progress in [0.0, 50.0, 100.0] {
                        talk.progress_at(progress, Some(100.0), "on the way").await;
                        pause().await;
                    }
                    text("done")
                }
                "test_sampling" => {
                    let block = SamplingMessageContentBlock::text(argument("prompt"));
                    let message = SamplingMessage::new(rmcp::model::Role::User, block);
                    match talk.sample(CreateMessageRequestParams::new(vec![message], 100)).await {
                        Ok(answer) => {
                            let answer = serde_json::to_value(answer).unwrap();
                            text(&format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
                        }
                        Err(reason) => result(json!({"content": [{"type": "text", "text": reason}], "isError": true})),
                    }
                }
                "test_elicitation" => {
                    let schema = json!({"type": "object", "properties": {"response": {"type": "string", "description": "User's response"}},
                                        "required": ["response"]});
                    Self::elicit(talk, &argument("message"), schema).await
                }
                "test_elicitation_sep1034_defaults" => {
                    let schema = json!({"type": "object", "properties": {
                        "name": {"type": "string", "default": "John Doe"},
                        "age": {"type": "integer", "default": 30},
                        "score": {"type": "number", "default": 95.5},
                        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                        "verified": {"type": "boolean", "default": true},
                    }});
                    Self::elicit(talk, "Please say who you are", schema).await
                }
                "test_elicitation_sep1330_enums" => {
                    let titled = json!([{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"},
                                        {"const": "value3", "title": "Third Option"}]);
                    let plain = json!(["option1", "option2", "option3"]);
                    let schema = json!({"type": "object", "properties": {
                        "untitledSingle": {"type": "string", "enum": plain},
                        "titledSingle": {"type": "string", "oneOf": titled},
                        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                                       "enumNames": ["Option One", "Option Two", "Option Three"]},
                        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
                        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
                    }});
                    Self::elicit(talk, "Please choose", schema).await
                }
                "json_schema_2020_12_tool" => text("fine"),
                other => return Err(format!("There is no tool `{other}`.")),
            })
        })
    }

    fn resources(&self) -> Vec<Resource> {
        ["static-text", "static-binary", "watched-resource"]
            .map(|name| {
                Resource::new(format!("test://{name}"), name)
                    .with_description(format!("The suite's {name}"))
                    .with_mime_type(if name == "static-binary" { "image/png" } else { "text/plain" })
            })
            .to_vec()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json")]
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<ResourceContents>>> {
        let contents = match uri {
            "test://static-text" => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            "test://watched-resource" => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content"})
            }
            _ => match uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
                Some(id) => {
                    let text =
                        json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
                    json!({"uri": uri, "mimeType": "application/json", "text": text})
                }
                None => return Box::pin(std::future::ready(None)),
            },
        };
        Box::pin(std::future::ready(Some(vec![serde_json::from_value(contents).unwrap()])))
    }

    fn prompts(&self) -> Vec<Prompt> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments: Vec<Value> =
                arguments.iter().map(|name| json!({"name": name, "description": name, "required": true})).collect();
            serde_json::from_value(json!({"name": name, "description": name, "arguments": arguments})).unwrap()
        };
        vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]
    }

    fn prompt(&self, name: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let said = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let messages = match name {
            "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                vec![said(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
            }
            "test_prompt_with_embedded_resource" => vec![
                json!({"role": "user", "content": {"type": "resource", "resource": {"uri": argument("resourceUri"),
                       "mimeType": "text/plain", "text": "Embedded resource content for testing."}}}),
                said("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => {
                vec![json!({"role": "user", "content": image()}), said("Please analyze the image above.")]
            }
            _ => return None,
        };
        Some(serde_json::from_value(json!({"messages": messages})).unwrap())
    }
}

#[tokio::main]
async fn main() {
    let server = HttpServer::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
    println!("http://{}/mcp", server.address().unwrap());
    let stop = CancellationToken::new();
    let ended = stop.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ended.cancel();
    });
    server.serve(Arc::new(Fixtures), stop).await;
}
