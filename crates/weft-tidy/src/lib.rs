//! House rules that no compiler checks, as tests over the repository's own files.

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
#[cfg(test)]
mod typescript;
#[cfg(test)]
#[path = "typescript_tests.rs"]
mod typescript_tests;
