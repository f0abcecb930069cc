#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::super::builtin_providers;
use super::*;

#[test]
fn a_list_that_everybody_gets_says_nothing_of_a_key() {
    for config in builtin_providers() {
        let expected = if &*config.name == "openrouter" { "/key" } else { "/models" };
        assert_eq!(path(&config), expected, "{}", config.name);
    }
}
