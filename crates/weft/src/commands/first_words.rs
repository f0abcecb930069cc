//! What a session without a title is called: the first thing said in it that was meant.
//!
//! The index of sessions only has what was last said, which may have been taken back since.

use weft_core::event::{Event, InputReceived};
use weft_core::{SessionId, Status, UserPart};
use weft_store::{SessionRow, Store, StoreError};

use crate::show::clean::clean_row;

/// Nearly always the first turn starts within so many events.
const AT_A_TIME: usize = 8;
const LONGEST: usize = 80;
/// The events of a session with one input and one answer.
const SHORTEST_TURN: u64 = 6;

/// Puts the first words in place of the last ones.
pub fn begin_with_first_words(store: &Store, rows: &mut [SessionRow]) -> Result<(), StoreError> {
    for row in rows.iter_mut().filter(|row| row.title.is_none() && !has_one_input(row)) {
        row.preview = first_words(store, row.id)?;
    }
    Ok(())
}

/// Then the last words are the first ones, and a long list is not read event by event.
const fn has_one_input(row: &SessionRow) -> bool {
    let is_over = matches!(row.status, Status::Idle | Status::Failed);
    is_over && row.turns == 1 && row.seq <= SHORTEST_TURN
}

fn first_words(store: &Store, session: SessionId) -> Result<Option<String>, StoreError> {
    let mut said: Vec<InputReceived> = Vec::new();
    let mut seq = 0;
    loop {
        let page = store.events(session, seq, AT_A_TIME)?;
        let Some(last) = page.last() else { return Ok(said.iter().find_map(words_of)) };
        seq = last.seq;
        for recorded in page {
            match recorded.event {
                Event::InputReceived(received) => said.push(received),
                Event::InputWithdrawn(withdrawn) => said.retain(|received| received.input != withdrawn.input),
                Event::TurnStarted(started) => {
                    let mut taken = said.iter().filter(|received| started.inputs.contains(&received.input));
                    return Ok(taken.find_map(words_of));
                }
                _ => {}
            }
        }
    }
}

fn words_of(received: &InputReceived) -> Option<String> {
    let text = received.content.iter().find_map(|part| match part {
        UserPart::Text { text } => Some(clean_row(text).trim().chars().take(LONGEST).collect::<String>()),
        UserPart::Image(_) => None,
    });
    text.filter(|text| !text.is_empty())
}
