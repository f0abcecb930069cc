//! What the web says about the question, where a search engine is set up. What really happened is
//! counted here; what a model says of it does not count.

use serde_json::{Value, json};
use weft_knowledge::verify::sentences;

use crate::cite::Grammar;
use crate::judge::is_number;

const MOST_QUERIES: usize = 5;
const MOST_RESULTS: usize = 12;

pub struct WebSource {
    pub url: String,
    pub title: String,
    /// What a model says that it adds.
    pub note: String,
    /// The words of the page, as the search engine gave them.
    pub snippet: String,
}

/// What is searched for: the plan's own queries for the web, else its sub-queries.
pub fn queries(input: &Value) -> Value {
    let plan = input.get("plan").unwrap_or(&Value::Null);
    let own = plan.get("search_queries").and_then(Value::as_array).filter(|own| !own.is_empty());
    let sub = || {
        let list = plan.get("sub_queries").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|query| query.get("query").cloned()).collect::<Vec<_>>()
    };
    let queries = own.cloned().unwrap_or_else(sub);
    let words = queries.iter().filter_map(Value::as_str).map(str::trim).filter(|query| !query.is_empty());
    words.take(MOST_QUERIES).map(Value::from).collect()
}

/// What the searches came to, counted.
pub fn searched(input: &Value) -> Value {
    let planned = input.get("queries").and_then(Value::as_array).map_or(0, Vec::len);
    let answers: Vec<&Value> = input.get("answers").and_then(Value::as_array).into_iter().flatten().collect();
    let failed: Vec<&str> = answers
        .iter()
        .filter(|answer| answer.get("failed").is_some())
        .filter_map(|answer| answer.get("text").and_then(Value::as_str))
        .collect();
    let mut results: Vec<Value> = Vec::new();
    for hit in answers.iter().filter_map(|answer| answer.as_array()).flatten() {
        if !results.iter().any(|known| known.get("url") == hit.get("url")) {
            results.push(hit.clone());
        }
    }
    results.truncate(MOST_RESULTS);
    json!({
        "results": results,
        "execution": {
            "queries_planned": planned,
            "queries_attempted": answers.len(),
            "queries_succeeded": answers.len() - failed.len(),
            "results_count": results.len(),
            "warnings": failed,
        },
    })
}

/// The plan as the web has changed it. Sources that were not among the results are left out: a model
/// invents addresses.
pub fn calibrated(input: &Value) -> Value {
    let plan = input.get("plan").unwrap_or(&Value::Null);
    let searched = input.get("searched").unwrap_or(&Value::Null);
    let results: Vec<&Value> = searched.get("results").and_then(Value::as_array).into_iter().flatten().collect();
    let succeeded = searched.pointer("/execution/queries_succeeded").and_then(Value::as_u64).unwrap_or(0);
    let answer = input.get("answer").filter(|answer| !answer.is_null());
    let inner = answer.map(|answer| {
        ["websearch_calibration", "calibration"].iter().find_map(|key| answer.get(key)).unwrap_or(answer)
    });
    let unread = answer.is_some_and(|answer| answer.get("raw_text").is_some());
    let status = match (succeeded, results.len(), inner) {
        (0, ..) => "failed",
        (_, 1.., _) if unread => "unread",
        (_, 0, _) | (_, _, None) => "nothing",
        _ => "calibrated",
    };
    let known = |url: &str| results.iter().any(|result| result.get("url").and_then(Value::as_str) == Some(url));
    let sources = inner.and_then(|inner| inner.get("web_sources")).and_then(Value::as_array).into_iter().flatten();
    let mut sources: Vec<Value> =
        sources.filter(|source| source.get("url").and_then(Value::as_str).is_some_and(known)).cloned().collect();
    let addresses = results.iter().filter_map(|result| result.get("url")?.as_str()).map(str::to_owned).collect();
    let grammar = Grammar { web: addresses, ..Grammar::default() };
    for source in &mut sources {
        for name in ["relevance_note", "insight"] {
            if let Some(note) = source.get_mut(name) {
                *note = json!(told(note.as_str().unwrap_or_default(), &grammar));
            }
        }
    }
    let context = ["web_research_context", "calibration_summary"].iter().find_map(|key| inner?.get(key)?.as_str());
    let changes = changes(inner.unwrap_or(&Value::Null));
    let most = input.pointer("/settings/sub_queries").and_then(Value::as_u64).unwrap_or(8);
    let (sub_queries, changes) = changed(plan, changes, usize::try_from(most).unwrap_or(usize::MAX));
    json!({
        "status": status,
        "web_research_context": context.map(|context| told(context, &grammar)).filter(|told| !told.is_empty()),
        "web_sources": sources,
        "results": results,
        "changes": changes,
        "sub_queries": sub_queries,
        "execution": searched.get("execution"),
    })
}

