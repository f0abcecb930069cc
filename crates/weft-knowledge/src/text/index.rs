//! The full-text index on disk: opened, written, searched.

use std::collections::HashSet;
use std::path::Path;

use tantivy::collector::{Collector, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    DocId, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Score, SegmentOrdinal, SegmentReader,
    TantivyDocument, Term,
};

use super::TextError;
use super::directory::TextDirectory;
use super::near::nearest_words;
use super::schema::{Fields, WORDS, filter_query, matching_query, schema};
use super::words::{WordTokenizer, prepared, query_words};
use crate::vector::IdSet;
use crate::{Chunk, ChunkId, Filter};

/// The first word of a commit's note, with a number. Another one means that words were made in another way.
const FORMAT: &str = "weft-text-";
const VERSION: u32 = 3;
/// The least that tantivy takes for one writing thread.
const WRITER_BYTES: usize = 15_000_000;
/// For many chunks at once: what is written in one go is one segment, and each segment of an index is
/// searched for itself.
const BULK_BYTES: usize = 160_000_000;
/// From how many chunks on.
const BULK: u64 = 4096;
/// A word that a greater share of the chunks have is left out of a question.
const COMMON_SHARE: f32 = 0.4;
/// What so few chunks have is never common.
const FEW: f32 = 100.0;
/// How much a word counts that stands for a mistyped one.
const NEAR_SHARE: f32 = 0.5;
/// Words of a question beyond this many are left out: a pasted page is no question.
const MOST_WORDS: usize = 64;

/// The words of a question that are looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskedWords {
    /// Each with its weight.
    pub words: Vec<(String, f32)>,
    /// About what a chunk scores that has all of them once, those that no chunk has too: what a score means
    /// beside it does not depend on what else was found.
    pub whole: f32,
}

/// The full text of one workspace. Searches see the last commit that [`TextIndex::refresh`] found.
pub struct TextIndex {
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

impl TextIndex {
    /// Opens the index in a folder, which is made if it is not there.
    pub fn open(folder: &Path) -> Result<Self, TextError> {
        std::fs::create_dir_all(folder).map_err(|error| TextError::Io(error.to_string()))?;
        let (schema, fields) = schema();
        let directory = TextDirectory::open(folder).map_err(|error| TextError::Io(error.to_string()))?;
        let index = if Index::exists(&directory).map_err(|error| TextError::Io(error.to_string()))? {
            let index = Index::open(directory)?;
            if index.schema() != schema {
                return Err(TextError::OtherFormat);
            }
            index
        } else {
            Index::create(directory, schema, IndexSettings::default())?
        };
        index.tokenizers().register(WORDS, TextAnalyzer::from(WordTokenizer));
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let index = Self { index, reader, fields };
        let version = |note: &str| note.split(' ').next()?.strip_prefix(FORMAT)?.parse::<u32>().ok();
        match index.note()?.map(|note| version(&note)) {
            None | Some(Some(VERSION)) => Ok(index),
            Some(Some(found)) if found > VERSION => Err(TextError::Newer { found, known: VERSION }),
            Some(_) => Err(TextError::OtherFormat),
        }
    }

    /// The mark of the last commit; none if there was none.
    pub fn mark(&self) -> Result<Option<u64>, TextError> {
        Ok(self.note()?.and_then(|note| note.split(' ').nth(1)?.parse().ok()))
    }

    fn note(&self) -> Result<Option<String>, TextError> {
        Ok(self.index.load_metas()?.payload)
    }

    /// Whether searches see the last commit, this process's or another's.
    pub fn is_current(&self) -> bool {
        let seen: HashSet<_> = self.reader.searcher().segment_readers().iter().map(|one| one.segment_id()).collect();
        let there = self.index.searchable_segment_ids().map(|ids| ids.into_iter().collect::<HashSet<_>>());
        there.is_ok_and(|there| there == seen)
    }

