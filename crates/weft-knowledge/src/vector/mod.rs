//! Quantised vectors on disk, and the search over them.
