//! What a person is shown at a pause: made by code from what a stage gave, the same words every time,
//! our own ones in plain letters.

use serde_json::{Value, json};

const CLEAR: f64 = 0.7;

/// After the question was analysed.
pub fn analysed(input: &Value) -> Value {
    let plan = input.get("output").unwrap_or(&Value::Null);
    let path = plan.get("path").and_then(Value::as_str).unwrap_or("fallback");
    if !plan.is_object() {
        return fallback(plan);
    }
    let clarity = plan.get("clarity_score").and_then(Value::as_f64);
    let mut text = String::from("## How I understand the question\n\n");
    if let Some(clarity) = clarity {
        let side = if clarity >= CLEAR { "above" } else { "below" };
        text.push_str(&format!("Clarity: {} ({side} 70%)\n\n", percent(clarity)));
    }
    bullets(&mut text, "Assumptions", &strings(plan, "assumptions"));
    let queries: Vec<&Value> = plan.get("sub_queries").and_then(Value::as_array).into_iter().flatten().collect();
    let depth = plan.get("depth_mode").and_then(Value::as_str).unwrap_or("standard");
    let scope = plan.get("scope").and_then(Value::as_str).unwrap_or("unknown");
    text.push_str(&format!("**Searches ({}), depth {depth}, scope {scope}**\n\n", queries.len()));
    for query in queries {
        let field = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
        let targets = strings(query, "targets");
        let targets = if targets.is_empty() { String::new() } else { format!(" - {}", targets.join(", ")) };
        text.push_str(&format!("- [{}] {}{targets}\n", field("role"), field("query")));
    }
    text.push('\n');
    let primary = strings(plan, "primary_standards");
    if !primary.is_empty() {
        text.push_str(&format!("Primary texts: {}\n\n", primary.join(", ")));
    }
    // So that neither a number nor a letter means both an answer and a choice.
    let questions = strings(plan, "clarification_questions");
    if !questions.is_empty() {
        text.push_str("**Questions to you**\n\n");
        for (number, question) in questions.iter().enumerate() {
            text.push_str(&format!("- Q{}: {question}\n", number + 1));
        }
        text.push('\n');
    }
    if clarity.is_some_and(|clarity| clarity < CLEAR) {
        bullets(&mut text, "It could also mean", &strings(plan, "alternative_interpretations"));
    }
    text.push_str(&details("Full plan (JSON)", plan));
    let web = input.pointer("/settings/web").and_then(Value::as_bool).unwrap_or(false)
        && input.get("tools").and_then(Value::as_array).is_some_and(|tools| tools.contains(&json!("web_search")));
    let options = if web {
        json!(["A. Yes, search the web first", "B. No, go on without the web", "Exit"])
    } else {
        json!(["Go on", "Exit"])
    };
    let question = if web { "Go on with this plan, and search the web first?" } else { "Go on with this plan?" };
    json!({ "text": plain(&text), "path": path, "question": question, "options": options })
}

/// After the web was searched.
pub fn calibrated(input: &Value) -> Value {
    let output = input.get("output").unwrap_or(&Value::Null);
    let count = |name: &str| output.pointer(&format!("/execution/{name}")).and_then(Value::as_u64).unwrap_or(0);
    let items =
        |name: &str| output.pointer(&format!("/changes/{name}")).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut text = String::new();
    let (done, planned, found) = (count("queries_succeeded"), count("queries_planned"), count("results_count"));
    let results = if found == 1 { "1 result".to_owned() } else { format!("{found} results") };
    match output.get("status").and_then(Value::as_str) {
        Some("calibrated") => {
            let changed = ["sub_queries_added", "sub_queries_modified", "sub_queries_demoted"];
            let changed = changed.iter().any(|name| !items(name).is_empty());
            text.push_str(if changed {
                "## The web has changed the plan\n\n"
            } else {
                "## The web confirms the plan\n\n"
            });
            text.push_str(&format!("{done} of {planned} searches, {results}.\n\n"));
            if let Some(context) = output.get("web_research_context").and_then(Value::as_str) {
                text.push_str(&format!("In the model's words: {context}\n\n"));
            }
            for (name, title) in [
                ("sub_queries_added", "Added"),
                ("sub_queries_modified", "Changed"),
                ("sub_queries_demoted", "Dropped"),
            ] {
                let words = |item: &Value| {
                    let words = ["modified", "query"].iter().find_map(|key| item.get(key)?.as_str());
                    words.map(str::to_owned)
                };
                bullets(&mut text, title, &items(name).iter().filter_map(words).collect::<Vec<_>>());
            }
        }
        Some("nothing") => {
            text.push_str("## The web search found nothing of use\n\n");
            text.push_str(&format!("{done} of {planned} searches, {results}. The plan stays as it was.\n\n"));
        }
        Some("unread") => {
            text.push_str("## What the model made of the web could not be read\n\n");
            text.push_str(&format!("{done} of {planned} searches, {results}. The plan stays as it was.\n\n"));
        }
        Some("failed") => {
            text.push_str("## The web search did not work\n\nThe plan stays as it was.\n\n");
            let warnings = output.pointer("/execution/warnings").cloned().unwrap_or_default();
            let warnings: Vec<String> =
                warnings.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            bullets(&mut text, "What went wrong", &warnings);
        }
        _ => return fallback(output),
    }
    text.push_str(&details("What was found (JSON)", output));
    json!({ "text": plain(&text), "path": "model", "question": "Go on?", "options": ["Go on", "Change the plan", "Exit"] })
}

