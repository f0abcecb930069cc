//! Weft's client as the official conformance suite drives it: the suite gives the address as the
//! last argument and the scenario in MCP_CONFORMANCE_SCENARIO. Signing in is done without a browser
//! by following the addresses. For tests only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::print_stdout,
    clippy::print_stderr
)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use weft_core::{CallId, Field, SessionId, form};
use weft_mcp::client::Call;
use weft_mcp::client::host::{Caller, Handle, Host, Question, Sample, Sampled, Secret};
use weft_mcp::config::{Origin, SourceTable};
use weft_mcp::oauth::Tokens;
use weft_mcp::sources::{Source, Surroundings};
use weft_mcp::trust::Trust;
use weft_mcp::{Limits, SourceError, Sources};
use weft_tool::Redaction;

/// How often a wider sign-in is tried before giving up.
const MOST_SIGN_INS: u32 = 3;

/// Leaves every field as it is.
struct Agreeable;

impl Host for Agreeable {
    fn ask(&self, _: Caller, _: Question) -> BoxFuture<'static, Option<String>> {
        Box::pin(std::future::ready(Some(String::new())))
    }

    fn fill(&self, _: Caller, _: String, fields: Vec<Field>) -> BoxFuture<'static, Option<Map<String, Value>>> {
        let left = fields.iter().filter_map(|field| Some((field.name.clone(), form::read(field, "").ok()??))).collect();
        Box::pin(std::future::ready(Some(left)))
    }

    fn credential(&self, _: Caller, secret: Secret) -> BoxFuture<'static, Result<Handle, String>> {
        let handle: Handle = Box::new(move || (secret.reveal)().ok_or_else(|| "there is none".to_owned()));
        Box::pin(async move { Ok(handle) })
    }

    fn sample(&self, _: Caller, _: String, _: Sample) -> BoxFuture<'static, Result<Sampled, String>> {
        Box::pin(std::future::ready(Err("no model here".to_owned())))
    }
}

#[derive(Default)]
struct Pocket(Mutex<BTreeMap<String, String>>);

impl Tokens for Pocket {
    fn load(&self, source: &str) -> Result<Option<String>, String> {
        Ok(self.0.lock().unwrap().get(source).cloned())
    }

    fn save(&self, source: &str, text: &str) -> Result<(), String> {
        self.0.lock().unwrap().insert(source.to_owned(), text.to_owned());
        Ok(())
    }

    fn clear(&self, source: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(source);
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    let url = std::env::args().next_back().unwrap();
    let given: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Value::Null);
    let text = |name: &str| given[name].as_str().map(str::to_owned);
    let secret = text("client_secret");
    let table = SourceTable {
        url: Some(url),
        client_id: text("client_id"),
        client_secret: secret.as_ref().map(|_| "vault:secret".to_owned()),
        ..SourceTable::default()
    };
    let config = table.resolve("suite", Origin::User).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let around = Surroundings {
        limits: Limits::default(),
        env: Arc::new(|_| None),
        vault: Arc::new(move |_| secret.clone()),
        taken: None,
        redaction: Redaction::default(),
        cache: None,
        trust: Trust::open(folder.path()),
        tokens: Some(Arc::new(Pocket::default())),
        fencing: None,
        client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
    };
    let sources = Sources::new(vec![config], folder.path(), around);
    sources.set_host(Arc::new(Agreeable));
    let source = &sources.get("suite").unwrap();
    let listing = signed_in(source, || Arc::clone(source).list()).await.expect("the list of tools");
    for tool in &listing.tools {
        let arguments = match tool.name.as_ref() {
            "add_numbers" => json!({"a": 2, "b": 3}),
            _ => json!({}),
        };
        let called = signed_in(source, || call(source, &tool.name, arguments.clone())).await;
        println!("{}: {}", tool.name, called.unwrap_or_else(|error| error.to_string()));
    }
    sources.close().await;
}

async fn call(source: &Arc<Source>, tool: &str, arguments: Value) -> Result<String, SourceError> {
    let connection = source.connection().await?;
    let called = connection
        .call(Call {
            tool,
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            caller: Some(Caller { session: SessionId::from_random(1), call: CallId::new("c".to_owned()) }),
            live: Arc::new(|_| {}),
            cancel: &CancellationToken::new(),
            timeout: Duration::from_secs(20),
        })
        .await?;
    Ok(format!("{:?}", called.result.content))
}

/// Does something; where the server wants a sign-in, signs in and does it again.
async fn signed_in<T, F: Future<Output = Result<T, SourceError>>>(
    source: &Arc<Source>,
    work: impl Fn() -> F,
) -> Result<T, SourceError> {
    let mut tries = 0;
    loop {
        match work().await {
            Err(SourceError::SignIn { challenge, .. }) if tries < MOST_SIGN_INS => {
                tries += 1;
                eprintln!("signing in, challenge {challenge:?}");
                source.sign_in(challenge, visit).await.expect("the sign-in");
            }
            other => return other,
        }
    }
}

/// What a person would do with a browser.
fn visit(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::limited(5)).build().unwrap();
        let answer = client.get(address).send().await;
        eprintln!("visited: {:?}", answer.map(|answer| answer.status()));
    });
}
