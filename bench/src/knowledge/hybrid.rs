//! Search as people have it, words and meaning together, in a large folder: through the library in a
//! process of its own, through the program from its start, and beside it what SQLite alone would do.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use weft_knowledge::embed::Embedder;
use weft_knowledge::{Filter, Knowledge, Places, Query};

use super::beir::Collection;
use super::pieces::Pieces;
use super::{Add, indexed, others};
use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p99};

const PROGRAM_RUNS: usize = 20;
const OPENINGS: usize = 5;

/// What a process of its own found out about searching.
#[derive(Debug, Serialize, Deserialize)]
pub struct Searched {
    pub open_ms: f64,
    pub first_ms: f64,
    pub times_ms: Vec<f64>,
    pub resident_kb: u64,
}

pub fn hybrid(
    collection: &Collection,
    embedder: &dyn Embedder,
    weft: Option<&Path>,
    work: &Path,
    count: usize,
    add: Add<'_>,
) -> anyhow::Result<()> {
    let folder = work.join("hybrid");
    let all: Vec<&str> = Pieces::new(collection).take(count).collect();
    let bytes = write(&all, &folder)?;
    let (knowledge, report) = indexed(work, &folder)?;
    anyhow::ensure!(report.passed.is_empty(), "not searched: {:?}", report.passed.first());
    let counts = knowledge.status()?.counts;
    drop(knowledge);
    let texts: Vec<&str> = collection.questions.iter().take(500).map(|question| question.text.as_str()).collect();
    let searched = in_another_process(work, &folder, &texts)?;
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
    let rate = bytes as f64 / 1e6 / report.seconds;
    add(Line::new("knowledge: ingestion of Markdown, per second", Unit::Megabytes, rate).note(format!(
        "{:.0} MB, {} files, with embedding and both indexes",
        bytes as f64 / 1e6,
        counts.files
    )))?;
    if let (Some(weft), Some(question)) = (weft, texts.first()) {
        add(through_the_program(weft, work, &folder, question, &format!("{chunks} chunks"))?)?;
    }
    let others = others::measure(&all, &texts, embedder, work)?;
    let both: Vec<f64> = others.full_text_ms.iter().zip(&others.vectors_ms).map(|(text, scan)| text + scan).collect();
    let note = format!(
        "99 % within {}; SQLite FTS5 (porter) alone {}, scan of float vectors on one thread {}",
        Unit::Millis.show(p99(&both)),
        Unit::Millis.show(median(&others.full_text_ms)),
        Unit::Millis.show(median(&others.vectors_ms))
    );
    add(Line::new("knowledge: the same texts and questions with FTS5 and float vectors", Unit::Millis, median(&both))
        .note(note))
}

/// How long it takes until what is known of very many chunks can be asked, and the first answer comes.
pub fn opening(collection: &Collection, work: &Path, count: usize, add: Add<'_>) -> anyhow::Result<()> {
    let folder = work.join("opening");
    let bytes = write(&Pieces::new(collection).take(count).collect::<Vec<_>>(), &folder)?;
    let (knowledge, report) = indexed(work, &folder)?;
    anyhow::ensure!(report.passed.is_empty(), "not searched: {:?}", report.passed.first());
    let chunks = knowledge.status()?.counts.chunks;
    drop(knowledge);
    let texts: Vec<&str> = collection.questions.iter().take(100).map(|question| question.text.as_str()).collect();
    let (mut open, mut first, mut warm, mut resident) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..OPENINGS {
        let searched = in_another_process(work, &folder, &texts)?;
        open.push(searched.open_ms);
        first.push(searched.first_ms);
        warm.extend(searched.times_ms);
        resident = searched.resident_kb.max(resident);
    }
    let note = format!(
        "tables, full text, vectors and model, {OPENINGS} processes, files in the page cache; the first answer took {} more, warm ones {} (99 % within {}); {} resident after {} questions; taken in at {:.1} MB per second",
        Unit::Millis.show(median(&first)),
        Unit::Millis.show(median(&warm)),
        Unit::Millis.show(p99(&warm)),
        Unit::Megabytes.show(resident as f64 / 1024.0),
        texts.len(),
        bytes as f64 / 1e6 / report.seconds
    );
    let what = format!("knowledge: opening the whole index of {chunks} chunks");
    add(Line::new(what, Unit::Millis, median(&open)).goal(100.0).note(note))?;
    Ok(fs::remove_dir_all(&folder)?)
}

/// Writes pieces as numbered paragraphs, which are searched one by one, so that there are as many chunks
/// as pieces. How many bytes that is.
fn write(pieces: &[&str], folder: &Path) -> anyhow::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut bytes = 0;
    for (number, pieces) in pieces.chunks(100).enumerate() {
        let one = |(paragraph, piece): (usize, &&str)| format!("{number}.{} {piece}\n\n", paragraph + 1);
        let text: String = pieces.iter().enumerate().map(one).collect();
        bytes += text.len();
        fs::write(folder.join(format!("{number}.md")), text)?;
    }
    Ok(bytes)
}

fn in_another_process(work: &Path, folder: &Path, texts: &[&str]) -> anyhow::Result<Searched> {
    let mut command = process::command(&std::env::current_exe()?);
    command.arg("knowledge-search").arg("--home").arg(work.join("home")).arg("--folder").arg(folder);
    let questions = work.join("questions");
    fs::write(&questions, texts.join("\n"))?;
    command.arg("--questions").arg(&questions);
    Ok(serde_json::from_slice(&process::run(command)?.output.stdout)?)
}

/// `weft search`, from the start of the program to its end.
pub fn through_the_program(
    weft: &Path,
    work: &Path,
    folder: &Path,
    question: &str,
    what: &str,
) -> anyhow::Result<Line> {
    let mut times = Vec::new();
    for _ in 0..=PROGRAM_RUNS {
        let mut command = process::command(weft);
        command.args(["search", "--json", question]).current_dir(folder);
        command.env_clear().env("HOME", work.join("home")).env("WEFT_HOME", work.join("home"));
        let run = process::run(command)?;
        anyhow::ensure!(!run.output.stdout.is_empty(), "`weft search` found nothing for {question:?}");
        times.push(run.wall.as_secs_f64() * 1e3);
    }
    // The first warms up.
    let times = times.get(1..).unwrap_or_default();
    let note = format!("99 % within {}, {PROGRAM_RUNS} runs", Unit::Millis.show(p99(times)));
    let what = format!("knowledge: `weft search` with its start, {what}");
    Ok(Line::new(what, Unit::Millis, median(times)).goal(40.0).note(note))
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
    let first_ms = questions.lines().next().map(ask).transpose()?.unwrap_or_default();
    for question in questions.lines().take(100) {
        ask(question)?;
    }
    let times_ms = questions.lines().map(ask).collect::<anyhow::Result<_>>()?;
    let status = fs::read_to_string("/proc/self/status")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident_kb = resident.and_then(|line| line.split_whitespace().next()).context("no VmRSS")?.parse()?;
    Ok(Searched { open_ms, first_ms, times_ms, resident_kb })
}