/// Which stages a reply leaves out: somebody who does not want the web searched.
pub fn skips(input: &Value) -> Value {
    let reply = input.get("reply").and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
    let is_b = reply == "b"
        || reply.starts_with("b.") && reply.get(2..).is_none_or(|rest| rest.is_empty() || rest.starts_with(' '))
        || reply.starts_with("b ");
    let direct =
        reply.contains("proceed directly") || reply.starts_with("no proceed") || reply.starts_with("no, proceed");
    let without = reply.split(['.', ',', ';', ':', '!', '?', '\n']).any(leaves_the_web_out);
    if is_b || without || direct { json!(["calibrate"]) } else { json!([]) }
}

/// Whether a part of a sentence says that the web is not wanted: "no web search", "skip the web". Where it
/// says that twice, as in "don't skip the web", it is wanted.
fn leaves_the_web_out(part: &str) -> bool {
    const NO: [&str; 9] = ["no", "not", "don't", "don\u{2019}t", "dont", "never", "skip", "without", "omit"];
    let words = part.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '\u{2019}');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let Some(web) = words.iter().position(|word| ["web", "websearch", "internet"].contains(word)) else { return false };
    words.iter().take(web).filter(|word| NO.contains(*word)).count() % 2 == 1
}

/// In whole numbers, and where that would be on the other side of the mark more exactly.
fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).floor() / 10.0;
    if share < CLEAR && (share * 100.0).round() >= CLEAR * 100.0 {
        return format!("{tenths:.1}%");
    }
    format!("{:.0}%", share * 100.0)
}

fn fallback(output: &Value) -> Value {
    let text = format!(
        "The stage is done, but its result could not be laid out.\n\n{}\nReply to go on.",
        details("Result (JSON)", output)
    );
    json!({ "text": plain(&text), "path": "fallback", "question": "Go on?", "options": ["Go on", "Exit"] })
}

fn strings(value: &Value, name: &str) -> Vec<String> {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn bullets(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    text.push_str(&format!("**{title}**\n\n"));
    items.iter().for_each(|item| text.push_str(&format!("- {item}\n")));
    text.push('\n');
}

fn details(title: &str, value: &Value) -> String {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("<details><summary>{title}</summary>\n\n```json\n{json}\n```\n\n</details>\n")
}

/// Quotation marks and dashes in plain letters. The letters of other languages stay what they are; what
/// cannot be seen, or turns a line around, is written out.
fn plain(text: &str) -> String {
    let plain = |letter: char| match letter {
        '\u{2018}' | '\u{2019}' => "'".to_owned(),
        '\u{201c}' | '\u{201d}' => "\"".to_owned(),
        '\u{2013}' | '\u{2014}' => "-".to_owned(),
        '\u{2026}' => "...".to_owned(),
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            letter.escape_unicode().to_string()
        }
        '\n' | '\t' => letter.to_string(),
        letter if letter.is_control() => letter.escape_unicode().to_string(),
        letter => letter.to_string(),
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
#[path = "pause_tests.rs"]
mod tests;
