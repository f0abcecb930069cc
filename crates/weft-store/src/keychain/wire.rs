//! The D-Bus way to write values down, for the few kinds of values that are used here. Values begin at
//! a multiple of their size, counted from the beginning of the message's head or body.

use zeroize::Zeroizing;

/// Writes in this machine's order; it says which that is.
#[derive(Default)]
pub(super) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    pub fn finish(self) -> Zeroizing<Vec<u8>> {
        self.0
    }

    pub fn align(&mut self, to: usize) {
        let length = self.0.len().next_multiple_of(to);
        self.0.resize(length, 0);
    }

    /// The beginning of every message.
    pub fn fixed(&mut self, kind: u8, body: usize, serial: u32) {
        let order = if cfg!(target_endian = "big") { b'B' } else { b'l' };
        self.0.extend([order, kind, 0, 1]);
        self.number(u32::try_from(body).unwrap_or(u32::MAX));
        self.number(serial);
    }

    pub fn number(&mut self, number: u32) {
        self.align(4);
        self.0.extend(number.to_ne_bytes());
    }

    pub fn truth(&mut self, truth: bool) {
        self.number(truth.into());
    }

    /// Also for paths of objects.
    pub fn string(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.0.push(0);
    }

    pub fn signature(&mut self, text: &str) {
        self.0.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.0.extend(bytes);
    }

    /// The length of what `items` writes, then that; items begin at a multiple of `to`.
    pub fn array(&mut self, to: usize, items: impl FnOnce(&mut Self)) {
        self.number(0);
        let place = self.0.len();
        self.align(to);
        let begin = self.0.len();
        items(self);
        let length = u32::try_from(self.0.len() - begin).unwrap_or(u32::MAX);
        if let Some(kept) = self.0.get_mut(place - 4..place) {
            kept.copy_from_slice(&length.to_ne_bytes());
        }
    }

    /// A field of a message's head.
    pub fn field(&mut self, number: u8, kind: &str, value: &str) {
        self.align(8);
        self.0.push(number);
        self.signature(kind);
        if kind == "g" { self.signature(value) } else { self.string(value) }
    }

    /// `a{ss}`.
    pub fn dictionary(&mut self, pairs: &[(&str, &str)]) {
        self.array(8, |items| {
            for (key, value) in pairs {
                items.align(8);
                items.string(key);
                items.string(value);
            }
        });
    }
}

/// Reads what others wrote; nothing where it does not fit.
pub(super) struct Reader {
    bytes: Zeroizing<Vec<u8>>,
    at: usize,
    big: bool,
}

impl Reader {
    pub const fn new(bytes: Zeroizing<Vec<u8>>, big: bool) -> Self {
        Self { bytes, at: 0, big }
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u32> {
        self.align(4);
        let big = self.big;
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub fn bytes(&mut self) -> Option<&[u8]> {
        let length = self.number()? as usize;
        self.take(length)
    }

    /// Also for paths of objects.
    pub fn string(&mut self) -> Option<String> {
        let text = String::from_utf8(self.bytes()?.to_vec()).ok()?;
        self.take(1)?;
        Some(text)
    }

    pub fn signature(&mut self) -> Option<String> {
        let length = self.take(1)?.first().copied()?;
        let text = String::from_utf8(self.take(length.into())?.to_vec()).ok()?;
        self.take(1)?;
        Some(text)
    }

    pub fn strings(&mut self) -> Option<Vec<String>> {
        let length = self.number()? as usize;
        let end = self.at.checked_add(length)?;
        let mut strings = Vec::new();
        while self.at < end {
            strings.push(self.string()?);
        }
        Some(strings)
    }

    /// A structure begins at a multiple of 8.
    pub fn structure(&mut self) {
        self.align(8);
    }

    /// A field of a message's head: which one, and its value if that is a number.
    pub fn field(&mut self) -> Option<(u8, Option<u32>)> {
        self.align(8);
        let number = self.take(1)?.first().copied()?;
        match self.signature()?.as_str() {
            "u" => Some((number, Some(self.number()?))),
            "g" => self.signature().map(|_| (number, None)),
            "s" | "o" => self.string().map(|_| (number, None)),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
