//! One ranking from the scores of several searches.
//!
//! Each search brings its candidates with scores of its own kind. They are calibrated over the
//! candidates (the best is one), weighted, and added; the parts are kept, for they say
//! why something ranked where it did. The weights are few and were chosen by cross-validation over
//! questions with known answers (see the knowledge part of `bench/`), not by eye.

mod fuse;

pub use fuse::{Candidates, DEPTH, Parts, Ranked, Weights, fuse};

#[cfg(test)]
mod fuse_tests;
