//! The only way to the network from a sandbox whose policy allows some domains. It runs in Weft and
//! accepts on a listener inside the sandbox's own network, where there is no other way out.
//!
//! A request is let through if its domain is allowed and every address that the name has is a
//! public one; so no name leads to this machine, its neighbours or a cloud's metadata service.

mod address;
mod domain;
mod request;

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

pub use address::is_public;
pub use domain::{Domain, DomainError};

use request::{Request, Target};

const LONGEST_HEAD: usize = 32 * 1024;
/// For a request to be said, and for a server to be reached.
const PATIENCE: Duration = Duration::from_secs(30);
const MOST_CONNECTIONS: usize = 256;

/// Somebody in the sandbox wanted to reach a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    pub host: String,
    pub port: u16,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    /// One sentence, for people and for who asked.
    Blocked(String),
    /// It was allowed and could not be reached.
    Unreachable(String),
}

/// Is told of every visit, for the audit.
pub type Report = Arc<dyn Fn(&Visit) + Send + Sync>;

/// What a proxy has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub allowed: u64,
    pub blocked: u64,
}

/// What is forbidden though its domain is allowed, asked for each visit: rules change.
pub type Forbids = Arc<dyn Fn(&str) -> bool + Send + Sync>;

struct Rules {
    allowed: Vec<Domain>,
    forbids: Forbids,
    report: Report,
    counts: Mutex<Counts>,
    /// For tests, whose servers have no public address.
    #[cfg(any(test, feature = "loopback"))]
    loopback: bool,
}

/// A proxy that runs until it is dropped.
pub struct Proxy {
    socket: PathBuf,
    rules: Arc<Rules>,
    task: AbortHandle,
}

impl Proxy {
    /// Waits for a helper at a socket in `folder`, which must be for this user alone.
    pub fn start(folder: &Path, allowed: Vec<Domain>, report: Report) -> io::Result<Self> {
        Self::start_but(folder, allowed, Arc::new(|_| false), report)
    }

    /// The same, for who forbids some hosts all the same.
    pub fn start_but(folder: &Path, allowed: Vec<Domain>, forbids: Forbids, report: Report) -> io::Result<Self> {
        let rules = Rules {
            allowed,
            forbids,
            report,
            counts: Mutex::default(),
            #[cfg(any(test, feature = "loopback"))]
            loopback: false,
        };
        Self::with(folder, rules)
    }

    /// One that takes the servers of this machine for public ones.
    #[cfg(any(test, feature = "loopback"))]
    pub fn start_for_loopback(folder: &Path, allowed: Vec<Domain>, report: Report) -> io::Result<Self> {
        Self::with(
            folder,
            Rules { allowed, forbids: Arc::new(|_| false), report, counts: Mutex::default(), loopback: true },
        )
    }

    fn with(folder: &Path, rules: Rules) -> io::Result<Self> {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let socket = folder.join(format!("proxy-{}-{number}", std::process::id()));
        let waiting = UnixListener::bind(&socket)?;
        let rules = Arc::new(rules);
        let task = tokio::spawn(serve(waiting, socket.clone(), Arc::clone(&rules))).abort_handle();
        Ok(Self { socket, rules, task })
    }

    /// Where the helper finds it; for [`crate::Order::proxy`].
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn counts(&self) -> Counts {
        *self.rules.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Takes the listener from the first who comes, who is the helper, and serves what arrives there.
async fn serve(waiting: UnixListener, socket: PathBuf, rules: Arc<Rules>) {
    let handed = match waiting.accept().await {
        Ok((helper, _)) => receive(&helper).await,
        Err(error) => Err(error),
    };
    drop(waiting);
    let _ = std::fs::remove_file(socket);
    let Ok(listener) = handed.and_then(listener) else { return };
    let mut visitors = JoinSet::new();
    while let Ok((visitor, _)) = listener.accept().await {
        while visitors.try_join_next().is_some() {}
        if visitors.len() >= MOST_CONNECTIONS {
            visitors.join_next().await;
        }
        let rules = Arc::clone(&rules);
        visitors.spawn(async move {
            // Whoever went away has nobody left to be told.
            let _ = rules.attend(visitor).await;
        });
    }
}

fn listener(handed: OwnedFd) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(handed);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn receive(helper: &UnixStream) -> io::Result<OwnedFd> {
    helper.readable().await?;
    helper
        .async_io(Interest::READABLE, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let mut byte = [0];
            recvmsg(helper.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
            let handed = ancillary.drain().find_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut handed) => handed.next(),
                _ => None,
            });
            handed.ok_or_else(|| io::ErrorKind::InvalidData.into())
        })
        .await
}