    /// How many chunks can be found.
    pub fn len(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sees what another process has committed.
    pub fn refresh(&self) -> Result<(), TextError> {
        Ok(self.reader.reload()?)
    }

    /// Writes every part anew that has chunks which were deleted, without them: until then their words are
    /// still in its files.
    pub fn sweep(&self) -> Result<(), TextError> {
        let segments = self.index.searchable_segment_metas()?;
        let with_deleted: Vec<_> =
            segments.iter().filter(|segment| segment.num_deleted_docs() > 0).map(|segment| segment.id()).collect();
        if with_deleted.is_empty() {
            return Ok(());
        }
        let mut writer: IndexWriter = self.index.writer_with_num_threads(1, WRITER_BYTES)?;
        for segment in with_deleted {
            writer.merge(&[segment]).wait()?;
        }
        self.refresh()?;
        writer.garbage_collect_files().wait()?;
        Ok(writer.wait_merging_threads()?)
    }

    /// Begins to write about so many chunks. There is one writer at a time, of all processes.
    pub fn begin(&self, chunks: u64) -> Result<TextWriter<'_>, TextError> {
        let bytes = if chunks < BULK { WRITER_BYTES } else { BULK_BYTES };
        let writer = self.index.writer_with_num_threads(1, bytes)?;
        Ok(TextWriter { index: self, writer })
    }

    /// The chunks that hold words of the question and pass the filter, best first.
    pub fn search(&self, query: &str, filter: &Filter, limit: usize) -> Result<Vec<(ChunkId, f32)>, TextError> {
        self.search_words(&self.asked(query)?.words, filter, limit)
    }

    /// The words of a question that are looked for.
    pub fn asked(&self, query: &str) -> Result<AskedWords, TextError> {
        let words = query_words(query).into_iter().take(MOST_WORDS).map(|(word, times)| (word, times as f32));
        self.telling(words.collect())
    }

    /// The words of a question that are worth looking for. One that every other chunk has tells nothing,
    /// unless there is no better one; one that no chunk has was mistyped, so the nearest that there are
    /// count half.
    fn telling(&self, words: Vec<(String, f32)>) -> Result<AskedWords, TextError> {
        let searcher = self.reader.searcher();
        let all = searcher.num_docs() as f32;
        let most = (all * COMMON_SHARE).max(FEW);
        // As BM25 has it.
        let rarity = |chunks: u64| (1.0 + (all - chunks as f32 + 0.5) / (chunks as f32 + 0.5)).ln();
        let (mut telling, mut common) = (AskedWords::default(), AskedWords::default());
        for (word, weight) in words {
            let chunks = searcher.doc_freq(&Term::from_field_text(self.fields.words, &word))?;
            let words = if chunks as f32 > most { &mut common } else { &mut telling };
            // A word that is nowhere counts like one that stands in one place: of a few texts nearly all words
            // are rare, and those that are there would count for nothing beside it.
            words.whole += weight * rarity(chunks.max(1));
            if chunks > 0 {
                words.words.push((word, weight));
                continue;
            }
            let near = nearest_words(&searcher, self.fields.words, &word)?;
            words.words.extend(near.into_iter().map(|near| (near, weight * NEAR_SHARE)));
        }
        Ok(if telling.words.is_empty() { common } else { telling })
    }

    /// Words by how much they tell: those that few chunks have count more, those that every other one has
    /// or that only one has, and so lead nowhere else, are left out.
    pub fn weighed(&self, words: impl IntoIterator<Item = (String, f32)>) -> Result<Vec<(String, f32)>, TextError> {
        let searcher = self.reader.searcher();
        let all = searcher.num_docs() as f32;
        let mut weighed = Vec::new();
        for (word, weight) in words {
            let chunks = searcher.doc_freq(&Term::from_field_text(self.fields.words, &word))? as f32;
            if chunks > 1.0 && chunks <= all * COMMON_SHARE {
                weighed.push((word, weight * (all / chunks).ln()));
            }
        }
        Ok(weighed)
    }

