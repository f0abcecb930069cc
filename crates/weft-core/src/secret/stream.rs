//! Hides secrets in text that comes in pieces. What could still turn out to be the beginning of a
//! secret is held back until it is decided, so a secret cut over two pieces is hidden all the same.

use super::assign::LONGEST_VALUE;
use super::place::{LONGEST_PEM, pem_body, pem_foot};
use super::{Anchor, DETECTOR, ROUNDS, scan, shape};

/// How far a secret can reach from its anchor, but for private keys.
const REACH: usize = LONGEST_VALUE + 128;
/// A name and what stands before it, which decide about the value behind it.
const CONTEXT: usize = 256;

/// Text that is on its way to somebody.
#[derive(Debug, Default)]
pub struct Stream {
    /// Some of what has been let through, as context, and what has not.
    bytes: Vec<u8>,
    /// How much of it has been let through.
    sent: usize,
    hidden: usize,
}

impl Stream {
    /// Takes a piece and gives what is decided, with its secrets hidden.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.bytes.extend_from_slice(piece);
        let safe = self.decided();
        self.release(safe)
    }

    /// Gives the rest.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.release(self.bytes.len());
        self.bytes.clear();
        self.sent = 0;
        rest
    }

    /// How many secrets were hidden so far.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }

    /// Up to where nothing that may follow changes what is a secret.
    fn decided(&self) -> usize {
        let bytes = self.bytes.as_slice();
        let line = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut safe = bytes.len();
        // The last word may go on, and be the beginning of an anchor.
        let tail = bytes.get(line.max(bytes.len().saturating_sub(CONTEXT))..).unwrap_or_default();
        safe -= tail.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
        safe = safe.min(bytes.len() - partial_begin(bytes));
        for (anchor, start, end) in DETECTOR.anchors(bytes) {
            let open = match anchor {
                Anchor::Pem => {
                    let recent = bytes.len() - start < LONGEST_PEM;
                    let headed = pem_body(bytes, start, end);
                    recent && headed.map_or(bytes.len() - end < 48, |body| pem_foot(bytes, body).is_none())
                }
                _ => start >= line && bytes.len() - start < REACH,
            };
            if open {
                let before = bytes.get(start.saturating_sub(CONTEXT)..start).unwrap_or_default();
                let name = before.iter().rev().take_while(|byte| shape::is_word(**byte)).count();
                safe = safe.min(start - name);
                break;
            }
        }
        safe.max(self.sent)
    }

    fn release(&mut self, up_to: usize) -> Vec<u8> {
        let safe = self.hide(up_to);
        let released = self.bytes.get(self.sent..safe).unwrap_or_default().to_vec();
        let kept_from = safe.saturating_sub(CONTEXT);
        self.bytes.drain(..kept_from);
        self.sent = safe - kept_from;
        released
    }

    /// Hides what is found up to there, and says how far it may be let through now. What is kept as
    /// context is what was let through, so that a key right behind a hidden one is seen to begin.
    fn hide(&mut self, up_to: usize) -> usize {
        let mut safe = up_to;
        for _ in 0..ROUNDS {
            let mut found = scan(&self.bytes);
            found.retain(|finding| finding.start >= self.sent);
            if let Some(open) = found.iter().find(|finding| finding.end > safe) {
                safe = safe.min(open.start);
            }
            found.retain(|finding| finding.end <= safe);
            if found.is_empty() {
                break;
            }
            let length = self.bytes.len();
            self.hidden += super::hide(&mut self.bytes, &found);
            safe = (safe + self.bytes.len()).saturating_sub(length);
        }
        safe
    }
}

/// How much of the end could be the beginning of a private key's head, which has a space in it.
fn partial_begin(bytes: &[u8]) -> usize {
    let head = super::place::PEM_BEGIN.as_bytes();
    (1..head.len().min(bytes.len() + 1))
        .rev()
        .find(|length| head.get(..*length).is_some_and(|part| bytes.ends_with(part)))
        .unwrap_or(0)
}
