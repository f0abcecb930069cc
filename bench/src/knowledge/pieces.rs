//! Texts of a collection cut into as many pieces as a measurement needs.

use super::beir::Collection;

/// Pieces of 20 to 80 words that overlap, evenly over the collection.
pub struct Pieces<'a> {
    texts: Vec<(&'a str, Vec<usize>)>,
    starts: usize,
}

impl<'a> Pieces<'a> {
    pub fn new(collection: &'a Collection) -> Self {
        let starts = |text: &str| text.match_indices(' ').map(|(at, _)| at + 1).collect::<Vec<_>>();
        let texts: Vec<_> = collection.texts.iter().map(|text| (text.text.as_str(), starts(&text.text))).collect();
        let starts = texts.iter().map(|(_, starts)| starts.len()).sum();
        Self { texts, starts }
    }

    /// About so many; more than there are words cannot be had without repeating a start.
    pub fn take(&self, count: usize) -> impl Iterator<Item = &'a str> {
        let mut due = 0;
        let (count, all) = (count, self.starts);
        let mut number = 0;
        self.texts.iter().flat_map(move |(text, starts)| {
            let mut pieces = Vec::new();
            for (at, begin) in starts.iter().enumerate() {
                due += count;
                while due >= all {
                    due -= all;
                    number += 1;
                    let end = starts.get(at + 20 + number * 7 % 61).copied().unwrap_or(text.len());
                    pieces.extend(text.get(*begin..end));
                }
            }
            pieces
        })
    }
}
