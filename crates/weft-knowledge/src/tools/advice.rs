//! What documents, papers and earlier sessions advise: found and set side by side for whoever weighs it.
//! Nothing here concludes anything.

use serde_json::Value;

use super::answers::{listed, or_nothing};
use super::past::linked_code;
use super::view::{View, count, flag, limit, word, words};
use crate::chunk::{Domain, Kind};
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::graph::Neighbour;
use crate::search::Hit;

type Answered = Result<String, KnowledgeError>;

const FEW: usize = 5;
const MOST_APPROACHES: usize = 4;
/// The first millisecond of a year, near enough for papers: leap days are spread evenly.
const YEAR_MS: f64 = 31_556_952_000.0;

/// What documents say of how to do something, and patterns that sessions put down.
pub(super) fn find_best_practices(view: &View<'_>, input: &Value) -> Answered {
    let topic = word(input, "topic").unwrap_or_default();
    let technology = word(input, "technology").unwrap_or_default();
    let text = format!("{technology} {topic} best practices");
    let most = count(input, "limit", FEW).min(limit(input).max(FEW));
    let mut found = documents(view, text.trim(), most)?;
    let patterns = Filter { domains: vec![Domain::History], kinds: vec![Kind::Pattern], ..Filter::default() };
    found.extend(view.past_hits(format!("{technology} {topic}").trim(), patterns, most)?);
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(most);
    Ok(listed(&found))
}

/// Papers that research wrote, and documents, best first.
pub(super) fn find_papers(view: &View<'_>, input: &Value) -> Answered {
    let text = word(input, "query").unwrap_or_default();
    let most = count(input, "limit", FEW).min(limit(input).max(FEW));
    let year = input.get("min_year").and_then(Value::as_i64);
    let since = year.map(|year| (year.saturating_sub(1970) as f64 * YEAR_MS) as i64);
    let papers = Filter { domains: vec![Domain::History], kinds: vec![Kind::Paper], since, ..Filter::default() };
    let mut found = view.past_hits(text, papers, most)?;
    let documents = Filter { domains: vec![Domain::Documents], since, ..view.within("") };
    found.extend(view.hits_for(text, documents, most)?);
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(most);
    Ok(listed(&found))
}

/// What is known of two to four approaches, side by side.
pub(super) fn compare_approaches(view: &View<'_>, input: &Value) -> Answered {
    let approaches = words(input, "approaches", MOST_APPROACHES + 1);
    if !(2..=MOST_APPROACHES).contains(&approaches.len()) {
        return Ok("Give two to four approaches.".to_owned());
    }
    let context = word(input, "context").unwrap_or_default();
    let criteria = words(input, "criteria", 10);
    let mut parts = Vec::new();
    for approach in &approaches {
        let text = format!("{approach} {context} {}", criteria.join(" "));
        let mut found = documents(view, text.trim(), FEW)?;
        let past = Filter { domains: vec![Domain::History], ..Filter::default() };
        found.extend(view.past_hits(approach, past, FEW)?);
        // What does not even name it says nothing of it.
        let names = crate::answers::subject::of(approach);
        let named = |hit: &Hit| {
            let said = crate::answers::subject::of(&format!("{} {} {}", hit.name, hit.context, hit.snippet));
            names.split(' ').any(|word| said.split(' ').any(|other| other == word))
        };
        found.retain(named);
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        found.truncate(FEW);
        parts.push(format!("## {approach}\n{}", listed(&found)));
    }
    Ok(parts.join("\n\n"))
}

/// What documents say of a topic beside the code that does it; names that documents give to code and
/// that are not there, if asked for.
pub(super) fn synthesize_with_codebase(view: &View<'_>, input: &Value) -> Answered {
    let topic = word(input, "topic").unwrap_or_default();
    let told = documents(view, topic, FEW)?;
    let code = Filter { domains: vec![Domain::Code], ..view.within("") };
    let code = view.hits_for(topic, code, FEW)?;
    let mut parts = vec![format!("Documents:\n{}", listed(&told)), format!("Code:\n{}", listed(&code))];
    if flag(input, "show_gaps") {
        let mut missing = Vec::new();
        for hit in &told {
            for (name, _) in crate::documents::spoken_of(&hit.snippet) {
                if view.knowledge.tables.named(name, 1)?.is_empty() && !missing.contains(&name.to_owned()) {
                    missing.push(name.to_owned());
                }
            }
        }
        let said = if missing.is_empty() { "none".to_owned() } else { missing.join(", ") };
        parts.push(format!("Named in these documents and not in the code: {said}"));
    }
    Ok(parts.join("\n\n"))
}

pub(super) fn get_code_for_academic(view: &View<'_>, input: &Value) -> Answered {
    linked_code(view, word(input, "academic_id").unwrap_or_default())
}

pub(super) fn get_history_for_academic(view: &View<'_>, input: &Value) -> Answered {
    let place = word(input, "academic_id").unwrap_or_default();
    let Some(place) = view.meant_place(place) else { return Ok(or_nothing(Vec::new())) };
    let found = view.knowledge.past_of(&place)?;
    Ok(or_nothing(found.iter().take(limit(input)).map(Neighbour::line).collect()))
}

fn documents(view: &View<'_>, text: &str, most: usize) -> Result<Vec<Hit>, KnowledgeError> {
    let filter = Filter { domains: vec![Domain::Documents], ..view.within("") };
    view.hits_for(text, filter, most)
}
