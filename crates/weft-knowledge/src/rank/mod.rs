//! One ranking from the scores of several searches.
//!
//! Each search brings its candidates with scores of its own kind. They are calibrated over the
//! candidates (the best is one), weighted, and added; the parts are kept, for they say
//! why something ranked where it did. The weights are few. That of the vectors, the number of
//! candidates, how often a name and a heading count (`text::words::prepared`) and which words are common
//! (`text::index`) were chosen on the SciFact training questions. Of these, `bench/` cross-validates the
//! weight of the vectors alone, so its figure is a little too kind to the others. How often a heading counts
//! was tried on a replica of this ranking, static embeddings, with the weight of the vectors chosen on four
//! fifths of the questions: once .721, twice .724, three times .729, four and five times .731 and .730; it
//! counts twice until that was seen in the program, and with an encoder. Those of names and graph are guesses
//! that nothing has measured yet.

mod fuse;

pub use fuse::{Candidates, DEPTH, Parts, Ranked, Weights, fuse};

#[cfg(test)]
mod fuse_tests;
