use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::kernel_tests::{numbers, vector};
use super::{IdSet, VectorError, VectorIndex};
use crate::ChunkId;

const MODEL: &str = "test";

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() / length(a) / length(b)
}

fn exact(vectors: &BTreeMap<u64, Vec<f32>>, query: &[f32], allow: Option<&IdSet>, limit: usize) -> Vec<u64> {
    let mut all: Vec<(f32, u64)> = vectors
        .iter()
        .filter(|(id, _)| allow.is_none_or(|allow| allow.contains(ChunkId(**id))))
        .map(|(id, vector)| (cosine(vector, query), *id))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(limit).map(|(_, id)| id).collect()
}

fn found(index: &VectorIndex, query: &[f32], allow: Option<&IdSet>, limit: usize) -> Vec<u64> {
    index.search(query, allow, limit).into_iter().map(|(id, _)| id.0).collect()
}

/// Vectors in bunches, as those of texts are: a common direction, a topic, and what is their own.
fn texts(count: u64, dimension: usize) -> BTreeMap<u64, Vec<f32>> {
    let mut next = numbers(42);
    let common = vector(dimension, &mut next);
    let topics: Vec<Vec<f32>> = (0..50).map(|_| vector(dimension, &mut next)).collect();
    (1..=count)
        .map(|id| {
            let own = vector(dimension, &mut next);
            let topic = &topics[(id % 50) as usize];
            (id, (0..dimension).map(|at| 0.4 * common[at] + 0.7 * topic[at] + own[at]).collect())
        })
        .collect()
}

#[test]
fn finds_nearly_all_of_the_ten_nearest_with_and_without_a_filter() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = texts(20_000, 256);
    let mut index = VectorIndex::open(folder.path(), 256, MODEL).unwrap();
    for (id, vector) in &vectors {
        index.add(ChunkId(*id), vector).unwrap();
    }
    index.commit(1).unwrap();
    let some: IdSet = vectors.keys().filter(|id| *id % 7 == 0).map(|id| ChunkId(*id)).collect();
    let few: IdSet = [5, 500, 5000].map(ChunkId).into_iter().collect();
    let mut next = numbers(7);
    let (mut hits, mut filtered) = (0, 0);
    let queries = 40;
    for at in 0..queries {
        let near = &vectors[&(at * 371 + 1)];
        let query: Vec<f32> = near.iter().map(|x| x + 1.2 * next()).collect();
        let count = |allow: Option<&IdSet>| {
            let wanted = exact(&vectors, &query, allow, 10);
            let found = found(&index, &query, allow, 10);
            assert_eq!(found.len(), 10);
            found.iter().filter(|id| wanted.contains(id)).count()
        };
        hits += count(None);
        filtered += count(Some(&some));
        assert_eq!(found(&index, &query, Some(&few), 10), exact(&vectors, &query, Some(&few), 10), "all that exist");
    }
    let share = |hits: usize| hits as f64 / (queries * 10) as f64;
    assert!(share(hits) >= 0.97, "recall {}", share(hits));
    assert!(share(filtered) >= 0.97, "recall with a filter {}", share(filtered));
}

#[test]
fn wrong_models_dimensions_and_damage_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = VectorIndex::open(folder.path(), 64, MODEL).unwrap();
    let mut next = numbers(1);
    for id in 1..=50 {
        index.add(ChunkId(id), &vector(64, &mut next)).unwrap();
    }
    index.remove(ChunkId(3));
    index.commit(5).unwrap();
    index.check().unwrap();
    assert!(matches!(index.add(ChunkId(99), &[1.0]), Err(VectorError::WrongDimension { found: 1, wanted: 64 })));
    assert_eq!(index.search(&[1.0], None, 3), []);
    drop(index);
    assert!(matches!(VectorIndex::open(folder.path(), 64, "other"), Err(VectorError::OtherModel { .. })));
    assert!(matches!(VectorIndex::open(folder.path(), 128, MODEL), Err(VectorError::OtherModel { .. })));

    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 4;
        for damaged in [flipped, whole[..whole.len() - 1].to_vec(), Vec::new()] {
            fs::write(&file, damaged).unwrap();
            let told = VectorIndex::open(folder.path(), 64, MODEL).and_then(|index| index.check());
            assert!(matches!(told, Err(VectorError::Damaged(_))), "{} damaged: {told:?}", file.display());
        }
        fs::write(&file, whole).unwrap();
    }
    VectorIndex::open(folder.path(), 64, MODEL).unwrap().check().unwrap();
}

