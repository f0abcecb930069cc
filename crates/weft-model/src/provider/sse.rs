//! Server-sent events out of bytes, however those are cut.
//!
//! Nothing here knows what an event means, and nothing waits: bytes go in, whole events come out.
//! One event may not grow past [`MAX_EVENT`], so a broken server cannot fill the memory.

/// The largest event we take, name and data together.
pub const MAX_EVENT: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {} MB", MAX_EVENT / 1024 / 1024)]
pub struct EventTooLarge;

/// An incremental parser. Its buffers are reused from event to event.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended in CR, so an LF right after it belongs to it.
    after_cr: bool,
    past_first_line: bool,
}

impl SseParser {
    /// Takes the next bytes and hands every event that is now whole to `on_event`, as name and data.
    pub fn feed(&mut self, mut bytes: &[u8], on_event: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return self.check_size();
            };
            let (line, rest) = bytes.split_at(end);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                self.end_line(line, on_event);
            } else {
                self.line.extend_from_slice(line);
                let whole = std::mem::take(&mut self.line);
                self.end_line(&whole, on_event);
                self.line = whole;
                self.line.clear();
            }
            self.check_size()?;
        }
        Ok(())
    }

    /// The connection has ended. Some servers leave out the last empty line, so what is there
    /// counts as an event.
    pub fn end(&mut self, on_event: &mut dyn FnMut(&[u8], &[u8])) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, on_event);
        }
        self.dispatch(on_event);
    }

    fn check_size(&self) -> Result<(), EventTooLarge> {
        if self.line.len() + self.name.len() + self.data.len() > MAX_EVENT { Err(EventTooLarge) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&[u8], &[u8])) {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let first = !std::mem::replace(&mut self.past_first_line, true);
        let line = if first { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, rest) = line.split_at(colon);
        let value = rest.get(1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // llama.cpp reports a failure half-way in a field of its own.
            b"error" => {
                self.name.clear();
                self.name.extend_from_slice(b"error");
                self.add_data(value);
            }
            // An empty field is a comment; `id`, `retry` and unknown fields mean nothing to us.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }

    fn dispatch(&mut self, on_event: &mut dyn FnMut(&[u8], &[u8])) {
        if std::mem::take(&mut self.has_data) {
            on_event(&self.name, &self.data);
        }
        self.name.clear();
        self.data.clear();
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
