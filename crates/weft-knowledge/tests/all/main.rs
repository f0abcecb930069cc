//! What crosses the parts of the crate: files on disk, indexed, searched, changed.

mod incremental;
mod questions;
mod repair;
mod world;
