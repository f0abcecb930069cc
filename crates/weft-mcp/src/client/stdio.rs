//! Sources that are processes of this machine.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::ClientServiceExt as _;
use rmcp::service::ClientInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use weft_tool::Redaction;
use weft_tool::sandbox::Fence;
use weft_tool::service::{Pipes, Service, ServiceSpec};

use super::handler::Handler;
use super::meter::{Metered, Traffic};
use super::{Connection, SourceError};
use crate::limits::Limits;
use crate::naming;

/// What is kept of what a process writes to standard error.
const KEPT_ERRORS: usize = 4 * 1024;

/// How long a process that closed its output has to be seen dead, and its last words to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A running server and what it complained of last.
pub struct Process {
    service: Service,
    errors: Arc<Mutex<VecDeque<u8>>>,
    /// Ends when the process has said its last.
    listening: JoinHandle<()>,
}

impl Process {
    /// Whether there is nothing left to wait for before one tells of its end.
    fn is_over(&mut self) -> bool {
        self.service.ended().is_some() && self.listening.is_finished()
    }

    /// How it ended and what it said last, for people.
    fn obituary(&mut self) -> String {
        let ended = self
            .service
            .ended()
            .map_or_else(|| "it closed its output".to_owned(), |status| format!("it ended ({status})"));
        let errors: Vec<u8> = self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let errors = naming::clean(&String::from_utf8_lossy(&errors), 500);
        if errors.is_empty() { ended } else { format!("{ended} and said: {errors}") }
    }

    /// Lets it end by itself for a moment; its input is closed by now.
    pub async fn end(mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        while self.service.ended().is_none() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Starts a server and shakes hands with it.
pub async fn connect(
    name: &str,
    spec: &ServiceSpec,
    fence: impl Fn() -> Result<Option<Box<Fence>>, String>,
    handler: Handler,
    redaction: Redaction,
    limits: Limits,
) -> Result<Connection, SourceError> {
    let failed = |reason: String| {
        let mut reason = naming::clean(&reason, 600);
        redaction.scrub(&mut reason);
        SourceError::Start { source_name: name.to_owned(), reason }
    };
    let handler = Arc::new(handler);
    let mut refused = None;
    for lifecycle in super::lifecycles() {
        let modern = !matches!(lifecycle, rmcp::ClientLifecycleMode::Initialize);
        let fence = fence().map_err(failed)?;
        let (service, pipes) = Service::start(spec, &redaction, fence).map_err(|error| failed(error.to_string()))?;
        let Pipes { stdin, stdout, stderr } = pipes;
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        let listening = tokio::spawn(keep_last(stderr, Arc::clone(&errors)));
        let process = Mutex::new(Process { service, errors, listening });
        let traffic = Arc::new(Traffic::default());
        let transport = AsyncRwTransport::new_client(Metered::new(stdout, limits, Arc::clone(&traffic)), stdin)
            .with_max_line_length(limits.message_bytes + 1);
        let serving = Arc::clone(&handler).serve_with_lifecycle(transport, lifecycle);
        match tokio::time::timeout(limits.connect, serving).await {
            Ok(Ok(running)) => {
                return Ok(Connection {
                    name: name.to_owned(),
                    running,
                    handler,
                    traffic,
                    limits,
                    redaction,
                    modern,
                    process: Some(process),
                    used: Mutex::new(Instant::now()),
                });
            }
            // It is there and does not know the old handshake: perhaps it knows the new one.
            Ok(Err(ClientInitializeError::JsonRpcError(error))) if !modern => refused = Some(error.message.to_string()),
            Ok(Err(error)) => {
                let reason = match (traffic.cut_off(), &error) {
                    (Some(reason), _) => reason.to_owned(),
                    (
                        None,
                        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. },
                    ) => obituary(&process).await,
                    (None, _) => error.to_string(),
                };
                return Err(failed(refused.unwrap_or(reason)));
            }
            Err(_) => {
                let said = process.into_inner().unwrap_or_else(PoisonError::into_inner).obituary();
                return Err(failed(format!(
                    "it did not introduce itself within {} s; {said}",
                    limits.connect.as_secs()
                )));
            }
        }
    }
    Err(failed(refused.unwrap_or_default()))
}

/// How a process that closed its output ended and what it said last, when it has.
pub async fn obituary(process: &Mutex<Process>) -> String {
    let until = Instant::now() + LAST_WORDS;
    loop {
        {
            let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
            if process.is_over() || Instant::now() >= until {
                return process.obituary();
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Reads on and on, so that the process never waits, and keeps the end.
async fn keep_last(mut stderr: ChildStderr, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(buffer.get(..length).unwrap_or_default());
        let over = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..over);
    }
}
