//! Listening: where, under which names, with or without TLS; and what is served.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Router, middleware};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, Parts, SharedDesk};
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::tokens::{TokenError, Tokens};
use crate::{chores, edges, openapi, routes};

/// The largest request but for uploads: pictures come in JSON.
const LARGEST_REQUEST: usize = 32 * 1024 * 1024;
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long answers under way may take when the server ends.
const FAREWELL: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "`{0}` can be reached from other machines, and what is sent there can be read on the way. Give a certificate \
         with --tls-cert and --tls-key, or say --insecure if the network is yours alone"
    )]
    Open(SocketAddr),
    #[error("cannot listen on `{address}`; choose another port with --addr, or end the other server")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the certificate in `{path}` cannot be used: {reason}")]
    Certificate { path: String, reason: String },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("the server ended: {0}")]
    Ended(io::Error),
}

/// A certificate chain and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub address: SocketAddr,
    pub tls: Option<Tls>,
    /// Other machines may ask without TLS.
    pub insecure: bool,
    /// More names under which this server is asked for.
    pub hosts: Vec<String>,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    address: SocketAddr,
    options: Options,
    tokens: Tokens,
    first_token: String,
}

/// Where a server is found.
#[derive(Debug, Clone)]
pub struct Listening {
    pub address: SocketAddr,
    /// Without the token.
    pub url: String,
    /// The address that lets a browser in.
    pub url_with_token: String,
}

impl Server {
    pub async fn bind(options: Options, tokens: Tokens) -> Result<Self, ServeError> {
        if !options.address.ip().is_loopback() && options.tls.is_none() && !options.insecure {
            return Err(ServeError::Open(options.address));
        }
        let acceptor = options.tls.as_ref().map(acceptor).transpose()?;
        let first_token = tokens.first()?;
        let listen = |source| ServeError::Listen { address: options.address, source };
        let listener = TcpListener::bind(options.address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, acceptor, address, options, tokens, first_token })
    }

    pub fn listening(&self) -> Listening {
        let scheme = if self.acceptor.is_some() { "https" } else { "http" };
        let shown = match self.address.ip() {
            ip if ip.is_unspecified() => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.address.port()),
            _ => self.address,
        };
        let url = format!("{scheme}://{shown}/");
        Listening { address: self.address, url_with_token: format!("{url}?token={}", self.first_token), url }
    }

    /// Serves until `stop` is cancelled; then streams end and answers under way are finished.
    pub async fn serve(self, parts: Parts, stop: CancellationToken) -> Result<(), ServeError> {
        let secure = self.acceptor.is_some();
        let door = Door::new(
            self.tokens,
            hosts(self.address, &self.options.hosts),
            // Names of machines that a proxy or a network gives are not known here.
            false,
            self.address.port(),
            secure,
            parts.version,
        );
        let desk = Desk::new(parts, stop.clone());
        tokio::spawn(chores::run(Arc::clone(&desk)));
        let router = router(desk, door);
        let ended = stop.clone();
        let closing = async move { ended.cancelled().await };
        let serving = async {
            match self.acceptor {
                Some(acceptor) => {
                    let listener = TlsListener { listener: self.listener, acceptor };
                    axum::serve(listener, router).with_graceful_shutdown(closing).await
                }
                None => {
                    use axum::serve::ListenerExt as _;
                    // A delta is a small packet that must not wait for another.
                    let listener = self.listener.tap_io(|stream| {
                        let _ = stream.set_nodelay(true);
                    });
                    axum::serve(listener, router).with_graceful_shutdown(closing).await
                }
            }
        };
        let too_long = async {
            stop.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            served = serving => served.map_err(ServeError::Ended),
            () = too_long => Ok(()),
        }
    }
}

/// Names with port under which a browser may ask for this server.
fn hosts(address: SocketAddr, more: &[String]) -> Vec<String> {
    let port = address.port();
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST), address.ip()];
    let mut hosts: Vec<String> = loopback.iter().map(|ip| SocketAddr::new(*ip, port).to_string()).collect();
    hosts.push(format!("localhost:{port}"));
    for name in more {
        hosts.push(name.clone());
        hosts.push(format!("{name}:{port}"));
    }
    hosts
}

fn router(desk: SharedDesk, door: Arc<Door>) -> Router {
    let (api, description) = utoipa_axum::router::OpenApiRouter::new()
        .nest(openapi::BASE, routes::api())
        .with_state(Arc::clone(&desk))
        .split_for_parts();
    drop(description);
    let document = Arc::new(openapi::complete(&openapi::document(), desk.version));
    Router::new()
        .route("/api/v1/openapi.json", get(move || async move { openapi::answer(&document) }))
        .route("/docs", get(|| async { openapi::viewer("") }))
        .route("/docs/{name}", get(|Path(name): Path<String>| async move { openapi::viewer(&name) }))
        .merge(api)
        .merge(edges::edges(&desk))
        .fallback(page)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .layer(middleware::from_fn_with_state(door, door::guard))
        .with_state(desk)
}

async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "This address does not take this method.")
}

/// Whatever is no route is the web app's, but for what looks like a route.
async fn page(State(desk): State<SharedDesk>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if method != Method::GET && method != Method::HEAD {
        return wrong_method().await.into_response();
    }
    if path.starts_with("/api/") || path.starts_with("/v1/") {
        return Problem::missing("There is nothing here. The API is described at /docs.").into_response();
    }
    desk.assets.answer(path, &headers, desk.version)
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &PathBuf, reason: String| ServeError::Certificate { path: path.display().to_string(), reason };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(&tls.certificate, error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong(&tls.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&tls.certificate, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&tls.certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
            let _ = stream.set_nodelay(true);
            // Whoever does not shake hands in time, or wrongly, is not served.
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, self.acceptor.accept(stream)).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
