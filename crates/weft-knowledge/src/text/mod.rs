//! Full text over prepared chunks.
