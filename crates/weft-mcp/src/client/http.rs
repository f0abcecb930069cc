//! Sources that are reached over HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use http::{HeaderName, HeaderValue};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpClientWorker};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use tokio::time::Instant;
use weft_tool::Redaction;

use super::handler::Handler;
use super::listening::Listening;
use super::meter::Traffic;
use super::{Connection, SourceError};
use crate::config::OAuthClient;
use crate::limits::Limits;
use crate::naming;
use crate::oauth::{self, Tokens};

/// Where to, with which headers and whose tokens.
pub struct HttpSpec {
    pub url: url::Url,
    pub headers: HashMap<HeaderName, HeaderValue>,
    pub client: Option<(OAuthClient, Option<String>)>,
    pub tokens: Option<Arc<dyn Tokens>>,
}

pub async fn connect(
    name: &str,
    spec: &HttpSpec,
    handler: Handler,
    redaction: Redaction,
    limits: Limits,
) -> Result<Connection, SourceError> {
    let failed = |reason: &str| {
        let mut reason = naming::clean(reason, 600);
        redaction.scrub(&mut reason);
        SourceError::Start { source_name: name.to_owned(), reason }
    };
    let traffic = Arc::new(Traffic::default());
    let client = Listening::new(client().map_err(|reason| failed(&reason))?, limits, Arc::clone(&traffic));
    let handler = Arc::new(handler);
    let mut refused = None;
    for lifecycle in super::lifecycles() {
        let modern = !matches!(lifecycle, rmcp::ClientLifecycleMode::Initialize);
        let config = StreamableHttpClientTransportConfig::with_uri(spec.url.as_str())
            .custom_headers(spec.headers.clone())
            .max_sse_event_size(limits.message_bytes);
        let serving = serve(name, spec, client.clone(), config, Arc::clone(&handler), lifecycle);
        match tokio::time::timeout(limits.connect, serving).await {
            Ok(Ok(running)) => {
                client.settled().await;
                return Ok(Connection {
                    name: name.to_owned(),
                    running,
                    handler,
                    traffic,
                    limits,
                    redaction,
                    modern,
                    process: None,
                    used: Mutex::new(Instant::now()),
                });
            }
            Ok(Err(error)) if error.is_authorization_required() => {
                let challenge = error.auth_challenge().map(str::to_owned);
                return Err(SourceError::SignIn { source_name: name.to_owned(), challenge });
            }
            Ok(Err(error)) => match *error {
                ClientInitializeError::JsonRpcError(error) if !modern => refused = Some(error.message.to_string()),
                error => return Err(failed(&refused.unwrap_or_else(|| error.to_string()))),
            },
            Err(_) => return Err(failed(&format!("it did not answer within {} s", limits.connect.as_secs()))),
        }
    }
    Err(failed(&refused.unwrap_or_default()))
}

type Served = Result<RunningService<RoleClient, Arc<Handler>>, Box<ClientInitializeError>>;

/// Shakes hands, with tokens where there is a place to keep them.
async fn serve(
    name: &str,
    spec: &HttpSpec,
    client: Listening,
    config: StreamableHttpClientTransportConfig,
    handler: Arc<Handler>,
    lifecycle: ClientLifecycleMode,
) -> Served {
    let own_header = spec.headers.contains_key(&http::header::AUTHORIZATION);
    let serving = match spec.tokens.clone().filter(|_| !own_header) {
        Some(tokens) => {
            let own = spec.client.as_ref().map(|(client, secret)| (client, secret.clone()));
            let manager = oauth::manager(name, &spec.url, tokens, own)
                .await
                .map_err(|reason| Box::new(ClientInitializeError::ConnectionClosed(reason)))?;
            let worker = StreamableHttpClientWorker::new(AuthClient::new(client, manager), config);
            handler.serve_with_lifecycle(worker, lifecycle).await
        }
        None => handler.serve_with_lifecycle(StreamableHttpClientWorker::new(client, config), lifecycle).await,
    };
    serving.map_err(Box::new)
}

/// Settles which cryptography TLS uses, once for the process.
pub fn install_tls() {
    // A second call finds it installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client that follows no redirects: a source's address is what the person wrote.
#[allow(clippy::disallowed_methods, reason = "sources are reached here and nowhere else")]
pub fn client() -> Result<reqwest::Client, String> {
    install_tls();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(std::time::Duration::from_secs(15))
        .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}
