use super::*;

#[test]
fn an_answer_gets_what_the_window_leaves_and_is_not_asked_for_where_that_is_too_little() {
    assert_eq!(output_within(200_000, 150_000, 128_000), Some(50_000));
    assert_eq!(output_within(200_000, 1_000, 128_000), Some(128_000));
    assert_eq!(output_within(200_000, 198_000, 128_000), None);
    assert_eq!(output_within(200_000, 199_000, 900), Some(900), "a short answer needs little");
}
