//! What a writer finds when it opens the log: where the chain ends, and whether that is what was
//! left there.
//!
//! What is left can be told from what was made of it because of the order in which things are
//! written. A head is there before the first line. Every line bears a signature of its own, so a
//! crash at any byte leaves lines that are vouched for and at most half a line. A head is set only
//! when what it vouches for is on disk. So no crash makes a head that reaches beyond the log, a
//! line after it without a signature, another hash at its place, or no head at all: these are
//! findings. They are recorded before anything else is, [`told`] reads them back for good, and no
//! later signature covers what they doubt.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::entry::{Recorded, hash_of_line};
use super::files::{SIGNATURE, Tail, lines_from};
use super::key::{Key, Purpose, Statement};
use super::verify::ProblemKind;
use super::{AuditError, Place};

pub const TRUNCATED: &str = "audit.truncated";
pub const REMOVED: &str = "audit.removed";
pub const REWRITTEN: &str = "audit.rewritten";
pub const UNSIGNED: &str = "audit.unsigned";
pub const HEAD_LOST: &str = "audit.head_lost";
pub const KEY_LOST: &str = "audit.key_lost";
pub const SIGNATURE_LOST: &str = "audit.signature_lost";
/// Lines that an older version had not vouched for when it was killed. No sign of anything worse,
/// but never to be counted as vouched for either.
pub const UNVOUCHED: &str = "audit.unvouched";

/// Something about the log to be recorded in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub event: &'static str,
    pub details: Value,
}

impl Finding {
    fn range(event: &'static str, from: u64, to: u64) -> Self {
        Self { event, details: json!({ "from": from, "to": to }) }
    }
}

/// A log as it was found.
pub struct Opened {
    pub tail: Tail,
    pub path: Option<PathBuf>,
    /// The bytes of half a line that was put aside.
    pub torn: u64,
    pub findings: Vec<Finding>,
}

/// A place in the chain that is known for certain.
#[derive(Debug, Clone)]
struct Mark {
    sequence: u64,
    hash: String,
    signed_to: Option<u64>,
}

/// The key, made if there is none, and whether it had to be. Called under the log's lock.
pub fn key(place: &Place) -> Result<(Key, bool), AuditError> {
    if let Some(key) = Key::read(&place.key)? {
        return Ok((key, false));
    }
    let (key, seed) = Key::make(&place.key)?;
    // The head goes first: a key without a log would mean that the log was removed.
    if place.segments()?.is_empty() && place.statement(Purpose::Anchor)?.is_none() {
        begin(place, &key)?;
    }
    seed.save(&place.key)?;
    Ok((key, true))
}

/// The head of a log that has no lines yet.
fn begin(place: &Place, key: &Key) -> Result<(), AuditError> {
    let head = Statement { signed_to: Some(0), ..Statement::new(Purpose::Head, "", 1, 0, "") };
    place.set_statement(&head.sign(key))?;
    crate::backup::sync_folder(&place.folder).map_err(|error| AuditError::Io {
        action: "syncing",
        path: place.folder.display().to_string(),
        detail: error.to_string(),
    })
}

/// Looks at the log. `known` is where this process left it, if it wrote before.
pub fn look(place: &Place, key: &Key, new_key: bool, known: Option<&Tail>) -> Result<Opened, AuditError> {
    let (tail, path, torn) = place.tail()?;
    let mut opened = Opened { tail, path, torn, findings: Vec::new() };
    let believed = |statement: &Statement, purpose| statement.doubt(purpose, key).is_none();
    let anchor = place.statement(Purpose::Anchor)?.filter(|anchor| believed(anchor, Purpose::Anchor));
    let head = place.statement(Purpose::Head)?;
    let is_empty = opened.tail.sequence == 0;
    let mut mark =
        known.map(|tail| Mark { sequence: tail.sequence, hash: tail.hash.clone(), signed_to: Some(tail.signed_to) });
    match head {
        Some(head) if believed(&head, Purpose::Head) => {
            if mark.as_ref().is_none_or(|mark| mark.sequence <= head.sequence_to) {
                mark = Some(Mark { sequence: head.sequence_to, hash: head.chain_hash, signed_to: head.signed_to });
            }
        }
        None if is_empty => {
            if !new_key {
                opened.findings.push(Finding { event: REMOVED, details: json!({}) });
            }
            begin(place, key)?;
        }
        // The start of a log that was cut off before its key was kept.
        Some(_) if is_empty && new_key => begin(place, key)?,
        Some(_) | None => {
            let event = if new_key { KEY_LOST } else { HEAD_LOST };
            opened.findings.push(Finding::range(event, 1, opened.tail.sequence));
        }
    }
    if let Some(mark) = mark {
        opened.compare(place, key, mark, anchor.as_ref())?;
    }
    if opened.findings.iter().any(|finding| finding.event != UNVOUCHED) {
        // What is doubted is not signed for.
        opened.tail.signed_to = opened.tail.sequence;
    }
    Ok(opened)
}

