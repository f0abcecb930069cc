use serde_json::json;

use super::{in_order, order};

#[test]
fn an_order_is_a_list_of_numbers_of_hits_each_once() {
    let read = |answer: serde_json::Value| order(&json!({ "answer": answer, "count": 3 }));
    assert_eq!(read(json!({ "order": [3, 1] })), Ok(vec![2, 0]));
    assert_eq!(read(json!({ "order": [] })), Ok(vec![]));
    for wrong in [json!({}), json!([1]), json!({"order": [0]}), json!({"order": [4]}), json!({"order": ["1"]})] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
    assert!(read(json!({ "order": [1, 1] })).unwrap_err().contains("twice"));
}

#[test]
fn what_the_model_left_out_comes_after() {
    assert_eq!(in_order(vec!['a', 'b', 'c'], &[2]), ['c', 'a', 'b']);
    assert_eq!(in_order(vec!['a'], &[7]), ['a']);
}
