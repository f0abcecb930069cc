//! A collection in the layout of BEIR: texts, questions, and which text answers which.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Text {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    pub text: String,
}

pub struct Question {
    pub text: String,
    /// Texts that answer it, with how well.
    pub answers: HashMap<String, u32>,
}

pub struct Collection {
    pub texts: Vec<Text>,
    /// Those that have an answer, in the order of their ids.
    pub questions: Vec<Question>,
}

impl Collection {
    /// Reads a folder with all relevance judgements that it has; none if there is no such folder.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        if !folder.join("corpus.jsonl").exists() {
            return Ok(None);
        }
        let texts: Vec<Text> = lines(&folder.join("corpus.jsonl"))?;
        let questions: Vec<Text> = lines(&folder.join("queries.jsonl"))?;
        let mut answers: BTreeMap<String, HashMap<String, u32>> = BTreeMap::new();
        for file in fs::read_dir(folder.join("qrels"))? {
            for line in fs::read_to_string(file?.path())?.lines().skip(1) {
                let mut parts = line.split('\t');
                if let (Some(question), Some(text), Some(grade)) = (parts.next(), parts.next(), parts.next()) {
                    answers.entry(question.to_owned()).or_default().insert(text.to_owned(), grade.trim().parse()?);
                }
            }
        }
        let words: HashMap<&str, &str> =
            questions.iter().map(|question| (question.id.as_str(), question.text.as_str())).collect();
        let questions = answers
            .into_iter()
            .filter_map(|(id, answers)| Some(Question { text: (*words.get(id.as_str())?).to_owned(), answers }))
            .collect();
        Ok(Some(Self { texts, questions }))
    }
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).with_context(|| format!("a line of {}", path.display())))
        .collect()
}

/// How good the first ten of a ranking are: gains discounted by the place, as a share of the best order.
pub fn ndcg_at_10(ranking: &[String], answers: &HashMap<String, u32>) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = u32>| -> f64 {
        gains.take(10).enumerate().map(|(at, grade)| (2_f64.powi(grade as i32) - 1.0) / (at as f64 + 2.0).log2()).sum()
    };
    let mut ideal: Vec<u32> = answers.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = discounted(&mut ideal.into_iter());
    let found = discounted(&mut ranking.iter().map(|id| answers.get(id).copied().unwrap_or(0)));
    if best > 0.0 { found / best } else { 0.0 }
}

#[cfg(test)]
#[path = "beir_tests.rs"]
mod tests;