#[test]
fn a_reader_sees_what_a_writer_commits_and_compacts() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = VectorIndex::open(folder.path(), 64, MODEL).unwrap();
    let mut next = numbers(9);
    for id in 1..=3000 {
        writer.add(ChunkId(id), &vector(64, &mut next)).unwrap();
    }
    writer.commit(1).unwrap();
    let mut reader = VectorIndex::open(folder.path(), 64, MODEL).unwrap();
    assert_eq!((reader.len(), reader.mark()), (3000, Some(1)));
    for id in 1..=2000 {
        writer.remove(ChunkId(id));
    }
    assert_eq!((writer.len(), reader.len()), (1000, 3000));
    writer.commit(2).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "the old files are gone");
    let query = vector(64, &mut next);
    assert_eq!(reader.search(&query, None, 5).len(), 5, "what is mapped stays readable");
    reader.refresh().unwrap();
    assert_eq!((reader.len(), reader.mark()), (1000, Some(2)));
    assert!(reader.search(&query, None, 1000).iter().all(|(id, _)| id.0 > 2000));
    reader.check().unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    Add(u64),
    Remove(u64),
    Commit,
    Reopen,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u64..40).prop_map(Step::Add),
        3 => (1_u64..40).prop_map(Step::Remove),
        1 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is added, replaced, removed, committed and lost by a crash, a search finds exactly
    /// what is there.
    #[test]
    fn the_index_is_what_was_done_to_it(steps in prop::collection::vec(any_step(), 1..60), seed in 0_u64..1000) {
        let folder = tempfile::tempdir().unwrap();
        let mut next = numbers(seed);
        let mut index = VectorIndex::open(folder.path(), 64, MODEL).unwrap();
        let (mut now, mut committed) = (BTreeMap::new(), BTreeMap::new());
        let mut mark = 0;
        for step in steps {
            match step {
                Step::Add(id) => {
                    let vector = vector(64, &mut next);
                    index.add(ChunkId(id), &vector).unwrap();
                    now.insert(id, vector);
                }
                Step::Remove(id) => {
                    index.remove(ChunkId(id));
                    now.remove(&id);
                }
                Step::Commit => {
                    mark += 1;
                    index.commit(mark).unwrap();
                    committed = now.clone();
                }
                Step::Reopen => {
                    drop(index);
                    index = VectorIndex::open(folder.path(), 64, MODEL).unwrap();
                    prop_assert_eq!(index.mark().unwrap_or(0), mark);
                    now = committed.clone();
                }
            }
            prop_assert_eq!(index.len(), now.len());
            let query = vector(64, &mut next);
            let odd: IdSet = now.keys().filter(|id| *id % 2 == 1).map(|id| ChunkId(*id)).collect();
            for allow in [None, Some(&odd)] {
                let hits = index.search(&query, allow, 100);
                let (mut ids, mut wanted) = (found(&index, &query, allow, 100), exact(&now, &query, allow, 100));
                ids.sort_unstable();
                wanted.sort_unstable();
                prop_assert_eq!(ids, wanted);
                // Sixteen bits cannot tell two apart that are nearer to each other than this.
                prop_assert!(hits.iter().all(|(id, score)| (score - cosine(&now[&id.0], &query)).abs() < 1e-4));
                prop_assert!(hits.is_sorted_by(|one, next| one.1 >= next.1));
            }
        }
        index.check().unwrap();
    }
}
