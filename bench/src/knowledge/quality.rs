//! How good the answers are, on a collection with questions whose answers are known.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use weft_knowledge::rank::Weights;
use weft_knowledge::{Filter, Knowledge, Query};

use super::beir::{Collection, Question, ndcg_at_10};
use super::{Add, indexed};
use crate::report::{Line, Unit};

/// Hits enough for ten texts, of which each may have several.
const MANY: usize = 30;
/// What `weft search` gives by itself.
const FEW: usize = 10;

/// Every text a Markdown file with its title as heading, asked as a person would.
pub fn quality(collection: &Collection, work: &Path, model: &str, goal: f64, add: Add<'_>) -> anyhow::Result<()> {
    let markdown = |title: &str, text: &str| format!("# {title}\n\n{text}\n");
    let knowledge = known(collection, work, "md", &markdown)?;
    let scores = |weights: Option<Weights>| scores(&knowledge, collection, weights, MANY);
    let ours = mean(&scores(None)?);
    let of_ten = mean(&self::scores(&knowledge, collection, None, FEW)?);
    let tried = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2];
    let grid: Vec<Vec<f64>> = tried
        .iter()
        .map(|vector| scores(Some(Weights { vector: *vector, ..Weights::default() })))
        .collect::<anyhow::Result<_>>()?;
    let (crossed, chosen) = cross_validated(&grid, &tried);
    let by_weight: Vec<String> =
        tried.iter().zip(&grid).map(|(weight, scores)| format!("{weight} {:.3}", mean(scores))).collect();
    add(Line::new(format!("knowledge: nDCG@10, {model}"), Unit::Score, ours).at_least(goal).note(format!(
        "{} texts, {} questions; of the first ten hits alone {of_ten:.3}; weight of the vectors cross-validated over 5 folds: {crossed:.3} (chosen {chosen}); by weight: {}",
        collection.texts.len(),
        collection.questions.len(),
        by_weight.join(", ")
    )))
}

/// Every text a plain file with its title in the first line, and only the hits that `weft search` gives by
/// itself.
pub fn plain(collection: &Collection, work: &Path, model: &str, add: Add<'_>) -> anyhow::Result<()> {
    let knowledge = known(collection, work, "txt", &|title, text| format!("{title}\n\n{text}\n"))?;
    let ours = mean(&scores(&knowledge, collection, None, FEW)?);
    let what = format!("knowledge: nDCG@10, {model}, plain text, of the first ten hits");
    add(Line::new(what, Unit::Score, ours).note("several hits of one text are one"))
}

/// How good the answer to each question is, of so many hits.
fn scores(
    knowledge: &Knowledge,
    collection: &Collection,
    weights: Option<Weights>,
    limit: usize,
) -> anyhow::Result<Vec<f64>> {
    let score = |question: &Question| {
        let ranking = ranking(knowledge, &question.text, weights, limit)?;
        anyhow::Ok(ndcg_at_10(&ranking, &question.answers))
    };
    collection.questions.iter().map(score).collect()
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// A folder with a file of each text, indexed.
fn known(
    collection: &Collection,
    work: &Path,
    ending: &str,
    written: &dyn Fn(&str, &str) -> String,
) -> anyhow::Result<Knowledge> {
    let folder = work.join(format!("beir-{ending}"));
    fs::create_dir_all(&folder)?;
    for text in &collection.texts {
        fs::write(folder.join(format!("{}.{ending}", text.id)), written(text.title.trim(), text.text.trim()))?;
    }
    let (knowledge, report) = indexed(work, &folder)?;
    anyhow::ensure!(report.passed.is_empty(), "not searched: {:?}", report.passed.first());
    Ok(knowledge)
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

/// The texts in the order of their best pieces, of so many hits.
fn ranking(
    knowledge: &Knowledge,
    question: &str,
    weights: Option<Weights>,
    limit: usize,
) -> anyhow::Result<Vec<String>> {
    let query = Query { text: question.to_owned(), filter: Filter::default(), limit, now: 0 };
    let answer = match weights {
        None => knowledge.search(&query)?,
        Some(weights) => knowledge.search_with(&query, &weights)?,
    };
    let mut seen = HashSet::new();
    let ids = answer.hits.into_iter().filter_map(|hit| Some(hit.path.rsplit_once('.')?.0.to_owned()));
    Ok(ids.filter(|id| seen.insert(id.clone())).take(10).collect())
}
