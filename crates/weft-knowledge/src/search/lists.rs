//! What words alone find and what meaning alone finds, for whoever makes one list of them by rules of
//! their own.

use crate::chunk::ChunkId;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::Knowledge;

/// A place that one search found, with a score that means something only beside others of its list.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    pub path: String,
    pub line: u32,
    pub score: f32,
}

/// Both lists, each best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lists {
    pub words: Vec<Spot>,
    /// Cosines; empty where no model knows meanings, or the one elsewhere is out of reach.
    pub meaning: Vec<Spot>,
}

impl Knowledge {
    /// At most `most` places that have these words, and as many that mean the same as a text.
    pub fn lists(&self, words: &str, text: &str, most: usize) -> Result<Lists, KnowledgeError> {
        let filter = Filter::default();
        let words = self.text.search(words, &filter, most).map_err(|error| KnowledgeError::Text(error.to_string()))?;
        let meaning = if self.without_model().is_some() {
            Vec::new()
        } else {
            match self.embedder.embed_query(text) {
                Ok(vector) => self.vectors.search(&vector, None, most),
                // A model elsewhere may be out of reach; words are found all the same.
                Err(_) if self.embedder.is_far() => Vec::new(),
                Err(error) => return Err(KnowledgeError::Model(error.to_string())),
            }
        };
        Ok(Lists { words: self.places(words)?, meaning: self.places(meaning)? })
    }

    fn places(&self, found: Vec<(ChunkId, f32)>) -> Result<Vec<Spot>, KnowledgeError> {
        let mut places = Vec::with_capacity(found.len());
        for (id, score) in found {
            if let Some((path, line)) = self.tables.place_of(id)? {
                places.push(Spot { path, line, score });
            }
        }
        Ok(places)
    }
}
