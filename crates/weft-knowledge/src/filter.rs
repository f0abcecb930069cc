//! What a search is limited to. An empty part limits nothing.
//!
//! A filter is part of the search, never applied to its first few hits: a filtered search finds as
//! many as exist, up to its limit.

use crate::chunk::{Chunk, Domain, Kind, Language};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub domains: Vec<Domain>,
    pub kinds: Vec<Kind>,
    pub languages: Vec<Language>,
    /// The beginning of the path: a file, or a folder with its `/`.
    pub path_prefix: Option<String>,
    /// Milliseconds since 1970; both ends belong to it.
    pub since: Option<i64>,
    pub until: Option<i64>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the filter means; every index must agree with it.
    pub fn takes(&self, chunk: &Chunk) -> bool {
        (self.domains.is_empty() || self.domains.contains(&chunk.domain))
            && (self.kinds.is_empty() || self.kinds.contains(&chunk.kind))
            && (self.languages.is_empty() || chunk.language.is_some_and(|language| self.languages.contains(&language)))
            && self.path_prefix.as_ref().is_none_or(|prefix| chunk.path.starts_with(prefix.as_str()))
            && self.since.is_none_or(|since| chunk.time >= since)
            && self.until.is_none_or(|until| chunk.time <= until)
    }
}
