//! Removes old lines. What is left still verifies: a signed anchor says what it follows.

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;

use weft_core::Timestamp;

use super::entry::Recorded;
use super::files::{SIGNATURE, write_whole};
use super::key::{Key, Purpose, Statement};
use super::{AuditError, Place, verify, writer};
use crate::plain;

/// The last line that goes, and how the files are cut.
struct Cut {
    count: u64,
    sequence: u64,
    hash: String,
    timestamp: String,
    /// Files that go as a whole.
    whole: Vec<PathBuf>,
    /// A file of which the first bytes go.
    part: Option<(PathBuf, u64)>,
}

pub fn count(place: &Place, before: Timestamp) -> Result<u64, AuditError> {
    Ok(find(place, before)?.map_or(0, |cut| cut.count))
}

pub fn purge(place: &Place, before: Timestamp) -> Result<u64, AuditError> {
    // A purge must not be a way to hide what was changed.
    if !verify::verify(place)?.is_valid() {
        return Err(AuditError::Damaged);
    }
    if !place.folder.exists() {
        return Ok(0);
    }
    let _turn = place.lock()?;
    let Some(cut) = find(place, before)? else { return Ok(0) };
    let key = Key::read(&place.key)?.ok_or(AuditError::Damaged)?;
    let anchor = Statement::new(Purpose::Anchor, &cut.timestamp, 1, cut.sequence, &cut.hash).sign(&key);
    // The anchor first: should this be cut off, what is left is more than it says, not less.
    place.set_statement(&anchor)?;
    let kept = place.segment(cut.sequence + 1);
    if let Some((path, from)) = &cut.part {
        let failed = |error: std::io::Error| AuditError::io("reading", path, &error);
        let mut rest = plain::open_to_read(path).map_err(failed)?;
        rest.seek(SeekFrom::Start(*from)).map_err(failed)?;
        write_whole(&kept, |file| std::io::copy(&mut rest, file).map(|_| ()))?;
    }
    for path in cut.whole.iter().chain(cut.part.iter().map(|(path, _)| path)).filter(|path| **path != kept) {
        std::fs::remove_file(path).map_err(|error| AuditError::io("removing", path, &error))?;
    }
    writer::record_purge(place, key, cut.count, cut.sequence)?;
    Ok(cut.count)
}

fn find(place: &Place, before: Timestamp) -> Result<Option<Cut>, AuditError> {
    let mut cut: Option<Cut> = None;
    let mut whole = Vec::new();
    for path in place.segments()? {
        let failed = |error: std::io::Error| AuditError::io("reading", &path, &error);
        let mut lines = BufReader::new(plain::open_to_read(&path).map_err(failed)?);
        let (mut line, mut offset) = (String::new(), 0);
        loop {
            line.clear();
            let length = lines.read_line(&mut line).map_err(failed)?;
            if length == 0 {
                break;
            }
            if line.starts_with(SIGNATURE) {
                offset += length as u64;
                // A signature goes with the last line it covers.
                continue;
            }
            let Ok(entry) = Recorded::parse(&line) else { return Err(AuditError::Damaged) };
            if entry.at() >= before {
                return Ok(cut.map(|cut| Cut { whole, part: (offset > 0).then_some((path, offset)), ..cut }));
            }
            offset += length as u64;
            let count = cut.map_or(0, |cut| cut.count) + 1;
            let (sequence, hash, timestamp) = (entry.sequence, entry.entry_hash, entry.timestamp);
            cut = Some(Cut { count, sequence, hash, timestamp, whole: Vec::new(), part: None });
        }
        whole.push(path);
    }
    Ok(cut.map(|cut| Cut { whole, ..cut }))
}
