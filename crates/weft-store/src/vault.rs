//! The vault: provider keys, in the keychain of the person's desktop where there is one, else encrypted
//! for this user on this machine.
//!
//! The vault's file says which keys are in the keychain, so that nobody talks to it who does not need
//! one of them. Whoever takes part in a keychain can read it; the file is no safer than its owner's
//! account either, but it works everywhere.
//!
//! Each key is sealed on its own with AES-256-GCM under a key that Argon2id derives from the
//! machine's id, the user and a salt made at installation. The file therefore opens only where it was
//! made, and a key entered again replaces one that does not open. Names are not secret and are
//! readable without deriving anything, which takes a while and much memory.
//!
//! A secret never appears in a `Debug` form, an error or a log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use aes_gcm::aead::{Aead, KeyInit, Nonce, Payload};
use aes_gcm::{Aes256Gcm, Key};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use crate::backup::exclusive;
use crate::database::lock;
use crate::keychain::{Keychain, KeychainError, Label};

const MACHINE_ID: &str = "/etc/machine-id";
const DEFAULT_PROFILE: &str = "default";
const FORMAT: u32 = 1;
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;
const ARGON2_MEMORY_KIB: u32 = 64 * 1024;
const ARGON2_PASSES: u32 = 1;
const ARGON2_LANES: u32 = 4;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error(
        "the saved key for `{name}` does not open here: it was saved on another machine or by another user. Enter it again with `weft auth {name}`"
    )]
    Sealed { name: String },
    #[error(
        "{path} cannot be read as a vault ({detail}). Move it away and enter the keys again with `weft auth PROVIDER`"
    )]
    Damaged { path: String, detail: String },
    #[error("{path} was written by a newer Weft (format {found}). Update Weft; nothing was changed")]
    Newer { path: String, found: u32 },
    #[error(
        "the key for `{name}` is in the system's keychain, and that does not give it: {detail}. Or enter it again with `weft auth {name}`"
    )]
    Keychain { name: String, detail: String },
    #[error("the vault cannot be used: {detail}. Check the folder's permissions and the disk (`weft doctor` helps)")]
    Io { detail: String },
}

impl VaultError {
    fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { detail: format!("{action} {} failed: {error}", path.display()) }
    }
}

/// A key. Ask for it by [`Secret::expose`], in as few places as possible.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// By the desktop.
    Keychain,
    /// Encrypted, in the vault's own file.
    File,
}

