//! Checks a log from its first line to its last and says where it is not what was written.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::entry::{Recorded, hash_of_line};
use super::files::SIGNATURE;
use super::key::{Key, Purpose, Statement};
use super::opening::{self, OpenLine, Told};
use super::{AuditError, Place};
use crate::plain;

/// More would not help anybody.
const MOST_PROBLEMS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    ParseError,
    ChainBreak,
    HashMismatch,
    SequenceGap,
    BadSignature,
    Truncated,
}

impl ProblemKind {
    pub const fn words(self) -> &'static str {
        match self {
            Self::ParseError => "parse error",
            Self::ChainBreak => "chain break",
            Self::HashMismatch => "hash mismatch",
            Self::SequenceGap => "sequence gap",
            Self::BadSignature => "bad signature",
            Self::Truncated => "truncated",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// The file's name and the line in it; none for what is missing as a whole.
    pub place: Option<(String, usize)>,
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub files: usize,
    pub entries: u64,
    pub signatures: u64,
    /// Lines after the last signature, which only the chain and the head vouch for.
    pub unsigned: u64,
    pub problems: Vec<Problem>,
}

impl Report {
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

struct Check {
    key: Option<Key>,
    anchor: Option<Statement>,
    head: Option<Statement>,
    report: Report,
    /// The line before, once there is one.
    last: Option<(u64, String)>,
    signed_to: Option<u64>,
    /// The number of the first line there is.
    first: Option<u64>,
    /// The lines since the last signature.
    open: Vec<OpenLine>,
    /// Whether no line so far is of the version that signs each.
    may_be_old: bool,
    /// Lines of which the log itself says that nothing vouched for them.
    unvouched: u64,
    /// Half a line at the very end, as a crash leaves it.
    torn: Option<(String, usize)>,
}

pub fn verify(place: &Place) -> Result<Report, AuditError> {
    let key = Key::read(&place.key)?;
    if !place.folder.exists() {
        return Ok(nothing_there(key.is_some()));
    }
    // What is there now; what others write meanwhile is not looked at.
    let (segments, anchor, head) = {
        let _turn = place.lock()?;
        let mut segments = Vec::new();
        for path in place.segments()? {
            let length = path.metadata().map_err(|error| AuditError::io("reading", &path, &error))?.len();
            segments.push((path, length));
        }
        (segments, place.statement(Purpose::Anchor)?, place.statement(Purpose::Head)?)
    };
    // A head alone, whose key was not kept, is a first start that was cut off.
    if segments.is_empty() && anchor.is_none() && (head.is_none() || key.is_none()) {
        return Ok(nothing_there(key.is_some()));
    }
    let report = Report { files: segments.len(), ..Report::default() };
    let mut check = Check {
        key,
        anchor,
        head,
        report,
        last: None,
        signed_to: None,
        first: None,
        open: Vec::new(),
        may_be_old: true,
        unvouched: 0,
        torn: None,
    };
    check.begin();
    for (path, length) in &segments {
        check.file(path, *length)?;
    }
    check.end();
    Ok(check.report)
}

/// The key is made with the first line.
fn nothing_there(had_lines: bool) -> Report {
    let mut report = Report::default();
    if had_lines {
        let detail = "there is a key but no log: it was removed".to_owned();
        report.problems.push(Problem { kind: ProblemKind::Truncated, place: None, detail });
    }
    report
}

impl Check {
    fn problem(&mut self, kind: ProblemKind, place: Option<(String, usize)>, detail: String) {
        if self.report.problems.len() < MOST_PROBLEMS {
            self.report.problems.push(Problem { kind, place, detail });
        }
    }

    fn doubt(&self, statement: &Statement, purpose: Purpose) -> Option<&'static str> {
        match &self.key {
            Some(key) => statement.doubt(purpose, key),
            None => Some("the key is missing"),
        }
    }

