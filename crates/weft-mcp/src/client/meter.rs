//! Watches what a source sends before anything is made of it. One that sends too large a message,
//! or too much that nobody asked for, is cut off with the reason kept.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::limits::Limits;

/// What is known about the traffic of one connection.
#[derive(Debug, Default)]
pub struct Traffic {
    unasked: AtomicU64,
    cut_off: OnceLock<String>,
}

impl Traffic {
    /// An answer that was wanted has come; what came with it was fine.
    pub fn answered(&self) {
        self.unasked.store(0, Ordering::Relaxed);
    }

    /// Why it was cut off, if it was.
    pub fn cut_off(&self) -> Option<&str> {
        self.cut_off.get().map(String::as_str)
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
        let before = self.traffic.unasked.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before + bytes.len() as u64 > self.limits.unasked_bytes {
            return Err(format!("it sent more than {} MB that nobody asked for", self.limits.unasked_bytes >> 20));
        }
        Ok(())
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
                let _ = this.traffic.cut_off.set(reason.clone());
                return Poll::Ready(Err(io::Error::other(reason)));
            }
        }
        read
    }
}
