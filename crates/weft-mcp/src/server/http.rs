//! The offer over HTTP. Only this machine can reach it unless a token is asked for; a page in a
//! browser cannot, whatever its name resolves to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Offer, Server};

/// Connections at the same time.
const MOST_CONNECTIONS: usize = 256;
const LARGEST_REQUEST: usize = 4 * 1024 * 1024;
pub const PATH: &str = "/mcp";

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "`{0}` can be reached from other machines, so a token is needed: set WEFT_MCP_TOKEN to a long random text, \
         or serve on 127.0.0.1"
    )]
    NoToken(SocketAddr),
    #[error("cannot listen on `{address}`: {source}. Choose another port")]
    Listen { address: SocketAddr, source: std::io::Error },
}

pub struct HttpServer {
    listener: TcpListener,
    token: Option<Arc<str>>,
}

type Body = BoxBody<Bytes, Infallible>;

/// An offer as part of another server, which has decided by itself who may ask.
pub fn service<O: Offer>(
    offer: Arc<O>,
    stop: CancellationToken,
) -> StreamableHttpService<Server<O>, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LARGEST_REQUEST)
        .with_cancellation_token(stop)
        .disable_allowed_hosts();
    let server = Server::new(offer);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config)
}

impl HttpServer {
    /// Listens. An address that others can reach needs a token.
    pub async fn bind(address: SocketAddr, token: Option<String>) -> Result<Self, ServeError> {
        let token = token.filter(|token| !token.is_empty());
        if !address.ip().is_loopback() && token.is_none() {
            return Err(ServeError::NoToken(address));
        }
        let listener = TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })?;
        Ok(Self { listener, token: token.map(Into::into) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is cancelled.
    pub async fn serve<O: Offer>(self, offer: Arc<O>, stop: CancellationToken) {
        let mut config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_max_request_body_bytes(LARGEST_REQUEST)
            .with_cancellation_token(stop.clone());
        config.allowed_origins =
            ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned).to_vec();
        if let Ok(address) = self.address().map(|address| address.ip()).map(|ip| ip.to_string()) {
            config.allowed_hosts.push(address);
        }
        if self.token.is_some() {
            // Whoever has the token may come under any name.
            config = config.disable_allowed_hosts();
        }
        let server = Server::new(offer);
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
        let places = Arc::new(tokio::sync::Semaphore::new(MOST_CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((stream, _)) = accepted else { continue };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
            let (service, token, stop) = (service.clone(), self.token.clone(), stop.clone());
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let (service, token) = (service.clone(), token.clone());
                    async move { Ok::<_, Infallible>(answer(request, &service, token.as_deref()).await) }
                });
                let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let connection = server.serve_connection(TokioIo::new(stream), answer);
                tokio::select! {
                    // How a connection ends is the client's affair.
                    _ = connection => {}
                    () = stop.cancelled() => {}
                }
                drop(place);
            });
        }
    }
}

async fn answer<O: Offer>(
    request: Request<Incoming>,
    service: &StreamableHttpService<Server<O>, LocalSessionManager>,
    token: Option<&str>,
) -> Response<Body> {
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "There is nothing here; MCP is at /mcp.\n");
    }
    if let Some(token) = token {
        let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !same(given.as_bytes(), token.as_bytes()) {
            let mut response = plain(StatusCode::UNAUTHORIZED, "Send the token as `Authorization: Bearer TOKEN`.\n");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
            return response;
        }
    }
    service.handle(request).await.map(|body| body.boxed())
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Takes the same time wherever the difference is.
fn same(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len() && given.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
