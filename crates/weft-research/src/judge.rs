//! Whether an answer is good enough: four scores and their marks, and no sentence without a source. What
//! fails goes back as feedback.

use serde_json::{Value, json};

pub const ENTITY: f64 = 0.80;
pub const CITATION: f64 = 0.75;
pub const RELATION: f64 = 0.70;
const MOST_FEEDBACK: usize = 20;

pub fn judge(input: &Value) -> Value {
    let checked = input.get("checked").unwrap_or(&Value::Null);
    let report = checked.get("report").unwrap_or(&Value::Null);
    let score = |name: &str| report.pointer(&format!("/scores/{name}")).and_then(Value::as_f64);
    let contradictions = report.pointer("/scores/contradictions").and_then(Value::as_u64).unwrap_or(0);
    let answerable = input.pointer("/answer/answerable").and_then(Value::as_bool).unwrap_or(false);
    let passed = score("entity").unwrap_or(1.0) >= ENTITY
        && score("citation").unwrap_or(1.0) >= CITATION
        && score("relation").unwrap_or(1.0) >= RELATION
        && contradictions == 0;
    let claims: Vec<&str> = input
        .pointer("/answer/claims")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|claim| claim.get("text").and_then(Value::as_str))
        .collect();
    let mut failed: Vec<u64> = Vec::new();
    let mut names: Vec<Value> = Vec::new();
    let mut feedback = Vec::new();
    let checks = report.get("checks").and_then(Value::as_array).into_iter().flatten();
    for check in checks.filter(|check| check.get("verdict").and_then(Value::as_str) == Some("fails")) {
        let claim = check.get("claim").and_then(Value::as_u64).unwrap_or(0);
        let said = usize::try_from(claim).ok().and_then(|claim| claims.get(claim)).copied().unwrap_or_default();
        let why = check.get("why").and_then(Value::as_str).unwrap_or_default();
        feedback.push(format!("- \"{said}\": {why}"));
        // Of these the sentence itself is wrong; a name alone may be a matter of wording, and is marked.
        let field = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
        let wrong = match field("axis") {
            "citation" | "contradiction" | "relation" => true,
            "entity" => is_number_or_abbreviation(field("item")),
            _ => false,
        };
        if wrong && !failed.contains(&claim) {
            failed.push(claim);
        }
        if !wrong && field("axis") == "entity" {
            names.push(json!({ "claim": claim, "name": field("item") }));
        }
    }
    // Quotes cannot be written better; what does not hold is left out of them. What a quotation itself names is
    // its document's word, not the answer's.
    let extractive = input.pointer("/answer/extractive").and_then(Value::as_bool).unwrap_or(false);
    let unknown = if extractive { Vec::new() } else { strings(checked, "unknown") };
    for (claim, text, name) in spoken_of(input, &unknown) {
        feedback.push(format!("- \"{text}\": there is no paragraph {name}."));
        if !failed.contains(&claim) {
            failed.push(claim);
        }
    }
    let uncited = strings(input.get("answer").unwrap_or(&Value::Null), "uncited");
    feedback.extend(
        uncited
            .iter()
            .map(|text| format!("- \"{text}\": it has no citation. Say which paragraph says it, or leave it out.")),
    );
    let unread = input.pointer("/answer/unread").and_then(Value::as_str);
    feedback.extend(unread.map(|why| {
        format!(
            "- Nothing of it could be read: the answer {why}. Write one whole JSON object, and a shorter synthesis."
        )
    }));
    feedback.truncate(MOST_FEEDBACK);
    let passed = passed && uncited.is_empty() && unknown.is_empty() && unread.is_none();
    let needs_repair = (answerable || !uncited.is_empty() || unread.is_some()) && !passed;
    let feedback = if needs_repair && !extractive { feedback.join("\n") } else { String::new() };
    let status = match (answerable, passed) {
        (false, _) if uncited.is_empty() && unread.is_none() => "no_answer",
        (false, _) => "failed",
        (true, true) => "passed",
        (true, false) => "failed",
    };
    json!({
        "scores": report.get("scores"),
        "status": status,
        "needs_repair": needs_repair,
        "feedback": feedback,
        "failed_claims": failed,
        "foreign_names": names,
        "uncited": uncited.len(),
        "unknown": checked.get("unknown"),
        "checks": report.get("checks"),
        "conflicts": checked.get("conflicts"),
        "source_texts": checked.get("source_texts"),
    })
}

/// Numbers, dates, numbers of paragraphs, and short names of laws and standards: they are right or
/// wrong, in whatever words.
fn is_number_or_abbreviation(item: &str) -> bool {
    let is_short = |word: &str| word.chars().filter(|letter| letter.is_uppercase()).count() >= 2;
    item.split(|letter: char| !letter.is_alphanumeric()).any(|word| is_short(word) || is_number(word))
}

/// In digits or as a word.
pub fn is_number(word: &str) -> bool {
    const NUMBERS: [&str; 20] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen",
        "twenty", "thirty", "forty", "fifty", "sixty", "ninety", "hundred", "thousand",
    ];
    word.contains(|letter: char| letter.is_ascii_digit()) || NUMBERS.contains(&word.to_lowercase().as_str())
}

/// Claims that speak of a paragraph that does not exist: their place, their words, and the paragraph.
fn spoken_of(input: &Value, unknown: &[String]) -> Vec<(u64, String, String)> {
    let claims = input.pointer("/answer/claims").and_then(Value::as_array).into_iter().flatten();
    let mut found = Vec::new();
    for (claim, value) in (0_u64..).zip(claims) {
        let text = value.get("text").and_then(Value::as_str).unwrap_or_default();
        let names = strings(value, "names");
        found
            .extend(names.into_iter().filter(|name| unknown.contains(name)).map(|name| (claim, text.to_owned(), name)));
    }
    found
}

fn strings(value: &Value, name: &str) -> Vec<String> {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
