//! The fusion of calibrated scores.

use std::collections::HashMap;

use serde::Serialize;

use crate::ChunkId;

/// How many candidates each search should bring.
pub const DEPTH: usize = 200;

/// What the searches found, each best first, with scores that mean something only within one list.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    pub text: Vec<(ChunkId, f32)>,
    pub vector: Vec<(ChunkId, f32)>,
    pub names: Vec<(ChunkId, f32)>,
    pub graph: Vec<(ChunkId, f32)>,
    /// What a text with all words of the question would score; nothing where that is not known.
    pub whole: f32,
}

/// How much the best of each search counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    pub text: f32,
    pub vector: f32,
    pub names: f32,
    pub graph: f32,
}

impl Default for Weights {
    /// Words that are there count most; meaning by a static model is a weak hint and adds to them.
    fn default() -> Self {
        Self { text: 1.0, vector: 0.4, names: 0.6, graph: 0.2 }
    }
}

/// What each search added to a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Parts {
    pub text: f32,
    pub vector: f32,
    pub name: f32,
    pub graph: f32,
}

impl Parts {
    pub fn sum(&self) -> f32 {
        self.text + self.vector + self.name + self.graph
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub id: ChunkId,
    /// Between zero and one: one is the best of every search that was asked.
    pub score: f32,
    pub parts: Parts,
    /// How like the question it is by itself, between zero and one, whatever else was found: the share of the
    /// question's words that it has by their weight, how near its meaning lies, how well its name fits.
    pub likeness: f32,
}

/// A meaning that is this far away is none.
pub const LEAST_SIMILAR: f32 = 0.15;

type PartOf = fn(&mut Parts) -> &mut f32;

/// All candidates, best first; of equal ones the older chunk. A search that found nothing takes no
/// part, so that the best of what there is scores as high as it can.
pub fn fuse(candidates: &Candidates, weights: &Weights) -> Vec<Ranked> {
    let lists: [(&[_], f32, Zero, PartOf); 4] = [
        (&candidates.text, weights.text, Zero::Natural, |parts| &mut parts.text),
        (&candidates.vector, weights.vector, Zero::Last, |parts| &mut parts.vector),
        (&candidates.names, weights.names, Zero::Natural, |parts| &mut parts.name),
        (&candidates.graph, weights.graph, Zero::Share, |parts| &mut parts.graph),
    ];
    let total: f32 = lists.iter().filter(|(list, ..)| !list.is_empty()).map(|(_, weight, ..)| weight).sum();
    let mut found: HashMap<ChunkId, Parts> = HashMap::new();
    for (list, weight, zero, part) in lists {
        let share = if total > 0.0 { weight / total } else { 0.0 };
        for (id, score) in calibrated(list, zero) {
            let place = part(found.entry(id).or_default());
            *place = place.max(share * score);
        }
    }
    let likeness = likeness(candidates);
    let ranked = found.into_iter().map(|(id, parts)| {
        let likeness = likeness.get(&id).copied().unwrap_or_default();
        Ranked { id, score: parts.sum(), parts, likeness }
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    ranked
}

fn likeness(candidates: &Candidates) -> HashMap<ChunkId, f32> {
    let Candidates { text, vector, names, whole, .. } = candidates;
    let words = text.iter().filter(|_| *whole > 0.0).map(|(id, score)| (*id, score / whole));
    let meanings = vector.iter().map(|(id, cosine)| (*id, (cosine - LEAST_SIMILAR) / (1.0 - LEAST_SIMILAR)));
    let mut best: HashMap<ChunkId, f32> = HashMap::new();
    for (id, like) in words.chain(meanings).chain(names.iter().copied()).filter(|(_, like)| like.is_finite()) {
        let place = best.entry(id).or_default();
        *place = place.max(like.min(1.0));
    }
    best
}

/// What counts as nothing in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zero {
    /// The score zero, as long as the list has all there is; its last where it was cut off at
    /// [`DEPTH`], since what was cut off counts as nothing too.
    Natural,
    /// The score is a share already: one counts in full, wherever the best of the list lies.
    Share,
    /// The last: every vector has some likeness with every other, which says nothing.
    Last,
}

/// Scores between zero and one, which is the best of the list. A list of equals is all ones.
fn calibrated(list: &[(ChunkId, f32)], zero: Zero) -> impl Iterator<Item = (ChunkId, f32)> {
    let finite = || list.iter().map(|(_, score)| *score).filter(|score| score.is_finite());
    let (last, best) = (finite().fold(f32::MAX, f32::min), finite().fold(f32::MIN, f32::max));
    let (low, best) = match zero {
        Zero::Share => (0.0, 1.0),
        Zero::Natural if list.len() < DEPTH => (last.min(0.0), best),
        Zero::Natural | Zero::Last => (last, best),
    };
    list.iter()
        .filter(|(_, score)| score.is_finite())
        .map(move |(id, score)| (*id, if best > low { (score - low) / (best - low) } else { 1.0 }))
}
