//! Quantised vectors on disk, and the search over them.
//!
//! A search looks at every vector, coarsely first: one bit for each dimension against a query of four
//! bits ([`quantise`], [`kernel`]), then the best of those with eight bits, then the very best with
//! sixteen. So there is nothing to build or to tune, a vector is found as soon as it is added, a
//! removed one is gone at once, and a filter finds as many as exist.
//!
//! The files are mapped into memory and only ever grow ([`files`]); a head, replaced in one step, says
//! how much of them counts. They are made from the tables and never hold anything that is not there.

mod best;
mod files;
mod idset;
mod index;
mod kernel;
mod mapped;
mod meanings;
mod quantise;
mod scan;

pub use idset::IdSet;
pub use index::VectorIndex;
pub(crate) use mapped::map_whole;
pub(crate) use meanings::{MOST_PARTS, Meanings};

#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod kernel_tests;

/// What can go wrong with the vectors. Other formats, models and damage are cured by making them again.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    #[error("the vectors are of another format than this Weft writes; they are made again from the tables")]
    OtherFormat,
    #[error("the vectors were written by a newer Weft (format {found}; this one knows up to {known})")]
    Newer { found: u32, known: u32 },
    #[error(
        "the vectors were made by the model {found} (dimension {found_dimension}), not {wanted}; they are made again"
    )]
    OtherModel { found: String, found_dimension: usize, wanted: String },
    #[error("the vectors are damaged ({0}); they are made again from the tables")]
    Damaged(String),
    #[error("a vector of {found} numbers does not belong to an index of {wanted}")]
    WrongDimension { found: usize, wanted: usize },
    #[error("the vectors could not be read or written: {0}. Check the disk and the folder's permissions")]
    Io(#[from] std::io::Error),
}
