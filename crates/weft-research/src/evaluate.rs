//! How good the answers without a model are, measured on questions whose paragraphs are known. Goes the
//! way of a run: plan, searches, references, quotes, verification, document.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_engine::flow::Functions as _;
use weft_knowledge::verify::{Claim, Source, Verdict, verify};

use crate::book::Book;
use crate::corpora::{Corpora, CorpusError};
use crate::extract::extract;
use crate::functions::ResearchFunctions;

/// How many paragraphs count as found.
const FOUND: usize = 20;
const QUOTES: usize = 4;
const SEARCHES: u64 = 8;

#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    pub id: String,
    #[serde(default)]
    pub split: String,
    pub kind: String,
    pub question: String,
    /// Those that answer it; none where nothing does.
    #[serde(default)]
    pub paragraphs: Vec<String>,
    /// Those that may be cited as well.
    #[serde(default)]
    pub also: Vec<String>,
    #[serde(default)]
    pub note: String,
}

/// What was measured over some questions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    pub questions: usize,
    /// The share of the right paragraphs among the first twenty that were found.
    pub recall_at_20: f64,
    /// Of the paragraphs that were cited, the share that is right.
    pub citation_precision: f64,
    /// Of the right paragraphs, the share that was cited.
    pub citation_recall: f64,
    /// Answerable questions that got an answer.
    pub answered: usize,
    /// Answerable ones with a right paragraph before the reader: quoted, or shown as one of the nearest.
    pub shown: usize,
    /// Unanswerable ones that got none, of how many.
    pub recognised: (usize, usize),
    /// Sentences that their citations do not bear out.
    pub unsupported: usize,
    pub sentences: usize,
    #[serde(skip)]
    sums: [f64; 3],
    #[serde(skip)]
    counts: [f64; 3],
}

impl Figures {
    fn add(&mut self, place: usize, value: f64) {
        if let (Some(sum), Some(count)) = (self.sums.get_mut(place), self.counts.get_mut(place)) {
            *sum += value;
            *count += 1.0;
        }
    }

    fn settle(&mut self) {
        let [recall, precision, cited] = self.sums;
        let [recalls, precisions, citeds] = self.counts;
        let share = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 1.0 };
        self.recall_at_20 = share(recall, recalls);
        self.citation_precision = share(precision, precisions);
        self.citation_recall = share(cited, citeds);
    }
}

/// Figures for all questions, by split, by kind, and by how a question is worded.
pub fn evaluate(
    corpora: &Corpora,
    corpus: &str,
    questions: &[Question],
) -> Result<BTreeMap<String, Figures>, CorpusError> {
    let book = corpora.book(corpus)?;
    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
    for question in questions {
        let outcome = Outcome::of(&book, question)?;
        let mut groups = vec!["all".to_owned(), question.kind.clone()];
        if !question.split.is_empty() {
            groups.push(format!("split {}", question.split));
        }
        if question.kind == "single" && !question.note.is_empty() {
            groups.push(format!("single, {}", question.note));
        }
        for group in groups {
            outcome.count(question, figures.entry(group).or_default());
        }
    }
    figures.values_mut().for_each(Figures::settle);
    Ok(figures)
}

struct Outcome {
    found: Vec<String>,
    cited: Vec<String>,
    nearest: Vec<String>,
    unsupported: usize,
    sentences: usize,
}

impl Outcome {
    fn of(book: &Book, question: &Question) -> Result<Self, CorpusError> {
        let call =
            |name: &str, input: Value| ResearchFunctions.call(name, &input).and_then(Result::ok).unwrap_or_default();
        let plan = call(
            "research.plan",
            json!({ "question": question.question, "settings": { "sub_queries": SEARCHES }, "answer": null }),
        );
        let queries = plan.get("sub_queries").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut searches = Vec::new();
        for query in queries.iter().filter_map(|query| query.get("query").and_then(Value::as_str)) {
            let hits = book.search(query, FOUND)?;
            let hits = hits.iter().map(|(paragraph, score)| json!({ "id": paragraph.id, "score": score }));
            searches.push(json!({ "query": query, "paragraphs": hits.collect::<Vec<_>>() }));
        }
        let best = call("research.best", json!({ "searches": searches }));
        let best: Vec<String> =
            best.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let hops: Vec<Value> = book
            .hops(&best, 1)
            .iter()
            .take(FOUND)
            .map(|(paragraph, distance, _)| json!({ "id": paragraph.id, "distance": distance }))
            .collect();
        let gathered =
            call("research.gather", json!({ "searches": searches, "hops": { "paragraphs": hops }, "most": 80 }));
        let gathered = gathered.get("paragraphs").and_then(Value::as_array).cloned().unwrap_or_default();
        let found: Vec<String> =
            gathered.iter().filter_map(|one| one.get("id").and_then(Value::as_str)).map(str::to_owned).collect();
        let extract = extract(book, &question.question, &found, QUOTES)?;
        let claims: Vec<Claim> = extract
            .quotes
            .iter()
            .map(|quote| Claim { text: format!("\u{201c}{}\u{201d}", quote.text), cites: vec![quote.id.clone()] })
            .collect();
        let mut cited: Vec<String> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        for paragraph in extract.quotes.iter().filter_map(|quote| book.get(&quote.id)) {
            if !cited.contains(&paragraph.id) {
                cited.push(paragraph.id.clone());
                sources.push(Source { id: paragraph.id.clone(), text: paragraph.text.clone() });
            }
        }
        let report = verify(&claims, &sources);
        let axis = |check: &&weft_knowledge::verify::Check| check.axis == weft_knowledge::verify::Axis::Citation;
        let unsupported = report.checks.iter().filter(axis).filter(|check| check.verdict == Verdict::Fails).count();
        let nearest = extract.nearest.iter().filter_map(|cite| book.get(cite)).map(|one| one.id.clone()).collect();
        Ok(Self { found, cited, nearest, unsupported, sentences: claims.len() })
    }

    fn count(&self, question: &Question, figures: &mut Figures) {
        figures.questions += 1;
        figures.unsupported += self.unsupported;
        figures.sentences += self.sentences;
        if question.paragraphs.is_empty() {
            figures.recognised.0 += usize::from(self.cited.is_empty());
            figures.recognised.1 += 1;
            return;
        }
        figures.answered += usize::from(!self.cited.is_empty());
        // Where there is an answer the nearest paragraphs are not shown.
        let shown = if self.cited.is_empty() { &self.nearest } else { &self.cited };
        figures.shown += usize::from(question.paragraphs.iter().any(|id| shown.contains(id)));
        let right = |among: &[String]| question.paragraphs.iter().filter(|id| among.contains(id)).count() as f64;
        let wanted = question.paragraphs.len() as f64;
        let first: Vec<String> = self.found.iter().take(FOUND).cloned().collect();
        figures.add(0, right(&first) / wanted);
        figures.add(2, right(&self.cited) / wanted);
        if !self.cited.is_empty() {
            let fits = |id: &&String| question.paragraphs.contains(id) || question.also.contains(id);
            figures.add(1, self.cited.iter().filter(fits).count() as f64 / self.cited.len() as f64);
        }
    }
}
