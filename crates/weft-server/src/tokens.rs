//! Who may come in: tokens, kept in the settings folder for the owner only.
//!
//! The first token is kept as it is, because `weft serve` shows the address with it. Of those that are
//! added only hashes are kept: they are shown once, and neither they nor their cookies can be made from
//! what is on disk.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use weft_core::Timestamp;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("cannot use `{path}`; make it readable and writable for yourself, or move it away")]
    File { path: String, source: std::io::Error },
    #[error("`{path}` cannot be understood: {reason}. Move it away; tokens that were added must be added again")]
    Damaged { path: String, reason: String },
    #[error("there is a token `{0}` already. Choose another name, or revoke it first")]
    Exists(String),
    #[error("there is no token `{0}`. `weft serve tokens list` shows them")]
    Unknown(String),
    #[error("`{0}` is no name for a token: use up to 40 letters, digits, `-` and `_`")]
    BadName(String),
    #[error("no random number could be drawn: {0}")]
    Random(String),
}

/// The name of the token that `weft serve` itself makes.
pub const FIRST: &str = "first";
const LENGTH: usize = 32;
const LONGEST_NAME: usize = 40;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    name: String,
    /// Of the token, in hexadecimal.
    sha256: String,
    /// Of the cookie that is made of the token. Missing until its first use in a browser where an
    /// earlier version made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cookie_sha256: Option<String>,
    created_at: Timestamp,
}

/// A token, without what makes it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub name: String,
    pub created_at: Option<Timestamp>,
}

/// The tokens of one installation.
#[derive(Debug, Clone)]
pub struct Tokens {
    first: PathBuf,
    added: PathBuf,
}

/// What a request showed, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    pub name: String,
    /// Of the token: another one may get the same name later.
    hash: [u8; 32],
}

/// What is compared: hashes of the tokens, and of the cookies made of them.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    hashes: Vec<Hashes>,
    read: Option<(Option<SystemTime>, Option<SystemTime>)>,
}

#[derive(Debug, Clone)]
struct Hashes {
    name: String,
    token: [u8; 32],
    cookie: Option<[u8; 32]>,
}

impl Tokens {
    pub fn open(config: &Path) -> Self {
        Self { first: config.join("server.token"), added: config.join("server-tokens.json") }
    }

