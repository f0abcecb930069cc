//! Listening: where, under which names, with or without TLS; and what is served.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, Parts, SharedDesk};
use crate::door::{self, Door};
use crate::extract::Path;
use crate::listener::{self, Tls};
use crate::names::Names;
use crate::problem::Problem;
use crate::tokens::{TokenError, Tokens, own_name};
use crate::{chores, edges, openapi, routes};

/// The largest request but for uploads: pictures come in JSON.
const LARGEST_REQUEST: usize = 32 * 1024 * 1024;
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

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Stopped,
    /// To begin anew, with everything opened again.
    ToStartAgain,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    address: SocketAddr,
    names: Names,
    tokens: Tokens,
    first_token: String,
}

/// Where a server is found.
#[derive(Debug, Clone)]
pub struct Listening {
    pub address: SocketAddr,
    /// Where programs ask, with a token.
    pub url: String,
    /// The address that lets a browser in.
    pub url_with_token: String,
}

impl Server {
    pub async fn bind(options: Options, tokens: Tokens) -> Result<Self, ServeError> {
        if !options.address.ip().is_loopback() && options.tls.is_none() && !options.insecure {
            return Err(ServeError::Open(options.address));
        }
        let acceptor = options.tls.as_ref().map(listener::acceptor).transpose()?;
        let first_token = tokens.first()?;
        let listen = |source| ServeError::Listen { address: options.address, source };
        let listener = TcpListener::bind(options.address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let names = Names::new(address, &own_name(&first_token), &options.hosts, acceptor.is_some());
        Ok(Self { listener, acceptor, address, names, tokens, first_token })
    }

    pub fn listening(&self) -> Listening {
        let scheme = if self.acceptor.is_some() { "https" } else { "http" };
        let shown = match self.address.ip() {
            ip if ip.is_unspecified() => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.address.port()),
            _ => self.address,
        };
        Listening {
            address: self.address,
            url: format!("{scheme}://{shown}/"),
            url_with_token: format!("{scheme}://{}/?token={}", self.names.home(), self.first_token),
        }
    }

    /// Serves until `stop` is cancelled; then streams end and answers under way are finished.
    pub async fn serve(self, parts: Parts, stop: CancellationToken) -> Result<Ended, ServeError> {
        let secure = self.acceptor.is_some();
        let door = Door::new(self.tokens, self.names, self.address.port(), secure, parts.version);
        let again = Arc::new(AtomicBool::new(false));
        let desk = Desk::new(parts, stop.clone(), Arc::clone(&again));
        tokio::spawn(chores::run(Arc::clone(&desk)));
        let serving = listener::serve(self.listener, self.acceptor, router(desk, door), stop.clone());
        let too_long = async {
            stop.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            () = serving => {}
            () = too_long => {}
        }
        Ok(if again.load(Ordering::SeqCst) { Ended::ToStartAgain } else { Ended::Stopped })
    }
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
