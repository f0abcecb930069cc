//! What a person sees of a session, as lines: the same for the chat, `weft run` and
//! `weft sessions show`. Pure functions over events; prints nothing.

pub mod card;
pub mod clean;
pub mod columns;
pub mod diff;
pub mod markdown;
mod markdown_block;
pub mod plain;
pub mod rows;
pub mod style;
mod table;
pub mod transcript;
pub mod units;
pub mod width;
