#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

#[test]
fn the_last_words_of_test_runners_are_understood() {
    let cases = [
        (
            "test result: ok. 214 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "214 passed",
        ),
        (
            "test result: ok. 4 passed; 0 failed;\nRunning tests\ntest result: FAILED. 5 passed; 1 failed; 0 ignored\n",
            "1 failed, 9 passed",
        ),
        ("     Summary [   0.461s] 7 tests run: 7 passed, 71 skipped", "7 passed"),
        ("     Summary [   1.2s] 9 tests run: 8 passed (1 slow), 1 failed, 0 skipped", "1 failed, 8 passed"),
        ("======= 3 passed, 1 warning in 0.12s =======", "3 passed"),
        ("=== 1 failed, 2 passed in 65.01s (0:01:05) ===", "1 failed, 2 passed"),
        ("5 passed in 0.02s", "5 passed"),
        ("Test Suites: 2 passed, 2 total\nTests:       1 failed, 11 passed, 12 total\n", "1 failed, 11 passed"),
        (" Test Files  3 passed (3)\n      Tests  12 passed (12)\n", "12 passed"),
        (" Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 11 passed (12)\n", "1 failed, 11 passed"),
    ];
    for (output, said) in cases {
        assert_eq!(tally(output).as_deref(), Some(said), "{output}");
    }
    let silent = [
        "",
        "2 passed",
        "He passed in 1990",
        "the exam was passed by 3",
        "Tests are good",
        "test result: ok. 0 passed; 0 failed; 0 ignored",
        "99999999999999999999999 passed in 1s",
    ];
    for output in silent {
        assert_eq!(tally(output), None, "{output}");
    }
}
