//! The server as its user sees it: starts, accepts connections, tells what came, stops.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

use crate::Protocol;
use crate::answering::Answering;
use crate::behaviour::Behaviour;
use crate::connection;
use crate::conversation::Seen;
use crate::random::RandomFaults;

const BACKLOG: u32 = 8192;
const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// What a server does.
pub struct Settings {
    pub behaviour: Behaviour,
    /// Keeps every request for [`Server::requests`]. Without it, [`Behaviour::Rounds`] is answered
    /// from ready-made bytes and no request is parsed.
    pub record: bool,
    /// A pause before each answer.
    pub delay: Duration,
    pub address: SocketAddr,
    /// The only key that is let in. Others get status 401 and are neither counted nor recorded.
    pub key: Option<String>,
    pub faults: Option<RandomFaults>,
    /// A file to which a line is added per request: arrival in microseconds since 1970, size of
    /// the body, protocol, turn and round.
    pub log: Option<PathBuf>,
}

impl Settings {
    pub fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            record: true,
            delay: Duration::ZERO,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            key: None,
            faults: None,
            log: None,
        }
    }
}

/// What the server counted. Only model requests count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    pub requests: usize,
    /// The size of the first request's body.
    pub first_body_bytes: usize,
    pub body_bytes: u64,
    /// Bodies and heads as they came over the wire.
    pub wire_bytes: u64,
    /// When the first byte of the first request arrived, in microseconds since 1970.
    pub first_request_micros: Option<u64>,
    pub connections: usize,
    /// Clients that left before their answer was complete.
    pub hangups: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("waited {} s for {wanted} {what}, but only {seen} came", WAIT_LIMIT.as_secs())]
pub struct WaitError {
    pub what: &'static str,
    pub wanted: usize,
    pub seen: usize,
}

/// A running server. Dropping it closes the listener and all connections.
pub struct Server {
    address: SocketAddr,
    answering: Arc<Answering>,
    running: Running,
}

enum Running {
    Task(AbortHandle),
    Thread { stop: Option<oneshot::Sender<()>>, thread: Option<thread::JoinHandle<()>> },
}

impl Server {
    /// Starts on the caller's tokio runtime, on a free port of loopback.
    pub fn start(behaviour: Behaviour) -> io::Result<Self> {
        Self::start_with(Settings::new(behaviour))
    }

    /// Starts on the caller's tokio runtime.
    pub fn start_with(settings: Settings) -> io::Result<Self> {
        let listener = listen(settings.address)?;
        let address = listener.local_addr()?;
        let answering = Arc::new(Answering::new(settings)?);
        let task = tokio::spawn(accept(listener, Arc::clone(&answering)));
        Ok(Self { address, answering, running: Running::Task(task.abort_handle()) })
    }

    /// Starts on a thread and a single-threaded runtime of its own.
    pub fn start_thread(settings: Settings) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _context = runtime.enter();
            listen(settings.address)?
        };
        let address = listener.local_addr()?;
        let answering = Arc::new(Answering::new(settings)?);
        let (stop, stopped) = oneshot::channel::<()>();
        let for_thread = Arc::clone(&answering);
        let thread = thread::Builder::new().name("weft-script".to_owned()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = accept(listener, for_thread) => {}
                    // A dropped sender stops the server just as well.
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, answering, running: Running::Thread { stop: Some(stop), thread: Some(thread) } })
    }

    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The base URL as the protocol's own clients expect it.
    pub fn url(&self, protocol: Protocol) -> String {
        let address = self.address;
        match protocol {
            Protocol::Anthropic => format!("http://{address}"),
            Protocol::Responses | Protocol::Chat => format!("http://{address}/v1"),
            Protocol::Gemini => format!("http://{address}/v1beta"),
        }
    }

    /// The model requests so far, in the order in which they came. Empty if recording is off.
    pub fn requests(&self) -> Vec<Seen> {
        self.answering.requests()
    }

    pub fn stats(&self) -> Stats {
        self.answering.stats()
    }

    /// Bytes of request bodies received so far.
    pub fn bytes_received(&self) -> u64 {
        self.stats().body_bytes
    }

    /// Waits until at least this many model requests have been read.
    pub async fn wait_for_requests(&self, wanted: usize) -> Result<(), WaitError> {
        self.wait("requests", wanted, |stats| stats.requests).await
    }

    /// Waits until at least this many clients have left before their answer was complete.
    pub async fn wait_for_hangups(&self, wanted: usize) -> Result<(), WaitError> {
        self.wait("hangups", wanted, |stats| stats.hangups).await
    }

    async fn wait(&self, what: &'static str, wanted: usize, count: fn(&Stats) -> usize) -> Result<(), WaitError> {
        let mut stats = self.answering.subscribe();
        match tokio::time::timeout(WAIT_LIMIT, stats.wait_for(|stats| count(stats) >= wanted)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(WaitError { what, wanted, seen: count(&self.stats()) }),
        }
    }

    /// As [`Server::wait_for_requests`], for callers without a runtime.
    pub fn wait_for_requests_blocking(&self, wanted: usize) -> Result<(), WaitError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.wait_for_requests(wanted)),
            Err(_) => Err(WaitError { what: "requests", wanted, seen: self.stats().requests }),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Task(task) => task.abort(),
            Running::Thread { stop, thread } => {
                drop(stop.take());
                if let Some(thread) = thread.take() {
                    // A panic in the thread has already been reported there.
                    let _panicked = thread.join();
                }
            }
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Never returns; the connections end with it.
async fn accept(listener: TcpListener, answering: Arc<Answering>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    answering.count_connection();
                    // Without it small events may wait for an acknowledgement; answers are right either way.
                    let _slower = socket.set_nodelay(true);
                    connections.spawn(connection::serve(socket, Arc::clone(&answering)));
                }
                // Too many open files: connections that end make room.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}
