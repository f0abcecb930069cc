//! House rules that no compiler checks, as tests over the repository's own files.

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
