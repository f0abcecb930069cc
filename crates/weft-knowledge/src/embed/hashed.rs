//! The fallback where no model is installed: each word and each three letters of it at a place given by
//! its hash. It knows no meaning, but it forgives endings and misspellings, and needs no file.

use super::{EmbedError, Embedder, normalise};
use crate::text::each_word;

const DIMENSION: usize = 256;
/// What three letters of a word count, beside the word itself.
const PIECE: f32 = 0.4;

#[derive(Debug, Clone, Copy, Default)]
pub struct Hashed;

impl Embedder for Hashed {
    fn name(&self) -> &str {
        "hashed-words-1"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    let mut put = |bytes: &[u8], weight: f32| {
        let hash = hash(bytes);
        let sign = if hash >> 63 == 0 { weight } else { -weight };
        if let Some(at) = vector.get_mut((hash % DIMENSION as u64) as usize) {
            *at += sign;
        }
    };
    each_word(text, |word| {
        put(word.as_bytes(), 1.0);
        word.as_bytes().windows(3).for_each(|piece| put(piece, PIECE));
    });
    normalise(&mut vector);
    vector
}

/// FNV-1a with a last stir: the same on every machine and in every version, for it is stored.
fn hash(bytes: &[u8]) -> u64 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
