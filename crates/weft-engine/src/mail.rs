//! Answers for a session that another process is at work on. Only that process can write to the
//! session, so an answer is put into a folder where it looks while it has a question open. A letter is
//! thrown away when what it says is in the log or was refused; only the log says that it was taken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use weft_core::turn::Rejected;
use weft_core::{Answer, AskId, Event, Input, SessionId};
use weft_store::Store;

use crate::error::EngineError;

/// How often somebody who is at work looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long who sends an answer waits for it to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

const EVENTS_AT_ONCE: usize = 500;

/// Who has written an answer down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    /// This process; somebody has to carry the session on.
    Here,
    /// The process that is at work on the session, which goes on by itself.
    AtWork,
}

pub(crate) struct Mail {
    folder: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Letter {
    ask: AskId,
    answer: Answer,
    by: String,
}

impl Mail {
    /// Without a folder nobody can send anything.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The next answer for a session. Waits for one. It stays in the box until it is thrown away.
    pub async fn next(&self, session: SessionId) -> Input {
        let Some(folder) = &self.folder else { return std::future::pending().await };
        let box_of_session = folder.join(session.to_string());
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Some(Letter { ask, answer, by }) = first(&box_of_session) {
                return Input::Answer { ask, answer, by, proceed: true };
            }
        }
    }

    /// What a letter said has been dealt with.
    pub fn throw_away(&self, session: SessionId, ask: AskId) {
        let Some(folder) = &self.folder else { return };
        let box_of_session = folder.join(session.to_string());
        let _ = std::fs::remove_file(letter_about(&box_of_session, ask));
        // Unless there are others in it.
        let _ = std::fs::remove_dir(box_of_session);
    }

    /// Sends an answer and waits until it is in the session's log. `false` if it does not get there.
    pub async fn send(
        &self,
        store: &Store,
        session: SessionId,
        ask: AskId,
        answer: Answer,
        by: &str,
    ) -> Result<bool, EngineError> {
        let Some(folder) = &self.folder else { return Ok(false) };
        let box_of_session = folder.join(session.to_string());
        let letter = letter_about(&box_of_session, ask);
        let before = store.last_seq(session)?;
        let is_recorded = || recorded(store, session, before, ask, &answer);
        let refused = |source| EngineError::Home { path: box_of_session.display().to_string(), source };
        let text = serde_json::to_vec(&Letter { ask, answer: answer.clone(), by: by.to_owned() })
            .map_err(std::io::Error::other);
        text.and_then(|text| put(&letter, &text)).map_err(refused)?;
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            tokio::time::sleep(LOOK_EVERY / 2).await;
            if !store.load(session)?.open_asks().any(|open| open.id == ask) {
                if is_recorded()? {
                    return Ok(true);
                }
                self.throw_away(session, ask);
                return Err(Rejected::NoSuchAsk.into());
            }
            if tokio::time::Instant::now() >= until {
                self.throw_away(session, ask);
                // It may have been read just before.
                tokio::time::sleep(LOOK_EVERY).await;
                return is_recorded();
            }
        }
    }
}

/// Whether a session's log has this answer, after an event that was there before.
fn recorded(
    store: &Store,
    session: SessionId,
    mut after: u64,
    ask: AskId,
    answer: &Answer,
) -> Result<bool, EngineError> {
    loop {
        let events = store.events(session, after, EVENTS_AT_ONCE)?;
        let Some(last) = events.last() else { return Ok(false) };
        after = last.seq;
        let is_it = |event: &Event| matches!(event, Event::AskAnswered(it) if it.ask == ask && it.answer == *answer);
        if events.iter().any(|recorded| is_it(&recorded.event)) {
            return Ok(true);
        }
    }
}

fn letter_about(box_of_session: &Path, ask: AskId) -> PathBuf {
    box_of_session.join(format!("{ask}.json"))
}

/// Puts a letter into the box whole, or not at all.
fn put(letter: &Path, text: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(folder) = letter.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let beside = letter.with_extension(format!("{}.new", std::process::id()));
    let mut file = std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(text)?;
    std::fs::rename(&beside, letter)
}

/// A letter in the box. One that cannot be read, or is not where it belongs, is thrown away.
fn first(box_of_session: &Path) -> Option<Letter> {
    let letters = std::fs::read_dir(box_of_session).ok()?;
    for path in letters.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|ending| ending == "json") {
            let letter = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Letter>(&text).ok());
            match letter {
                Some(letter) if letter_about(box_of_session, letter.ask) == path => return Some(letter),
                Some(_) | None => drop(std::fs::remove_file(&path)),
            }
        }
    }
    None
}
