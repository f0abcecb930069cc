//! Stands in for a model that is not at hand: to it no text says anything, and it says why.

use super::{EmbedError, Embedder};

pub(super) struct Silent {
    pub name: String,
    pub dimension: usize,
}

impl Embedder for Silent {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    /// As one that is out of reach: words are found, and no vector that says nothing is kept.
    fn is_far(&self) -> bool {
        true
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Far(format!("The model {} is not at hand.", self.name)))
    }
}
