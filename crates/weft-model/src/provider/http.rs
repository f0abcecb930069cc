//! The one place that opens connections to providers.
//!
//! A provider has one client, and its connections are kept and used again. The client for `http://`
//! knows no certificates and costs next to nothing; the one for `https://` loads the system's
//! certificates the first time it is needed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use weft_core::{Failure, FailureKind};

use super::body::Body;
use super::refusal;
use super::secret::{Secret, scrub};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an error page is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long the rest of a finished stream is waited for, so that its connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A provider's address, headers and connections.
pub(super) struct Endpoint {
    provider: Arc<str>,
    base_url: String,
    headers: HeaderMap,
    key: Option<Secret>,
    idle: Duration,
    client: OnceLock<Client>,
}

impl Endpoint {
    pub(super) fn new(
        provider: Arc<str>,
        base_url: &str,
        headers: &[(String, String)],
        key: Option<Secret>,
        idle: Duration,
    ) -> Result<Self, Failure> {
        let base_url = base_url.trim().trim_end_matches('/').to_owned();
        let valid = reqwest::Url::parse(&base_url)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
        if !valid {
            let message = format!(
                "The base URL `{base_url}` of {provider} is not a web address: it should look like https://api.example.com/v1."
            );
            return Err(Failure::new(FailureKind::Config, message));
        }
        let mut map = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            map.insert(header_name(&provider, name)?, header_value(&provider, name, value)?);
        }
        Ok(Self { provider, base_url, headers: map, key, idle, client: OnceLock::new() })
    }

    pub(super) fn provider(&self) -> &Arc<str> {
        &self.provider
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(super) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// Sends a JSON body and waits for the answer to begin. An answer that is not a success is read
    /// and becomes a failure.
    ///
    /// Not an `async fn`, and so are the others here: what such a function is given stays in memory until
    /// it ends, and thousands of calls may wait for their answers.
    pub(super) fn post(
        &self,
        path: &str,
        auth: Option<(HeaderName, HeaderValue)>,
        fixed: &[(&'static str, &'static str)],
        body: Body,
    ) -> impl Future<Output = Result<Response, Failure>> + Send + use<'_> {
        // Given away: plain bytes the client would keep until the answer begins.
        let body = reqwest::Body::wrap(body);
        let request = self.client().map(|client| {
            let request = client.post(format!("{}{path}", self.base_url)).body(body);
            request.header("content-type", "application/json").header("accept", "text/event-stream")
        });
        self.send(request, auth, fixed)
    }

    /// Sends a JSON body and reads the JSON that comes back. Failures are those of [`Endpoint::post`].
    pub(super) async fn ask(
        &self,
        path: &str,
        auth: Option<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
        longest: usize,
    ) -> Result<Vec<u8>, Failure> {
        let request = self.client()?.post(format!("{}{path}", self.base_url)).body(body);
        let request = request.header("content-type", "application/json").header("accept", "application/json");
        let response = self.send(Ok(request), auth, &[]).await?;
        self.read_up_to(response, longest).await
    }

    /// Asks for a document. Failures are those of [`Endpoint::post`].
    pub(super) fn get(
        &self,
        path: &str,
        auth: Option<(HeaderName, HeaderValue)>,
        fixed: &[(&'static str, &'static str)],
    ) -> impl Future<Output = Result<Response, Failure>> + Send + use<'_> {
        let request = self
            .client()
            .map(|client| client.get(format!("{}{path}", self.base_url)).header("accept", "application/json"));
        self.send(request, auth, fixed)
    }

    fn send(
        &self,
        request: Result<RequestBuilder, Failure>,
        auth: Option<(HeaderName, HeaderValue)>,
        fixed: &[(&'static str, &'static str)],
    ) -> impl Future<Output = Result<Response, Failure>> + Send + use<'_> {
        let request = request.map(|mut request| {
            for (name, value) in fixed {
                request = request.header(*name, *value);
            }
            if let Some((name, value)) = auth {
                request = request.header(name, value);
            }
            // The user's own headers come last: they win.
            request.headers(self.headers.clone()).send()
        });
        self.answer_to(request)
    }

    async fn answer_to(
        &self,
        sent: Result<impl Future<Output = reqwest::Result<Response>>, Failure>,
    ) -> Result<Response, Failure> {
        let response = match tokio::time::timeout(self.idle, sent?).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.not_reached(error)),
            Err(_) => return Err(self.silent()),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        Err(Box::pin(self.refusal(response)).await)
    }

    async fn refusal(&self, response: Response) -> Failure {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = self.read_up_to(response, MAX_ERROR_BODY).await.unwrap_or_default();
        refusal::from_response(&self.provider, status, &headers, &body, self.key.as_ref())
    }

    /// The next bytes of an answer, or `None` at its end.
    pub(super) async fn next_bytes(&self, response: &mut Response) -> Result<Option<Bytes>, Failure> {
        match tokio::time::timeout(self.idle, response.chunk()).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => {
                let why = self.reason(&error);
                let message =
                    format!("The connection to {} was lost in the middle of the answer: {why}.", self.provider);
                Err(Failure::new(FailureKind::StreamBroken, message))
            }
            Err(_) => Err(self.silent()),
        }
    }

    /// The whole body, or as much of it as `limit` allows.
    pub(super) async fn read_up_to(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(bytes) = self.next_bytes(&mut response).await? {
            body.extend_from_slice(bytes.get(..limit - body.len()).unwrap_or(&bytes));
            if body.len() >= limit {
                break;
            }
        }
        Ok(body)
    }

    fn silent(&self) -> Failure {
        let message = format!("{} has sent nothing for {} s.", self.provider, self.idle.as_secs_f32());
        Failure::new(FailureKind::Idle, message)
    }

    fn not_reached(&self, error: reqwest::Error) -> Failure {
        let why = self.reason(&error);
        Failure::new(FailureKind::Network, format!("Cannot reach {} at {}: {why}.", self.provider, self.base_url))
    }

    /// The innermost cause, which is the one that says something.
    fn reason(&self, error: &reqwest::Error) -> String {
        if error.is_timeout() {
            return "it took too long".to_owned();
        }
        let mut innermost: &dyn std::error::Error = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        scrub(innermost.to_string().trim_end_matches('.'), self.key.as_ref())
    }

    fn client(&self) -> Result<&Client, Failure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let url = reqwest::Url::parse(&self.base_url).ok();
        let secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let near = url.as_ref().and_then(reqwest::Url::host_str).is_some_and(is_this_machine);
        let client = make_client(secure, near).map_err(|error| {
            let message = format!("Cannot set up the connection to {}: {}.", self.provider, self.reason(&error));
            Failure::new(FailureKind::Config, message)
        })?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Reads what is left of a finished answer. A connection whose answer was not read to its end cannot
