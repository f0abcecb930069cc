//! Search: words, meaning and names, each asked for candidates, made one ranking.
//!
//! A question is classed first (`question`), because somebody who looks for a thing wants its
//! definition and somebody who wants to understand wants the text. Names and paths that a question
//! gives exactly come before everything else. Nothing here asks a model.
//!
//! Where to go next: `names` finds symbols, also with typing errors; `hit` makes what is shown.

pub(crate) mod cache;
mod hit;
mod linked;
mod lists;
pub(crate) mod names;
mod question;
mod ranking;
mod widen;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use self::hit::Judged;
pub use self::hit::{Freshness, Hit};
pub use self::lists::{Lists, Spot};
use self::names::NameHits;
pub use self::question::Class;
pub(crate) use self::question::{bare, looks_like_name};
use crate::chunk::{Chunk, ChunkId, Domain, Kind};
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::judgement::{self, Verified};
use crate::knowledge::Knowledge;
use crate::rank::{self, Candidates, LEAST_SIMILAR, Weights};
use crate::search::question::Question;
use crate::search::ranking::Ranking;
use crate::tables::Symbol;

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
    /// Why nothing was looked for by its meaning, where a model elsewhere could not be asked.
    pub without_meaning: Option<String>,
}

/// What a question brought up, before it is ranked.
struct Found {
    candidates: Candidates,
    /// What it names exactly.
    exact: Vec<ChunkId>,
    /// Nothing was left out for want of room.
    is_all: bool,
    without_meaning: Option<String>,
}

/// What is known of a hit's file.
#[derive(Clone)]
struct OfFile {
    changed: bool,
    hash: Option<Vec<u8>>,
}

impl Knowledge {
    pub fn search(&self, query: &Query) -> Result<Answer, KnowledgeError> {
        let question = Question::read(&query.text);
        let weights = weights(question.class);
        let weights = Weights { vector: (weights.vector * self.embedder.share()).min(1.0), ..weights };
        self.answer(&question, query, &weights)
    }

    /// A search with weights of one's own, to find out which are best.
    pub fn search_with(&self, query: &Query, weights: &Weights) -> Result<Answer, KnowledgeError> {
        self.answer(&Question::read(&query.text), query, weights)
    }

    fn answer(&self, question: &Question, query: &Query, weights: &Weights) -> Result<Answer, KnowledgeError> {
        let mut depth = rank::DEPTH.max(query.limit.saturating_mul(3));
        loop {
            let mut candidates = self.candidates(question, &query.filter, depth)?;
            let widened = self.widened(question, &query.filter, &candidates.candidates, weights, depth)?;
            if let Some(widened) = widened {
                candidates.is_all &= widened.len() < depth;
                candidates.candidates.text = widened;
            }
            let hits = self.best(&mut candidates, question, query, weights)?;
            // One thing may be found by many chunks: then there is more to find behind them.
            if hits.len() >= query.limit || candidates.is_all {
                let without_meaning = candidates.without_meaning;
                return Ok(Answer { class: question.class, hits, without_meaning });
            }
            depth = depth.saturating_mul(8);
        }
    }

    /// The first hits, as many as are asked for and exist.
    fn best(
        &self,
        found: &mut Found,
        question: &Question,
        query: &Query,
        weights: &Weights,
    ) -> Result<Vec<Hit>, KnowledgeError> {
        let mut ranked = rank::fuse(&found.candidates, weights);
        if weights.graph > 0.0 {
            found.candidates.graph = self.linked(&ranked)?;
            if !found.candidates.graph.is_empty() {
                ranked = rank::fuse(&found.candidates, weights);
            }
        }
        let wants_tests = query.filter.kinds.contains(&Kind::Test) || question.about_tests;
        let mut ranking = Ranking::new(ranked, std::mem::take(&mut found.exact), wants_tests, query.now);
        let mut hits = Vec::new();
        let mut nodes = HashSet::new();
        let mut files = HashMap::new();
        while hits.len() < query.limit
            && let Some((ranked, brief)) = ranking.next(&self.tables)?
        {
            if !query.filter.takes_brief(&brief) || !nodes.insert(brief.node) {
                continue;
            }
            let Some(chunk) = self.tables.chunk(ranked.id)? else { continue };
            let Some(judged) = self.judged(&chunk, query.now, &mut files)? else { continue };
            ranking.took(&brief);
            hits.push(Hit::new(chunk, ranked, question, judged));
        }
        Ok(hits)
    }

    /// What words, meaning and names find, each up to a depth.
    fn candidates(&self, question: &Question, filter: &Filter, depth: usize) -> Result<Found, KnowledgeError> {
        let (text, vectors) = (&self.text, &self.vectors);
        let (vector, without_meaning) = match self.embedder.embed_query(&question.words) {
            Ok(vector) => (vector, None),
            // A model elsewhere may be out of reach; words and names are found all the same.
            Err(error) if self.embedder.is_far() => (Vec::new(), Some(format!("Found by words alone: {error}"))),
            Err(error) => return Err(KnowledgeError::Model(error.to_string())),
        };
        let allowed = if filter.is_empty() {
            None
        } else {
            Some(text.matching(filter).map_err(|error| KnowledgeError::Text(error.to_string()))?)
        };
        // Words and meaning are looked for side by side, names in between.
        let search = || {
            let asked = text.asked(&question.words)?;
            Ok((text.search_words(&asked.words, filter, depth)?, asked.whole))
        };
        let (found, names, mut similar) = std::thread::scope(|scope| {
            let words = scope.spawn(search);
            let names = self.name_hits(question, filter);
            let similar = vectors.search(&vector, allowed.as_ref(), depth);
            let found = words.join().unwrap_or_else(|_| search());
            (found, names, similar)
        });
        let (text, whole) = found.map_err(|error: crate::text::TextError| KnowledgeError::Text(error.to_string()))?;
        // Within a filter everything counts: what there is must be found.
        if allowed.is_none() {
            similar.retain(|(_, score)| *score > LEAST_SIMILAR);
        }
        let is_all = text.len() < depth && similar.len() < depth;
        let NameHits { hits: names, first: exact } = names?;
        let candidates = Candidates { text, vector: similar, names, graph: Vec::new(), whole };
        Ok(Found { candidates, exact, is_all, without_meaning })
    }

