//! The key that signs the log, and what it signs: a statement that the chain had this hash at this
//! line.

use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::AuditError;
use super::entry::{hex, unhex};
use super::files::write_whole;
use crate::plain;

const SEED_BYTES: usize = 32;

pub struct Key {
    pair: Ed25519KeyPair,
}

impl Key {
    /// A new key, which nobody knows of before it is saved.
    pub fn make(path: &Path) -> Result<(Self, Seed), AuditError> {
        let mut seed = [0; SEED_BYTES];
        getrandom::fill(&mut seed).map_err(|error| bad(path, error.to_string()))?;
        Ok((Self::from_seed(path, &seed)?, Seed(seed)))
    }

    /// The key, if one was ever made.
    pub fn read(path: &Path) -> Result<Option<Self>, AuditError> {
        match path.canonicalize().and_then(|path| plain::read(&path)) {
            Ok(text) => {
                let text = String::from_utf8(text).unwrap_or_default();
                let seed = unhex(text.trim()).ok_or_else(|| bad(path, "it is not a key".to_owned()))?;
                Self::from_seed(path, &seed).map(Some)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AuditError::io("reading", path, &error)),
        }
    }

    fn from_seed(path: &Path, seed: &[u8]) -> Result<Self, AuditError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|error| bad(path, error.to_string()))?;
        Ok(Self { pair })
    }

    fn public(&self) -> String {
        BASE64.encode(self.pair.public_key().as_ref())
    }

    fn fits(&self, bytes: &[u8], signature: &str) -> bool {
        let public = UnparsedPublicKey::new(&ED25519, self.pair.public_key().as_ref());
        BASE64.decode(signature).is_ok_and(|signature| public.verify(bytes, &signature).is_ok())
    }

    /// Vouches for one line by its hash.
    pub fn vouch(&self, hash: &str) -> String {
        BASE64.encode(self.pair.sign(&line_bytes(hash)).as_ref())
    }

    pub fn vouched(&self, hash: &str, signature: &str) -> bool {
        self.fits(&line_bytes(hash), signature)
    }
}

/// What is signed for a line. No statement begins like this.
fn line_bytes(hash: &str) -> Vec<u8> {
    format!("audit line {hash}").into_bytes()
}

/// What a new key is made of.
pub struct Seed([u8; SEED_BYTES]);

impl Seed {
    /// Keeps it, whole or not at all. Called under the log's lock, so that no two processes keep one each.
    pub fn save(&self, path: &Path) -> Result<(), AuditError> {
        if let Some(folder) = path.parent() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| AuditError::io("making", folder, &error))?;
        }
        write_whole(path, |file| writeln!(file, "{}", hex(&self.0)))
    }
}

fn bad(path: &Path, detail: String) -> AuditError {
    AuditError::Key { path: path.display().to_string(), detail }
}

/// What a statement is for. One kind cannot be passed off as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// All lines up to here are as they were written.
    Signature,
    /// The log reached at least to here.
    Head,
    /// What came before was purged.
    Anchor,
}

/// Line `sequence_to` had the hash `chain_hash`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    pub purpose: Purpose,
    pub timestamp: String,
    pub sequence_from: u64,
    pub sequence_to: u64,
    pub chain_hash: String,
    /// In a head: how far the signatures in the log reached. Older versions did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_to: Option<u64>,
    /// The public key it was signed with.
    pub key: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

impl Statement {
    pub fn sign(mut self, key: &Key) -> Self {
        self.key = key.public();
        self.signature.clear();
        let bytes = serde_json::to_vec(&self).unwrap_or_default();
        self.signature = BASE64.encode(key.pair.sign(&bytes).as_ref());
        self
    }

    pub fn new(purpose: Purpose, timestamp: &str, from: u64, to: u64, hash: &str) -> Self {
        Self {
            purpose,
            timestamp: timestamp.to_owned(),
            sequence_from: from,
            sequence_to: to,
            chain_hash: hash.to_owned(),
            signed_to: None,
            key: String::new(),
            signature: String::new(),
        }
    }

    /// Why it cannot be believed, if it cannot.
    pub fn doubt(&self, purpose: Purpose, key: &Key) -> Option<&'static str> {
        if self.purpose != purpose {
            return Some("it was signed for another purpose");
        }
        if self.key != key.public() {
            return Some("it was signed with another key");
        }
        let bare = Self { signature: String::new(), ..self.clone() };
        let signed = serde_json::to_vec(&bare).is_ok_and(|bytes| key.fits(&bytes, &self.signature));
        (!signed).then_some("the signature does not fit")
    }
}
