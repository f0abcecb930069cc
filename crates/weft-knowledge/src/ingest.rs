//! One file, read and taken apart. What should not be searched is passed over with the reason:
//! binaries, what a program wrote, what is too large. Secrets are hidden before anything is kept.
//!
//! Never fails: whatever is wrong with a file is said with the file, and the rest goes on.

use std::io::Read as _;
use std::path::Path;

use weft_tool::reading::PdfError;

use crate::chunk::{Domain, Language};
use crate::parsed::Parsed;
use crate::{code, documents, language};

/// Source files beyond this are written by programs.
const LARGEST_TEXT: u64 = 1024 * 1024;
/// Books and standards are longer than any source file.
const LARGEST_PROSE: u64 = 16 * 1024 * 1024;
/// Documents carry pictures and fonts.
const LARGEST_DOCUMENT: u64 = 50 * 1024 * 1024;
/// Where this many bytes stand in one line on average, no person wrote it.
const LONGEST_LINES: usize = 500;
const HEAD: usize = 8 * 1024;

/// A file as it was found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Within the workspace, with `/`.
    pub path: String,
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: i64,
}

/// What came of reading a file.
pub(crate) struct Read {
    pub domain: Domain,
    pub hash: Option<Vec<u8>>,
    pub outcome: Outcome,
}

pub(crate) enum Outcome {
    /// The same bytes as before.
    Same,
    Parsed(Box<Parsed>),
    Passed(Trouble),
    /// It went away meanwhile.
    Gone,
}

/// Why a file is not searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// To be put after "the file".
    pub reason: String,
    /// The file itself may be fine, so that it is tried again however it looks.
    pub passes: bool,
}

impl Trouble {
    pub(crate) fn lasting(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), passes: false }
    }

    fn passing(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), passes: true }
    }
}

impl From<PdfError> for Trouble {
    fn from(error: PdfError) -> Self {
        Self { passes: matches!(error, PdfError::NotNow(_)), reason: error.to_string() }
    }
}

impl Read {
    fn passed(domain: Domain, hash: Option<Vec<u8>>, trouble: Trouble) -> Self {
        // By its hash a file would be taken for read.
        let hash = hash.filter(|_| !trouble.passes);
        Self { domain, hash, outcome: Outcome::Passed(trouble) }
    }
}

/// Reads a file and takes it apart, unless its bytes have the hash that is known.
pub(crate) fn read(root: &Path, found: &Found, known: Option<&[u8]>) -> Read {
    let guess = language::of(&found.path, b"");
    let domain = language::domain(guess);
    if weft_tool::reading::is_secret(Path::new(&found.path)) {
        return Read::passed(domain, None, Trouble::lasting("may hold secrets and is not searched"));
    }
    let limit = match (guess, domain) {
        (Some(Language::Pdf | Language::Docx), _) => LARGEST_DOCUMENT,
        (_, Domain::Documents) => LARGEST_PROSE,
        _ => LARGEST_TEXT,
    };
    let too_large = || Trouble::lasting(format!("is larger than {} MB", limit / (1024 * 1024)));
    if found.size > limit {
        return Read::passed(domain, None, too_large());
    }
    let bytes = match bytes_of(root, &found.path, limit) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Read { domain, hash: None, outcome: Outcome::Gone };
        }
        Err(error) => return Read::passed(domain, None, Trouble::passing(format!("cannot be read: {error}"))),
    };
    if bytes.len() as u64 > limit {
        return Read::passed(domain, None, too_large());
    }
    let hash = ring::digest::digest(&ring::digest::SHA256, &bytes).as_ref().to_vec();
    if known == Some(hash.as_slice()) {
        return Read { domain, hash: Some(hash), outcome: Outcome::Same };
    }
    let language = guess.or_else(|| language::of(&found.path, &bytes));
    let domain = language::domain(language);
    // A reader that gives up on one file must not take the others with it.
    let taken = std::panic::catch_unwind(|| take_apart(&found.path, language, bytes));
    match taken.unwrap_or(Err(Trouble::lasting("could not be taken apart"))) {
        Ok(parsed) => Read { domain, hash: Some(hash), outcome: Outcome::Parsed(Box::new(parsed)) },
        Err(trouble) => Read::passed(domain, Some(hash), trouble),
    }
}

