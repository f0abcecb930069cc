//! A small encoder of the MiniLM kind (all-MiniLM-L6-v2): better at meaning than the static model and
//! a thousand times as slow. The vector of a text is the mean over its tokens after six layers. A long text is
//! read in several parts, each with a vector of its own: in their mean much of what only one says is lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::Mmap;
use serde::Deserialize;

use super::install::{ENCODER_VOCABULARY, ENCODER_WEIGHTS};
use super::linear::{Linear, Room, forward, level};
use super::wordpiece::WordPieces;
use super::{EmbedError, Embedder, normalise};
use crate::vector::{MOST_PARTS, map_whole};

/// What the model was trained to read at once. More of a text is read in parts of about the same length.
const WINDOW: usize = 128;
/// What is behind so many is not looked at: hardly any chunk is as long.
const MOST_TOKENS: usize = (WINDOW - 2) * MOST_PARTS + 2;
const LAYERS: usize = 6;
/// Its end says that its vectors are of parts.
pub(crate) const NAME: &str = "all-minilm-l6-v2-parts";

pub struct Shape {
    pub width: usize,
    pub heads: usize,
}

const SHAPE: Shape = Shape { width: 384, heads: 12 };

pub struct Layer {
    /// Questions, keys and values in one.
    pub three: Linear,
    pub mixed: Linear,
    pub after_mixing: (Vec<f32>, Vec<f32>),
    pub wide: Linear,
    pub narrow: Linear,
    pub after_thinking: (Vec<f32>, Vec<f32>),
}

pub struct Encoder {
    weights: Mmap,
    /// Where the vectors of the pieces begin in the weights, and end.
    pieces: (usize, usize),
    /// What is added to each piece: its place, and the kind of text.
    places: Vec<f32>,
    leveled: (Vec<f32>, Vec<f32>),
    layers: Vec<Layer>,
    vocabulary: WordPieces,
    threads: usize,
}

impl Encoder {
    pub fn open(models: &Path) -> Result<Self, EmbedError> {
        let unusable =
            |detail: &str| EmbedError::Model { folder: models.display().to_string(), detail: detail.to_owned() };
        let path = models.join(ENCODER_WEIGHTS);
        let weights = map_whole(&path).map_err(|error| EmbedError::io("opening", &path, &error))?;
        let path = models.join(ENCODER_VOCABULARY);
        let vocabulary = std::fs::read_to_string(&path).map_err(|error| EmbedError::io("reading", &path, &error))?;
        let vocabulary = WordPieces::new(&vocabulary).ok_or_else(|| unusable("its vocabulary cannot be read"))?;
        Self::with(weights, vocabulary).ok_or_else(|| unusable("its weights are not those of the model"))
    }

