//! Watches what a source sends before anything is made of it. One that sends too large a message,
//! or too much that nobody asked for, is cut off with the reason kept.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

use crate::limits::Limits;

/// What is known about the traffic of one connection.
#[derive(Debug, Default)]
pub struct Traffic {
    unasked: AtomicU64,
    cut_off: OnceLock<String>,
    is_cut: Notify,
}

impl Traffic {
    /// An answer that was wanted has come; what came with it was fine.
    pub fn answered(&self) {
        self.unasked.store(0, Ordering::Relaxed);
    }

    /// Something has come. An error says why it was too much.
    pub fn take(&self, bytes: usize, limits: &Limits) -> Result<(), String> {
        let before = self.unasked.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 > limits.unasked_bytes {
            return Err(format!("it sent more than {} MB that nobody asked for", limits.unasked_bytes >> 20));
        }
        Ok(())
    }

    /// Listens to it no longer.
    pub fn cut(&self, reason: &str) {
        let _ = self.cut_off.set(reason.to_owned());
        self.is_cut.notify_waiters();
    }

    /// Waits until it is cut off.
    pub async fn until_cut(&self) {
        let cut = self.is_cut.notified();
        tokio::pin!(cut);
        cut.as_mut().enable();
        if self.cut_off.get().is_none() {
            cut.await;
        }
    }

    /// Why it was cut off, if it was.
    pub fn cut_off(&self) -> Option<&str> {
        self.cut_off.get().map(String::as_str)
    }
}

/// Measures the events of a stream, which end at an empty line.
#[derive(Debug, Default)]
pub struct Events {
    event: usize,
    line: usize,
}

impl Events {
    /// How long the longest event is that ends in these bytes, or the one that goes on after them.
    pub fn longest(&mut self, bytes: &[u8]) -> usize {
        let mut longest = self.event;
        for &byte in bytes {
            self.event += 1;
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => self.line += 1,
            }
            longest = longest.max(self.event);
        }
        longest
    }
}

pub struct Metered<R> {
    inner: R,
    line: usize,
    limits: Limits,
    traffic: Arc<Traffic>,
}

impl<R> Metered<R> {
    pub fn new(inner: R, limits: Limits, traffic: Arc<Traffic>) -> Self {
        Self { inner, line: 0, limits, traffic }
    }

    fn check(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.longer(end)?;
            self.line = 0;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        self.longer(rest.len())?;
        self.traffic.take(bytes.len(), &self.limits)
    }

    fn longer(&mut self, by: usize) -> Result<(), String> {
        self.line += by;
        if self.line > self.limits.message_bytes {
            return Err(format!("it sent a message of more than {} MB", self.limits.message_bytes >> 20));
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let this = &mut *self;
        let read = Pin::new(&mut this.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &read {
            let new = buffer.filled().get(before..).unwrap_or_default();
            if let Err(reason) = this.check(new) {
                this.traffic.cut(&reason);
                return Poll::Ready(Err(io::Error::other(reason)));
            }
        }
        read
    }
}
