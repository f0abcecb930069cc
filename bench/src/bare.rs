//! The lower bound for many sessions: the same requests from a bare loop that keeps no state, writes
//! nothing and understands nothing of what comes back.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::process;

/// How a run of many sessions went.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Outcome {
    pub seconds: f64,
    pub peak_kb: u64,
    pub failed: usize,
}

/// About as long as Weft's own prompt and tools.
const PROMPT_BYTES: usize = 4_500;

pub async fn run(url: &str, sessions: usize, rounds: usize) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let client = client()?;
    let bodies: Vec<Bytes> = (0..=rounds).map(body).collect();
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..sessions {
        let (client, bodies, url) = (client.clone(), bodies.clone(), format!("{url}/v1/messages"));
        running.spawn(async move { talk(&client, &url, bodies).await });
    }
    let mut failed = 0;
    while let Some(session) = running.join_next().await {
        failed += usize::from(!matches!(session, Ok(Ok(()))));
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(Outcome { seconds, peak_kb: process::high_water_kb(std::process::id()), failed })
}

#[allow(clippy::disallowed_methods, reason = "the bare client is what Weft's is compared with")]
fn client() -> anyhow::Result<reqwest::Client> {
    // Loopback needs no certificates, and loading them would be measured.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tls =
        rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    let client = reqwest::Client::builder().http1_only().no_proxy().tls_backend_preconfigured(tls);
    Ok(client.timeout(Duration::from_secs(120)).build()?)
}

async fn talk(client: &reqwest::Client, url: &str, bodies: Vec<Bytes>) -> anyhow::Result<()> {
    for body in bodies {
        let response = client.post(url).header("content-type", "application/json").body(body).send().await?;
        if !response.status().is_success() {
            bail!("the server said {}", response.status());
        }
        let answer = response.bytes().await?;
        answer.windows(12).any(|part| part == b"message_stop").then_some(()).context("the answer has no end")?;
    }
    Ok(())
}

/// What single calls of this size take, one after the other over one connection, in milliseconds.
pub async fn calls(url: &str, bytes: usize, count: usize) -> anyhow::Result<Vec<f64>> {
    let (client, url) = (client()?, format!("{url}/v1/messages"));
    let messages = [json!({"role": "user", "content": "x".repeat(bytes)})];
    let body: Bytes = json!({"model": "m", "max_tokens": 100, "stream": true, "messages": messages}).to_string().into();
    // The first one opens the connection.
    talk(&client, &url, vec![body.clone()]).await?;
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        talk(&client, &url, vec![body.clone()]).await?;
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok(times)
}

/// The conversation after so many rounds.
fn body(round: usize) -> Bytes {
    let mut messages = vec![json!({"role": "user", "content": "Say hi, step by step."})];
    for number in 0..round {
        let id = format!("toolu_{number:08}_1");
        let call: Value = json!({"type": "tool_use", "id": id, "name": "todo", "input": {"items": []}});
        let result: Value = json!({"type": "tool_result", "tool_use_id": id, "content": "0 tasks."});
        messages.push(json!({"role": "assistant", "content": [call]}));
        messages.push(json!({"role": "user", "content": [result]}));
    }
    let system = "x".repeat(PROMPT_BYTES);
    let request = json!({"model": "m", "max_tokens": 100, "stream": true, "system": system, "messages": messages});
    request.to_string().into()
}
