//! What a search is limited to. An empty part limits nothing.
//!
//! A filter is part of the search, never applied to its first few hits: a filtered search finds as
//! many as exist, up to its limit.

use crate::chunk::{Chunk, Domain, Kind, Language};
use crate::tables::Brief;

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
        self.takes_what(chunk.domain, chunk.kind, chunk.language, &chunk.path, chunk.time)
    }

    pub(crate) fn takes_brief(&self, brief: &Brief) -> bool {
        self.takes_what(brief.domain, brief.kind, brief.language, &brief.path, brief.time)
    }

    fn takes_what(&self, domain: Domain, kind: Kind, language: Option<Language>, path: &str, time: i64) -> bool {
        (self.domains.is_empty() || self.domains.contains(&domain))
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.languages.is_empty() || language.is_some_and(|language| self.languages.contains(&language)))
            && self.path_prefix.as_ref().is_none_or(|prefix| path.starts_with(prefix.as_str()))
            && self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time <= until)
    }
}
