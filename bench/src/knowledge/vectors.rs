//! Vectors: how fast they are made, and how fast and how surely the nearest are found.

use std::fs;
use std::path::Path;
use std::time::Instant;

use weft_knowledge::ChunkId;
use weft_knowledge::embed::Embedder;
use weft_knowledge::vector::{IdSet, VectorIndex};

use super::Add;
use super::beir::Collection;
use super::pieces::Pieces;
use crate::report::{Line, Unit};
use crate::statistics::{median, p99};

pub const NEAREST: usize = 10;
const EMBEDDED_BYTES: usize = 24_000_000;

pub fn embedding(collection: &Collection, embedder: &dyn Embedder) -> anyhow::Result<Line> {
    let texts: Vec<&str> = collection.texts.iter().map(|text| text.text.as_str()).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let rounds = EMBEDDED_BYTES / bytes.max(1) + 1;
    let begun = Instant::now();
    for _ in 0..rounds {
        anyhow::ensure!(embedder.embed(&texts)?.len() == texts.len());
    }
    let rate = (rounds * bytes) as f64 / 1e6 / begun.elapsed().as_secs_f64();
    let note = format!("{:.0} MB of abstracts {rounds} times over, all cores", bytes as f64 / 1e6);
    Ok(Line::new("knowledge: static embedding, per second", Unit::Megabytes, rate).at_least(8.0).note(note))
}

pub fn vectors(
    collection: &Collection,
    embedder: &dyn Embedder,
    work: &Path,
    count: usize,
    goal: f64,
    questions: usize,
    add: Add<'_>,
) -> anyhow::Result<()> {
    let folder = work.join(format!("vectors-{count}"));
    let queries = collection
        .questions
        .iter()
        .take(questions)
        .map(|question| Ok(embedder.embed_query(&question.text)?))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut exact = vec![(Nearest::default(), Nearest::default()); queries.len()];
    let mut index = VectorIndex::open(&folder, embedder.dimension(), embedder.name())?;
    let pieces = Pieces::new(collection);
    let all: Vec<&str> = pieces.take(count).collect();
    let mut id = 0;
    for batch in all.chunks(8192) {
        for vector in embedder.embed(batch)? {
            id += 1;
            index.add(ChunkId(id), &vector)?;
            for (query, (all, tenth)) in queries.iter().zip(&mut exact) {
                let product = query.iter().zip(&vector).map(|(x, y)| x * y).sum();
                all.offer(product, id);
                if id % 10 == 0 {
                    tenth.offer(product, id);
                }
            }
        }
    }
    index.commit(1)?;
    drop(index);
    let begun = Instant::now();
    let index = VectorIndex::open(&folder, embedder.dimension(), embedder.name())?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let tenth: IdSet = (1..=id).filter(|id| id % 10 == 0).map(ChunkId).collect();
    let found = |query: &[f32], allow: Option<&IdSet>| {
        let begun = Instant::now();
        let hits = index.search(query, allow, NEAREST);
        (begun.elapsed().as_secs_f64() * 1e3, hits)
    };
    for query in &queries {
        found(query, None);
    }
    for (name, filtered) in [("", false), (", filtered to a tenth", true)] {
        let (mut times, mut hits) = (Vec::new(), 0);
        for (query, (all, some)) in queries.iter().zip(&exact) {
            let (time, found) = found(query, filtered.then_some(&tenth));
            times.push(time);
            let wanted = if filtered { some } else { all };
            hits += found.iter().filter(|(id, _)| wanted.0.iter().any(|(_, wanted)| *wanted == id.0)).count();
        }
        let recall = hits as f64 / (queries.len() * NEAREST) as f64;
        let what = format!("knowledge: {NEAREST} nearest of {id} vectors{name}");
        let note = format!("99 % within {}; opened in {}", Unit::Millis.show(p99(&times)), Unit::Millis.show(open_ms));
        add(Line::new(format!("{what}: time"), Unit::Millis, median(&times)).goal(goal).note(note))?;
        add(Line::new(format!("{what}: recall against exact search"), Unit::Score, recall).at_least(0.99))?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The nearest so far, by exact products.
#[derive(Clone, Default)]
pub struct Nearest(pub Vec<(f32, u64)>);

impl Nearest {
    pub fn offer(&mut self, product: f32, id: u64) {
        if self.0.len() == NEAREST && self.0.last().is_some_and(|(least, _)| *least >= product) {
            return;
        }
        let at = self.0.partition_point(|(known, _)| *known >= product);
        self.0.insert(at, (product, id));
        self.0.truncate(NEAREST);
    }
}