/// be used again.
pub(super) fn drain(mut response: Response) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        tokio::time::timeout(DRAIN_TIMEOUT, rest).await.ok();
    });
}

pub(super) fn header_value(provider: &str, name: &str, value: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let message = format!("The header or key `{name}` of {provider} has characters that cannot be sent.");
        Failure::new(FailureKind::Config, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_name(provider: &str, name: &str) -> Result<HeaderName, Failure> {
    HeaderName::try_from(name)
        .map_err(|_| Failure::new(FailureKind::Config, format!("`{name}`, set for {provider}, is not a header name.")))
}

/// This is the fence's gate: HTTP clients are made here and nowhere else.
#[allow(clippy::disallowed_methods)]
fn make_client(secure: bool, near: bool) -> Result<Client, reqwest::Error> {
    install_crypto();
    let mut builder = Client::builder()
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(Duration::from_secs(90))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")));
    // What runs on this machine is not behind a proxy, whatever the environment says.
    if near {
        builder = builder.no_proxy();
    }
    if secure {
        return builder.build();
    }
    // Without this, reqwest would load the system's certificates that plain HTTP has no use for. A
    // proxy reached over TLS would not be trusted; one for plain HTTP never is.
    let no_certificates =
        rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    builder.tls_backend_preconfigured(no_certificates).build()
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// rustls wants one process-wide choice; somebody else's earlier choice is as good.
fn install_crypto() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        rustls::crypto::ring::default_provider().install_default().ok();
    });
}
