//! Search: words, meaning and names, each asked for candidates, made one ranking.
//!
//! A question is classed first (`question`), because somebody who looks for a thing wants its
//! definition and somebody who wants to understand wants the text. Names and paths that a question
//! gives exactly come before everything else. Nothing here asks a model.
//!
//! Where to go next: `names` finds symbols, also with typing errors; `hit` makes what is shown.

mod hit;
pub(crate) mod names;
mod question;

use std::collections::{HashMap, HashSet};
use std::path::Path;

pub use self::hit::{Freshness, Hit};
use self::names::NameHits;
pub use self::question::Class;
use crate::chunk::{Chunk, ChunkId, Kind};
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::Knowledge;
use crate::rank::{self, Candidates, Parts, Ranked, Weights};
use crate::search::question::Question;

/// A meaning that is this far away is none.
const LEAST_SIMILAR: f32 = 0.15;
/// Tests tell less about a thing than the thing itself.
const TEST_SHARE: f32 = 0.8;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Query {
    pub text: String,
    pub filter: Filter,
    pub limit: usize,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Answer {
    pub class: Class,
    pub hits: Vec<Hit>,
}

impl Knowledge {
    pub fn search(&self, query: &Query) -> Result<Answer, KnowledgeError> {
        let question = Question::read(&query.text);
        let weights = weights(question.class);
        self.answer(&question, query, &weights)
    }

    /// A search with weights of one's own, to find out which are best.
    pub fn search_with(&self, query: &Query, weights: &Weights) -> Result<Answer, KnowledgeError> {
        self.answer(&Question::read(&query.text), query, weights)
    }

    fn answer(&self, question: &Question, query: &Query, weights: &Weights) -> Result<Answer, KnowledgeError> {
        let ranked = self.rank(question, &query.filter, query.limit, weights)?;
        let mut hits = Vec::new();
        let mut nodes = HashSet::new();
        let mut disk = HashMap::new();
        for ranked in ranked {
            if hits.len() >= query.limit {
                break;
            }
            let Some(chunk) = self.tables.chunk(ranked.id)? else { continue };
            if !query.filter.takes(&chunk) || !self.tables.node_of(ranked.id)?.is_some_and(|node| nodes.insert(node)) {
                continue;
            }
            let Some(freshness) = self.freshness(&chunk, query.now, &mut disk)? else { continue };
            hits.push(Hit::new(chunk, ranked, question, freshness, query.now));
        }
        Ok(Answer { class: question.class, hits })
    }

    /// Every candidate, best first.
    fn rank(
        &self,
        question: &Question,
        filter: &Filter,
        limit: usize,
        weights: &Weights,
    ) -> Result<Vec<Ranked>, KnowledgeError> {
        let wanted = rank::DEPTH.max(limit.saturating_mul(3));
        let text = self
            .text
            .search(&question.words, filter, wanted)
            .map_err(|error| KnowledgeError::Text(error.to_string()))?;
        let vector = self.similar(question, filter, wanted)?;
        let NameHits { hits: names, first: exact } = self.name_hits(question, filter)?;
        let candidates = Candidates { text, vector, names, graph: Vec::new() };
        let mut ranked = rank::fuse(&candidates, weights);
        let wants_tests = filter.kinds.contains(&Kind::Test) || question.about_tests;
        for ranked in ranked.iter_mut().take(wanted) {
            let Some(chunk) = self.tables.chunk(ranked.id)? else { continue };
            if !wants_tests && is_test(&chunk) {
                ranked.score *= TEST_SHARE;
            }
        }
        ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        let first: HashSet<ChunkId> = exact.iter().copied().collect();
        let parts: HashMap<ChunkId, Parts> = ranked.iter().map(|ranked| (ranked.id, ranked.parts)).collect();
        let on_top = exact.into_iter().map(|id| {
            let mut parts = parts.get(&id).copied().unwrap_or_default();
            parts.name = 1.0;
            Ranked { id, score: 1.0, parts }
        });
        Ok(on_top.chain(ranked.into_iter().filter(|ranked| !first.contains(&ranked.id))).collect())
    }

    fn similar(
        &self,
        question: &Question,
        filter: &Filter,
        wanted: usize,
    ) -> Result<Vec<(ChunkId, f32)>, KnowledgeError> {
        let vector =
            self.embedder.embed_query(&question.words).map_err(|error| KnowledgeError::Model(error.to_string()))?;
        let allowed = if filter.is_empty() {
            None
        } else {
            Some(self.text.matching(filter).map_err(|error| KnowledgeError::Text(error.to_string()))?)
        };
        let mut found = self.vectors.search(&vector, allowed.as_ref(), wanted);
        // Within a filter everything counts: what there is must be found.
        if allowed.is_none() {
            found.retain(|(_, score)| *score > LEAST_SIMILAR);
        }
        Ok(found)
    }

    /// How fresh a chunk is; nothing if its file is gone.
    fn freshness(
        &self,
        chunk: &Chunk,
        now: i64,
        disk: &mut HashMap<String, Option<bool>>,
    ) -> Result<Option<Freshness>, KnowledgeError> {
        if chunk.domain == crate::Domain::History {
            return Ok(Some(hit::freshness(chunk, now, false)));
        }
        let changed = match disk.get(&chunk.path) {
            Some(changed) => *changed,
            None => {
                let changed = self.changed_on_disk(&chunk.path)?;
                disk.insert(chunk.path.clone(), changed);
                changed
            }
        };
        Ok(changed.map(|changed| hit::freshness(chunk, now, changed)))
    }

    /// Whether a file was changed since it was taken in; nothing if it is gone.
    fn changed_on_disk(&self, path: &str) -> Result<Option<bool>, KnowledgeError> {
        let Some(found) = crate::find::look(&self.root, &self.root.join(Path::new(path))) else { return Ok(None) };
        let known = self.tables.file(path)?;
        Ok(Some(known.is_none_or(|known| known.size != found.size || known.modified != found.modified)))
    }
}

/// What counts how much, by what is asked for.
fn weights(class: Class) -> Weights {
    match class {
        Class::Locate => Weights { text: 1.0, vector: 0.3, names: 0.8, graph: 0.2 },
        Class::Pattern => Weights { text: 1.0, vector: 0.6, names: 0.4, graph: 0.2 },
        Class::Explain | Class::General => Weights::default(),
    }
}

pub(crate) fn is_test(chunk: &Chunk) -> bool {
    let in_tests = |part: &str| matches!(part, "tests" | "test" | "__tests__" | "spec");
    let name = chunk.path.rsplit('/').next().unwrap_or_default();
    chunk.kind == Kind::Test
        || chunk.path.split('/').any(in_tests)
        || ["_tests.", "_test.", ".test.", ".spec."].iter().any(|mark| name.contains(mark))
        || name.starts_with("test_")
}
