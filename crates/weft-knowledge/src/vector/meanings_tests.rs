use std::collections::BTreeMap;

use super::super::kernel_tests::{numbers, vector};
use super::*;

const MODEL: &str = "some-model-parts";

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

/// Chunks with how near their nearest part is, best first.
fn exact(all: &BTreeMap<u64, Vec<Vec<f32>>>, query: &[f32], allow: Option<&IdSet>) -> Vec<u64> {
    let near = |parts: &Vec<Vec<f32>>| parts.iter().map(|part| cosine(part, query)).fold(f32::MIN, f32::max);
    let allowed = all.iter().filter(|(id, _)| allow.is_none_or(|allow| allow.contains(ChunkId(**id))));
    let mut best: Vec<(f32, u64)> = allowed.map(|(id, parts)| (near(parts), *id)).collect();
    best.sort_by(|one, other| other.0.total_cmp(&one.0));
    best.into_iter().map(|(_, id)| id).collect()
}

#[test]
fn a_chunk_is_as_near_as_its_nearest_part() {
    let folder = tempfile::tempdir().unwrap();
    let mut meanings = Meanings::open(folder.path(), 64, MODEL).unwrap();
    let (mut next, mut all) = (numbers(3), BTreeMap::new());
    let mut add = |meanings: &mut Meanings, all: &mut BTreeMap<u64, Vec<Vec<f32>>>, id: u64, count: usize| {
        let parts: Vec<Vec<f32>> = (0..count).map(|_| vector(64, &mut next)).collect();
        meanings.add(ChunkId(id), &parts).unwrap();
        all.insert(id, parts);
    };
    for id in 1..=400 {
        add(&mut meanings, &mut all, id, 1 + (id as usize * 7) % MOST_PARTS);
    }
    for id in (3..=400).step_by(5) {
        meanings.remove(ChunkId(id));
        all.remove(&id);
    }
    // Fewer parts than before leave none of the old ones.
    for id in [2, 10, 100] {
        add(&mut meanings, &mut all, id, 1);
    }
    meanings.commit(1).unwrap();
    for meanings in [meanings, Meanings::open(folder.path(), 64, MODEL).unwrap()] {
        assert_eq!((meanings.len(), meanings.mark()), (all.len(), Some(1)));
        assert!(meanings.ids().map(|id| id.0).collect::<std::collections::BTreeSet<_>>().iter().eq(all.keys()));
        assert!(!meanings.contains(ChunkId(3)) && meanings.contains(ChunkId(4)));
        let odd: IdSet = (1..=400).filter(|id| id % 2 == 1).map(ChunkId).collect();
        let query = vector(64, &mut numbers(77));
        for allow in [None, Some(&odd)] {
            let wanted = exact(&all, &query, allow);
            let found = |limit| meanings.search(&query, allow, limit).into_iter().map(|(id, _)| id.0);
            assert_eq!(found(10).collect::<Vec<_>>(), wanted[..10]);
            let mut every: Vec<u64> = found(1_000).collect();
            assert_eq!(every.len(), wanted.len(), "as many as there are, each once");
            every.sort_unstable();
            every.dedup();
            assert_eq!(every.len(), wanted.len());
        }
    }
}

#[test]
fn a_model_without_parts_is_kept_as_it_always_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut meanings = Meanings::open(folder.path(), 64, "whole").unwrap();
    meanings.add(ChunkId(7), &[vector(64, &mut numbers(1))]).unwrap();
    meanings.commit(5).unwrap();
    let index = VectorIndex::open(folder.path(), 64, "whole").unwrap();
    assert!(index.contains(ChunkId(7)) && index.len() == 1);
}