pub struct Vault {
    folder: PathBuf,
    /// Where keys go first.
    keychain: Option<Keychain>,
    /// Whose keys are meant; those of nobody in particular if there is none.
    profile: Option<String>,
    machine_id: PathBuf,
    /// Derived when a secret is first needed.
    key: Mutex<Option<Key<Aes256Gcm>>>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// One state of the vault's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultVersion {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// The file, with the names in the open and the keys sealed.
#[derive(Serialize, Deserialize)]
struct Contents {
    format: u32,
    keys: BTreeMap<String, Sealed>,
    /// Names of keys that are in the keychain.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    in_keychain: BTreeSet<String>,
}

impl Contents {
    fn kept(&self, slot: &str) -> Option<Kept> {
        match (self.in_keychain.contains(slot), self.keys.contains_key(slot)) {
            (true, _) => Some(Kept::Keychain),
            (false, true) => Some(Kept::File),
            (false, false) => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    nonce: String,
    data: String,
}

impl Vault {
    /// Touches nothing on disk until something is asked for.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self::on_machine(folder, MACHINE_ID)
    }

    fn on_machine(folder: impl Into<PathBuf>, machine_id: impl Into<PathBuf>) -> Self {
        let (folder, machine_id) = (folder.into(), machine_id.into());
        Self { folder, keychain: None, profile: None, machine_id, key: Mutex::new(None) }
    }

    /// The same vault, whose keys go into a keychain if there is one.
    #[must_use]
    pub fn with_keychain(self, keychain: Option<Keychain>) -> Self {
        Self { keychain, ..self }
    }

    /// The same vault, with the keys of a profile: each has its own, and `default` those that are
    /// in no other.
    #[must_use]
    pub fn with_profile(self, profile: Option<&str>) -> Self {
        Self { profile: profile.filter(|name| *name != DEFAULT_PROFILE).map(str::to_owned), ..self }
    }

    /// The name under which a provider's key is kept.
    fn slot(&self, name: &str) -> String {
        self.profile.as_ref().map_or_else(|| name.to_owned(), |profile| format!("{profile}/{name}"))
    }

    /// The providers that have a key here. Derives nothing.
    pub fn names(&self) -> Result<Vec<String>, VaultError> {
        let own = |slot: String| match (&self.profile, slot.split_once('/')) {
            (None, None) => Some(slot),
            (Some(profile), Some((owner, name))) if owner == profile => Some(name.to_owned()),
            (None | Some(_), None | Some(_)) => None,
        };
        let contents = self.read()?;
        Ok(contents.keys.into_keys().chain(contents.in_keychain).filter_map(own).collect())
    }

    /// Where a key is, if there is one. Opens nothing.
    pub fn place(&self, name: &str) -> Result<Option<Kept>, VaultError> {
        Ok(self.read()?.kept(&self.slot(name)))
    }

    fn label<'a>(&'a self, name: &'a str) -> Label<'a> {
        Label { profile: self.profile.as_deref().unwrap_or(DEFAULT_PROFILE), name, folder: &self.folder }
    }

    /// Does something with a key that is in the keychain.
    fn at_keychain<T>(
        &self,
        name: &str,
        action: impl FnOnce(&Keychain) -> Result<T, KeychainError>,
    ) -> Result<T, VaultError> {
        let failed = |detail: String| VaultError::Keychain { name: name.to_owned(), detail };
        let keychain = self.keychain.as_ref().ok_or_else(|| failed("there is none here".to_owned()))?;
        action(keychain).map_err(|error| failed(error.to_string()))
    }

    /// Tells whether the keys may have changed since it was last asked. Derives nothing.
    pub fn version(&self) -> Option<VaultVersion> {
        let file = std::fs::metadata(self.file()).ok()?;
        Some(VaultVersion { inode: file.ino(), size: file.len(), changed: (file.ctime(), file.ctime_nsec()) })
    }

    pub fn get(&self, name: &str) -> Result<Option<Secret>, VaultError> {
        let contents = self.read()?;
        let slot = self.slot(name);
        if contents.kept(&slot) == Some(Kept::Keychain) {
            let gone = || VaultError::Keychain { name: name.to_owned(), detail: "it is not there any more".to_owned() };
            let found = self.at_keychain(name, |keychain| keychain.get(self.label(name)))?;
            return found.map(Some).ok_or_else(gone);
        }
        let Some(sealed) = contents.keys.get(&slot) else { return Ok(None) };
        let shut = || VaultError::Sealed { name: name.to_owned() };
        let nonce = BASE64.decode(&sealed.nonce).ok().and_then(|nonce| <[u8; NONCE_BYTES]>::try_from(nonce).ok());
        let data = BASE64.decode(&sealed.data).map_err(|_| shut())?;
        let cipher = Aes256Gcm::new(&self.key()?);
        let nonce = Nonce::<Aes256Gcm>::from(nonce.ok_or_else(shut)?);
        let plain = cipher.decrypt(&nonce, Payload { msg: &data, aad: slot.as_bytes() }).map_err(|_| shut())?;
        String::from_utf8(plain).map(|text| Some(Secret(text))).map_err(|_| shut())
    }

    /// Keeps a key in the keychain, or encrypted in the file where that does not take it.
    pub fn set(&self, name: &str, secret: &Secret) -> Result<Kept, VaultError> {
        let slot = self.slot(name);
        if self.keychain.as_ref().is_some_and(|keychain| keychain.set(self.label(name), secret).is_ok()) {
            self.change(|contents| {
                contents.keys.remove(&slot);
                contents.in_keychain.insert(slot);
            })?;
            return Ok(Kept::Keychain);
        }
        let cipher = Aes256Gcm::new(&self.key()?);
        let nonce = random::<NONCE_BYTES>()?;
        let payload = Payload { msg: secret.0.as_bytes(), aad: slot.as_bytes() };
        let data = cipher
            .encrypt(&Nonce::<Aes256Gcm>::from(nonce), payload)
            .map_err(|_| VaultError::Io { detail: "encryption failed".to_owned() })?;
        let sealed = Sealed { nonce: BASE64.encode(nonce), data: BASE64.encode(data) };
        self.change(|contents| {
            contents.in_keychain.remove(&slot);
            contents.keys.insert(slot, sealed);
        })?;
        Ok(Kept::File)
    }

    /// Whether there was one to remove.
    pub fn remove(&self, name: &str) -> Result<bool, VaultError> {
        let slot = self.slot(name);
        match self.read()?.kept(&slot) {
            None => return Ok(false),
            Some(Kept::Keychain) => self.at_keychain(name, |keychain| keychain.remove(self.label(name)))?,
            Some(Kept::File) => {}
        }
        self.change(|contents| {
            contents.keys.remove(&slot);
            contents.in_keychain.remove(&slot);
        })?;
        Ok(true)
    }

    fn file(&self) -> PathBuf {
        self.folder.join("credentials.enc")
    }

    fn read(&self) -> Result<Contents, VaultError> {
        let path = self.file();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Contents { format: FORMAT, keys: BTreeMap::new(), in_keychain: BTreeSet::new() });
            }
            Err(error) => return Err(VaultError::io("reading", &path, &error)),
        };
        let shown = path.display().to_string();
        match serde_json::from_slice::<Contents>(&text) {
            Ok(contents) if contents.format > FORMAT => Err(VaultError::Newer { path: shown, found: contents.format }),
            Ok(contents) => Ok(contents),
            Err(error) => Err(VaultError::Damaged { path: shown, detail: error.to_string() }),
        }
    }

    /// Changes the file as a whole, so that nobody ever reads half of it and no two changes cross.
    fn change(&self, edit: impl FnOnce(&mut Contents)) -> Result<(), VaultError> {
        self.make_folder()?;
        let _turn = exclusive(&self.folder.join("credentials.lock"))
            .map_err(|error| VaultError::Io { detail: error.to_string() })?;
        let mut contents = self.read()?;
        edit(&mut contents);
        let text =
            serde_json::to_vec_pretty(&contents).map_err(|error| VaultError::Io { detail: error.to_string() })?;
        write_whole(&self.file(), &text)
    }

    fn make_folder(&self) -> Result<(), VaultError> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| VaultError::io("creating", &self.folder, &error))
    }

    fn key(&self) -> Result<Key<Aes256Gcm>, VaultError> {
        let mut slot = lock(&self.key);
        if let Some(key) = &*slot {
            return Ok(*key);
        }
        let key = self.derive()?;
        *slot = Some(key);
        Ok(key)
    }

    fn derive(&self) -> Result<Key<Aes256Gcm>, VaultError> {
        self.make_folder()?;
        let salt = self.keepsake("salt")?;
        let machine = match std::fs::read(&self.machine_id) {
            Ok(id) if !id.trim_ascii().is_empty() => id.trim_ascii().to_vec(),
            _ => self.keepsake("install-id")?,
        };
        // The number, not the name: the environment may lack the name, or give another's.
        let user = rustix::process::getuid().as_raw().to_string();
        let phrase = [machine.as_slice(), user.as_bytes()].join(&0);
        let failed = |error: argon2::Error| VaultError::Io { detail: format!("deriving the key failed: {error}") };
        let params = Params::new(ARGON2_MEMORY_KIB, ARGON2_PASSES, ARGON2_LANES, Some(KEY_BYTES)).map_err(failed)?;
        let mut key = [0; KEY_BYTES];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(&phrase, &salt, &mut key)
            .map_err(failed)?;
        Ok(key.into())
    }

    /// Random bytes drawn once for this installation, and kept for the owner's eyes only.
    fn keepsake(&self, name: &str) -> Result<Vec<u8>, VaultError> {
        let path = self.folder.join(name);
        // Another process may be drawing them at the same moment.
        let _turn = exclusive(&self.folder.join("credentials.lock"))
            .map_err(|error| VaultError::Io { detail: error.to_string() })?;
        match std::fs::read(&path) {
            Ok(bytes) if !bytes.is_empty() => Ok(bytes),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(VaultError::io("reading", &path, &error)),
            Ok(_) | Err(_) => {
                let bytes = random::<KEY_BYTES>()?;
                write_whole(&path, &bytes)?;
                Ok(bytes.to_vec())
            }
        }
    }
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], VaultError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| VaultError::Io { detail: error.to_string() })?;
    Ok(bytes)
}

/// Writes a file so that after any crash it is either the old one or the new one.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let unfinished = path.with_extension("new");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)?;
        match path.parent() {
            Some(folder) => std::fs::File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    };
    write().map_err(|error| VaultError::io("writing", path, &error))
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
