#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn what_fits_is_let_through_and_more_is_not() {
    let mut info = ModelInfo::unknown();
    (info.window, info.max_output) = (1_000, 400);
    assert!(check(&"x".repeat(2_400), "p/m", &info).is_ok());
    let refused = check(&"x".repeat(2_404), "p/m", &info).unwrap_err().to_string();
    assert!(refused.starts_with("this is too large for p/m: 2.3 KB, about 601 tokens, and 600 fit."), "{refused}");
    assert!(refused.contains("Put it in a file"), "{refused}");
}
