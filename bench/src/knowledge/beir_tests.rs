use std::collections::HashMap;

use super::ndcg_at_10;

#[test]
fn the_right_text_counts_less_the_later_it_comes() {
    let answers = HashMap::from([("a".to_owned(), 1)]);
    let score = |ranking: &[&str]| ndcg_at_10(&ranking.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), &answers);
    assert_eq!(score(&["a", "b"]), 1.0);
    assert!((score(&["b", "a"]) - 1.0 / 3_f64.log2()).abs() < 1e-9);
    assert_eq!(score(&[]), 0.0);
    assert_eq!(score(&["x"; 10]), 0.0);
}
