//! What several searches found, made one list: best first, each paragraph once, with who found it.
//! What a follow-up already had is a list of its own, and what the best refer to comes along.

use std::collections::HashMap;

use serde_json::{Value, json};

/// So many of what searches found come first; then as many that the best of them refer to, then the rest.
const FIRST: usize = 16;
const BY_REFERENCE: usize = 4;
/// Whose references are followed.
const FOLLOWED: usize = 6;
/// The first search is for the question or its main part. What the others find counts this much of it.
const FURTHER: f64 = 0.7;

pub fn gather(input: &Value) -> Value {
    let prior: Vec<&str> = input
        .get("prior")
        .and_then(|prior| prior.pointer("/output/citations"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|citation| citation.get("paragraph_id").and_then(Value::as_str))
        .collect();
    let delta = input.get("delta").and_then(Value::as_bool).unwrap_or(true);
    let is_known =
        |paragraph: &Value| delta && paragraph.get("id").and_then(Value::as_str).is_some_and(|id| prior.contains(&id));
    let mut order: Vec<Value> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let searches: Vec<&Value> = input.get("searches").and_then(Value::as_array).into_iter().flatten().collect();
    for (place, search) in searches.iter().enumerate() {
        let share = if place == 0 { 1.0 } else { FURTHER };
        let query = search.get("query").and_then(Value::as_str).unwrap_or_default();
        for paragraph in search.get("paragraphs").and_then(Value::as_array).into_iter().flatten() {
            let Some(id) = paragraph.get("id").and_then(Value::as_str) else { continue };
            let score = share * paragraph.get("score").and_then(Value::as_f64).unwrap_or(0.0);
            match places.get(id).and_then(|place| order.get_mut(*place)) {
                Some(known) => {
                    let before = known.get("score").and_then(Value::as_f64).unwrap_or(0.0);
                    // Found again by another query: a little more than the better of both.
                    let better = before.max(score) + 0.1 * before.min(score);
                    set(known, "score", json!(better));
                    if let Some(Value::Array(queries)) = known.get_mut("queries") {
                        queries.push(json!(query));
                    }
                }
                None => {
                    let mut paragraph = paragraph.clone();
                    set(&mut paragraph, "score", json!(score));
                    set(&mut paragraph, "queries", json!([query]));
                    places.insert(id.to_owned(), order.len());
                    order.push(paragraph);
                }
            }
        }
    }
    sort(&mut order);
    // Known from the earlier answer: not found anew, and still to be cited where the question is about it.
    let (known, mut order): (Vec<Value>, Vec<Value>) = order.into_iter().partition(is_known);
    let most = input.get("most").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok()).unwrap_or(60);
    let hops = input.get("hops").and_then(|hops| hops.get("paragraphs")).and_then(Value::as_array);
    let score = order.get(FIRST).or(order.last()).and_then(|one| one.get("score")).cloned().unwrap_or(json!(0.0));
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for paragraph in hops.into_iter().flatten() {
        let Some(id) = paragraph.get("id").and_then(Value::as_str) else { continue };
        if is_known(paragraph) {
            continue;
        }
        let known = order.iter().position(|one| one.get("id").and_then(Value::as_str) == Some(id));
        let paragraph = match known {
            Some(place) if place < FIRST => continue,
            // It was found as well, further down.
            Some(place) => order.remove(place),
            None => {
                let mut paragraph = paragraph.clone();
                set(&mut paragraph, "score", score.clone());
                set(&mut paragraph, "queries", json!([]));
                paragraph
            }
        };
        if near.len() < BY_REFERENCE { near.push(paragraph) } else { far.push(paragraph) }
    }
    let rest = order.split_off(order.len().min(FIRST));
    order.extend(near.into_iter().chain(rest).chain(far));
    order.truncate(most);
    let failed = searches.iter().filter(|search| search.get("failed").is_some()).count();
    let told = |name: &str| searches.iter().find_map(|search| search.get(name).filter(|told| !told.is_null()));
    json!({
        "paragraphs": order,
        "searched": searches.len(),
        "failed": failed,
        "known_before": known.len(),
        "known": known,
        "notice": told("notice"),
        "compares": told("compares"),
    })
}

/// The best so far, whose references are worth following.
pub fn best(input: &Value) -> Value {
    let gathered = gather(input);
    let paragraphs = gathered.get("paragraphs").and_then(Value::as_array);
    let ids = paragraphs.into_iter().flatten().take(FOLLOWED).filter_map(|paragraph| paragraph.get("id").cloned());
    ids.collect()
}

fn set(value: &mut Value, name: &str, to: Value) {
    if let Value::Object(fields) = value {
        fields.insert(name.to_owned(), to);
    }
}

fn sort(paragraphs: &mut [Value]) {
    let score = |value: &Value| value.get("score").and_then(Value::as_f64).unwrap_or(0.0);
    paragraphs.sort_by(|one, other| score(other).total_cmp(&score(one)));
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod gather_tests;
