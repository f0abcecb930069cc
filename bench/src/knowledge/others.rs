//! What SQLite alone would do with the same texts and questions: its full text, and a scan over the
//! vectors in full precision.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;
use weft_knowledge::embed::Embedder;

use super::vectors::Nearest;

pub struct Others {
    pub full_text_ms: Vec<f64>,
    pub vectors_ms: Vec<f64>,
}

#[allow(clippy::disallowed_methods, reason = "a database that is measured against, not one of Weft's")]
pub fn measure(pieces: &[&str], questions: &[&str], embedder: &dyn Embedder, work: &Path) -> anyhow::Result<Others> {
    let mut connection = Connection::open(work.join("others.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE pieces USING fts5(text, tokenize = 'porter unicode61');",
    )?;
    let change = connection.transaction()?;
    for (number, piece) in pieces.iter().enumerate() {
        change
            .prepare_cached("INSERT INTO pieces (rowid, text) VALUES (?1, ?2)")?
            .execute((i64::try_from(number)?, piece))?;
    }
    change.commit()?;
    connection.execute_batch("INSERT INTO pieces (pieces) VALUES ('optimize')")?;
    let mut vectors = Vec::with_capacity(pieces.len() * embedder.dimension());
    for batch in pieces.chunks(8192) {
        for vector in embedder.embed(batch)? {
            vectors.extend(vector);
        }
    }
    let mut query =
        connection.prepare("SELECT rowid, bm25(pieces) FROM pieces WHERE pieces MATCH ?1 ORDER BY rank LIMIT 10")?;
    let (mut full_text_ms, mut vectors_ms) = (Vec::new(), Vec::new());
    for question in questions {
        let words = question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let any_of: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        let begun = Instant::now();
        let found: Vec<(i64, f64)> =
            query.query_map([any_of.join(" OR ")], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        full_text_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(!found.is_empty(), "nothing found for {question:?}");
        let begun = Instant::now();
        let vector = embedder.embed_query(question)?;
        let mut nearest = Nearest::default();
        for (number, other) in vectors.chunks_exact(embedder.dimension()).enumerate() {
            nearest.offer(product(&vector, other), number as u64);
        }
        vectors_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Others { full_text_ms, vectors_ms })
}

/// Sixteen sums side by side, so that the compiler may use the processor's wide registers.
fn product(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (one, other) in one.as_chunks::<16>().0.iter().zip(other.as_chunks::<16>().0) {
        for ((sum, x), y) in sums.iter_mut().zip(one).zip(other) {
            *sum += x * y;
        }
    }
    sums.iter().sum()
}
