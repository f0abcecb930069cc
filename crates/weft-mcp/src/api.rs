//! HTTP APIs without MCP: a base address and a header make a tool, without code. Requests go to
//! that address and below it and nowhere else; redirects are not followed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool, outside};

use crate::client::host::Caller;
use crate::client::http;
use crate::config::Transport;
use crate::naming;
use crate::sources::Source;

pub struct ApiTool {
    source: Arc<Source>,
    base: url::Url,
    name: String,
    description: String,
    schema: Value,
}

/// A request that stays below the base address.
#[derive(Debug, PartialEq)]
struct Request {
    method: &'static str,
    url: url::Url,
    body: Option<Value>,
}

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

impl ApiTool {
    pub fn new(source: &Arc<Source>) -> Option<Self> {
        let Transport::Api { base, description, .. } = &source.config.transport else { return None };
        let name = &source.config.name;
        let about = naming::clean(description, source.limits().description_chars);
        Some(Self {
            base: base.clone(),
            name: format!("api__{name}__request"),
            description: format!("Sends an HTTP request to the API `{name}` at {base}. {about}").trim_end().to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "method": {"type": "string", "enum": METHODS},
                    "path": {"type": "string", "description": "below the base address, like `users/7`"},
                    "query": {"type": "object", "additionalProperties": {"type": "string"}},
                    "body": {"description": "sent as JSON; a string is sent as it is"},
                },
                "required": ["method", "path"],
            }),
            source: Arc::clone(source),
        })
    }

    fn request(&self, input: &Value) -> Result<Request, String> {
        request(&self.base, input)
    }

    async fn send(&self, context: &Context, input: Value) -> Result<String, String> {
        let request = self.request(&input)?;
        let Transport::Api { headers, .. } = &self.source.config.transport else { return Err("not an API".to_owned()) };
        let (headers, redaction) = self
            .source
            .headers_for(Caller { session: context.session, call: context.call.clone() }, headers)
            .await
            .map_err(|error| error.to_string())?;
        let client = http::client()?;
        let method = request.method.parse().map_err(|_| "not a method".to_owned())?;
        let mut builder = client.request(method, request.url).headers(headers.into_iter().collect());
        builder = match request.body {
            Some(Value::String(text)) => builder.body(text),
            Some(body) => builder.header("content-type", "application/json").body(body.to_string()),
            None => builder,
        };
        let timeout = self.source.timeout();
        let work = tokio::time::timeout(timeout, receive(builder, self.source.limits().message_bytes));
        let received =
            context.cancel.run_until_cancelled(work).await.ok_or("Stopped; the request may have arrived.")?;
        let received = received.map_err(|_| slow(timeout))?;
        let (mut text, fine) = received.map_err(|reason| format!("The request failed: {reason}"))?;
        redaction.scrub(&mut text);
        if fine { Ok(text) } else { Err(text) }
    }
}

fn slow(timeout: Duration) -> String {
    format!("No answer within {} s. The request may have arrived.", timeout.as_secs())
}

/// Status and body as text, and whether it went well.
async fn receive(request: reqwest::RequestBuilder, most: usize) -> Result<(String, bool), String> {
    let plain = |error: reqwest::Error| error.without_url().to_string();
    let response = request.send().await.map_err(plain)?;
    let status = response.status();
    let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        body.extend_from_slice(&chunk.map_err(plain)?);
        if body.len() > most {
            return Err(format!("the answer is larger than {} MB", most >> 20));
        }
    }
    let mut text = format!("{status}\n{}", String::from_utf8_lossy(&body));
    if let Some(location) = location {
        text.push_str(&format!("\n[It points to {}; redirects are not followed.]", naming::clean(&location, 300)));
    }
    Ok((text, status.is_success()))
}

/// What the arguments ask for, if that is below `base`.
fn request(base: &url::Url, input: &Value) -> Result<Request, String> {
    let method = input.get("method").and_then(Value::as_str).unwrap_or("GET").to_ascii_uppercase();
    let method = METHODS.into_iter().find(|known| *known == method).ok_or("`method` is none of the methods.")?;
    let path = input.get("path").and_then(Value::as_str).unwrap_or_default();
    let outside = || format!("`path` must lead to something below {base}.");
    let relative = path.trim_start_matches('/');
    if relative.contains(['\\', '\n', '\r', '\t']) || relative.contains("//") && !relative.contains('?') {
        return Err(outside());
    }
    // As the server may see it: `%2e%2e` is `..` to many.
    let lower = relative.to_ascii_lowercase();
    if lower.contains("%2e") || lower.contains("%2f") || lower.contains("%5c") {
        return Err(outside());
    }
    let mut url = base.join(&format!("./{relative}")).map_err(|_| outside())?;
    let same = url.origin() == base.origin() && url.username().is_empty() && url.path().starts_with(base.path());
    if !same {
        return Err(outside());
    }
    url.set_fragment(None);
    if let Some(query) = input.get("query").and_then(Value::as_object).filter(|query| !query.is_empty()) {
        let mut pairs = url.query_pairs_mut();
        for (name, value) in query {
            pairs.append_pair(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
    }
    Ok(Request { method, url, body: input.get("body").filter(|body| !body.is_null()).cloned() })
}

impl Tool for ApiTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        match input.get("method").and_then(Value::as_str).map(str::to_ascii_uppercase).as_deref() {
            Some("GET" | "HEAD") => vec![Need::Reach(self.base.host_str().unwrap_or_default().to_owned())],
            _ => vec![Need::Use(self.name.clone())],
        }
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let input = match input {
            Value::String(text) => serde_json::from_str(text).map_err(|_| "The arguments must be a JSON object.")?,
            other => other.clone(),
        };
        self.request(&input)?;
        Ok(input)
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        let (method, path) = (input.get("method").and_then(Value::as_str), input.get("path").and_then(Value::as_str));
        let (method, path) = (naming::clean(method.unwrap_or("GET"), 10), naming::clean(path.unwrap_or("/"), 120));
        format!("{method} {path} at the API `{}`", self.source.config.name)
    }

    fn detail(&self, input: &Value, _: &Policy<'_>) -> Result<String, String> {
        let request = self.request(input)?;
        let body = request.body.map(|body| serde_json::to_string_pretty(&body).unwrap_or_default()).unwrap_or_default();
        Ok(format!("{} {}\n{body}", request.method, request.url).trim_end().to_owned())
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            match self.send(context, input).await {
                // What an API says is data, whatever it says.
                Ok(text) => {
                    let origin = format!("the API {}", self.source.config.name);
                    Finished::ok(outside::quoted(&origin, &text), summary)
                }
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
