//! Which sources of projects a person has allowed, kept in the person's own folder by fingerprint:
//! a source that is changed in any way must be allowed again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Origin, SourceConfig};
use crate::confine::Confinement;

#[derive(Debug, Clone)]
pub struct Trust {
    file: PathBuf,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Allowed {
    /// For people who look into the file.
    what: String,
    confinement: Confinement,
    /// What it gets of the person's: names in the environment and the vault.
    #[serde(default)]
    given: BTreeSet<String>,
}

impl Trust {
    /// `folder` is the person's own settings folder.
    pub fn open(folder: &Path) -> Self {
        Self { file: folder.join("allowed-sources.json") }
    }

    /// Whether it may be started. One's own sources always may.
    pub fn allows(&self, source: &SourceConfig) -> bool {
        match &source.origin {
            Origin::User => true,
            Origin::Project { .. } => self.read().contains_key(&source.fingerprint()),
        }
    }

    /// What its process runs in.
    pub fn confinement(&self, source: &SourceConfig) -> Confinement {
        match &source.origin {
            Origin::User => source.confinement.clone(),
            Origin::Project { .. } => self
                .read()
                .remove(&source.fingerprint())
                .map_or_else(|| source.confinement.clone(), |allowed| allowed.confinement),
        }
    }

    /// Whether the person gave it what is kept under this name. One's own take what they name.
    pub fn gives(&self, source: &SourceConfig, name: &str) -> bool {
        match &source.origin {
            Origin::User => true,
            Origin::Project { .. } => {
                self.read().get(&source.fingerprint()).is_some_and(|allowed| allowed.given.contains(name))
            }
        }
    }

    pub fn allow(&self, source: &SourceConfig, confinement: Confinement, given: BTreeSet<String>) -> io::Result<()> {
        let mut allowed = self.read();
        let what = format!("{} {}", source.name, source.in_words());
        allowed.insert(source.fingerprint(), Allowed { what, confinement, given });
        self.write(&allowed)
    }

    /// Takes an allowance back. Returns whether there was one.
    pub fn forget(&self, source: &SourceConfig) -> io::Result<bool> {
        let mut allowed = self.read();
        let was = allowed.remove(&source.fingerprint()).is_some();
        if was {
            self.write(&allowed)?;
        }
        Ok(was)
    }

    /// A file that cannot be read allows nothing.
    fn read(&self) -> BTreeMap<String, Allowed> {
        std::fs::read(&self.file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn write(&self, allowed: &BTreeMap<String, Allowed>) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(allowed)?;
        let new = self.file.with_extension("json.new");
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&new, &self.file)
    }
}