/// What a model says of the web, without addresses that were not found and without counts of its own: what
/// happened is counted.
fn told(words: &str, grammar: &Grammar) -> String {
    const COUNTED: [&str; 5] = ["search", "quer", "result", "source", "page"];
    let counts = |sentence: &str| {
        let words: Vec<String> =
            sentence.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase).collect();
        words.iter().any(|word| is_number(word))
            && words.iter().any(|word| COUNTED.iter().any(|begin| word.starts_with(begin)))
    };
    let kept = sentences(words).into_iter().filter(|said| !counts(said) && grammar.unknown_addresses(said).is_empty());
    kept.collect::<Vec<_>>().join(" ")
}

/// How the plan is to be changed, from either shape: lists by what is done, or a list of queries that say it.
fn changes(inner: &Value) -> Value {
    let Some(queries) = inner.get("queries").and_then(Value::as_array) else {
        return inner.get("intent_changes").filter(|changes| changes.is_object()).cloned().unwrap_or_else(|| json!({}));
    };
    let (mut added, mut modified, mut demoted) = (Vec::new(), Vec::new(), Vec::new());
    for query in queries {
        let text = |names: &[&str]| names.iter().find_map(|name| query.get(name)?.as_str()).unwrap_or_default().trim();
        let (original, refined) = (text(&["original_text", "original", "query"]), text(&["refined_text", "modified"]));
        let reason = text(&["web_evidence", "reason"]);
        match text(&["action"]).to_lowercase().as_str() {
            "add" | "added" | "new" => {
                let query = if refined.is_empty() { original } else { refined };
                added.push(json!({ "query": query, "role": text(&["role", "intent"]), "reason": reason }));
            }
            "remove" | "removed" | "drop" | "dropped" | "demote" | "demoted" => {
                demoted.push(json!({ "query": original, "reason": reason }));
            }
            "keep" | "kept" | "confirm" | "confirmed" => {}
            _ if !refined.is_empty() && refined != original => {
                modified.push(json!({ "original": original, "modified": refined, "reason": reason }));
            }
            _ => {}
        }
    }
    json!({ "sub_queries_added": added, "sub_queries_modified": modified, "sub_queries_demoted": demoted })
}

/// The queries with those changes that were really made. The web may add half as many as a plan may have.
fn changed(plan: &Value, mut changes: Value, most: usize) -> (Vec<Value>, Value) {
    let items = |name: &str| changes.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let demoted: Vec<String> = items("sub_queries_demoted").iter().map(|item| text(item, "query")).collect();
    let modified = items("sub_queries_modified");
    let mut queries: Vec<Value> = plan.get("sub_queries").and_then(Value::as_array).cloned().unwrap_or_default();
    queries.retain(|query| !demoted.contains(&text(query, "query")));
    for query in &mut queries {
        let change = modified.iter().find(|change| text(change, "original") == text(query, "query"));
        let better = change.map(|change| text(change, "modified")).filter(|better| !better.is_empty());
        if let (Some(better), Value::Object(fields)) = (better, query) {
            fields.insert("query".to_owned(), json!(better));
        }
    }
    let mut added = items("sub_queries_added");
    added.retain(|item| !text(item, "query").is_empty());
    added.truncate((most + most / 2).saturating_sub(queries.len()));
    queries.extend(
        added.iter().map(|item| json!({ "query": text(item, "query"), "role": text(item, "role"), "targets": [] })),
    );
    if let Some(told) = changes.get_mut("sub_queries_added") {
        *told = json!(added);
    }
    (queries, changes)
}

/// The web sources of a run, numbered in this order everywhere.
pub fn web_sources(calibrate: &Value) -> Vec<WebSource> {
    if calibrate.get("status").and_then(Value::as_str) != Some("calibrated") {
        return Vec::new();
    }
    let list = |name: &str| calibrate.get(name).and_then(Value::as_array).filter(|list| !list.is_empty());
    let results: Vec<&Value> = list("results").into_iter().flatten().collect();
    let sources = list("web_sources").or_else(|| list("results")).into_iter().flatten();
    sources
        .map(|source| {
            let text = |value: &Value, names: &[&str]| {
                names.iter().find_map(|name| value.get(name)?.as_str()).unwrap_or_default().to_owned()
            };
            let url = text(source, &["url"]);
            let found = results.iter().find(|result| text(result, &["url"]) == url);
            WebSource {
                // The page's own title, not what a model makes of it.
                title: found.map(|found| text(found, &["title"])).unwrap_or_default(),
                note: text(source, &["relevance_note", "insight"]),
                snippet: found.map(|found| text(found, &["snippet", "content", "text"])).unwrap_or_default(),
                url,
            }
        })
        .filter(|source| source.url.starts_with("https://") || source.url.starts_with("http://"))
        .collect()
}
