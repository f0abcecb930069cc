//! What every format of documents is brought into.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// With its level, from one.
    Heading(u8),
    Paragraph,
    Table,
    Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub shape: Shape,
    pub text: String,
    pub first: u32,
    pub last: u32,
    /// Where its links lead.
    pub links: Vec<String>,
    /// What is written as code in it.
    pub code: Vec<String>,
    /// The page it begins on, where there are pages.
    pub page: Option<u32>,
}

impl Block {
    pub fn new(shape: Shape, text: impl Into<String>, first: u32, last: u32) -> Self {
        Self { shape, text: text.into(), first, last, links: Vec::new(), code: Vec::new(), page: None }
    }
}

/// Counts the blocks of a document that has no lines of its own.
pub(crate) fn number(blocks: &mut [Block]) {
    for (index, block) in blocks.iter_mut().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        (block.first, block.last) = (number, number);
    }
}
