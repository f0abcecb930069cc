//! One ranking from the scores of several searches.
//!
//! Each search brings its candidates with scores of its own kind. They are calibrated over the
//! candidates (the best is one), weighted, and added; the parts are kept, for they say
//! why something ranked where it did. The weights are few. That of the vectors, the number of
//! candidates and the doubled name were chosen on the SciFact training questions; `bench/` cross-validates
//! the first of them, also with MiniLM, for which the same weight is as good as any. Those of names and
//! graph are guesses that nothing has measured yet.

mod fuse;

pub use fuse::{Candidates, DEPTH, Parts, Ranked, Weights, fuse};

#[cfg(test)]
mod fuse_tests;
