//! The plan of a run: what is looked for. A model's plan comes in several shapes and is brought into
//! one; without a model it is made of the question's own clauses and words.

use serde_json::{Value, json};

use crate::book::stems;

const MOST_WORDS: usize = 12;

/// Brings what a model answered into one shape. `path` tells how: `model` as asked for, `alias` in
/// another known shape, `fallback` where there was nothing to read.
pub fn plan(input: &Value) -> Value {
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let settings = input.get("settings").unwrap_or(&Value::Null);
    let answer = input.get("answer").unwrap_or(&Value::Null);
    let most = settings.get("sub_queries").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    if answer.is_null() {
        return offline(question, settings, most.unwrap_or(3));
    }
    let inner = answer.get("query_plan").unwrap_or(answer);
    let (mut queries, alias) = sub_queries(inner);
    let path = if answer.get("raw_text").is_some() || queries.is_empty() {
        "fallback"
    } else if alias {
        "alias"
    } else {
        "model"
    };
    if queries.is_empty() {
        queries.push(json!({ "query": question, "role": "primary", "targets": [] }));
    }
    queries.truncate(most.unwrap_or(8).max(1));
    let clarity = inner.get("clarity_score").or_else(|| inner.get("confidence")).and_then(Value::as_f64).map(share);
    let action = inner.get("recommended_action").and_then(Value::as_str);
    let action = action.unwrap_or(if clarity.is_some_and(|clarity| clarity < 0.7) { "clarify" } else { "proceed" });
    let search = inner.get("authority_sources").and_then(|sources| sources.get("search_queries"));
    json!({
        "original_query": question,
        "refined_query": inner.get("refined_query"),
        "clarity_score": clarity,
        "recommended_action": action,
        "assumptions": list(inner, "assumptions"),
        "alternative_interpretations": list(inner, "alternative_interpretations"),
        "clarification_questions": list(inner, "clarification_questions"),
        "primary_standards": list(inner, "primary_standards"),
        "sub_queries": queries,
        "scope": inner.get("scope").or_else(|| inner.get("scope_classification")).cloned().unwrap_or(json!("unknown")),
        "depth_mode": settings.get("depth"),
        "search_queries": search.map_or_else(Vec::new, strings),
        "path": path,
    })
}

/// Between nothing and all; somebody who says 85 means of a hundred.
fn share(value: f64) -> f64 {
    let share = if value > 1.0 { value / 100.0 } else { value };
    share.clamp(0.0, 1.0)
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// Texts of a list whose items are texts, or things with a text in them.
fn list(value: &Value, name: &str) -> Vec<String> {
    let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
    let text = |item: &Value| {
        let text =
            item.as_str().or_else(|| ["text", "question", "name"].iter().find_map(|key| item.get(key)?.as_str()));
        text.map(str::to_owned)
    };
    items.filter_map(text).collect()
}

fn sub_queries(plan: &Value) -> (Vec<Value>, bool) {
    let mut alias = false;
    let items = ["sub_queries", "queries"].iter().find_map(|key| plan.get(key)?.as_array()).into_iter().flatten();
    let mut queries = Vec::new();
    for item in items {
        let usual = item.get("query").and_then(Value::as_str);
        let other = item.as_str().or_else(|| ["text", "refined_text"].iter().find_map(|key| item.get(key)?.as_str()));
        alias |= usual.is_none() && other.is_some();
        let Some(query) = usual.or(other).map(str::trim).filter(|query| !query.is_empty()) else { continue };
        let role = ["role", "intent"].iter().find_map(|key| item.get(key)?.as_str()).unwrap_or("unknown");
        let targets = ["target_standards", "standards", "isa_standards", "targets"];
        let targets = targets.iter().find_map(|key| item.get(key)).map_or_else(Vec::new, strings);
        queries.push(json!({ "query": query, "role": role, "targets": targets }));
    }
    (queries, alias)
}

/// Without a model: the question, its clauses, and its telling words.
fn offline(question: &str, settings: &Value, most: usize) -> Value {
    let mut queries = vec![(question.trim().to_owned(), "question")];
    let clauses = question.split(['?', ';', ',']).flat_map(|part| part.split(" and ")).map(str::trim);
    let clauses: Vec<&str> = clauses.filter(|clause| stems(clause).len() >= 2).collect();
    if clauses.len() > 1 {
        queries.extend(clauses.iter().map(|clause| ((*clause).to_owned(), "clause")));
    }
    let words: Vec<String> = question
        .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
        .filter(|word| !stems(word).is_empty())
        .take(MOST_WORDS)
        .map(str::to_owned)
        .collect();
    queries.push((words.join(" "), "words"));
    let mut seen = std::collections::HashSet::new();
    queries.retain(|(query, _)| !query.is_empty() && seen.insert(query.to_lowercase()));
    queries.truncate(most.max(1));
    let queries: Vec<Value> =
        queries.iter().map(|(query, role)| json!({ "query": query, "role": role, "targets": [] })).collect();
    json!({
        "original_query": question,
        "refined_query": null,
        "clarity_score": null,
        "recommended_action": "proceed",
        "assumptions": [],
        "alternative_interpretations": [],
        "clarification_questions": [],
        "primary_standards": [],
        "sub_queries": queries,
        "scope": "unknown",
        "depth_mode": settings.get("depth"),
        "search_queries": [],
        "path": "offline",
    })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