    fn begin(&mut self) {
        for (purpose, statement) in [(Purpose::Anchor, self.anchor.take()), (Purpose::Head, self.head.take())] {
            let Some(statement) = statement else { continue };
            if let Some(doubt) = self.doubt(&statement, purpose) {
                let name = if purpose == Purpose::Head { "head.json" } else { "anchor.json" };
                self.problem(ProblemKind::BadSignature, Some((name.to_owned(), 1)), doubt.to_owned());
            } else if purpose == Purpose::Head {
                self.head = Some(statement);
            } else {
                self.anchor = Some(statement);
            }
        }
    }

    fn file(&mut self, path: &Path, length: u64) -> Result<(), AuditError> {
        let failed = |error: std::io::Error| AuditError::io("reading", path, &error);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut lines = BufReader::new(plain::open_to_read(path).map_err(failed)?.take(length));
        let mut bytes = Vec::new();
        let mut number = 0;
        loop {
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                return Ok(());
            }
            number += 1;
            self.torn_was_no_end();
            let place = Some((name.clone(), number));
            if !bytes.ends_with(b"\n") {
                self.torn = place;
                continue;
            }
            match std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_suffix('\n')) {
                None => self.problem(ProblemKind::ParseError, place, "the line is not text".to_owned()),
                Some(line) => match line.strip_prefix(SIGNATURE) {
                    Some(statement) => self.signature(statement, place),
                    None => self.entry(line, place),
                },
            }
        }
    }

    fn torn_was_no_end(&mut self) {
        if let Some(place) = self.torn.take() {
            self.problem(ProblemKind::ParseError, Some(place), "the line is cut off".to_owned());
        }
    }

    fn entry(&mut self, line: &str, place: Option<(String, usize)>) {
        self.report.entries += 1;
        let entry = match Recorded::parse(line) {
            Ok(entry) => entry,
            Err(detail) => return self.problem(ProblemKind::ParseError, place, detail),
        };
        if hash_of_line(line).is_none_or(|hash| hash != entry.entry_hash) {
            let detail = format!("entry {} was changed after it was written", entry.sequence);
            self.problem(ProblemKind::HashMismatch, place.clone(), detail);
        }
        let (before, hash) = match &self.last {
            Some((sequence, hash)) => (*sequence, hash.clone()),
            None => self.start(entry.sequence, &entry.previous_hash),
        };
        if entry.sequence != before + 1 {
            let detail = if entry.sequence > before + 1 {
                format!("entries {} to {} are missing", before + 1, entry.sequence - 1)
            } else {
                format!("entry {} comes after entry {before}", entry.sequence)
            };
            self.problem(ProblemKind::SequenceGap, place.clone(), detail);
        }
        if entry.previous_hash != hash {
            let detail = format!("entry {} does not follow the line before it", entry.sequence);
            self.problem(ProblemKind::ChainBreak, place.clone(), detail);
        }
        let vouched = |statement: &Option<Statement>| {
            let known = statement.as_ref().filter(|known| known.sequence_to == entry.sequence);
            known.is_some_and(|known| known.chain_hash != entry.entry_hash)
        };
        if vouched(&self.head) || vouched(&self.anchor) {
            let detail = format!("entry {} is not the one that was vouched for", entry.sequence);
            self.problem(ProblemKind::HashMismatch, place.clone(), detail);
        }
        match opening::told(&entry) {
            Some(Told::Problem(kind, detail)) => self.problem(kind, place, detail),
            Some(Told::Unvouched(count)) => self.unvouched += count,
            None => {}
        }
        self.first.get_or_insert(entry.sequence);
        self.may_be_old &= entry.signature.is_none();
        self.open.push(OpenLine::of(&entry, self.may_be_old));
        self.last = Some((entry.sequence, entry.entry_hash));
    }

    /// What the first line there is has to follow: nothing, or what was purged.
    fn start(&self, first: u64, previous_hash: &str) -> (u64, String) {
        match &self.anchor {
            // A purge that was cut off left lines that the anchor covers; they are checked when it is reached.
            Some(anchor) if first <= anchor.sequence_to => (first.saturating_sub(1), previous_hash.to_owned()),
            Some(anchor) => (anchor.sequence_to, anchor.chain_hash.clone()),
            None => (0, String::new()),
        }
    }

    fn signature(&mut self, text: &str, place: Option<(String, usize)>) {
        self.report.signatures += 1;
        self.open.clear();
        let statement: Statement = match serde_json::from_str(text) {
            Ok(statement) => statement,
            Err(error) => return self.problem(ProblemKind::ParseError, place, error.to_string()),
        };
        let last = self.last.clone().unwrap_or_default();
        let detail = if let Some(doubt) = self.doubt(&statement, Purpose::Signature) {
            Some(doubt.to_owned())
        } else if (statement.sequence_to, &statement.chain_hash) != (last.0, &last.1) {
            Some(format!("it vouches for entry {}, which is not the line before it", statement.sequence_to))
        } else {
            let missing = match (self.signed_to, self.first) {
                (Some(signed), _) => Some(signed + 1).filter(|expected| *expected != statement.sequence_from),
                // The first one may also cover lines that were purged.
                (None, first) => first.filter(|first| *first < statement.sequence_from),
            };
            missing.map(|expected| format!("a signature from entry {expected} on is missing before it"))
        };
        if let Some(detail) = detail {
            self.problem(ProblemKind::BadSignature, place, detail);
        }
        self.signed_to = Some(statement.sequence_to);
    }

    fn end(&mut self) {
        let last = self.last.as_ref().map_or(0, |(sequence, _)| *sequence);
        let purged = self.anchor.as_ref().map_or(0, |anchor| anchor.sequence_to);
        self.report.unsigned = last.saturating_sub(self.signed_to.unwrap_or(purged));
        // A crash leaves half a line only behind what was on disk when the head was set.
        let (signed, expected) =
            (self.signed_to.unwrap_or(purged), self.head.as_ref().map_or(u64::MAX, |head| head.signed_to.unwrap_or(0)));
        if self.head.as_ref().is_none_or(|head| head.sequence_to > last.max(purged)) || expected > signed.max(purged) {
            self.torn_was_no_end();
        }
        match &self.head {
            Some(head) if head.sequence_to > last.max(purged) => {
                let detail = format!("the log ends at entry {last}, but it went on to entry {}", head.sequence_to);
                self.problem(ProblemKind::Truncated, None, detail);
            }
            None if self.report.entries > 0 && self.report.problems.is_empty() => {
                let detail = "head.json, which says how far the log went, is missing".to_owned();
                self.problem(ProblemKind::Truncated, None, detail);
            }
            Some(head) => {
                let (head_to, is_old) = (head.sequence_to, head.signed_to.is_none());
                if expected > signed.max(purged) {
                    let detail = format!("the signatures of entries {} to {expected} are missing", signed + 1);
                    self.problem(ProblemKind::BadSignature, None, detail);
                }
                self.unsigned_after(head_to, is_old);
            }
            None => {}
        }
        self.report.unsigned += self.unvouched;
    }

    /// Lines beyond what the head vouches for that bear no signature of their own.
    fn unsigned_after(&mut self, head_to: u64, is_old: bool) {
        let Some(key) = &self.key else { return };
        // Older versions wrote lines that nothing vouched for until the next head, but none after a
        // line that bears a signature of its own.
        let is_excused = |line: &OpenLine| line.sequence <= head_to || (is_old && line.may_be_old);
        let is_bad = |line: &&OpenLine| !is_excused(line) && !line.is_signed(key);
        let bad: Vec<u64> = self.open.iter().filter(is_bad).map(|line| line.sequence).collect();
        if let (Some(first), Some(last)) = (bad.first(), bad.last()) {
            let detail = format!("entries {first} to {last} at the end were not written by Weft: they are not signed");
            self.problem(ProblemKind::BadSignature, None, detail);
        }
    }
}