    /// The token that is made at the first start.
    pub fn first(&self) -> Result<String, TokenError> {
        match std::fs::read_to_string(&self.first) {
            Ok(text) if text.trim().len() == 2 * LENGTH => return Ok(text.trim().to_owned()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(file_error(&self.first, source)),
        }
        let token = draw()?;
        write_private(&self.first, &token)?;
        Ok(token)
    }

    pub fn list(&self) -> Result<Vec<TokenRow>, TokenError> {
        let mut rows: Vec<TokenRow> =
            self.first.exists().then(|| TokenRow { name: FIRST.to_owned(), created_at: None }).into_iter().collect();
        rows.extend(
            self.kept()?.into_iter().map(|kept| TokenRow { name: kept.name, created_at: Some(kept.created_at) }),
        );
        Ok(rows)
    }

    /// Makes a token. It is shown now and never again.
    pub fn add(&self, name: &str, now: Timestamp) -> Result<String, TokenError> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
            return Err(TokenError::BadName(name.chars().take(LONGEST_NAME).collect()));
        }
        let mut kept = self.kept()?;
        if name == FIRST || kept.iter().any(|known| known.name == name) {
            return Err(TokenError::Exists(name.to_owned()));
        }
        let token = draw()?;
        kept.push(Kept {
            name: name.to_owned(),
            sha256: hex(&hash(token.as_bytes())),
            cookie_sha256: Some(hex(&hash(cookie_of(&token).as_bytes()))),
            created_at: now,
        });
        self.keep(&kept)?;
        Ok(token)
    }

    /// Notes the cookie of a token that was made before cookies were noted.
    pub fn note_cookie(&self, name: &str, token: &str) -> Result<(), TokenError> {
        let mut kept = self.kept()?;
        let missing = kept.iter_mut().find(|known| known.name == name && known.cookie_sha256.is_none());
        let Some(missing) = missing else { return Ok(()) };
        missing.cookie_sha256 = Some(hex(&hash(cookie_of(token).as_bytes())));
        self.keep(&kept)
    }

    /// Whoever has this token does not come in any more. A new first one is made at the next start.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        if name == FIRST {
            return std::fs::remove_file(&self.first).map_err(|source| match source.kind() {
                std::io::ErrorKind::NotFound => TokenError::Unknown(name.to_owned()),
                _ => file_error(&self.first, source),
            });
        }
        let mut kept = self.kept()?;
        let before = kept.len();
        kept.retain(|known| known.name != name);
        if kept.len() == before {
            return Err(TokenError::Unknown(name.to_owned()));
        }
        self.keep(&kept)
    }

    fn kept(&self) -> Result<Vec<Kept>, TokenError> {
        match std::fs::read(&self.added) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| TokenError::Damaged {
                path: self.added.display().to_string(),
                reason: error.to_string(),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(file_error(&self.added, source)),
        }
    }

    fn keep(&self, kept: &[Kept]) -> Result<(), TokenError> {
        let text = serde_json::to_string_pretty(kept).map_err(|error| TokenError::Damaged {
            path: self.added.display().to_string(),
            reason: error.to_string(),
        })?;
        write_private(&self.added, &text)
    }

    /// Reads the tokens again if they have changed. Whoever cannot be read does not come in.
    pub fn refresh(&self, checks: &mut Checks) {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let stamp = (changed(&self.first), changed(&self.added));
        if checks.read == Some(stamp) {
            return;
        }
        let mut hashes = Vec::new();
        // A file that was cut off holds no token.
        let first = std::fs::read_to_string(&self.first).ok();
        if let Some(token) = first.filter(|token| token.trim().len() == 2 * LENGTH) {
            let token = token.trim();
            hashes.push(Hashes {
                name: FIRST.to_owned(),
                token: hash(token.as_bytes()),
                cookie: Some(hash(cookie_of(token).as_bytes())),
            });
        }
        for kept in self.kept().unwrap_or_default() {
            if let Some(token) = unhex(&kept.sha256) {
                let cookie = kept.cookie_sha256.as_deref().and_then(unhex);
                hashes.push(Hashes { name: kept.name, token, cookie });
            }
        }
        *checks = Checks { hashes, read: Some(stamp) };
    }
}

impl Checks {
    /// Whose token this is. Looks at all of them, and takes the same time wherever the difference is.
    pub fn bearer(&self, token: &str) -> Option<Bearer> {
        self.find(&hash(token.as_bytes()), |known| Some(known.token))
    }

    /// Whose cookie this is.
    pub fn cookie(&self, cookie: &str) -> Option<Bearer> {
        self.find(&hash(cookie.as_bytes()), |known| known.cookie)
    }

    /// Whether the token is still one.
    pub fn knows(&self, bearer: &Bearer) -> bool {
        self.hashes.iter().any(|known| known.name == bearer.name && same(&known.token, &bearer.hash))
    }

    fn find(&self, given: &[u8; 32], expected: impl Fn(&Hashes) -> Option<[u8; 32]>) -> Option<Bearer> {
        let mut found = None;
        for known in &self.hashes {
            if expected(known).is_some_and(|expected| same(given, &expected)) {
                found = Some(Bearer { name: known.name.clone(), hash: known.token });
            }
        }
        found
    }
}

/// What a browser keeps in place of the token. It is made of the token itself, which is kept nowhere,
/// and cannot be turned back into it.
pub fn cookie_of(token: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"weft cookie\0");
    hasher.update(token.as_bytes());
    hex(&hasher.finalize().into())
}

/// The host name that browsers use for a server on their own machine, such as
/// `weft-3f9a1c7e5b2d.localhost`: always the same for one installation, and not to be guessed.
pub fn own_name(first_token: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"weft name\0");
    hasher.update(first_token.as_bytes());
    let name: String = hex(&hasher.finalize().into()).chars().take(12).collect();
    format!("weft-{name}.localhost")
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn same(given: &[u8; 32], expected: &[u8; 32]) -> bool {
    given.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn draw() -> Result<String, TokenError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Whole or not at all, and for the owner only from the beginning.
fn write_private(path: &Path, text: &str) -> Result<(), TokenError> {
    let failed = |source| file_error(path, source);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let _ = std::fs::remove_file(&fresh);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&fresh, path).map_err(failed)
}

fn file_error(path: &Path, source: std::io::Error) -> TokenError {
    TokenError::File { path: path.display().to_string(), source }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
