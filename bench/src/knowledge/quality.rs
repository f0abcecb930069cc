//! How good the answers are, on a collection with questions whose answers are known.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use weft_knowledge::rank::Weights;
use weft_knowledge::{Filter, Knowledge, Query};

use super::beir::{Collection, ndcg_at_10};
use super::{Add, indexed};
use crate::report::{Line, Unit};

/// Every text a Markdown file with its title as heading, asked as a person would.
pub fn quality(collection: &Collection, work: &Path, model: &str, goal: f64, add: Add<'_>) -> anyhow::Result<()> {
    let folder = work.join("beir");
    fs::create_dir_all(&folder)?;
    for text in &collection.texts {
        fs::write(
            folder.join(format!("{}.md", text.id)),
            format!("# {}\n\n{}\n", text.title.trim(), text.text.trim()),
        )?;
    }
    let (knowledge, report) = indexed(work, &folder)?;
    anyhow::ensure!(report.passed.is_empty(), "not searched: {:?}", report.passed.first());
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