    fn with(weights: Mmap, vocabulary: WordPieces) -> Option<Self> {
        let tensors = Tensors::read(&weights)?;
        let pieces = tensors.range("embeddings.word_embeddings.weight")?;
        let kind = tensors.numbers("embeddings.token_type_embeddings.weight")?;
        let mut places = tensors.numbers("embeddings.position_embeddings.weight")?;
        for place in places.chunks_exact_mut(SHAPE.width) {
            place.iter_mut().zip(&kind).for_each(|(place, kind)| *place += kind);
        }
        let pair =
            |name: &str| Some((tensors.numbers(&format!("{name}.weight"))?, tensors.numbers(&format!("{name}.bias"))?));
        let linear = |names: &[String], inputs: usize| {
            let (mut weights, mut offsets) = (Vec::new(), Vec::new());
            for name in names {
                let (more_weights, more_offsets) = pair(name)?;
                weights.extend(more_weights);
                offsets.extend(more_offsets);
            }
            (weights.len() == offsets.len() * inputs).then(|| Linear::new(&weights, &offsets, inputs))
        };
        let layers = (0..LAYERS)
            .map(|number| {
                let name = |part: &str| format!("encoder.layer.{number}.{part}");
                let three = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
                Some(Layer {
                    three: linear(&three, SHAPE.width)?,
                    mixed: linear(&[name("attention.output.dense")], SHAPE.width)?,
                    after_mixing: pair(&name("attention.output.LayerNorm"))?,
                    wide: linear(&[name("intermediate.dense")], SHAPE.width)?,
                    narrow: linear(&[name("output.dense")], SHAPE.width * 4)?,
                    after_thinking: pair(&name("output.LayerNorm"))?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let leveled = pair("embeddings.LayerNorm")?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        Some(Self { weights, pieces, places, leveled, layers, vocabulary, threads })
    }

    /// For each part of a text the sum over its tokens.
    fn sums(&self, text: &str, room: &mut Room) -> Vec<Vec<f32>> {
        if text.trim().is_empty() {
            return vec![vec![0.0; SHAPE.width]];
        }
        let pieces = self.weights.get(self.pieces.0..self.pieces.1).unwrap_or_default();
        let parts = self.vocabulary.parts(text, WINDOW, MOST_TOKENS).into_iter();
        let sum = |tokens: Vec<u32>| {
            let mut hidden = Vec::with_capacity(tokens.len() * SHAPE.width);
            for (token, place) in tokens.iter().zip(self.places.chunks_exact(SHAPE.width)) {
                let piece = pieces.chunks_exact(SHAPE.width * 4).nth(*token as usize).unwrap_or_default();
                hidden.extend(floats(piece).zip(place).map(|(piece, place)| piece + place));
            }
            level(&mut hidden, &self.leveled.0, &self.leveled.1);
            forward(&SHAPE, &self.layers, &mut hidden, room);
            let mut sum = vec![0.0; SHAPE.width];
            for row in hidden.chunks_exact(SHAPE.width) {
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            sum
        };
        parts.map(sum).collect()
    }

    /// The sums of all texts, on all processors.
    fn all_sums(&self, texts: &[&str]) -> Vec<Vec<Vec<f32>>> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(vec![Vec::new(); texts.len()]);
        let work = || {
            let mut room = Room::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(at) else { break };
                let sums = self.sums(text, &mut room);
                let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(place) = done.get_mut(at) {
                    *place = sums;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.min(texts.len()) {
                scope.spawn(work);
            }
            work();
        });
        done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Embedder for Encoder {
    fn name(&self) -> &str {
        NAME
    }

    fn dimension(&self) -> usize {
        SHAPE.width
    }

    /// Who reads words in their context knows better what they mean.
    fn share(&self) -> f32 {
        1.5
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let whole = |parts: Vec<Vec<f32>>| {
            let mut vector = vec![0.0; SHAPE.width];
            for part in parts {
                vector.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
            normalise(&mut vector);
            vector
        };
        Ok(self.all_sums(texts).into_iter().map(whole).collect())
    }

    fn embed_parts(&self, texts: &[&str]) -> Result<Vec<Vec<Vec<f32>>>, EmbedError> {
        let mut all = self.all_sums(texts);
        all.iter_mut().flatten().for_each(|part| normalise(part));
        Ok(all)
    }
}

/// The parts of a weights file: a header in JSON, and where each part stands behind it.
struct Tensors<'a> {
    parts: BTreeMap<String, Part>,
    begin: usize,
    bytes: &'a [u8],
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    dtype: String,
    #[serde(default)]
    data_offsets: (usize, usize),
}

impl<'a> Tensors<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let parts = serde_json::from_slice(rest.get(..length)?).ok()?;
        Some(Self { parts, begin: 8 + length, bytes })
    }

    fn range(&self, name: &str) -> Option<(usize, usize)> {
        let Part { dtype, data_offsets: (begin, end) } = self.parts.get(name)?;
        let range = (self.begin.checked_add(*begin)?, self.begin.checked_add(*end)?);
        (dtype == "F32" && self.bytes.get(range.0..range.1).is_some()).then_some(range)
    }

    fn numbers(&self, name: &str) -> Option<Vec<f32>> {
        let (begin, end) = self.range(name)?;
        Some(floats(self.bytes.get(begin..end)?).collect())
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}
