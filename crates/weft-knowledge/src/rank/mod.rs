//! One ranking from the scores of several searches.
//!
//! Each search brings its candidates with scores of its own kind. They are calibrated over the
//! candidates (the best is one), weighted, and added; the parts are kept, for they say
//! why something ranked where it did. The weights are few. That of the vectors, the number of
//! candidates, how often a name and a heading count (`text::words::prepared`) and which words are common
//! (`text::index`) were chosen on the SciFact training questions. Of these, `bench/` cross-validates the
//! weight of the vectors alone, so its figure is a little too kind to the others. With MiniLM they count half as
//! much again (`Embedder::share`), and a text is as near as its nearest part of 128 tokens: in a replica of this
//! ranking that made .753 (.752 cross-validated), the mean over the parts .747, and MiniLM alone .692; the first
//! 256 tokens alone, of which it had made .660 and .742, are less than the whole of most abstracts. That a heading counts three
//! times and not twice made of .7256 .7286 with static embeddings and of .7403 .7408 with MiniLM, by the lists
//! of words and meaning that this program gave; four times was no better in a replica. Those of names and
//! graph are guesses that nothing has measured yet. That the first words of a file of code are its heading made of
//! 27 of the 30 questions about this repository 29 (`tests/all/questions.rs`).

mod fuse;

pub use fuse::{Candidates, DEPTH, LEAST_SIMILAR, Parts, Ranked, Weights, fuse};

#[cfg(test)]
mod fuse_tests;
