//! A request's body in pieces: what many sessions send alike is in memory once, however many of them
//! wait for a connection at the same time.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Settings, then prompt and tools, then messages.
const PIECES: usize = 3;

#[derive(Debug)]
pub(super) struct Body {
    pieces: std::array::IntoIter<Bytes, PIECES>,
    left: usize,
}

impl Body {
    pub(super) fn new(pieces: [Bytes; PIECES]) -> Self {
        Self { left: pieces.iter().map(Bytes::len).sum(), pieces: pieces.into_iter() }
    }

    pub(super) fn whole(self) -> Vec<u8> {
        self.into_pieces().collect::<Vec<_>>().concat()
    }

    pub(super) fn into_pieces(self) -> impl DoubleEndedIterator<Item = Bytes> {
        self.pieces
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let piece = self.pieces.next();
        self.left -= piece.as_ref().map_or(0, Bytes::len);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    /// Exact, so that the request says how long it is: not every server takes one that does not.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}