impl Rules {
    async fn attend(&self, mut visitor: TcpStream) -> io::Result<()> {
        let (request, rest) = match timeout(PATIENCE, head(&mut visitor)).await {
            Ok(Ok(Some(read))) => read,
            Ok(Ok(None)) => return answer(&mut visitor, 400, "Weft's proxy does not understand this request.").await,
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        let Target { host, port } = request.target.clone();
        let (verdict, server) = match self.reach(&host, port).await {
            Ok(server) => (Verdict::Allowed, Some(server)),
            Err(verdict) => (verdict, None),
        };
        self.count(&verdict);
        (self.report)(&Visit { host, port, verdict: verdict.clone() });
        let mut server = match (server, verdict) {
            (Some(server), _) => server,
            (None, Verdict::Blocked(why)) => return answer(&mut visitor, 403, &why).await,
            (None, Verdict::Unreachable(why)) => return answer(&mut visitor, 502, &why).await,
            (None, Verdict::Allowed) => return Ok(()),
        };
        match request.forward {
            None => visitor.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
            Some(head) => server.write_all(&head).await?,
        }
        server.write_all(&rest).await?;
        copy_bidirectional(&mut visitor, &mut server).await?;
        Ok(())
    }

    fn count(&self, verdict: &Verdict) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match verdict {
            Verdict::Allowed | Verdict::Unreachable(_) => counts.allowed += 1,
            Verdict::Blocked(_) => counts.blocked += 1,
        }
    }

    /// A connection to an allowed host, to an address that was looked at.
    #[allow(clippy::disallowed_methods, reason = "the sandbox's one way out")]
    async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, Verdict> {
        if !self.allowed.iter().any(|domain| domain.covers(host)) {
            return Err(Verdict::Blocked(format!("The sandbox does not allow the domain {host}.")));
        }
        if (self.forbids)(host) {
            return Err(Verdict::Blocked(format!("A rule of the person's forbids to reach {host}.")));
        }
        let unreachable = |why: String| Verdict::Unreachable(format!("{host} could not be reached: {why}."));
        let found = timeout(PATIENCE, tokio::net::lookup_host((host, port))).await;
        let addresses: Vec<SocketAddr> = match found {
            Ok(Ok(addresses)) => addresses.collect(),
            Ok(Err(error)) => return Err(unreachable(error.to_string())),
            Err(_) => return Err(unreachable("its name was not found in time".to_owned())),
        };
        if let Some(inner) = addresses.iter().find(|address| !self.may_go_to(address)) {
            let ip = inner.ip();
            return Err(Verdict::Blocked(format!("{host} leads to {ip}, which is not a public address.")));
        }
        match timeout(PATIENCE, TcpStream::connect(addresses.as_slice())).await {
            Ok(Ok(server)) => Ok(server),
            Ok(Err(error)) => Err(unreachable(error.to_string())),
            Err(_) => Err(unreachable("it did not answer in time".to_owned())),
        }
    }

    fn may_go_to(&self, address: &SocketAddr) -> bool {
        #[cfg(any(test, feature = "loopback"))]
        if self.loopback && address.ip().is_loopback() {
            return true;
        }
        is_public(address.ip())
    }
}

/// The request, and what of its body came with it. `None` if it makes no sense.
async fn head(visitor: &mut TcpStream) -> io::Result<Option<(Request, Vec<u8>)>> {
    let mut bytes = Vec::with_capacity(2048);
    loop {
        if visitor.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match Request::parse(&bytes) {
            Ok(Some((request, length))) => return Ok(Some((request, bytes.split_off(length)))),
            Ok(None) if bytes.len() < LONGEST_HEAD => {}
            Ok(None) | Err(_) => return Ok(None),
        }
    }
}

async fn answer(visitor: &mut TcpStream, status: u16, sentence: &str) -> io::Result<()> {
    let reason = match status {
        403 => "Forbidden",
        502 => "Bad Gateway",
        _ => "Bad Request",
    };
    let length = sentence.len() + 1;
    let text = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{sentence}\n"
    );
    visitor.write_all(text.as_bytes()).await?;
    visitor.shutdown().await
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