    /// The chunks that hold words that are prepared already, each with its weight.
    pub fn search_words(
        &self,
        words: &[(String, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(ChunkId, f32)>, TextError> {
        if words.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let words = words.iter().map(|(word, weight)| {
            let term = Term::from_field_text(self.fields.words, word);
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            let query = if *weight == 1.0 { query } else { Box::new(BoostQuery::new(query, *weight)) };
            (Occur::Should, query)
        });
        let mut query: Box<dyn Query> = Box::new(BooleanQuery::new(words.collect()));
        if let Some(filter) = filter_query(&self.fields, filter) {
            query = Box::new(BooleanQuery::new(vec![(Occur::Must, query), (Occur::Must, filter)]));
        }
        let searcher = self.reader.searcher();
        let found = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let ids = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.fast_fields().u64("id"))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let id = |segment: SegmentOrdinal, doc: DocId| ids.get(segment as usize).and_then(|ids| ids.first(doc));
        Ok(found.into_iter().filter_map(|(score, at)| Some((ChunkId(id(at.segment_ord, at.doc_id)?), score))).collect())
    }

    /// All chunks that pass the filter.
    pub fn matching(&self, filter: &Filter) -> Result<IdSet, TextError> {
        Ok(self.reader.searcher().search(&matching_query(&self.fields, filter), &Ids)?)
    }
}

/// Changes that nobody sees before [`TextWriter::commit`]; dropped without it, they never were.
pub struct TextWriter<'a> {
    index: &'a TextIndex,
    writer: IndexWriter,
}

impl TextWriter<'_> {
    pub fn add(&mut self, chunk: &Chunk) -> Result<(), TextError> {
        let fields = &self.index.fields;
        let mut document = TantivyDocument::new();
        document.add_u64(fields.id, chunk.id.0);
        document.add_text(fields.words, prepared(chunk));
        document.add_u64(fields.domain, u64::from(chunk.domain.number()));
        document.add_u64(fields.kind, u64::from(chunk.kind.number()));
        if let Some(language) = chunk.language {
            document.add_u64(fields.language, u64::from(language.number()));
        }
        document.add_text(fields.path, &chunk.path);
        document.add_i64(fields.time, chunk.time);
        self.writer.add_document(document)?;
        Ok(())
    }

    pub fn delete(&mut self, id: ChunkId) {
        self.writer.delete_term(Term::from_field_u64(self.index.fields.id, id.0));
    }

    /// Forgets everything, as part of this commit.
    pub fn delete_all(&mut self) -> Result<(), TextError> {
        self.writer.delete_all_documents()?;
        Ok(())
    }

    /// Makes the changes durable under a mark and visible to searches of this index.
    pub fn commit(&mut self, mark: u64) -> Result<(), TextError> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&format!("{FORMAT}{VERSION} {mark}"));
        commit.commit()?;
        self.index.refresh()
    }

    /// Waits until small segments are merged, which happens beside the writing.
    pub fn finish(self) -> Result<(), TextError> {
        Ok(self.writer.wait_merging_threads()?)
    }
}

/// Collects the ids of all documents found.
struct Ids;

struct SegmentIds {
    ids: Column<u64>,
    found: IdSet,
}

impl Collector for Ids {
    type Fruit = IdSet;
    type Child = SegmentIds;

    fn for_segment(&self, _: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<SegmentIds> {
        Ok(SegmentIds { ids: segment.fast_fields().u64("id")?, found: IdSet::default() })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<IdSet>) -> tantivy::Result<IdSet> {
        let mut all = IdSet::default();
        for fruit in fruits {
            all.merge(fruit);
        }
        Ok(all)
    }
}

impl SegmentCollector for SegmentIds {
    type Fruit = IdSet;

    fn collect(&mut self, doc: DocId, _: Score) {
        if let Some(id) = self.ids.first(doc) {
            self.found.insert(ChunkId(id));
        }
    }

    fn harvest(self) -> IdSet {
        self.found
    }
}