/// What the bytes of a file hash to now; nothing where it cannot be read or is too large to be known.
pub(crate) fn hash_of(root: &Path, path: &str) -> Option<Vec<u8>> {
    let bytes = bytes_of(root, path, LARGEST_DOCUMENT).ok().filter(|bytes| bytes.len() as u64 <= LARGEST_DOCUMENT)?;
    Some(ring::digest::digest(&ring::digest::SHA256, &bytes).as_ref().to_vec())
}

/// The text of a file that people read line by line.
pub(crate) fn text_of(root: &Path, path: &str) -> std::io::Result<String> {
    let bytes = decoded(bytes_of(root, path, LARGEST_PROSE)?).map_err(std::io::Error::other)?;
    Ok(as_text(bytes))
}

/// No link is followed, wherever it stands in the path, and what is not a file (a pipe would never end)
/// is not read.
fn bytes_of(root: &Path, path: &str, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    weft_tool::reading::open(&root.join(path))?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn take_apart(path: &str, language: Option<Language>, bytes: Vec<u8>) -> Result<Parsed, Trouble> {
    if let Some(language @ (Language::Pdf | Language::Docx)) = language {
        return documents::parse(path, language, bytes).map(hide_secrets);
    }
    let text = as_text(decoded(bytes).map_err(Trouble::lasting)?);
    let language = cpp_header(path, &text).or(language);
    if let Some(reason) = made_by_a_program(path, language, &text) {
        return Err(Trouble::lasting(reason));
    }
    let mut text = text;
    weft_core::secret::redact(&mut text);
    match (language, language::domain(language)) {
        (Some(language), Domain::Documents) => documents::parse(path, language, text.into_bytes()),
        (language, _) => Ok(code::parse(path, language, &text)),
    }
}

/// Headers of both languages are called `.h`; what only C++ has tells them apart.
fn cpp_header(path: &str, text: &str) -> Option<Language> {
    let is_cpp = |line: &str| {
        let line = line.trim_start();
        ["class ", "namespace ", "template<", "template <", "public:", "private:", "protected:", "using "]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    (path.ends_with(".h") && text.lines().any(is_cpp)).then_some(Language::Cpp)
}

/// What is no UTF-8 is most often the Western encoding of old, of which every byte is a letter; both may
/// stand in one file.
fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::with_capacity(error.as_bytes().len());
        for chunk in error.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
        }
        text
    })
}

/// Text of other encodings as UTF-8; an error for what is no text.
fn decoded(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let utf16 = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok()).map(read).collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Ok(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Ok(utf16(rest, u16::from_be_bytes));
    }
    let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
    if memchr::memchr(0, head).is_some() {
        return Err("is not text".to_owned());
    }
    // Single bytes of another encoding are survived; where they are many it is no text.
    let odd = head.iter().filter(|byte| **byte < 9 || (14..27).contains(*byte)).count();
    if odd * 20 > head.len() {
        return Err("is not text".to_owned());
    }
    Ok(bytes)
}

fn made_by_a_program(path: &str, language: Option<Language>, text: &str) -> Option<&'static str> {
    const LOCKS: [&str; 9] = [
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "Cargo.lock",
        "poetry.lock",
        "composer.lock",
        "Gemfile.lock",
        "go.sum",
        "uv.lock",
    ];
    const MARKS: [&str; 5] =
        ["@generated", "DO NOT EDIT", "do not edit by hand", "Code generated by", "autogenerated by"];
    let name = path.rsplit('/').next().unwrap_or(path);
    if LOCKS.contains(&name) {
        return Some("is a lock file");
    }
    if name.contains(".min.") {
        return Some("is minified");
    }
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let is_prose = language::domain(language) == Domain::Documents;
    if !is_prose && text.len() > HEAD && text.len() / lines > LONGEST_LINES {
        return Some("is minified");
    }
    let head: Vec<&str> = text.lines().take(5).collect();
    let is_comment =
        |line: &&&str| ["//", "#", "/*", "*", "--", "<!--"].iter().any(|mark| line.trim_start().starts_with(mark));
    let marked = head.iter().filter(is_comment).any(|line| MARKS.iter().any(|mark| line.contains(mark)));
    (!is_prose && marked).then_some("was written by a program")
}

fn hide_secrets(mut parsed: Parsed) -> Parsed {
    for piece in &mut parsed.pieces {
        weft_core::secret::redact(&mut piece.text);
    }
    for node in &mut parsed.nodes {
        weft_core::secret::redact(&mut node.name);
        weft_core::secret::redact(&mut node.context);
    }
    parsed
}

#[cfg(test)]
#[path = "ingest_tests.rs"]
mod tests;