impl Opened {
    /// Holds the end of the log against what is known of it.
    fn compare(&mut self, place: &Place, key: &Key, mark: Mark, anchor: Option<&Statement>) -> Result<(), AuditError> {
        let (last, purged) = (self.tail.sequence, anchor.map_or(0, |anchor| anchor.sequence_to));
        if mark.sequence > last.max(purged) {
            // Lines are gone from the end. They stay missing: the numbers go on where they were.
            self.findings.push(Finding::range(TRUNCATED, last + 1, mark.sequence));
            self.tail.sequence = mark.sequence;
            return Ok(());
        }
        if let Some(signed) = mark.signed_to.filter(|signed| *signed > self.tail.signed_to.max(purged)) {
            self.findings.push(Finding::range(SIGNATURE_LOST, self.tail.signed_to + 1, signed));
        }
        let is_old = mark.signed_to.is_none();
        let start = match anchor {
            Some(anchor) if anchor.sequence_to > mark.sequence => (anchor.sequence_to, anchor.chain_hash.clone()),
            Some(_) | None => (mark.sequence, mark.hash),
        };
        if (last, &self.tail.hash) == (start.0, &start.1) {
            return Ok(());
        }
        let lines = lines_from(&place.segments()?, start.0)?;
        // At the anchor there is no line any more.
        if start.0 > purged && !lines.iter().any(|line| is_entry(line, start.0, &start.1)) {
            self.findings.push(Finding::range(REWRITTEN, 1, start.0));
        }
        let Unsigned { excused, bad } = unsigned(&lines, start, key, is_old);
        let range = |event, lines: &[u64]| Some(Finding::range(event, *lines.iter().min()?, *lines.iter().max()?));
        self.findings.extend(range(UNVOUCHED, &excused));
        self.findings.extend(range(UNSIGNED, &bad));
        Ok(())
    }
}

fn is_entry(line: &str, sequence: u64, hash: &str) -> bool {
    Recorded::parse(line).is_ok_and(|entry| entry.sequence == sequence && entry.entry_hash == hash)
        && hash_of_line(line).is_some_and(|real| real == hash)
}

/// Lines that neither bear a good signature nor are covered by one that follows.
struct Unsigned {
    /// Those that a version wrote which did not sign each line.
    excused: Vec<u64>,
    bad: Vec<u64>,
}

/// Looks at the lines after `start`. A head of an older version excuses what that version wrote,
/// and it wrote nothing after a line that bears a signature of its own.
fn unsigned(lines: &[String], start: (u64, String), key: &Key, is_old: bool) -> Unsigned {
    let mut last = start.clone();
    let mut open: Vec<OpenLine> = Vec::new();
    let mut bad: Vec<u64> = Vec::new();
    let mut may_be_old = is_old;
    for line in lines {
        if let Some(text) = line.strip_prefix(SIGNATURE) {
            let statement: Option<Statement> = serde_json::from_str(text).ok();
            let covers = |statement: &Statement| {
                (statement.sequence_to, &statement.chain_hash) == (last.0, &last.1)
                    && statement.doubt(Purpose::Signature, key).is_none()
            };
            if statement.as_ref().is_some_and(covers) {
                open.clear();
            }
            continue;
        }
        let Ok(entry) = Recorded::parse(line) else { continue };
        may_be_old &= entry.signature.is_none();
        if entry.sequence <= start.0 {
            continue;
        }
        let follows = entry.sequence == last.0 + 1 && entry.previous_hash == last.1;
        match hash_of_line(line) {
            Some(hash) if follows && hash == entry.entry_hash => open.push(OpenLine::of(&entry, may_be_old)),
            Some(_) | None => bad.push(entry.sequence),
        }
        last = (entry.sequence, entry.entry_hash);
    }
    open.retain(|line| !line.is_signed(key));
    let numbers = |excused: bool| open.iter().filter(move |line| line.may_be_old == excused).map(|line| line.sequence);
    bad.extend(numbers(false));
    Unsigned { excused: numbers(true).collect(), bad }
}

/// A line that no signature covers but, it may be, its own.
pub struct OpenLine {
    pub sequence: u64,
    hash: String,
    signature: Option<String>,
    /// Whether a version may have written it that did not sign each line.
    pub may_be_old: bool,
}

impl OpenLine {
    pub fn of(entry: &Recorded, may_be_old: bool) -> Self {
        let (hash, signature) = (entry.entry_hash.clone(), entry.signature.clone());
        Self { sequence: entry.sequence, hash, signature, may_be_old }
    }

    /// Asked of the few lines at the end only: it takes much longer than a hash.
    pub fn is_signed(&self, key: &Key) -> bool {
        self.signature.as_ref().is_some_and(|signature| key.vouched(&self.hash, signature))
    }
}

/// What a line says that a writer once found.
pub enum Told {
    Problem(ProblemKind, String),
    Unvouched(u64),
}

pub fn told(entry: &Recorded) -> Option<Told> {
    let number = |name: &str| entry.details.as_ref().and_then(|details| details.get(name)).and_then(Value::as_u64);
    let (from, to) = (number("from").unwrap_or(1), number("to").unwrap_or(0));
    let (kind, words) = match entry.event_type.as_str() {
        TRUNCATED => (ProblemKind::Truncated, format!("entries {from} to {to} were gone")),
        REMOVED => (ProblemKind::Truncated, "there was a key but no log: an earlier one was removed".to_owned()),
        REWRITTEN => (ProblemKind::HashMismatch, format!("entry {to} was not the one that was vouched for")),
        UNSIGNED => (ProblemKind::BadSignature, format!("entries {from} to {to} were not written by Weft")),
        HEAD_LOST => (ProblemKind::Truncated, format!("head.json was missing or changed; the log ended at {to}")),
        KEY_LOST => (ProblemKind::BadSignature, format!("the key was gone; nothing vouches for entries 1 to {to}")),
        SIGNATURE_LOST => (ProblemKind::BadSignature, format!("the signatures of entries {from} to {to} were gone")),
        UNVOUCHED => return Some(Told::Unvouched((to + 1).saturating_sub(from))),
        _ => return None,
    };
    Some(Told::Problem(kind, format!("found when entry {} was written: {words}", entry.sequence)))
}

#[cfg(test)]
#[path = "opening_tests.rs"]
mod tests;
