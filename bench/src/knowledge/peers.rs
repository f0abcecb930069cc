//! Other people's vector databases and full text, from Python, on the same vectors, texts and questions.
//! What is not installed is told of in a line.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use weft_knowledge::ChunkId;
use weft_knowledge::embed::Embedder;
use weft_knowledge::vector::VectorIndex;

use super::Add;
use super::beir::Collection;
use super::pieces::Pieces;
use super::vectors::{NEAREST, Nearest};
use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p99};

const QUESTIONS: usize = 200;
const SCRIPT: &str = "bench/others/measure.py";

/// A line of the script.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Absent { name: String, absent: String },
    Measured { name: String, kind: Kind, build_s: f64, recall: Option<f64>, p50_ms: f64, p99_ms: f64 },
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Vectors,
    Words,
    Both,
}

pub fn measure(
    collection: &Collection,
    embedder: &dyn Embedder,
    python: &Path,
    work: &Path,
    count: usize,
    add: Add<'_>,
) -> anyhow::Result<()> {
    if !python.exists() {
        let why = format!("{} is not there; `make bench PEERS=1` makes it", python.display());
        return add(Line::new("knowledge: other programs", Unit::Millis, f64::NAN).note(why));
    }
    let folder = work.join("peers");
    fs::create_dir_all(&folder)?;
    let ours = write(collection, embedder, &folder, count)?;
    add(ours)?;
    let mut command = process::command(python);
    command.arg(SCRIPT).arg(&folder);
    let told = process::run(command)?.output.stdout;
    for line in String::from_utf8_lossy(&told).lines() {
        add(match serde_json::from_str(line)? {
            Told::Absent { name, absent } => {
                Line::new(format!("knowledge: {name}"), Unit::Millis, f64::NAN).note(absent.replace('\n', " "))
            }
            Told::Measured { name, kind, build_s, recall, p50_ms, p99_ms } => {
                let recall = recall.map(|recall| format!("recall {recall:.3}, ")).unwrap_or_default();
                let note = format!(
                    "{recall}99 % within {}, built in {}",
                    Unit::Millis.show(p99_ms),
                    Unit::Seconds.show(build_s)
                );
                Line::new(format!("knowledge: {name}: {}", what(kind, count)), Unit::Millis, p50_ms).note(note)
            }
        })?;
    }
    Ok(fs::remove_dir_all(&folder)?)
}

fn what(kind: Kind, count: usize) -> String {
    match kind {
        Kind::Vectors => format!("{NEAREST} nearest of {count} vectors"),
        Kind::Words => format!("words in {count} texts"),
        Kind::Both => format!("words and vectors of {count} texts"),
    }
}

/// Writes what the others read, and measures our own index with it.
fn write(collection: &Collection, embedder: &dyn Embedder, folder: &Path, count: usize) -> anyhow::Result<Line> {
    let asked: Vec<&str> = collection.questions.iter().take(QUESTIONS).map(|question| question.text.as_str()).collect();
    let questions = asked.iter().map(|text| Ok(embedder.embed_query(text)?)).collect::<anyhow::Result<Vec<_>>>()?;
    let pieces: Vec<&str> = Pieces::new(collection).take(count).collect();
    let mut exact = vec![Nearest::default(); questions.len()];
    let file = |name: &str| Ok::<_, std::io::Error>(BufWriter::new(File::create(folder.join(name))?));
    let mut vectors = file("vectors.f32")?;
    let mut index = VectorIndex::open(&folder.join("ours"), embedder.dimension(), embedder.name())?;
    let (mut id, mut building) = (0, 0.0);
    for batch in pieces.chunks(8192) {
        let made = embedder.embed(batch)?;
        let begun = Instant::now();
        for (number, vector) in (id + 1..).zip(&made) {
            index.add(ChunkId(number), vector)?;
        }
        building += begun.elapsed().as_secs_f64();
        for vector in made {
            id += 1;
            for (question, nearest) in questions.iter().zip(&mut exact) {
                nearest.offer(question.iter().zip(&vector).map(|(x, y)| x * y).sum(), id);
            }
            floats(&mut vectors, &vector)?;
        }
    }
    let begun = Instant::now();
    index.commit(1)?;
    building += begun.elapsed().as_secs_f64();
    vectors.flush()?;
    let mut asked_vectors = file("questions.f32")?;
    questions.iter().try_for_each(|question| floats(&mut asked_vectors, question))?;
    asked_vectors.flush()?;
    let mut nearest = file("nearest.u64")?;
    for (_, id) in exact.iter().flat_map(|nearest| &nearest.0) {
        nearest.write_all(&id.to_le_bytes())?;
    }
    nearest.flush()?;
    for (name, texts) in [("pieces.jsonl", &pieces), ("questions.jsonl", &asked)] {
        let mut lines = file(name)?;
        for text in texts {
            writeln!(lines, "{}", serde_json::to_string(text)?)?;
        }
        lines.flush()?;
    }
    let shape = serde_json::json!({ "dimension": embedder.dimension(), "nearest": NEAREST });
    fs::write(folder.join("shape.json"), shape.to_string())?;
    for question in &questions {
        index.search(question, None, NEAREST);
    }
    let (mut times, mut found) = (Vec::new(), 0);
    for (question, exact) in questions.iter().zip(&exact) {
        let begun = Instant::now();
        let hits = index.search(question, None, NEAREST);
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        found += hits.iter().filter(|(id, _)| exact.0.iter().any(|(_, wanted)| *wanted == id.0)).count();
    }
    let note = format!(
        "recall {:.3}, 99 % within {}, built in {}",
        found as f64 / (questions.len() * NEAREST).max(1) as f64,
        Unit::Millis.show(p99(&times)),
        Unit::Seconds.show(building)
    );
    let name = format!("knowledge: Weft beside the others: {}", what(Kind::Vectors, pieces.len()));
    Ok(Line::new(name, Unit::Millis, median(&times)).note(note))
}

fn floats(file: &mut impl std::io::Write, vector: &[f32]) -> std::io::Result<()> {
    vector.iter().try_for_each(|number| file.write_all(&number.to_le_bytes()))
}
