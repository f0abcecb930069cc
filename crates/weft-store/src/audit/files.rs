//! The log's files: their names, where the log ends, and what is mended after a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::entry::Recorded;
use super::key::{Purpose, Statement};
use super::{AuditError, Place};
use crate::plain::{self, NotPlain};

/// Lines that begin so are statements, all others entries.
pub const SIGNATURE: &str = "SIG:";
const WINDOW: u64 = 64 * 1024;

/// Where the chain ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tail {
    pub sequence: u64,
    pub hash: String,
    pub timestamp: String,
    /// The last line that a signature covers.
    pub signed_to: u64,
}

impl Place {
    pub(super) fn make_folder(&self) -> Result<(), AuditError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| AuditError::io("making", &self.folder, &error))
    }

    /// Nobody else writes while this is held.
    pub(super) fn lock(&self) -> Result<File, AuditError> {
        let path = self.folder.join("lock");
        plain::exclusive(&path).map_err(|error| AuditError::io("locking", &path, &error))
    }

    pub(super) fn segment(&self, first: u64) -> PathBuf {
        self.folder.join(format!("audit-{first:012}.jsonl"))
    }

    /// The files, oldest first.
    pub(super) fn segments(&self) -> Result<Vec<PathBuf>, AuditError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(AuditError::io("reading", &self.folder, &error)),
        };
        let is_segment = |name: &str| name.starts_with("audit-") && name.ends_with(".jsonl");
        // A pipe of such a name would keep whoever reads it waiting for ever.
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let named = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(is_segment);
        let paths = entries.flatten().filter(|entry| named(entry) && is_file(entry));
        let mut segments: Vec<PathBuf> = paths.map(|entry| entry.path()).collect();
        segments.sort();
        Ok(segments)
    }

    fn statement_file(&self, purpose: Purpose) -> PathBuf {
        self.folder.join(match purpose {
            Purpose::Head => "head.json",
            Purpose::Anchor => "anchor.json",
            Purpose::Signature => "signature.json",
        })
    }

    /// The head or the anchor, whether or not it can be believed.
    pub(super) fn statement(&self, purpose: Purpose) -> Result<Option<Statement>, AuditError> {
        let path = self.statement_file(purpose);
        // One that cannot be read is one that cannot be believed.
        let unbelievable = || Statement::new(purpose, "", 0, 0, "");
        match plain::read(&path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| unbelievable()))),
            Err(error) if NotPlain::is_why(&error) => Ok(Some(unbelievable())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AuditError::io("reading", &path, &error)),
        }
    }

    pub(super) fn set_statement(&self, statement: &Statement) -> Result<(), AuditError> {
        let path = self.statement_file(statement.purpose);
        let bytes = serde_json::to_vec(statement).unwrap_or_default();
        write_whole(&path, |file| file.write_all(&bytes))
    }

    /// Where the log ends. Half a line that a crash left is put aside first; says how long it was.
    pub(super) fn tail(&self) -> Result<(Tail, Option<PathBuf>, u64), AuditError> {
        let segments = self.segments()?;
        let mut torn = 0;
        if let Some(last) = segments.last() {
            torn = self.put_torn_line_aside(last)?;
        }
        for segment in segments.iter().rev() {
            if let Some(tail) = tail_of(segment)? {
                return Ok((tail, segments.last().cloned(), torn));
            }
        }
        let anchor = self.statement(Purpose::Anchor)?;
        let tail = anchor.map_or_else(Tail::default, |anchor| Tail {
            sequence: anchor.sequence_to,
            hash: anchor.chain_hash,
            timestamp: anchor.timestamp,
            signed_to: anchor.sequence_to,
        });
        Ok((tail, segments.last().cloned(), torn))
    }

    fn put_torn_line_aside(&self, path: &Path) -> Result<u64, AuditError> {
        let failed = |error: std::io::Error| AuditError::io("mending", path, &error);
        let mut file = plain::open(OpenOptions::new().read(true).write(true), path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut end = length;
        let mut block = Vec::new();
        // Back to the last line that ended.
        while end > 0 {
            let from = end.saturating_sub(WINDOW);
            block.clear();
            file.seek(SeekFrom::Start(from)).map_err(failed)?;
            (&mut file).take(end - from).read_to_end(&mut block).map_err(failed)?;
            match block.iter().rposition(|byte| *byte == b'\n') {
                Some(newline) => {
                    end = from + newline as u64 + 1;
                    break;
                }
                None => end = from,
            }
        }
        if end == length {
            return Ok(0);
        }
        let mut torn = Vec::new();
        file.seek(SeekFrom::Start(end)).map_err(failed)?;
        (&mut file).take(length - end).read_to_end(&mut torn).map_err(failed)?;
        let aside = path.with_extension(format!("torn-{end}"));
        write_whole(&aside, |file| file.write_all(&torn))?;
        file.set_len(end).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(length - end)
    }
}

