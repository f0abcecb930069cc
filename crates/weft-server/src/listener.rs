//! Connections, plain or with TLS. Handshakes go on side by side, so that whoever is slow or silent
//! holds up nobody.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::patience::Patient;
use crate::serving::ServeError;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// Whoever comes while so many shake hands waits at the door of the system.
const MOST_HANDSHAKES: usize = 512;

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

impl Connected<IncomingStream<'_, PlainListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, PlainListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

pub struct PlainListener(pub TcpListener);

impl Listener for PlainListener {
    type Io = Patient<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // A delta is a small packet that must not wait for another.
        let _ = stream.set_nodelay(true);
        (Patient::new(stream), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

type Shaken = Option<(TlsStream<TcpStream>, SocketAddr)>;

pub struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    handshakes: JoinSet<Shaken>,
}

impl TlsListener {
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> Self {
        Self { listener, acceptor, handshakes: JoinSet::new() }
    }

    fn shake_hands(&mut self, stream: TcpStream, address: SocketAddr) {
        let _ = stream.set_nodelay(true);
        let acceptor = self.acceptor.clone();
        self.handshakes.spawn(async move {
            // Whoever does not shake hands in time, or wrongly, is not served.
            let shaken = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
            shaken.ok()?.ok().map(|stream| (stream, address))
        });
    }
}

impl Listener for TlsListener {
    type Io = Patient<TlsStream<TcpStream>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let has_room = self.handshakes.len() < MOST_HANDSHAKES;
            tokio::select! {
                Some(shaken) = self.handshakes.join_next() => {
                    if let Ok(Some((stream, address))) = shaken {
                        return (Patient::new(stream), address);
                    }
                }
                (stream, address) = Listener::accept(&mut self.listener), if has_room => {
                    self.shake_hands(stream, address);
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
