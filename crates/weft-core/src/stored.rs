//! The form of events on disk: a kind number and a JSON payload. The only place that knows it.

use crate::event::Event;

/// An event as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub kind: u16,
    pub data: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
#[error("event of kind {kind} cannot be read: {source}")]
pub struct BadEvent {
    pub kind: u16,
    source: serde_json::Error,
}

pub fn encode(event: &Event) -> Result<Stored, BadEvent> {
    let kind = event.kind();
    let data = event.payload().map_err(|source| BadEvent { kind, source })?;
    Ok(Stored { kind, data })
}

/// Reads an event of this or any earlier version. A kind this version does not know is kept whole
/// as [`Event::Unknown`].
pub fn decode(kind: u16, data: &[u8]) -> Result<Event, BadEvent> {
    Event::from_payload(kind, data).map_err(|source| BadEvent { kind, source })
}

/// Reads an event back from the lines that [`crate::event::Recorded`] serialises to.
pub fn from_line(line: &serde_json::Value) -> Result<Event, BadLine> {
    let name = line.get("type").and_then(|name| name.as_str()).ok_or(BadLine::NoType)?;
    if name == "unknown" {
        let kind = line.get("kind").and_then(serde_json::Value::as_u64).and_then(|kind| u16::try_from(kind).ok());
        let data = line.get("data").ok_or(BadLine::NoType)?;
        return Ok(Event::Unknown(crate::event::Unknown { kind: kind.ok_or(BadLine::NoType)?, data: data.clone() }));
    }
    let (kind, _) = Event::KINDS
        .iter()
        .find(|(_, kind_name)| snake(kind_name) == name)
        .ok_or_else(|| BadLine::UnknownType(name.to_owned()))?;
    let data = serde_json::to_vec(line).map_err(|source| BadEvent { kind: *kind, source })?;
    Ok(decode(*kind, &data)?)
}

#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    #[error("the line has no event type")]
    NoType,
    #[error("`{0}` is not an event this version of Weft knows")]
    UnknownType(String),
    #[error(transparent)]
    Event(#[from] BadEvent),
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
