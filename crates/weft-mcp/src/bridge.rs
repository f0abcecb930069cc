//! Tools of MCP sources as tools of Weft. What a source says about a tool is shown, never believed:
//! each call counts as running a program, unless the user has said that this source's hints hold.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool, outside};

use crate::client::host::Caller;
use crate::client::{Call, SourceError};
use crate::limits::Limits;
use crate::naming;
use crate::sources::{Listing, Source};
use crate::unwrap;

const LONGEST_SUMMARY: usize = 120;

/// Takes out of a list what cannot be offered, and says so.
pub fn check(source: &str, listing: &mut Listing, limits: &Limits) {
    let mut seen = BTreeSet::new();
    let mut dropped = 0;
    listing.tools.retain(|tool| {
        let size = serde_json::to_string(&tool.input_schema).map_or(usize::MAX, |text| text.len());
        let fine = size <= limits.schema_bytes
            && naming::tool_name(source, &tool.name, limits.name_chars).is_some_and(|name| seen.insert(name));
        dropped += usize::from(!fine);
        fine
    });
    if dropped > 0 {
        listing.left_out.push(format!(
            "{dropped} tools of the source `{source}` are left out: their names or schemas cannot be used."
        ));
    }
    listing.prompts.retain(|prompt| naming::tool_name(source, &prompt.name, limits.name_chars).is_some());
}

pub fn tools(source: &Arc<Source>, listing: &Listing) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> =
        listing.tools.iter().filter_map(|tool| McpTool::new(source, tool)).map(|tool| Arc::new(tool) as _).collect();
    if listing.resources {
        tools.push(Arc::new(ResourceTool::new(source)));
    }
    tools
}

pub struct McpTool {
    source: Arc<Source>,
    name: String,
    /// As the source calls it.
    own_name: String,
    description: String,
    schema: Value,
    output: Option<Value>,
    only_reads: bool,
}

impl McpTool {
    fn new(source: &Arc<Source>, tool: &rmcp::model::Tool) -> Option<Self> {
        let limits = source.limits();
        let name = naming::tool_name(&source.config.name, &tool.name, limits.name_chars)?;
        let words = tool.description.as_deref().unwrap_or_default();
        let hinted = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint) == Some(true);
        Some(Self {
            name,
            own_name: tool.name.to_string(),
            description: naming::description(&source.config.name, words, limits.description_chars),
            schema: object_schema(&tool.input_schema),
            output: tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone())),
            only_reads: hinted && source.config.trust_hints,
            source: Arc::clone(source),
        })
    }

    async fn call(&self, context: &Context, input: Value) -> Result<String, String> {
        let Value::Object(arguments) = input else { return Err("The arguments must be an object.".to_owned()) };
        let said = |error: SourceError| error.to_string();
        let connection = Box::pin(context.cancel.run_until_cancelled(self.source.connection())).await;
        let connection = connection.ok_or("Stopped before it began. Nothing was done.")?.map_err(said)?;
        let called = connection
            .call(Call {
                tool: &self.own_name,
                arguments,
                caller: Some(Caller { session: context.session, call: context.call.clone() }),
                live: Arc::clone(&context.live),
                cancel: &context.cancel,
                timeout: self.source.timeout(),
            })
            .await
            .map_err(said)?;
        if let Some(schema) = &self.output {
            unwrap::json(&self.name, &called.result, schema).map_err(|error| error.to_string())?;
        }
        let mut text = unwrap::text(&self.name, &called.result, self.source.limits().kept_bytes)
            .map_err(|error| error.to_string())?;
        called.redaction.scrub(&mut text);
        Ok(text)
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        if self.only_reads { Vec::new() } else { vec![Need::Use(self.name.clone())] }
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        accept(&self.schema, input)
    }

    fn summary(&self, _: &Value, _: &Path) -> String {
        let tool = naming::clean(&self.own_name, LONGEST_SUMMARY);
        format!("Use `{tool}` of the source `{}`", self.source.config.name)
    }

    fn detail(&self, input: &Value, _: &Policy<'_>) -> Result<String, String> {
        Ok(serde_json::to_string_pretty(input).unwrap_or_default())
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            finished(&self.source, Box::pin(self.call(context, input)).await, context, summary)
        })
    }
}

