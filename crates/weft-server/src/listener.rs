//! Connections, plain or with TLS, each on its own, so that whoever is slow or silent holds up nobody.
//!
//! Whoever has not shown a token yet is a stranger. Of those only so many stay, and the one who came first
//! goes first: who opens connections and says nothing would else keep everybody out, the database with
//! them, for a process has few files.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service as _;

use crate::patience::Patient;
use crate::serving::ServeError;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// So long a connection may say nothing while no answer is on its way.
const SILENCE: Duration = Duration::from_secs(60);
/// When there are so many strangers, those go who are older than this.
const MANY_STRANGERS: usize = 256;
const GRACE: Duration = Duration::from_secs(1);
/// When there are so many, somebody goes however young.
const MOST_STRANGERS: usize = 512;

/// A certificate chain and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &Path, reason: String| ServeError::Certificate { path: path.display().to_string(), reason };
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

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Who is connected, from the first byte to the last.
pub struct Guest {
    came: Instant,
    /// A token was shown, or the connection is over: there is nothing more to settle.
    settled: AtomicBool,
    leave: CancellationToken,
}

impl Guest {
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }
}

/// Those who have not shown a token, the first who came first.
#[derive(Default)]
struct Strangers(Mutex<VecDeque<Arc<Guest>>>);

impl Strangers {
    fn enter(&self) -> Arc<Guest> {
        let now = Instant::now();
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() >= MANY_STRANGERS {
            strangers.retain(|guest| !guest.settled.load(Ordering::Relaxed));
        }
        while strangers.front().is_some_and(|oldest| {
            strangers.len() >= MOST_STRANGERS || (strangers.len() >= MANY_STRANGERS && now - oldest.came > GRACE)
        }) {
            if let Some(oldest) = strangers.pop_front() {
                oldest.leave.cancel();
            }
        }
        let guest = Arc::new(Guest { came: now, settled: AtomicBool::new(false), leave: CancellationToken::new() });
        strangers.push_back(Arc::clone(&guest));
        guest
    }
}

/// Serves all who come, until `stop` is cancelled and the answers under way are sent.
pub async fn serve(mut listener: TcpListener, acceptor: Option<TlsAcceptor>, router: Router, stop: CancellationToken) {
    let (strangers, connections) = (Strangers::default(), TaskTracker::new());
    loop {
        let (stream, address) = tokio::select! {
            // Waits where the system has no more files.
            accepted = Listener::accept(&mut listener) => accepted,
            () = stop.cancelled() => break,
        };
        // A delta is a small packet that must not wait for another.
        let _ = stream.set_nodelay(true);
        let (router, guest, stop) = (router.clone(), strangers.enter(), stop.clone());
        let attended = attend(stream, acceptor.clone(), Connection { peer: Peer(address), router, guest, stop });
        connections.spawn(attended);
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

struct Connection {
    peer: Peer,
    router: Router,
    guest: Arc<Guest>,
    stop: CancellationToken,
}

async fn attend(stream: TcpStream, acceptor: Option<TlsAcceptor>, connection: Connection) {
    let guest = Arc::clone(&connection.guest);
    let served = async {
        let Some(acceptor) = acceptor else { return connection.serve(stream).await };
        // Whoever does not shake hands in time, or wrongly, is not served.
        if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Box::pin(connection.serve(stream)).await;
        }
    };
    tokio::select! {
        () = served => {}
        () = guest.leave.cancelled() => {}
    }
    guest.settle();
}

impl Connection {
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Self { peer, router, guest, stop } = self;
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(Arc::clone(&guest));
            router.clone().call(request)
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(SILENCE);
        let mut connection = pin!(http.serve_connection(TokioIo::new(Patient::new(stream)), service));
        tokio::select! {
            // What goes wrong with a connection is over with it.
            _ = connection.as_mut() => return,
            () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