    /// Symbols whose text is about the same, best first, each with how near it is.
    pub fn alike(&self, symbol: &Symbol, filter: &Filter, limit: usize) -> Result<Vec<(Symbol, f32)>, KnowledgeError> {
        let Some(first) = self.tables.chunks_of(symbol.id)?.first().copied() else { return Ok(Vec::new()) };
        let Some(chunk) = self.tables.chunk(first)? else { return Ok(Vec::new()) };
        let failed = |error: crate::embed::EmbedError| KnowledgeError::Model(error.to_string());
        let vector = self.embedder.embed(&[&crate::embed::passage(&chunk)]).map_err(failed)?.pop().unwrap_or_default();
        let allowed = self.text.matching(filter).map_err(|error| KnowledgeError::Text(error.to_string()))?;
        let mut seen = HashSet::from([symbol.id]);
        let mut found = Vec::new();
        for (id, score) in self.vectors.search(&vector, Some(&allowed), limit.saturating_mul(3).saturating_add(10)) {
            let node = self.tables.node_of(id)?.filter(|node| seen.insert(*node));
            let Some(other) = node.map(|node| self.tables.symbol(node)).transpose()?.flatten() else { continue };
            if found.len() < limit && other.kind != Kind::File {
                found.push((other, score));
            }
        }
        Ok(found)
    }

    /// What is defined in a file, in its order.
    pub fn defined_in(&self, path: &str) -> Result<Vec<Symbol>, KnowledgeError> {
        let Some(file) = self.tables.files_ending(path.trim_start_matches("./"), 1)?.into_iter().next() else {
            return Err(KnowledgeError::NoSymbol { name: path.to_owned(), similar: Vec::new() });
        };
        self.tables.in_file(&file.path, usize::MAX)
    }

    /// How far a chunk is trusted, how fresh it is and whether it is borne out; nothing if its file is
    /// gone.
    fn judged(
        &self,
        chunk: &Chunk,
        now: i64,
        files: &mut HashMap<String, Option<OfFile>>,
    ) -> Result<Option<Judged>, KnowledgeError> {
        let file = match files.get(&chunk.path) {
            Some(file) => file.clone(),
            None => {
                let file = self.of_file(chunk)?;
                files.insert(chunk.path.clone(), file.clone());
                file
            }
        };
        let Some(OfFile { changed, hash }) = file else { return Ok(None) };
        // Looked up last: a chunk whose file was taken in anew since it was read is not there any more, so
        // the hash is never newer than the text.
        let Some(standing) = self.tables.standing(chunk.id)? else { return Ok(None) };
        let verified = chunk.domain == Domain::Code || standing.verified != Verified::No;
        let freshness = judgement::freshness(chunk, now, changed, standing);
        let superseded_by = if standing.superseded { self.tables.superseded_by(chunk.id)? } else { None };
        Ok(Some(Judged { trust: judgement::trust(chunk, now, standing), freshness, verified, superseded_by, hash }))
    }

    /// The file of a chunk as it was taken in, beside what it is now; nothing if it is gone. What happened
    /// is in no file and does not change.
    fn of_file(&self, chunk: &Chunk) -> Result<Option<OfFile>, KnowledgeError> {
        let known = self.tables.file(&chunk.path)?;
        if chunk.domain == Domain::History {
            return Ok(Some(OfFile { changed: false, hash: known.and_then(|known| known.hash) }));
        }
        let found = crate::find::look(&self.root, &self.root.join(Path::new(&chunk.path)));
        Ok(found.map(|found| {
            let changed =
                known.as_ref().is_none_or(|known| known.size != found.size || known.modified != found.modified);
            OfFile { changed, hash: known.and_then(|known| known.hash) }
        }))
    }
}

/// What counts how much, by what is asked for.
fn weights(class: Class) -> Weights {
    match class {
        Class::Locate => Weights { text: 1.0, vector: 0.3, names: 0.8, graph: 0.2 },
        Class::Pattern => Weights { text: 1.0, vector: 0.6, names: 0.4, graph: 0.2 },
        // Who wants to understand wants the text; that something is called like a plain word tells little.
        Class::Explain => Weights { names: 0.3, ..Weights::default() },
        Class::General => Weights::default(),
    }
}

pub(crate) fn is_test(kind: Kind, path: &str) -> bool {
    let in_tests = |part: &str| matches!(part, "tests" | "test" | "__tests__" | "spec");
    let name = path.rsplit('/').next().unwrap_or_default();
    kind == Kind::Test
        || path.split('/').any(in_tests)
        || ["_tests.", "_test.", ".test.", ".spec."].iter().any(|mark| name.contains(mark))
        || name.starts_with("test_")
}
