//! What clients say under ids of their own is said once, however often they ask: whoever did not hear the
//! answer cannot know whether it was.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use weft_core::event::Event;
use weft_core::{InputId, SessionId};

use crate::desk::Desk;
use crate::problem::Answer;
use crate::routes::blocking;

/// So many are remembered. Those before them, and those of an earlier server, are looked for in the log.
const REMEMBERED: usize = 1_024;
/// So far back in the log.
const LOOK_BACK: usize = 300;

/// An input, and the session it was said in; none where it begins one.
type Key = (Option<SessionId>, InputId);
/// Holds the session in which it was said, once it was.
type Cell = Arc<OnceCell<SessionId>>;

#[derive(Default)]
pub struct SaidOnce(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    cells: HashMap<Key, Cell>,
    order: VecDeque<Key>,
}

impl SaidOnce {
    /// Whoever is second waits for the first.
    pub fn of(&self, session: Option<SessionId>, input: InputId) -> Cell {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (session, input);
        if let Some(cell) = remembered.cells.get(&key) {
            return Arc::clone(cell);
        }
        if remembered.order.len() >= REMEMBERED
            && let Some(oldest) = remembered.order.pop_front()
        {
            remembered.cells.remove(&oldest);
        }
        let cell = Cell::default();
        remembered.cells.insert(key, Arc::clone(&cell));
        remembered.order.push_back(key);
        cell
    }
}

/// What a session is called by the input that began it.
pub fn begun_by(input: InputId) -> String {
    format!("input:{input}")
}

/// What a copy of a session is called by the id that it was asked for under.
pub fn copied_by(session: SessionId, input: InputId) -> String {
    format!("fork:{session}:{input}")
}

impl Desk {
    pub fn new_input(&self) -> InputId {
        InputId::from_random(getrandom::u64().unwrap_or_default())
    }

    /// Whether the log has it, as far as that matters to somebody who asks again.
    pub async fn was_said(&self, session: SessionId, input: InputId) -> Answer<bool> {
        if self.engine.unbegun(session).is_some() {
            return Ok(false);
        }
        let store = self.engine.store().clone();
        blocking(move || {
            let end = store.last_seq(session)?;
            let events = store.events_before(session, end + 1, LOOK_BACK)?;
            let is_it = |event: &Event| matches!(event, Event::InputReceived(received) if received.input == input);
            Ok(events.iter().any(|recorded| is_it(&recorded.event)))
        })
        .await?
    }
}
