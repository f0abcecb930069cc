//! Full-text search over what was said in all sessions.
//!
//! The index is made when somebody searches, from the events since the last time: appends pay nothing
//! for it, and what an older Weft wrote is found too. It holds no texts; those are in the log.

use rusqlite::{Connection, OptionalExtension as _, params};
use weft_core::message::text_of;
use weft_core::stored;
use weft_core::{Event, SessionId, Timestamp, UserPart};

use crate::error::StoreError;
use crate::schema::{event_key, seq_of, signed};
use crate::sessions::session_id;

/// Something that was said, and the words that were looked for in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub session: SessionId,
    pub title: Option<String>,
    pub seq: u64,
    pub at: Timestamp,
    pub kind: HitKind,
    pub snippet: Vec<Snippet>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    /// A person said it.
    Input,
    Answer,
    Title,
}

/// A piece of the text, and whether it is what was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    pub hit: bool,
}

/// So many events are gone through at once; appends wait no longer than that takes.
const AT_ONCE: u64 = 2_000;
/// So much of one text is indexed.
const LONGEST: usize = 64 * 1024;
const MOST_WORDS: usize = 16;
/// How much of a text is shown around what was found.
const AROUND: usize = 90;

pub(crate) fn is_behind(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT coalesce((SELECT max(place) FROM events), 0) > (SELECT upto FROM word_index)";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Goes through the next events.
pub(crate) fn index(connection: &Connection) -> Result<(), StoreError> {
    let upto: i64 = connection.prepare_cached("SELECT upto FROM word_index")?.query_row([], |row| row.get(0))?;
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(place) FROM (SELECT place FROM events WHERE place > ?1 ORDER BY place LIMIT ?2)")?
        .query_row(params![upto, signed(AT_ONCE)], |row| row.get(0))?;
    let Some(last) = last else { return Ok(()) };
    let mut select = connection
        .prepare_cached("SELECT key, kind, data FROM events WHERE place > ?1 AND place <= ?2 AND kind IN (2, 5, 9)")?;
    let mut insert = connection.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
    let mut rows = select.query(params![upto, last])?;
    while let Some(row) = rows.next()? {
        let data = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        // What cannot be read cannot be searched; the log says so where it is read.
        let Ok(event) = stored::decode(row.get(1)?, data) else { continue };
        let Some((_, text)) = said(&event) else { continue };
        insert.execute(params![row.get::<_, i64>(0)?, capped(&text)])?;
    }
    connection.prepare_cached("UPDATE word_index SET upto = ?1")?.execute([last])?;
    Ok(())
}

/// Forgets a session whose events have just been deleted.
pub(crate) fn forget(connection: &Connection, n: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2")?
        .execute(params![event_key(n, 0)?, event_key(n, u64::from(u32::MAX))?])?;
    // Places at the end are used again.
    connection
        .prepare_cached("UPDATE word_index SET upto = min(upto, coalesce((SELECT max(place) FROM events), 0))")?
        .execute([])?;
    Ok(())
}

pub(crate) fn search(connection: &Connection, words: &str, limit: usize) -> Result<Vec<Hit>, StoreError> {
    let terms: Vec<String> = terms(words);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    // The last word may not be typed to its end.
    let query: Vec<String> = terms.iter().map(|term| format!("\"{term}\"*")).collect();
    let mut select =
        connection.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2")?;
    // Sessions that are on their way out are passed over.
    let found = select.query_map(params![query.join(" "), signed(limit as u64 * 2)], |row| row.get::<_, i64>(0))?;
    let mut hits = Vec::new();
    for key in found {
        hits.extend(hit(connection, key?, &terms)?);
        if hits.len() == limit {
            break;
        }
    }
    Ok(hits)
}

fn hit(connection: &Connection, key: i64, terms: &[String]) -> Result<Option<Hit>, StoreError> {
    let sql = "SELECT s.id, coalesce(s.title, s.preview), e.kind, e.at, e.data
         FROM events e JOIN sessions s ON s.n = e.key >> 32 LEFT JOIN marks m ON m.n = s.n
         WHERE e.key = ?1 AND m.deleted_at IS NULL";
    let mut select = connection.prepare_cached(sql)?;
    let row = select
        .query_row([key], |row| {
            let data: Vec<u8> = row.get(4)?;
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, data))
        })
        .optional()?;
    let Some((id, title, kind, at, data)) = row else { return Ok(None) };
    let event = stored::decode(kind, &data)?;
    Ok(said(&event).map(|(kind, text)| Hit {
        session: session_id(id),
        title,
        seq: seq_of(key),
        at: Timestamp(at),
        kind,
        snippet: snippet(&text, terms),
    }))
}

/// What an event says in words that people look for.
fn said(event: &Event) -> Option<(HitKind, String)> {
    let (kind, text) = match event {
        Event::TitleSet(set) => (HitKind::Title, set.title.clone()),
        Event::InputReceived(received) => {
            let texts = received.content.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::Image(_) => None,
            });
            let typed = received.shorthand.as_ref().map(|shorthand| shorthand.typed.clone());
            (HitKind::Input, typed.unwrap_or_else(|| texts.collect::<Vec<_>>().join("\n")))
        }
        Event::RoundAnswered(answered) => (HitKind::Answer, text_of(&answered.parts)),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some((kind, text))
}

/// Words as the index has them. What is neither a letter nor a digit separates them.
fn terms(words: &str) -> Vec<String> {
    let words = words.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MOST_WORDS).map(str::to_lowercase).collect()
}

fn capped(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The text around the first word that was found, on one line, with what was found marked.
fn snippet(text: &str, terms: &[String]) -> Vec<Snippet> {
    let letters: Vec<char> = text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
    // One small letter for each letter, so that places are the same in both.
    let small: Vec<char> = letters.iter().map(|letter| letter.to_lowercase().next().unwrap_or(*letter)).collect();
    let wanted: Vec<Vec<char>> = terms.iter().map(|term| term.chars().collect()).collect();
    let found = |place: usize| {
        let begins = place == 0 || small.get(place - 1).is_none_or(|before| !before.is_alphanumeric());
        let fits = |term: &&Vec<char>| small.get(place..).is_some_and(|rest| rest.starts_with(term));
        if begins { wanted.iter().filter(fits).map(Vec::len).max() } else { None }
    };
    let first = (0..letters.len()).find(|place| found(*place).is_some()).unwrap_or(0);
    let (start, end) = (first.saturating_sub(AROUND), letters.len().min(first + 2 * AROUND));
    let mut pieces: Vec<Snippet> = Vec::new();
    let mut add = |text: String, hit: bool| match pieces.last_mut() {
        Some(last) if last.hit == hit => last.text.push_str(&text),
        _ => pieces.push(Snippet { text, hit }),
    };
    if start > 0 {
        add("…".to_owned(), false);
    }
    let mut place = start;
    while place < end {
        let length = found(place).map(|length| length.min(end - place));
        let piece = letters.get(place..place + length.unwrap_or(1)).unwrap_or_default();
        add(piece.iter().collect(), length.is_some());
        place += length.unwrap_or(1);
    }
    if end < letters.len() {
        add("…".to_owned(), false);
    }
    pieces
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