/// Shows `look` the last lines of a file, more and more of them until it has seen enough. It is
/// told when these are all there are.
fn from_the_end<T>(path: &Path, look: impl Fn(&[&str], bool) -> Option<T>) -> Result<Option<T>, AuditError> {
    let failed = |error: std::io::Error| AuditError::io("reading", path, &error);
    let mut file = plain::open_to_read(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut window = WINDOW;
    loop {
        let from = length.saturating_sub(window);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        (&mut file).take(length - from).read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        // The first line may be cut.
        let lines: Vec<&str> = text.lines().skip(usize::from(from > 0)).collect();
        let seen = look(&lines, from == 0);
        if seen.is_some() || from == 0 {
            return Ok(seen);
        }
        window = window.saturating_mul(4);
    }
}

/// The last entry of a file, and how far its signatures reach.
fn tail_of(path: &Path) -> Result<Option<Tail>, AuditError> {
    from_the_end(path, |lines, is_all| {
        let entries = || lines.iter().filter(|line| !line.starts_with(SIGNATURE));
        let last = entries().rev().find_map(|line| Recorded::parse(line).ok())?;
        let signed = lines.iter().rev().find_map(|line| {
            let statement: Statement = serde_json::from_str(line.strip_prefix(SIGNATURE)?).ok()?;
            Some(statement.sequence_to)
        });
        // A file begins only after the one before it was signed.
        let before = || {
            entries().find_map(|line| Recorded::parse(line).ok()).map_or(0, |first| first.sequence.saturating_sub(1))
        };
        let signed_to = signed.or_else(|| is_all.then(before))?;
        Some(Tail { sequence: last.sequence, hash: last.entry_hash, timestamp: last.timestamp, signed_to })
    })
}

/// The lines that follow entry `sequence`, and that entry's own, oldest first. All there are when
/// it is not found.
pub fn lines_from(segments: &[PathBuf], sequence: u64) -> Result<Vec<String>, AuditError> {
    let first_of = |path: &PathBuf| {
        let name = path.file_stem()?.to_str()?;
        name.strip_prefix("audit-")?.parse::<u64>().ok()
    };
    let from = segments.iter().rposition(|path| first_of(path).is_some_and(|first| first <= sequence)).unwrap_or(0);
    let mut lines = Vec::new();
    for (number, path) in segments.iter().enumerate().skip(from) {
        lines.extend(end_of(path, if number == from { sequence } else { 0 })?);
    }
    Ok(lines)
}

/// A file's last lines, back to entry `sequence`, or all of them when it is not found.
fn end_of(path: &Path, sequence: u64) -> Result<Vec<String>, AuditError> {
    let is_it = |line: &&str| Recorded::parse(line).is_ok_and(|entry| entry.sequence == sequence);
    let end = from_the_end(path, |lines, is_all| {
        let found = (sequence > 0).then(|| lines.iter().rposition(is_it)).flatten();
        let at = found.or(is_all.then_some(0))?;
        Some(lines.iter().skip(at).map(|line| (*line).to_owned()).collect())
    })?;
    Ok(end.unwrap_or_default())
}

pub fn open_for_append(path: &Path) -> Result<File, AuditError> {
    let opened = plain::open(OpenOptions::new().create(true).append(true).mode(0o600), path);
    opened.map_err(|error| AuditError::io("opening", path, &error))
}

/// After a crash it is the old one or the new one, never half of it.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), AuditError> {
    let unfinished = path.with_extension("new");
    let mut options = OpenOptions::new();
    let opened = plain::open(options.write(true).create(true).truncate(true).mode(0o600), &unfinished);
    let mut file = opened.map_err(|error| AuditError::io("writing", &unfinished, &error))?;
    let all = || {
        write(&mut file)?;
        file.sync_data()?;
        fs::rename(&unfinished, path)
    };
    all().map_err(|error| AuditError::io("writing", path, &error))
}
