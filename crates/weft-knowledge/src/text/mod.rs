//! Full text over chunks: which of them hold the words of a question, and how well (BM25).
//!
//! Every chunk becomes one bag of words (see [`words`]): of its text, its name, the names around it
//! and its path, so that a search costs one list per word. The index is made from the tables and
//! carries the mark of its last commit; whoever owns the tables compares marks and makes it anew
//! when they differ. It never holds the text itself.

mod directory;
mod index;
mod near;
mod schema;
mod stem;
mod words;

pub use index::{AskedWords, TextIndex, TextWriter};
pub(crate) use stem::with_stem as stemmed;
pub(crate) use words::prepared;
pub use words::{each_word, query_words, split_identifier};

#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod words_tests;

/// What can go wrong with the full text. Another format and damage are cured by making the index again.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    #[error("the full-text index has another format than this Weft writes; it is made again from the tables")]
    OtherFormat,
    #[error("the full-text index was written by a newer Weft (format {found}; this one knows up to {known})")]
    Newer { found: u32, known: u32 },
    #[error("the full-text index is damaged ({0}); it is made again from the tables")]
    Damaged(String),
    #[error("the full-text index is being written by another Weft. Wait until it is done, or stop it")]
    Busy,
    #[error("the full-text index could not be read or written: {0}. Check the disk and the folder's permissions")]
    Io(String),
}

impl From<tantivy::TantivyError> for TextError {
    fn from(error: tantivy::TantivyError) -> Self {
        use std::io::ErrorKind;

        use tantivy::TantivyError as T;
        match error {
            T::LockFailure(..) => Self::Busy,
            // Too short, or not what was written: then the disk has nothing to do with it.
            T::IoError(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {
                Self::Damaged(error.to_string())
            }
            T::IoError(error) => Self::Io(error.to_string()),
            T::OpenWriteError(error) => Self::Io(error.to_string()),
            T::IncompatibleIndex(_) | T::SchemaError(_) => Self::OtherFormat,
            other => Self::Damaged(other.to_string()),
        }
    }
}
