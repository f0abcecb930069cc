use super::{largest, median, p95};

#[test]
fn figures_are_measurements_by_nearest_rank() {
    let values: Vec<f64> = (1..=30).rev().map(f64::from).collect();
    assert_eq!((median(&values), p95(&values), largest(&values)), (15.0, 29.0, 30.0));
    assert_eq!((median(&[7.0]), p95(&[7.0])), (7.0, 7.0));
    assert!(median(&[]).is_nan());
}
