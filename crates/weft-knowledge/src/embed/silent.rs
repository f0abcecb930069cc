//! Stands in for a model that is not at hand: to it no text says anything.

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

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|_| vec![0.0; self.dimension]).collect())
    }
}
