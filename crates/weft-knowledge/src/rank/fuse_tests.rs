use super::{Candidates, Weights, fuse};
use crate::ChunkId;

fn list(scores: &[(u64, f32)]) -> Vec<(ChunkId, f32)> {
    scores.iter().map(|(id, score)| (ChunkId(*id), *score)).collect()
}

fn order(candidates: &Candidates) -> Vec<u64> {
    fuse(candidates, &Weights::default()).iter().map(|ranked| ranked.id.0).collect()
}

#[test]
fn what_several_searches_like_comes_first() {
    let text = list(&[(1, 12.0), (2, 11.5), (3, 2.0)]);
    let vector = list(&[(2, 0.8), (4, 0.7), (1, 0.1)]);
    assert_eq!(order(&Candidates { text, vector, ..Candidates::default() }), [2, 1, 4, 3]);
}

#[test]
fn the_scores_say_where_they_come_from() {
    let candidates = Candidates { text: list(&[(1, 3.0)]), names: list(&[(1, 1.0)]), ..Candidates::default() };
    let ranked = fuse(&candidates, &Weights { text: 3.0, vector: 5.0, names: 1.0, graph: 0.0 });
    assert_eq!((ranked[0].parts.text, ranked[0].parts.name, ranked[0].score), (0.75, 0.25, 1.0));
}

#[test]
fn a_short_list_of_words_is_not_stretched_to_nothing() {
    let ranked = fuse(&Candidates { text: list(&[(1, 10.0), (2, 9.0)]), ..Candidates::default() }, &Weights::default());
    assert!(ranked[1].score > 0.85, "nearly as good scores nearly as much: {}", ranked[1].score);
}

#[test]
fn nothing_and_what_is_no_number_do_no_harm() {
    assert_eq!(fuse(&Candidates::default(), &Weights::default()), []);
    let vector = list(&[(1, f32::NAN), (2, 0.5), (3, f32::INFINITY)]);
    assert_eq!(order(&Candidates { vector, ..Candidates::default() }), [2]);
}
