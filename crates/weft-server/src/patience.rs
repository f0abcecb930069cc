//! A connection that is given up when the other side does not read.
//!
//! What is sent to somebody who does not read waits here, and so does what they look at: without an
//! end to it, a client that stands still would hold its stream for as long as the server runs. Whoever
//! is closed so comes again and asks for what they missed.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// So long nothing of what is to be sent may be taken. Streams say something every 15 seconds, so
/// this is how long a client can stand still.
pub const STANDSTILL: Duration = Duration::from_secs(60);

pub struct Patient<S> {
    stream: S,
    /// Runs while something is to be sent and nothing is taken.
    limit: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub const fn new(stream: S) -> Self {
        Self { stream, limit: None }
    }

    /// What came of sending, unless it has stood still for too long.
    fn judge<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.limit = None;
            return sent;
        }
        let limit = self.limit.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + STANDSTILL)));
        ready!(limit.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other side does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judge(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, sent)
    }
}

#[cfg(test)]
#[path = "patience_tests.rs"]
mod tests;