/// What a source says is data, whatever it says.
fn finished(source: &Source, result: Result<String, String>, context: &Context, summary: String) -> Finished {
    match result {
        Ok(text) => Finished::ok(outside::quoted(&format!("the source {}", source.config.name), &text), summary),
        Err(text) if context.cancel.is_cancelled() => Finished::interrupted(text, summary),
        Err(text) => Finished::failed(text, summary),
    }
}

/// A model's arguments as an object that fits the schema.
fn accept(schema: &Value, input: &Value) -> Result<Value, String> {
    let input = match input {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => input.clone(),
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .ok_or("The arguments must be a JSON object. Send the call again.")?,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err("The arguments must be a JSON object.".to_owned());
        }
    };
    let input = without_nothing(schema, input);
    unwrap::fits(schema, &input, "the object of arguments")
        .map_err(|reason| format!("The arguments do not fit the tool's schema: {reason}. Send the call again."))?;
    Ok(input)
}

/// Models write `null` for what they leave out.
fn without_nothing(schema: &Value, mut input: Value) -> Value {
    let allows = |name: &str| {
        let kind = schema.get("properties").and_then(|properties| properties.get(name)?.get("type"));
        kind.is_none_or(|kind| kind == "null" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("null"))))
    };
    if let Value::Object(fields) = &mut input {
        fields.retain(|name, value| !value.is_null() || allows(name));
    }
    input
}

/// Providers insist on an object.
fn object_schema(schema: &Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    schema.remove("$schema");
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        schema.insert("type".to_owned(), json!("object"));
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

/// Lists and reads what a source offers to read.
pub struct ResourceTool {
    source: Arc<Source>,
    name: String,
    description: String,
    schema: Value,
}

impl ResourceTool {
    fn new(source: &Arc<Source>) -> Self {
        let name = &source.config.name;
        Self {
            name: format!("mcp__{name}__resources"),
            description: format!("Lists what the source `{name}` offers to read, or reads one of them by its `uri`."),
            schema: json!({"type": "object", "properties": {"uri": {"type": "string"}}}),
            source: Arc::clone(source),
        }
    }

    async fn read(&self, context: &Context, input: Value) -> Result<String, String> {
        let said = |error: SourceError| error.to_string();
        let connection = Box::pin(context.cancel.run_until_cancelled(self.source.connection())).await;
        let connection = connection.ok_or("Stopped before it began. Nothing was done.")?.map_err(said)?;
        let reading = async {
            let Some(uri) = input.get("uri").and_then(Value::as_str) else {
                let line = |uri: &str, name: &str, description: Option<&str>| {
                    naming::clean(&format!("{uri} {name}: {}", description.unwrap_or_default()), 300)
                };
                let listed = connection.resources().await.map_err(said)?.into_iter();
                let listed = listed.map(|one| line(&one.uri, &one.name, one.description.as_deref()));
                // Few sources have any, and not all that have none say so.
                let templates = connection.templates().await.unwrap_or_default().into_iter();
                let templates = templates.map(|one| line(&one.uri_template, &one.name, one.description.as_deref()));
                return Ok(listed.chain(templates).collect::<Vec<_>>().join("\n"));
            };
            let contents = connection.read_resource(uri).await.map_err(said)?.contents;
            Ok(contents.iter().map(unwrap::resource).collect::<Vec<_>>().join("\n"))
        };
        let read = Box::pin(context.cancel.run_until_cancelled(reading)).await;
        let mut text: String = read.unwrap_or_else(|| Err("Stopped.".to_owned()))?;
        connection.redaction.scrub(&mut text);
        let kept = self.source.limits().kept_bytes;
        if text.len() > kept {
            text = text.chars().take(kept / 4).collect::<String>() + "\n[The rest was left out: it is too long.]";
        }
        Ok(if text.is_empty() { "There is nothing to read.".to_owned() } else { text })
    }
}

impl Tool for ResourceTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        if self.source.config.trust_hints { Vec::new() } else { vec![Need::Use(self.name.clone())] }
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        let source = &self.source.config.name;
        match input.get("uri").and_then(Value::as_str) {
            Some(uri) => format!("Read {} from the source `{source}`", naming::clean(uri, LONGEST_SUMMARY)),
            None => format!("List what the source `{source}` offers to read"),
        }
    }

    fn detail(&self, input: &Value, _: &Policy<'_>) -> Result<String, String> {
        Ok(serde_json::to_string_pretty(input).unwrap_or_default())
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            finished(&self.source, Box::pin(self.read(context, input)).await, context, summary)
        })
    }
}
